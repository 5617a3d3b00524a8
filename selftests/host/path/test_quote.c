// SPDX-License-Identifier: GPL-2.0
/* ICMP errors as raw sockets deliver them, cut and changed. */
#include <string.h>
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rocesteer/types.h>

#include "discover/quote.h"
#include "../../ktap.h"

static struct {
	struct iphdr ip;
	struct icmphdr icmp;
	struct iphdr quoted;
	struct udphdr udp;
} v4;

static struct {
	struct icmp6hdr icmp;
	struct ipv6hdr quoted;
	struct udphdr udp;
} v6;

static struct quote refusal;

static void fill(void)
{
	memset(&v4, 0, sizeof(v4));
	v4.ip.ihl = 5;
	v4.icmp.type = ICMP_DEST_UNREACH;
	v4.quoted.ihl = 5;
	v4.quoted.protocol = IPPROTO_UDP;
	v4.quoted.saddr = htonl(0x0a010001);
	v4.quoted.daddr = htonl(0x0a010101);
	v4.udp.source = htons(50000);
	v4.udp.dest = htons(ROCESTEER_ROCE_PORT);
	memset(&v6, 0, sizeof(v6));
	v6.icmp.icmp6_type = ICMPV6_DEST_UNREACH;
	v6.quoted.nexthdr = IPPROTO_UDP;
	v6.quoted.saddr.s6_addr[15] = 1;
	v6.quoted.daddr.s6_addr[15] = 2;
	v6.udp = v4.udp;
}

static bool read_v4(size_t len)
{
	return quote_read_v4((const __u8 *)&v4, len, &refusal);
}

static bool read_v6(size_t len)
{
	return quote_read_v6((const __u8 *)&v6, len, &refusal);
}

static bool is_read(void)
{
	static const __u8 mapped[] = { 0xff, 0xff, 10, 1, 1, 1 };

	fill();
	return read_v4(sizeof(v4)) && refusal.sport == htons(50000) &&
	       !memcmp(refusal.peer + 10, mapped, 6) && refusal.source[15] == 1 &&
	       read_v6(sizeof(v6)) && refusal.sport == htons(50000) &&
	       refusal.source[15] == 1 && refusal.peer[15] == 2;
}

/* The buffer ends where the data do, for the sanitizer. */
static bool is_cut(void)
{
	bool taken = false;
	size_t len;

	fill();
	for (len = 0; len < sizeof(v4); len++) {
		__u8 data[len ?: 1];

		memcpy(data, &v4, len);
		taken |= quote_read_v4(data, len, &refusal);
		if (len < sizeof(v6)) {
			memcpy(data, &v6, len);
			taken |= quote_read_v6(data, len, &refusal);
		}
	}
	return !taken;
}

static bool other_codes(void)
{
	bool taken;

	fill();
	v4.icmp.code = ICMP_PORT_UNREACH;
	v6.icmp.icmp6_code = ICMPV6_PORT_UNREACH;
	taken = read_v4(sizeof(v4)) || read_v6(sizeof(v6));
	v4.icmp.code = ICMP_FRAG_NEEDED;
	return !taken && !read_v4(sizeof(v4));
}

static bool other_packets(void)
{
	bool taken;

	fill();
	v4.udp.dest = htons(53);
	v6.udp.dest = htons(53);
	taken = read_v4(sizeof(v4)) || read_v6(sizeof(v6));
	fill();
	v4.quoted.protocol = IPPROTO_TCP;
	v6.quoted.nexthdr = IPPROTO_FRAGMENT;
	taken |= read_v4(sizeof(v4)) || read_v6(sizeof(v6));
	fill();
	v4.quoted.frag_off = htons(8);
	taken |= read_v4(sizeof(v4));
	fill();
	v4.ip.ihl = 15;
	taken |= read_v4(sizeof(v4));
	v4.ip.ihl = 4;
	return !taken && !read_v4(sizeof(v4));
}

int main(void)
{
	ktap_begin();
	ktap_result(is_read(), "the addresses and the port of a refused packet are read");
	ktap_result(is_cut(), "an error that is cut is not read");
	ktap_result(other_codes(), "an error of the peer itself is no refusal");
	ktap_result(other_packets(), "an error about packets other than RoCE v2 is no refusal");
	return ktap_end();
}
