// SPDX-License-Identifier: GPL-2.0
#include "carrier.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * struct carrier_monitor - rtnetlink's group of devices
 * @nl: socket
 * @fn: called by carrier_read()
 * @arg: passed to @fn
 */
struct carrier_monitor {
	struct mnl_socket *nl;
	void (*fn)(__u32 ifindex, const char *name, bool carrier, void *arg);
	void *arg;
};

/* Ask for all there are: the replies come like changes. */
static int ask(struct carrier_monitor *monitor)
{
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct ifinfomsg)] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	return mnl_socket_sendto(monitor->nl, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

struct carrier_monitor *carrier_open(struct err *err)
{
	struct carrier_monitor *monitor = calloc(1, sizeof(*monitor));

	if (!monitor)
		return NULL;
	monitor->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (monitor->nl && !mnl_socket_bind(monitor->nl, RTMGRP_LINK,
					    MNL_SOCKET_AUTOPID) && !ask(monitor))
		return monitor;
	err_errno(err, errno, "netlink", "cannot watch the devices");
	carrier_close(monitor);
	return NULL;
}

void carrier_close(struct carrier_monitor *monitor)
{
	if (!monitor)
		return;
	if (monitor->nl)
		mnl_socket_close(monitor->nl);
	free(monitor);
}

int carrier_fd(const struct carrier_monitor *monitor)
{
	return mnl_socket_get_fd(monitor->nl);
}

static int take_attr(const struct nlattr *attr, void *data)
{
	const char **name = data;

	if (mnl_attr_get_type(attr) == IFLA_IFNAME && !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		*name = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

static int take(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct carrier_monitor *monitor = data;
	const char *name = "";

	/* A bridge tells of its ports as well. */
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*ifi) || ifi->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	mnl_attr_parse(nlh, sizeof(*ifi), take_attr, &name);
	if (nlh->nlmsg_type == RTM_NEWLINK)
		monitor->fn(ifi->ifi_index, name, ifi->ifi_flags & IFF_LOWER_UP, monitor->arg);
	else if (nlh->nlmsg_type == RTM_DELLINK)
		monitor->fn(ifi->ifi_index, NULL, false, monitor->arg);
	return MNL_CB_OK;
}

int carrier_read(struct carrier_monitor *monitor,
		 void (*fn)(__u32 ifindex, const char *name, bool carrier, void *arg), void *arg)
{
	char buf[32768];
	bool lost = false;
	ssize_t len;

	monitor->fn = fn;
	monitor->arg = arg;
	for (;;) {
		len = mnl_socket_recvfrom(monitor->nl, buf, sizeof(buf));
		if (len < 0 && errno == EAGAIN)	/* now no dump is under way */
			return lost ? ask(monitor) : 0;
		if (len >= 0 && mnl_cb_run(buf, len, 0, 0, take, monitor) >= 0)
			continue;
		/* The buffer was full, or devices came or went during a dump. */
		if (errno != ENOBUFS && errno != EINTR && errno != EBUSY)
			return -errno;
		lost = true;
	}
}

bool carrier_is_missing(const char *device)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;
	struct ifreq ifr = {};

	if (fd < 0)
		return false;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	ret = ioctl(fd, SIOCGIFFLAGS, &ifr);
	close(fd);
	return !ret && !(ifr.ifr_flags & IFF_RUNNING);
}
