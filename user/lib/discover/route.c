// SPDX-License-Identifier: GPL-2.0
#include "route.h"

#include <errno.h>
#include <ifaddrs.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

struct answer {
	unsigned int type;
	unsigned int ifindex;
	bool gateway;
	bool has_source;
	__u8 source[16];
};

static int collect(const struct nlattr *attr, void *data)
{
	struct answer *answer = data;

	switch (mnl_attr_get_type(attr)) {
	case RTA_OIF:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			answer->ifindex = mnl_attr_get_u32(attr);
		break;
	case RTA_GATEWAY:
	case RTA_VIA:
		answer->gateway = true;
		break;
	case RTA_PREFSRC:
		answer->has_source = true;
		if (mnl_attr_get_payload_len(attr) == 4) {
			memset(answer->source, 0, 10);
			memset(answer->source + 10, 0xff, 2);
			memcpy(answer->source + 12, mnl_attr_get_payload(attr), 4);
		} else if (mnl_attr_get_payload_len(attr) == 16) {
			memcpy(answer->source, mnl_attr_get_payload(attr), 16);
		} else {
			answer->has_source = false;
		}
		break;
	}
	return MNL_CB_OK;
}

static int parse(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct answer *answer = data;

	if (nlh->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm))
		return MNL_CB_OK;
	answer->type = rtm->rtm_type;
	mnl_attr_parse(nlh, sizeof(*rtm), collect, answer);
	return MNL_CB_STOP;
}

static void put_addr(struct nlmsghdr *nlh, int type, const __u8 addr[16])
{
	if (addr_is_v4(addr))
		mnl_attr_put(nlh, type, 4, addr + 12);
	else
		mnl_attr_put(nlh, type, 16, addr);
}

/* RTM_GETROUTE, by any device if @ifindex is 0. Return: 0, or the kernel's negative errno. */
static int ask(unsigned int ifindex, const __u8 peer[16], const __u8 *source,
	       unsigned int flags, struct answer *answer)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	bool v4 = addr_is_v4(peer);
	unsigned int seq = time(NULL);
	struct mnl_socket *nl;
	struct nlmsghdr *nlh;
	struct rtmsg *rtm;
	ssize_t len;
	int ret = 0;

	memset(answer, 0, sizeof(*answer));
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = seq;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = v4 ? AF_INET : AF_INET6;
	rtm->rtm_dst_len = v4 ? 32 : 128;
	rtm->rtm_flags = flags;
	put_addr(nlh, RTA_DST, peer);
	if (source) {
		rtm->rtm_src_len = rtm->rtm_dst_len;
		put_addr(nlh, RTA_SRC, source);
	}
	if (ifindex)
		mnl_attr_put_u32(nlh, RTA_OIF, ifindex);

	nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!nl)
		return -errno;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0) {
		ret = -errno;
		goto out_close;
	}
	len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (len < 0 || mnl_cb_run(buf, len, seq, mnl_socket_get_portid(nl), parse, answer) < 0)
		ret = -errno;
out_close:
	mnl_socket_close(nl);
	return ret;
}

/*
 * If a device is given, IPv4 assumes a peer without a route to be on-link: ask the tables
 * first whether they match at all.
 */
static int lookup(unsigned int ifindex, const __u8 peer[16],
		  const __u8 *source, struct route *route)
{
	struct answer answer;
	int ret;

	/* An address of another device is local as well, unless a rule routes its packets. */
	if (!ask(0, peer, source, 0, &answer) && answer.type == RTN_LOCAL)
		return -EADDRINUSE;
	ret = ask(ifindex, peer, source, RTM_F_FIB_MATCH, &answer) ?:
	      ask(ifindex, peer, source, 0, &answer);
	if (ret)
		return ret;
	if (answer.type != RTN_UNICAST || answer.ifindex != ifindex)
		return -ENETUNREACH;
	if (source)
		memcpy(route->source, source, 16);
	else if (answer.has_source)
		memcpy(route->source, answer.source, 16);
	else
		return -EADDRNOTAVAIL;
	route->on_link = !answer.gateway;
	return 0;
}

/* Policy routing may know the peer only from one of our addresses. */
static int lookup_from_device(const char *device, unsigned int ifindex,
			      const __u8 peer[16], struct route *route)
{
	struct ifaddrs *all, *ifa;
	__u8 source[16];
	int ret = -ENETUNREACH;

	if (getifaddrs(&all))
		return -errno;
	for (ifa = all; ifa && ret; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || strcmp(ifa->ifa_name, device) ||
		    addr_from_sockaddr(ifa->ifa_addr, source) ||
		    addr_is_v4(source) != addr_is_v4(peer))
			continue;
		ret = lookup(ifindex, peer, source, route);
	}
	freeifaddrs(all);
	return ret;
}

int route_lookup(const char *device, const __u8 peer[16],
		 const __u8 *source, struct route *route, struct err *err)
{
	char to[ADDR_STRLEN], from[ADDR_STRLEN];
	unsigned int ifindex = if_nametoindex(device);
	int ret, other;

	if (!ifindex) {
		err_set(err, EXIT_FAILED, "no-device", "there is no network device %s", device);
		err_hint(err, "See: ip link");
		return -ENODEV;
	}
	ret = lookup(ifindex, peer, source, route);
	if (!ret)
		return 0;
	if (!source) {
		other = lookup_from_device(device, ifindex, peer, route);
		if (!other)
			return 0;
	}
	addr_format(peer, to);
	if (ret == -EADDRINUSE)
		err_set(err, EXIT_FAILED, "no-route",
			"%s is an address of this host, not of a peer", to);
	else if (source)
		err_set(err, EXIT_FAILED, "no-route",
			"no route to %s from %s by %s: %s", to,
			addr_format(source, from), device, strerror(-ret));
	else
		err_set(err, EXIT_FAILED, "no-route",
			"no route to %s by %s: %s", to, device, strerror(-ret));
	if (source)
		err_hint(err, "See: ip route get %s from %s oif %s", to,
			 addr_format(source, from), device);
	else
		err_hint(err, "See: ip route get %s oif %s", to, device);
	return ret;
}
