/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From an Ethernet frame to the RoCE v2 packet in it. Bytes of a packet that is not
 * ours stay as they are; its headers may be made linear, which unshares them, and
 * skb->cb is written to.
 */
#ifndef PARSE_BPF_H
#define PARSE_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"

/* A step that is not a verdict: go on. */
#define FURTHER		(-1)

/* Tags inside the frame; the outermost one is mostly in skb->vlan_tci. */
#define VLAN_DEPTH	2

/* Where the UDP header can begin at most: two tags, fifteen words of IPv4. */
#define HEADERS_MAX	(ETH_HLEN + VLAN_DEPTH * 4 + 60)

/* The longest frame that holds a RoCE v2 packet. */
#define FRAME_MAX	(HEADERS_MAX + ROCESTEER_MAX_UDP_LEN)

#define IP_FRAGMENT	0x3fff	/* More Fragments, or an offset */

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

/**
 * struct packet - what the programs want to know of a RoCE v2 packet
 * @key: its flow, as seen from the sender; of a packet that was received the
 *	local queue pair and the sender's address
 * @l3_off: offset of the IP header in the frame
 * @l4_off: of the UDP header
 * @l4_end: offset behind the IP payload
 * @udp_len: length of the UDP datagram, header to ICRC; a multiple of 4
 * @psn: packet sequence number
 * @sport: UDP source port
 * @restores: received from one who restores the order of what he receives, and says
 *	so: in an acknowledgment, or a READ request
 * @opcode: BTH opcode
 * @syndrome: first byte of the AETH, or of whatever follows the BTH
 */
struct packet {
	struct rocesteer_flow_key key;
	__u32 l3_off;
	__u32 l4_off;
	__u32 l4_end;
	__u32 udp_len;
	__u32 psn;
	__be16 sport;
	bool restores;
	__u8 opcode;
	__u8 syndrome;
};

/*
 * A number through the context, from where it comes back as one that the
 * verifier knows nothing of: to it what follows looks the same for every kind
 * of header, and is verified once.
 */
static __always_inline __u32 forget_range(struct __sk_buff *skb, __u32 number)
{
	volatile __u32 *cb = skb->cb;

	*cb = number;
	return *cb;
}

/* The @len bytes at @off, or NULL if the packet ends before. */
static __always_inline void *header(struct __sk_buff *skb, __u32 off, __u32 len)
{
	void *data;

	barrier_var(off);	/* or clang drops what the verifier asks for */
	if (off > HEADERS_MAX)
		return NULL;
	data = (void *)(long)skb->data;
	if (data + off + len <= (void *)(long)skb->data_end)
		return data + off;
	if (bpf_skb_pull_data(skb, off + len))
		return NULL;
	data = (void *)(long)skb->data;
	if (data + off + len > (void *)(long)skb->data_end)
		return NULL;
	return data + off;
}

/* IPv4, options included. Sets the peer and where the UDP datagram lies. */
static __always_inline int parse_ipv4(struct __sk_buff *skb, __u32 off,
				      struct packet *pkt, bool received)
{
	struct iphdr *ip = header(skb, off, sizeof(*ip));

	if (!ip || ip->version != 4 || ip->ihl < 5 ||
	    ip->protocol != IPPROTO_UDP)
		return ROCESTEER_FOREIGN;
	if (ip->frag_off & bpf_htons(IP_FRAGMENT))
		return ROCESTEER_FRAGMENT;
	pkt->l4_off = off + ip->ihl * 4;
	pkt->l4_end = off + bpf_ntohs(ip->tot_len);
	__builtin_memset(pkt->key.peer, 0, 10);
	__builtin_memset(pkt->key.peer + 10, 0xff, 2);
	__builtin_memcpy(pkt->key.peer + 12,
			 received ? &ip->saddr : &ip->daddr, 4);
	return FURTHER;
}

/*
 * Is it an IPv4 address in IPv6? As a flow's peer it stands for IPv4: a packet that has
 * it on the wire, where it has no place, would pass for one of an IPv4 flow.
 */
static __always_inline bool is_v4mapped(const struct in6_addr *addr)
{
	const __be32 *word = addr->in6_u.u6_addr32;

	return !(word[0] | word[1] | (word[2] ^ bpf_htonl(0xffff)));
}

/* IPv6. RoCE v2 puts UDP right behind it (annex A17.3.1). */
static __always_inline int parse_ipv6(struct __sk_buff *skb, __u32 off,
				      struct packet *pkt, bool received)
{
	struct ipv6hdr *ip = header(skb, off, sizeof(*ip));

	if (!ip || ip->version != 6)
		return ROCESTEER_FOREIGN;
	if (ip->nexthdr == IPPROTO_FRAGMENT)
		return ROCESTEER_FRAGMENT;
	if (ip->nexthdr != IPPROTO_UDP || is_v4mapped(&ip->saddr) ||
	    is_v4mapped(&ip->daddr))
		return ROCESTEER_FOREIGN;
	pkt->l4_off = off + sizeof(*ip);
	pkt->l4_end = pkt->l4_off + bpf_ntohs(ip->payload_len);
	__builtin_memcpy(pkt->key.peer, received ? &ip->saddr : &ip->daddr, 16);
	return FURTHER;
}

/* Ethernet and up to VLAN_DEPTH tags, then IP. */
static __always_inline int parse_l3(struct __sk_buff *skb, struct packet *pkt,
				    bool received)
{
	struct ethhdr *eth = header(skb, 0, sizeof(*eth));
	__u32 off = sizeof(*eth);
	__be16 proto;
	int i;

	if (!eth)
		return ROCESTEER_FOREIGN;
	proto = eth->h_proto;
	for (i = 0; i < VLAN_DEPTH; i++) {
		struct vlan_tag *tag;

		if (proto != bpf_htons(ETH_P_8021Q) &&
		    proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = header(skb, off, sizeof(*tag));
		if (!tag)
			return ROCESTEER_FOREIGN;
		proto = tag->proto;
		off += sizeof(*tag);
	}
	off = forget_range(skb, off);
	pkt->l3_off = off;
	if (proto == bpf_htons(ETH_P_IP))
		return parse_ipv4(skb, off, pkt, received);
	if (proto == bpf_htons(ETH_P_IPV6))
		return parse_ipv6(skb, off, pkt, received);
	return ROCESTEER_FOREIGN;
}

/* Parameters of the module; user space fills them in. See rocesteer/roce.h. */
const volatile __u32 rs_bth_paths = ROCESTEER_BTH_PATHS;
const volatile __u32 rs_bth_restores = ROCESTEER_BTH_RESTORES;

/* Does its sender say that he restores the order of what he receives? */
static __always_inline bool says_it_restores(const struct rocesteer_bth *bth)
{
	if (bth->opcode == ROCESTEER_OP_RC_READ)
		return bth->apsn & bpf_htonl(rs_bth_restores << ROCESTEER_BTH_SHIFT);
	return bth->opcode == ROCESTEER_OP_RC_ACK &&
	       !(~bth->dqpn & bpf_htonl(rs_bth_paths << ROCESTEER_BTH_SHIFT));
}

/**
 * parse_roce() - find the RoCE v2 packet in a frame
 * @skb: the frame
 * @pkt: filled in when FURTHER is returned
 * @received: it comes in
 *
 * UDP and BTH are read as one, which every RoCE v2 packet has.
 *
 * Return: FURTHER, or the verdict on a frame that is not RoCE v2.
 */
static __always_inline int parse_roce(struct __sk_buff *skb, struct packet *pkt,
				      bool received)
{
	struct {
		struct udphdr udp;
		struct rocesteer_bth bth;
		__u8 syndrome;
		__u8 payload[3];
	} *h;
	struct udphdr *udp;
	int verdict;

	verdict = parse_l3(skb, pkt, received);
	if (verdict != FURTHER)
		return verdict;
	pkt->l4_off = forget_range(skb, pkt->l4_off);
	pkt->l4_end = forget_range(skb, pkt->l4_end);
	udp = header(skb, pkt->l4_off, sizeof(*udp));
	if (!udp || udp->dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return ROCESTEER_FOREIGN;
	if (skb->gso_size)
		return ROCESTEER_GSO;
	pkt->udp_len = bpf_ntohs(udp->len);
	if (pkt->udp_len < ROCESTEER_MIN_UDP_LEN ||
	    pkt->udp_len > ROCESTEER_MAX_UDP_LEN || pkt->udp_len & 3 ||
	    pkt->l4_off + pkt->udp_len != pkt->l4_end ||
	    pkt->l4_end > skb->len)
		return ROCESTEER_MALFORMED;
	/* The ICRC stands where the syndrome would if there is none. */
	h = header(skb, pkt->l4_off, sizeof(*h));
	if (!h || h->bth.flags & ROCESTEER_BTH_TVER)
		return ROCESTEER_MALFORMED;
	pkt->udp_len = forget_range(skb, pkt->udp_len);
	pkt->key.ifindex = skb->ifindex;
	pkt->key.dqpn = bpf_ntohl(h->bth.dqpn) & ROCESTEER_QPN_MASK;
	pkt->psn = bpf_ntohl(h->bth.apsn) & ROCESTEER_PSN_MASK;
	pkt->sport = h->udp.source;
	pkt->opcode = h->bth.opcode;
	pkt->syndrome = h->syndrome;
	pkt->restores = received && says_it_restores(&h->bth);
	return FURTHER;
}

/* Is it of the transport service RC? */
static __always_inline bool is_rc(const struct packet *pkt)
{
	return (pkt->opcode & ROCESTEER_OP_SERVICE) == ROCESTEER_OP_RC;
}

/* Is it numbered by the peer: READ data, an acknowledgment? */
static __always_inline bool is_response(const struct packet *pkt)
{
	return pkt->opcode >= ROCESTEER_OP_RC_RESPONSE &&
	       pkt->opcode <= ROCESTEER_OP_RC_ATOMIC_ACK;
}

/* Is it only an acknowledgment? */
static __always_inline bool is_ack(const struct packet *pkt)
{
	return pkt->opcode == ROCESTEER_OP_RC_ACK ||
	       pkt->opcode == ROCESTEER_OP_RC_ATOMIC_ACK;
}

/* Is it one that acknowledges nothing, but asks for a packet? */
static __always_inline bool is_nak(const struct packet *pkt)
{
	return pkt->opcode == ROCESTEER_OP_RC_ACK &&
	       pkt->syndrome & ROCESTEER_AETH_TYPE;
}

#endif /* PARSE_BPF_H */
