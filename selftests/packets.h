/* SPDX-License-Identifier: GPL-2.0 */
/* RoCE v2 packets, valid ones and what mutations make of them: -lz. */
#ifndef PACKETS_H
#define PACKETS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <zlib.h>

#include "checksum.h"
#include "random.h"
#include "../include/rocesteer/roce.h"
#include "../include/rocesteer/types.h"

#define PACKET_MAX	3400	/* bytes that are made */
#ifndef PACKET_ROOM
#define PACKET_ROOM	4096	/* bytes that mutations may make of them, and 128 */
#endif
#define PACKET_HEADERS	120	/* at most so many are before the payload */

struct packet {
	size_t len;
	__u8 data[PACKET_ROOM];
};

/**
 * struct packet_world - between whom packets are
 * @mac: destination and source
 * @v4: source and destination
 * @v6: likewise
 * @qpn: destination queue pairs are this one and those behind it
 * @qpns: how many
 * @psn: PSNs are around this one, in a window of 512
 * @paths: packets say that they are dealt to several paths
 * @room: bytes of a packet, at most PACKET_MAX
 * @tagged: frames have the tag of VLAN 7, and no other; else some have some
 * @responses: packets have opcodes of responses only
 */
struct packet_world {
	__u8 mac[12];
	__u8 v4[2][4];
	__u8 v6[2][16];
	__u32 qpn;
	__u32 qpns;
	__u32 psn;
	bool paths;
	size_t room;
	bool tagged;
	bool responses;
};

/* Where the headers of a packet are, and the length of its UDP datagram. */
struct packet_layout {
	bool v6;
	size_t l3, l4, len;
};

/* Find the headers of a packet that may be RoCE v2. Return: whether that can be. */
static inline bool packet_layout(const struct packet *p, struct packet_layout *l)
{
	const __u8 *proto = p->data + 12;
	int tags;

	for (tags = 0; tags < 2 && ((proto[0] == 0x81 && !proto[1]) ||
				    (proto[0] == 0x88 && proto[1] == 0xa8)); tags++)
		proto += 4;
	l->l3 = proto + 2 - p->data;
	l->v6 = proto[0] == 0x86;
	l->l4 = l->l3 + (l->v6 ? 40 : (p->data[l->l3] & 15) * 4);
	if (l->l4 + sizeof(struct udphdr) > p->len)
		return false;
	l->len = p->data[l->l4 + 4] << 8 | p->data[l->l4 + 5];
	return l->len >= ROCESTEER_MIN_UDP_LEN && l->l4 + l->len <= p->len;
}

/* The ICRC as the IB spec has it, from the whole packet: annex A17.3.3. */
static inline __u32 packet_icrc(const struct packet *p, const struct packet_layout *l)
{
	static __u8 text[8 + sizeof(p->data)];
	__u8 *ip = text + 8, *udp = ip + (l->l4 - l->l3);
	size_t len = l->l4 - l->l3 + l->len - ROCESTEER_ICRC_SIZE;

	memset(text, 0xff, 8);
	memcpy(ip, p->data + l->l3, len);
	if (l->v6) {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;
	} else {
		ip[1] = 0xff;
		ip[8] = 0xff;
		ip[10] = 0xff;
		ip[11] = 0xff;
	}
	udp[6] = 0xff;
	udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return crc32(0, text, 8 + len);
}

/* Give an IPv4 header the checksum that it has to have. */
static inline void packet_fix_ipv4(struct packet *p)
{
	struct packet_layout l;
	__u32 sum;
	__u8 *ip;

	packet_layout(p, &l);
	ip = p->data + l.l3;
	if (l.v6 || l.l4 > p->len || l.l4 < l.l3 + 20)
		return;
	ip[10] = 0;
	ip[11] = 0;
	sum = ~checksum_add(0, ip, l.l4 - l.l3);
	ip[10] = sum >> 8;
	ip[11] = sum;
}

static inline void packet_append(struct packet *p, const void *data, size_t len)
{
	memcpy(p->data + p->len, data, len);
	p->len += len;
}

/* An address of IPv4 as it has no place in IPv6. */
static inline void packet_map(__u8 *addr, const __u8 *v4)
{
	memset(addr, 0, 10);
	memset(addr + 10, 0xff, 2);
	memcpy(addr + 12, v4, 4);
}

static inline void packet_append_ip(struct packet *p, const struct packet_world *w,
				    bool v6, size_t udp_len)
{
	static const __u32 no_operation[10] = { [0 ... 9] = 0x01010101 };
	__u8 words = random_below(4) ? 0 : random_below(11);
	struct ipv6hdr ip6 = {
		.version = 6, .priority = random_below(16), .hop_limit = 64,
		.nexthdr = IPPROTO_UDP, .payload_len = htons(udp_len),
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5 + words, .tos = random_below(256), .ttl = 64,
		.protocol = IPPROTO_UDP, .id = htons(random_below(65536)),
		.tot_len = htons(20 + words * 4 + udp_len),
	};

	if (v6) {
		memcpy(&ip6.saddr, w->v6[0], 16);
		memcpy(&ip6.daddr, w->v6[1], 16);
		if (!random_below(8))
			packet_map((__u8 *)&ip6.saddr, w->v4[0]);
		if (!random_below(8))
			packet_map((__u8 *)&ip6.daddr, w->v4[1]);
		packet_append(p, &ip6, sizeof(ip6));
	} else {
		memcpy(&ip.saddr, w->v4[0], 4);
		memcpy(&ip.daddr, w->v4[1], 4);
		packet_append(p, &ip, sizeof(ip));
		packet_append(p, no_operation, words * 4);
	}
}

/* A valid packet, its ICRC included, but for an address and a checksum now and then. */
static inline void packet_make(struct packet *p, const struct packet_world *w)
{
	bool v6 = random_below(5) < 2;
	__u32 tags = w->tagged ? 1 : random_below(8) ? 0 : 1 + random_below(2);
	size_t payload = 4 * (random_below(16) ? random_below(17) : random_below(w->room / 4 - 40));
	struct udphdr udp = {
		.source = htons(0xd000 + random_below(4096)),
		.dest = htons(ROCESTEER_ROCE_PORT),
		.check = random_below(4) ? 0 : 1 + random_below(0xffff),
	};
	struct rocesteer_bth bth = {
		.opcode = w->responses ? ROCESTEER_OP_RC_RESPONSE + random_below(6) :
					 random_below(0x20),
		.flags = random_below(4) << 6,
		.pkey = 0xffff,
		.dqpn = htonl((w->paths ? random_below(4) << 24 : 0) |
			      (w->qpn + random_below(w->qpns))),
		.apsn = htonl(random_below(2) << 31 | (w->psn + random_below(512))),
	};
	struct packet_layout l = {};
	__u32 i, word;

	p->len = 0;
	packet_append(p, w->mac, sizeof(w->mac));
	udp.len = htons(sizeof(udp) + sizeof(bth) + payload + sizeof(word));
	for (i = 0; i < tags; i++)
		packet_append(p, w->tagged || random_below(2) ?
			      "\x81\x00\x00\x07" : "\x88\xa8\x00\x07", 4);
	packet_append(p, v6 ? "\x86\xdd" : "\x08\x00", 2);
	packet_append_ip(p, w, v6, ntohs(udp.len));
	packet_append(p, &udp, sizeof(udp));
	packet_append(p, &bth, sizeof(bth));
	memset(p->data + p->len, random_below(256), payload);
	p->len += payload + sizeof(word);
	packet_layout(p, &l);
	word = packet_icrc(p, &l);
	memcpy(p->data + p->len - sizeof(word), &word, sizeof(word));
}

/* Bytes, lengths, tags, fragments, options, addresses, whatever they may be. */
static inline void packet_mutate(struct packet *p)
{
	size_t head = p->len < PACKET_HEADERS ? p->len : PACKET_HEADERS;
	struct packet_layout l = {};
	__u8 *at;

	packet_layout(p, &l);
	switch (random_below(12)) {
	case 0:
		p->data[random_below(head)] ^= 1 << random_below(8);
		break;
	case 1:
		p->data[random_below(head)] = random_below(256);
		break;
	case 2:
		p->data[random_below(p->len)] = random_below(256);
		break;
	case 3:		/* truncated */
		p->len = ETH_HLEN + random_below(p->len - ETH_HLEN + 1);
		break;
	case 4:		/* padded */
		p->len += random_below(64);
		break;
	case 5:		/* UDP length */
		p->data[l.l4 + 4 + random_below(2)] += random_below(16) - 8;
		break;
	case 6:		/* IP length */
		p->data[l.l3 + (l.v6 ? 4 : 2) + random_below(2)] += random_below(16) - 8;
		break;
	case 7:		/* a fragment */
		if (l.v6)
			p->data[l.l3 + 6] = 44;
		else
			p->data[l.l3 + 6 + random_below(2)] = random_below(256);
		break;
	case 8:		/* IHL or version */
		p->data[l.l3] = random_below(256);
		break;
	case 9:		/* half of an IPv4 address in IPv6 */
		at = p->data + l.l3 + (random_below(2) ? 8 : 24);
		memset(at, 0, 10);
		memset(at + 10, 0xff, 2);
		break;
	case 10:	/* another opcode, QPN or PSN */
		p->data[l.l4 + 8] = random_below(256);
		p->data[l.l4 + 8 + 5 + random_below(7)] = random_below(256);
		break;
	case 11:	/* the type of what follows a tag, or of the frame */
		memcpy(p->data + 12, random_below(2) ? "\x81\x00" : "\x86\xdd", 2);
		break;
	}
	if (p->len > sizeof(p->data) - 128)
		p->len = sizeof(p->data) - 128;
}

#endif /* PACKETS_H */
