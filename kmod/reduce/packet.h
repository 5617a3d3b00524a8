/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_PACKET_H
#define REDUCE_PACKET_H

#include <linux/build_bug.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>

#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "net.h"
#include "slot.h"

/* Virtual queue pair numbers: these bits, 14 bits of the group, the kind, 6 bits of the rank. */
#define REDUCE_VIRTUAL		ROCESTEER_QPN_REDUCE
#define REDUCE_GROUP_SHIFT	8
#define REDUCE_GROUP_MASK	0x3fffu
#define REDUCE_KIND_MASK	0xc0u
#define REDUCE_RANK_MASK	0x3fu

static_assert(REDUCE_MAX_RANKS - 1 == REDUCE_RANK_MASK);

/*
 * The kind of payload. A host sends inputs, a leaf sends parts up, the root sends results
 * down. So if a switch is missing, an input is not summed as a part, and a part is not taken
 * for a result. To a box beside the switches the receiver of results sends answers, with the
 * rank of the sender that they are for.
 */
#define REDUCE_INPUT		0x00u
#define REDUCE_PART		0x40u
#define REDUCE_RESULT		0x80u
#define REDUCE_ANSWER		0xc0u

/**
 * struct reduce_to - where a packet goes
 * @qpn: queue pair number of the receiver, or a virtual one
 * @source: new source address; NULL: the packet keeps its addresses
 * @destination: new destination address, unless @source is NULL
 *
 * Addresses are IPv4-mapped for IPv4, and of the packet's family.
 */
struct reduce_to {
	u32 qpn;
	const struct in6_addr *source;
	const struct in6_addr *destination;
};

/**
 * struct reduce_packet - a parsed packet to a virtual queue pair number
 * @source: address, IPv4-mapped for IPv4
 * @destination: address, IPv4-mapped for IPv4
 * @va: virtual address in the RETH
 * @has_reth: the packet has a RETH
 * @psn: packet sequence number
 * @behind_bth: bytes between BTH and ICRC
 * @shape: shape without the offset
 */
struct reduce_packet {
	struct in6_addr source;
	struct in6_addr destination;
	u64 va;
	bool has_reth;
	u32 psn;
	u32 behind_bth;
	struct reduce_shape shape;
};

/*
 * The virtual queue pair number of a packet with its network header at skb->data, or 0 for all
 * other packets
 */
u32 reduce_packet_virtual(const struct sk_buff *skb);

struct reduce_headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
};

static inline bool reduce_headers_maybe_virtual(const struct reduce_headers *h)
{
	return h->udp.dest == htons(ROCESTEER_ROCE_PORT) &&
	       !(~h->bth.dqpn & htonl(REDUCE_VIRTUAL));
}

/*
 * A quick test for packets to virtual numbers, called for each packet of a switch: only reads
 * headers at their usual offsets. Return: true also if only reduce_packet_virtual() can tell.
 */
static inline bool reduce_packet_maybe_virtual(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = (void *)skb->data;
	const struct iphdr *ip = (void *)skb->data;

	if (skb->protocol == htons(ETH_P_IP))
		return skb_headlen(skb) < sizeof(*ip) + sizeof(struct reduce_headers) ||
		       ip->ihl != 5 || ip->frag_off & htons(IP_OFFSET) ||
		       (ip->protocol == IPPROTO_UDP &&
			reduce_headers_maybe_virtual((void *)(ip + 1)));
	if (skb->protocol == htons(ETH_P_IPV6))
		return skb_headlen(skb) < sizeof(*ip6) + sizeof(struct reduce_headers) ||
		       (ip6->nexthdr != IPPROTO_TCP &&
			(ip6->nexthdr != IPPROTO_UDP ||
			 reduce_headers_maybe_virtual((void *)(ip6 + 1))));
	return false;
}

/*
 * Parse a packet, which becomes writable and linear: a WRITE or, for @answer, an acknowledgment,
 * also a negative one, or a CNP. Accepts only consistent lengths. Return: 0, or the
 * ROCESTEER_REDUCE_A_STATS_* that counts the refusal.
 */
int reduce_packet_read(struct sk_buff *skb, bool answer, struct reduce_packet *packet);

/* Is the ICRC of a parsed packet correct? */
bool reduce_packet_icrc_is_right(const struct sk_buff *skb, const struct reduce_packet *packet);

/* The BTH of a parsed packet */
struct rocesteer_bth *reduce_packet_bth(const struct sk_buff *skb);

/* The payload of a parsed packet */
void *reduce_packet_payload(const struct sk_buff *skb);

/* Readdress a parsed packet. */
void reduce_packet_readdress(struct sk_buff *skb, const struct reduce_to *to);

/*
 * Readdress a parsed packet, and replace its payload of @length bytes by @sum, padded with zeros,
 * whose reduce_packet_crc() is @crc; request an acknowledgment if @ack.
 */
void reduce_packet_finish(struct sk_buff *skb, const struct reduce_to *to, bool ack,
			  const void *sum, u32 length, u32 crc);

/* CRC of a payload, for reduce_packet_finish() */
u32 reduce_packet_crc(const void *sum, u32 length);

/*
 * Allocate a WRITE of no bytes with a PSN that is far ahead of the one expected, by a parsed packet
 * of the connection. Return: NULL without memory.
 */
struct sk_buff *reduce_packet_nudge(const struct sk_buff *skb, const struct reduce_to *to,
				    u32 psn);

void reduce_packet_init(void);

#endif /* REDUCE_PACKET_H */
