// SPDX-License-Identifier: GPL-2.0
#include "link.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <time.h>

/**
 * struct link_monitor - rtnetlink's group of devices
 * @nl: socket
 * @fn: called by link_read()
 * @arg: passed to @fn
 */
struct link_monitor {
	struct mnl_socket *nl;
	void (*fn)(__u32 ifindex, const char *name, bool carrier, void *arg);
	void *arg;
};

/* Ask for all there are: the replies come like changes. */
static int ask(struct link_monitor *link)
{
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct ifinfomsg)] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	return mnl_socket_sendto(link->nl, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

struct link_monitor *link_open(struct err *err)
{
	struct link_monitor *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (link->nl && !mnl_socket_bind(link->nl, RTMGRP_LINK,
					 MNL_SOCKET_AUTOPID) && !ask(link))
		return link;
	err_errno(err, errno, "netlink", "cannot watch the devices");
	link_close(link);
	return NULL;
}

void link_close(struct link_monitor *link)
{
	if (!link)
		return;
	if (link->nl)
		mnl_socket_close(link->nl);
	free(link);
}

int link_fd(const struct link_monitor *link)
{
	return mnl_socket_get_fd(link->nl);
}

static int take_attr(const struct nlattr *attr, void *data)
{
	const char **name = data;

	if (mnl_attr_get_type(attr) == IFLA_IFNAME &&
	    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		*name = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

static int take(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct link_monitor *link = data;
	const char *name = "";

	/* A bridge tells of its ports as well. */
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*ifi) ||
	    ifi->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	mnl_attr_parse(nlh, sizeof(*ifi), take_attr, &name);
	if (nlh->nlmsg_type == RTM_NEWLINK)
		link->fn(ifi->ifi_index, name, ifi->ifi_flags & IFF_LOWER_UP,
			 link->arg);
	else if (nlh->nlmsg_type == RTM_DELLINK)
		link->fn(ifi->ifi_index, NULL, false, link->arg);
	return MNL_CB_OK;
}

int link_read(struct link_monitor *link,
	      void (*fn)(__u32 ifindex, const char *name, bool carrier,
			 void *arg), void *arg)
{
	char buf[32768];
	bool lost = false;
	ssize_t len;

	link->fn = fn;
	link->arg = arg;
	for (;;) {
		len = mnl_socket_recvfrom(link->nl, buf, sizeof(buf));
		if (len < 0 && errno == EAGAIN)	/* now no dump is under way */
			return lost ? ask(link) : 0;
		if (len >= 0 && mnl_cb_run(buf, len, 0, 0, take, link) >= 0)
			continue;
		/* The buffer was full, or devices came or went during a dump. */
		if (errno != ENOBUFS && errno != EINTR && errno != EBUSY)
			return -errno;
		lost = true;
	}
}
