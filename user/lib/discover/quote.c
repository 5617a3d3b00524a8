// SPDX-License-Identifier: GPL-2.0
#include "quote.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "base/base.h"

/* Bits of the fragment offset in the word with the flags */
#define FRAGMENT_OFFSET	0x1fff

static const __u8 types[][2] = {
	[QUOTE_UNREACHABLE] = { ICMP_DEST_UNREACH, ICMPV6_DEST_UNREACH },
	[QUOTE_EXPIRED] = { ICMP_TIME_EXCEEDED, ICMPV6_TIME_EXCEED },
};

/* Copy a header from @at on, which moves behind it. Return: false at the end of the data. */
static bool take(const __u8 *data, size_t len, size_t *at, void *header, size_t size)
{
	if (len < size || *at > len - size)
		return false;
	memcpy(header, data + *at, size);
	*at += size;
	return true;
}

static bool take_packet(const __u8 *data, size_t len, size_t at, struct quote *quote)
{
	struct rocesteer_bth bth;
	struct udphdr udp;

	if (!take(data, len, &at, &udp, sizeof(udp)) || udp.dest != htons(ROCESTEER_ROCE_PORT))
		return false;
	quote->sport = udp.source;
	quote->has_bth = take(data, len, &at, &bth, sizeof(bth));
	quote->dqpn = quote->has_bth ? ntohl(bth.dqpn) & ROCESTEER_QPN_MASK : 0;
	quote->psn = quote->has_bth ? ntohl(bth.apsn) & ROCESTEER_PSN_MASK : 0;
	return true;
}

/* The IPv4 header at @at, which moves behind its options */
static bool take_ip(const __u8 *data, size_t len, size_t *at, struct iphdr *ip)
{
	size_t begin = *at;

	if (!take(data, len, at, ip, sizeof(*ip)) || ip->ihl < 5)
		return false;
	*at = begin + 4 * ip->ihl;
	return true;
}

static void put_v4(__u8 addr[16], __u32 v4)
{
	memset(addr, 0, 10);
	memset(addr + 10, 0xff, 2);
	memcpy(addr + 12, &v4, 4);
}

static bool take_kind(__u8 type, bool v6, struct quote *quote)
{
	for (quote->kind = 0; quote->kind < ARRAY_SIZE(types); quote->kind++)
		if (types[quote->kind][v6] == type)
			return true;
	return false;
}

bool quote_read_v4(const __u8 *data, size_t len, struct quote *quote)
{
	struct icmphdr icmp;
	struct iphdr ip;
	size_t at = 0;

	if (!take_ip(data, len, &at, &ip) || !take(data, len, &at, &icmp, sizeof(icmp)) ||
	    !take_kind(icmp.type, false, quote) ||
	    (quote->kind == QUOTE_UNREACHABLE &&
	     (icmp.code == ICMP_PROT_UNREACH || icmp.code == ICMP_PORT_UNREACH ||
	      icmp.code == ICMP_FRAG_NEEDED)) ||
	    !take_ip(data, len, &at, &ip) || ip.protocol != IPPROTO_UDP ||
	    ip.frag_off & htons(FRAGMENT_OFFSET))
		return false;
	put_v4(quote->source, ip.saddr);
	put_v4(quote->peer, ip.daddr);
	return take_packet(data, len, at, quote);
}

bool quote_read_v6(const __u8 *data, size_t len, struct quote *quote)
{
	struct icmp6hdr icmp;
	struct ipv6hdr ip;
	size_t at = 0;

	if (!take(data, len, &at, &icmp, sizeof(icmp)) ||
	    !take_kind(icmp.icmp6_type, true, quote) ||
	    (quote->kind == QUOTE_UNREACHABLE && icmp.icmp6_code == ICMPV6_PORT_UNREACH) ||
	    !take(data, len, &at, &ip, sizeof(ip)) || ip.nexthdr != IPPROTO_UDP)
		return false;
	memcpy(quote->source, &ip.saddr, 16);
	memcpy(quote->peer, &ip.daddr, 16);
	return take_packet(data, len, at, quote);
}

/* Other ICMP packets do not wake the process. */
int quote_open(bool v4, enum quote_kind kind)
{
	struct icmp_filter only = { .data = ~(1u << types[kind][0]) };	/* dropped */
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			v4 ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
	struct icmp6_filter only6;
	int ret;

	if (fd < 0)
		return -errno;
	memset(&only6, 0xff, sizeof(only6));
	only6.data[0] &= ~(1u << types[kind][1]);
	ret = v4 ? setsockopt(fd, SOL_RAW, ICMP_FILTER, &only, sizeof(only)) :
		   setsockopt(fd, SOL_ICMPV6, ICMPV6_FILTER, &only6, sizeof(only6));
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int quote_receive(int fd, bool v4, struct quote *quote)
{
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	__u8 data[256];
	ssize_t len = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &size);

	if (len < 0)
		return -errno;
	return addr_from_sockaddr((struct sockaddr *)&from, quote->router) == 0 &&
	       (v4 ? quote_read_v4(data, len, quote) : quote_read_v6(data, len, quote));
}
