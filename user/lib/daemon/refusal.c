// SPDX-License-Identifier: GPL-2.0
#include "refusal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rocesteer/types.h>

/* Bits of the fragment offset in the word with the flags */
#define FRAGMENT_OFFSET	0x1fff

/* Errors that are read before other work is done */
#define BATCH	64

/* Copy a header from @at on, which moves behind it. Return: false at the end of the data. */
static bool take(const __u8 *data, size_t len, size_t *at, void *header, size_t size)
{
	if (len < size || *at > len - size)
		return false;
	memcpy(header, data + *at, size);
	*at += size;
	return true;
}

static bool take_udp(const __u8 *data, size_t len, size_t at, struct refusal *refusal)
{
	struct udphdr udp;

	if (!take(data, len, &at, &udp, sizeof(udp)) || udp.dest != htons(ROCESTEER_ROCE_PORT))
		return false;
	refusal->sport = udp.source;
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

/* The host itself refuses a protocol or a port. */
bool refusal_read_v4(const __u8 *data, size_t len, struct refusal *refusal)
{
	struct icmphdr icmp;
	struct iphdr ip;
	size_t at = 0;

	if (!take_ip(data, len, &at, &ip) || !take(data, len, &at, &icmp, sizeof(icmp)) ||
	    icmp.type != ICMP_DEST_UNREACH || icmp.code == ICMP_PROT_UNREACH ||
	    icmp.code == ICMP_PORT_UNREACH || icmp.code == ICMP_FRAG_NEEDED ||
	    !take_ip(data, len, &at, &ip) || ip.protocol != IPPROTO_UDP ||
	    ip.frag_off & htons(FRAGMENT_OFFSET))
		return false;
	put_v4(refusal->source, ip.saddr);
	put_v4(refusal->peer, ip.daddr);
	return take_udp(data, len, at, refusal);
}

bool refusal_read_v6(const __u8 *data, size_t len, struct refusal *refusal)
{
	struct icmp6hdr icmp;
	struct ipv6hdr ip;
	size_t at = 0;

	if (!take(data, len, &at, &icmp, sizeof(icmp)) || icmp.icmp6_type != ICMPV6_DEST_UNREACH ||
	    icmp.icmp6_code == ICMPV6_PORT_UNREACH ||
	    !take(data, len, &at, &ip, sizeof(ip)) || ip.nexthdr != IPPROTO_UDP)
		return false;
	memcpy(refusal->source, &ip.saddr, 16);
	memcpy(refusal->peer, &ip.daddr, 16);
	return take_udp(data, len, at, refusal);
}

static void read_all(struct refusals *refusals, const struct source *from)
{
	struct refusal refusal;
	__u8 data[256];
	ssize_t len;
	int i;

	for (i = 0; i < BATCH; i++) {
		len = recv(from->fd, data, sizeof(data), MSG_DONTWAIT);
		if (len < 0)
			return;
		if (from == &refusals->v4 ? refusal_read_v4(data, len, &refusal) :
					    refusal_read_v6(data, len, &refusal))
			refusals->heard(&refusal, refusals->arg);
	}
}

static int v4_ready(void *arg)
{
	struct refusals *refusals = arg;

	read_all(refusals, &refusals->v4);
	return 0;
}

static int v6_ready(void *arg)
{
	struct refusals *refusals = arg;

	read_all(refusals, &refusals->v6);
	return 0;
}

/* Other ICMP packets do not wake the process. */
static int open_socket(bool v4)
{
	struct icmp_filter only = { .data = ~(1u << ICMP_DEST_UNREACH) };	/* dropped */
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			v4 ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
	struct icmp6_filter only6;
	int ret;

	if (fd < 0)
		return -errno;
	memset(&only6, 0xff, sizeof(only6));
	only6.data[0] &= ~(1u << ICMPV6_DEST_UNREACH);
	ret = v4 ? setsockopt(fd, SOL_RAW, ICMP_FILTER, &only, sizeof(only)) :
		   setsockopt(fd, SOL_ICMPV6, ICMPV6_FILTER, &only6, sizeof(only6));
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int refusals_open(struct refusals *refusals)
{
	int ret;

	refusals->v6 = (struct source) { .fd = open_socket(false), .ready = v6_ready,
					 .arg = refusals };
	refusals->v4 = (struct source) { .fd = open_socket(true), .ready = v4_ready,
					 .arg = refusals };
	if (refusals->v4.fd < 0)
		return refusals->v4.fd;
	ret = loop_add(refusals->loop, &refusals->v4);
	if (ret || refusals->v6.fd == -EAFNOSUPPORT)	/* a kernel without IPv6 */
		return ret;
	return refusals->v6.fd < 0 ? refusals->v6.fd : loop_add(refusals->loop, &refusals->v6);
}

static void close_source(struct refusals *refusals, struct source *source)
{
	if (source->fd < 0)
		return;
	loop_remove(refusals->loop, source);
	close(source->fd);
}

void refusals_close(struct refusals *refusals)
{
	if (!refusals->loop)
		return;
	close_source(refusals, &refusals->v4);
	close_source(refusals, &refusals->v6);
}
