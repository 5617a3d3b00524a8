// SPDX-License-Identifier: GPL-2.0
/* Carriers of devices when netlink loses messages, or cuts a dump */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "discover/carrier.h"
#include "../../ktap.h"

/**
 * struct reply - the next answer of the socket
 * @error: a failure of the socket, or of what was asked where @type is NLMSG_ERROR
 * @type: of the message
 * @flags: likewise
 * @ifindex: device with a carrier
 */
struct reply {
	int error;
	__u16 type;
	__u16 flags;
	int ifindex;
};

static const struct reply *next;
static unsigned int asked, told;

/* Stand-ins for libmnl */
ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t len)
{
	(void)nl;
	(void)buf;
	asked++;
	return len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	const struct reply *reply = next++;
	struct nlmsghdr *nlh;

	(void)nl;
	memset(buf, 0, size);
	if (!reply->type) {
		errno = reply->error ?: EAGAIN;
		return -1;
	}
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = reply->type;
	nlh->nlmsg_flags = reply->flags;
	if (reply->type == NLMSG_ERROR) {
		struct nlmsgerr *error;

		error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));
		error->error = -reply->error;
	} else {
		struct ifinfomsg *ifi;

		ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
		ifi->ifi_index = reply->ifindex;
		ifi->ifi_flags = IFF_LOWER_UP;
	}
	return nlh->nlmsg_len;
}

static void hear(__u32 ifindex, const char *name, bool carrier, void *arg)
{
	(void)name;
	(void)arg;
	told |= (unsigned int)carrier << ifindex;
}

/* Read @replies, up to an empty one. Return: number of requests for a dump. */
static int asks_again(struct carrier_monitor *link, const struct reply *replies)
{
	int ret;

	next = replies;
	asked = 0;
	told = 0;
	ret = carrier_read(link, hear, NULL);
	return ret ?: (int)asked;
}

int main(void)
{
	struct err err = {};
	struct carrier_monitor *link = carrier_open(&err);
	int n;

	ktap_begin();
	ktap_result(link && asked == 1, "a new monitor asks for all devices");
	if (!link)
		return ktap_end();
	n = asks_again(link, (struct reply[]) {
		{ .type = RTM_NEWLINK, .flags = NLM_F_MULTI, .ifindex = 1 },
		{ .type = RTM_NEWLINK, .flags = NLM_F_MULTI, .ifindex = 2 },
		{ .type = NLMSG_DONE, .flags = NLM_F_MULTI }, {} });
	ktap_result(!n && told == 6, "a complete dump is not asked for again");
	n = asks_again(link, (struct reply[]) {
		{ .type = RTM_NEWLINK, .ifindex = 1 }, { .error = ENOBUFS },
		{ .type = RTM_NEWLINK, .ifindex = 2 }, {} });
	ktap_result(n == 1 && told == 6, "lost messages make the monitor ask once more");
	n = asks_again(link, (struct reply[]) {
		{ .type = RTM_NEWLINK, .flags = NLM_F_MULTI, .ifindex = 1 },
		{ .type = RTM_NEWLINK, .flags = NLM_F_MULTI | NLM_F_DUMP_INTR,
		  .ifindex = 2 },
		{ .type = NLMSG_DONE, .flags = NLM_F_MULTI }, {} });
	ktap_result(n == 1 && told == 2, "a cut dump is asked for again");
	n = asks_again(link, (struct reply[]) {
		{ .type = NLMSG_ERROR, .error = EBUSY }, {} });
	ktap_result(n == 1, "a dump is asked for again after another was under way");
	n = asks_again(link, (struct reply[]) {
		{ .type = NLMSG_ERROR, .error = EPERM }, {} });
	ktap_result(n == -EPERM, "a refused dump is a failure");
	carrier_close(link);
	return ktap_end();
}
