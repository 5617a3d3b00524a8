/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From an Ethernet frame to the RoCE v2 packet in it. The bytes of a packet stay as
 * they are. Its headers may be made linear, which unshares them.
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
#include "rocesteer/stats.h"

/* Tags inside the frame; the outermost one is mostly in skb->vlan_tci. */
#define VLAN_DEPTH	2

/* Where the UDP header can begin at most: two tags, fifteen words of IPv4. */
#define HEADERS_MAX	(ETH_HLEN + VLAN_DEPTH * 4 + 60)

/* The longest frame that holds a RoCE v2 packet. */
#define FRAME_MAX	(HEADERS_MAX + ROCESTEER_MAX_UDP_LEN)

#define RC_OPCODES	32

/* Opcodes that answer the peer, as bits. */
#define OPS_RESPONSE	(2u * (1u << ROCESTEER_OP_RC_ATOMIC_ACK) - \
				 (1u << ROCESTEER_OP_RC_RESPONSE))

#define IP_FRAGMENT	0x3fff	/* More Fragments, or an offset */
#define IPV4_PLAIN	0x45	/* version 4, a header of five words: no options */

/* Clang does not see that the addresses in our structures are aligned. */
static __always_inline void copy_addr(__u8 *to, const __u8 *from)
{
	__builtin_memcpy(__builtin_assume_aligned(to, 4),
			 __builtin_assume_aligned(from, 4), 16);
}

static __always_inline bool same_addr(const __u8 *a, const __u8 *b)
{
	const __u32 *x = __builtin_assume_aligned(a, 4), *y = __builtin_assume_aligned(b, 4);

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]));
}

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

/* An address of this host, as global functions take one */
struct source {
	__u8 addr[16];
};

/**
 * struct packet - fields of a RoCE v2 packet that the programs read
 * @key: its flow, as seen from the sender; of a packet that was received the
 *	local queue pair and the sender's address
 * @source: our address
 * @l3_off: offset of the IP header in the frame
 * @l4_off: offset of the UDP header
 * @udp_len: length of the UDP datagram, header to ICRC; a multiple of 4
 * @psn: packet sequence number
 * @sport: UDP source port
 * @reseq: received, and says that its sender resequences what the sender receives
 * @late: received, and says that a packet was late: 1 + how many PSNs before @psn; else 0
 * @opcode: BTH opcode
 * @syndrome: first byte of the AETH, or of whatever follows the BTH
 */
struct packet {
	struct rocesteer_flow_key key;
	struct source source;
	__u32 l3_off;
	__u32 l4_off;
	__u32 udp_len;
	__u32 psn;
	__be16 sport;
	bool reseq;
	__u8 late;
	__u8 opcode;
	__u8 syndrome;
};

/* Every RoCE v2 packet begins with these bytes behind IP. */
struct roce_headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
	/* The ICRC stands where the syndrome would if there is none. */
	__u8 syndrome;
	__u8 payload[3];
};

/* A linear frame of IPv4 without tags and options, as most are, behind Ethernet. */
struct plain_frame {
	struct iphdr ip;
	struct roce_headers roce;
};

/*
 * Results of a step that are no verdicts, which are 0 or more.
 *
 * CONTINUE: go on. NO_IP, NO_BTH: the linear part ends before the IP header, or the BTH.
 * GO_NEW_FLOW, GO_SLOW: rocesteer_new_flow, or rocesteer_slow, goes on. JOBLESS: the flow is
 * of no job.
 */
enum step {
	CONTINUE = -1,
	NO_IP = -2,
	NO_BTH = -3,
	GO_NEW_FLOW = -4,
	GO_SLOW = -5,
	JOBLESS = -6,
};

/* The result of a step, where few packets get: else clang sets it in the way of all others. */
static __always_inline int rarely(int result)
{
	asm volatile("" : "+r"(result));
	return result;
}

/* The @len bytes at @off, or NULL if the linear part ends before. */
static __always_inline void *header(struct __sk_buff *skb, __u32 off, __u32 len)
{
	void *data = (void *)(long)skb->data;

	barrier_var(off);	/* or clang drops what the verifier asks for */
	if (off > HEADERS_MAX || data + off + len > (void *)(long)skb->data_end)
		return NULL;
	return data + off;
}

/* An IPv4 address; @to is aligned to 4 bytes. */
static __always_inline void set_addr(__u8 *to, __be32 addr)
{
	__be32 *word = __builtin_assume_aligned(to, 4);

	word[0] = 0;
	word[1] = 0;
	word[2] = bpf_htonl(0xffff);
	word[3] = addr;
}

static __always_inline void set_queue_pair(struct rocesteer_flow_key *key,
					   const struct __sk_buff *skb,
					   const struct rocesteer_bth *bth)
{
	key->ifindex = skb->ifindex;
	key->dqpn = bpf_ntohl(bth->dqpn) & ROCESTEER_QPN_MASK;
}

/*
 * IPv4, options included. Sets peer, source, and where the UDP datagram lies; @udp_len is
 * what IP says of its length.
 */
static __always_inline int parse_ipv4(struct __sk_buff *skb, __u32 off,
				      struct packet *pkt, bool received)
{
	struct iphdr *ip = header(skb, off, sizeof(*ip));

	if (!ip)
		return NO_IP;
	if (ip->version != 4 || ip->ihl < 5 ||
	    ip->protocol != IPPROTO_UDP)
		return ROCESTEER_VERDICT_FOREIGN;
	if (ip->frag_off & bpf_htons(IP_FRAGMENT))
		return ROCESTEER_VERDICT_FRAGMENT;
	pkt->l4_off = off + ip->ihl * 4;
	pkt->udp_len = bpf_ntohs(ip->tot_len) - ip->ihl * 4;
	set_addr(pkt->key.peer, received ? ip->saddr : ip->daddr);
	set_addr(pkt->source.addr, received ? ip->daddr : ip->saddr);
	return CONTINUE;
}

/*
 * Return: whether the address is an IPv4 address in IPv6. As a flow's peer such an address
 * stands for IPv4: a packet with the address on the wire, where it has no place, would pass
 * for one of an IPv4 flow.
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

	if (!ip)
		return NO_IP;
	if (ip->version != 6)
		return ROCESTEER_VERDICT_FOREIGN;
	if (ip->nexthdr == IPPROTO_FRAGMENT)
		return ROCESTEER_VERDICT_FRAGMENT;
	if (ip->nexthdr != IPPROTO_UDP || is_v4mapped(&ip->saddr) ||
	    is_v4mapped(&ip->daddr))
		return ROCESTEER_VERDICT_FOREIGN;
	pkt->l4_off = off + sizeof(*ip);
	pkt->udp_len = bpf_ntohs(ip->payload_len);
	copy_addr(pkt->key.peer, (const __u8 *)(received ? &ip->saddr : &ip->daddr));
	copy_addr(pkt->source.addr, (const __u8 *)(received ? &ip->daddr : &ip->saddr));
	return CONTINUE;
}

/* Parameters of the module; user space fills them in. See rocesteer/roce.h. */
const volatile __u32 rs_bth_paths = ROCESTEER_BTH_PATHS;
const volatile __u32 rs_bth_reseq = ROCESTEER_BTH_RESEQ;

/* Set what the sender says of the order of the packets that it receives. */
static __always_inline void read_order(struct packet *pkt, const struct rocesteer_bth *bth)
{
	__u32 bits = bpf_ntohl(bth->dqpn) >> ROCESTEER_BTH_SHIFT & rs_bth_paths, value;

	pkt->reseq = false;
	pkt->late = 0;
	if (bth->opcode == ROCESTEER_OP_RC_READ)
		pkt->reseq = bth->apsn & bpf_htonl(rs_bth_reseq << ROCESTEER_BTH_SHIFT);
	if (bth->opcode != ROCESTEER_OP_RC_ACK)
		return;
	value = rocesteer_bth_paths_most(rs_bth_paths) * bits / rs_bth_paths;
	pkt->reseq = value & 1 && value > rocesteer_bth_paths_most(rs_bth_paths) / 2;
	pkt->late = pkt->reseq ? rocesteer_bth_read_late(rs_bth_paths, value) : 0;
}

/* Check whether a datagram to the RoCE port is RoCE v2. @udp_len is its length by IP. */
static __always_inline int check_udp(const struct __sk_buff *skb, const struct roce_headers *h,
				     __u32 l4_off, __u32 udp_len)
{
	if (udp_len - ROCESTEER_MIN_UDP_LEN >
	    ROCESTEER_MAX_UDP_LEN - ROCESTEER_MIN_UDP_LEN ||
	    udp_len & 3 || udp_len != bpf_ntohs(h->udp.len) ||
	    l4_off + udp_len > skb->len || h->bth.flags & ROCESTEER_BTH_TVER)
		return ROCESTEER_VERDICT_MALFORMED;
	return CONTINUE;
}

static __always_inline __u32 read_psn(const struct roce_headers *h)
{
	return bpf_ntohl(h->bth.apsn) & ROCESTEER_PSN_MASK;
}

static __always_inline void read_roce(struct packet *pkt, const struct roce_headers *h,
				      bool received)
{
	pkt->psn = read_psn(h);
	pkt->sport = h->udp.source;
	pkt->opcode = h->bth.opcode;
	pkt->syndrome = h->syndrome;
	if (received)
		read_order(pkt, &h->bth);
}

#define PLAIN_L4_OFF	(ETH_HLEN + sizeof(struct iphdr))

static __always_inline __u32 plain_udp_len(const struct plain_frame *frame)
{
	return bpf_ntohs(frame->ip.tot_len) - sizeof(frame->ip);
}

/**
 * find_plain() - find the RoCE v2 packet in a frame as most are
 * @skb: the frame
 * @verdict: CONTINUE where parse_any() has to tell what NULL means; else the verdict
 *
 * Return: the frame, or NULL.
 */
static __always_inline const struct plain_frame *find_plain(const struct __sk_buff *skb,
							    int *verdict)
{
	__be16 *mac = (void *)(long)skb->data, *proto = mac + 2 * ETH_ALEN / 2;
	struct plain_frame *frame = (void *)(proto + 1);

	*verdict = CONTINUE;
	if ((void *)(frame + 1) > (void *)(long)skb->data_end ||
	    *proto != bpf_htons(ETH_P_IP) || *(__u8 *)frame != IPV4_PLAIN)
		return NULL;
	*verdict = ROCESTEER_VERDICT_FOREIGN;
	if (frame->ip.protocol != IPPROTO_UDP)
		return NULL;
	*verdict = CONTINUE;
	if (frame->ip.frag_off & bpf_htons(IP_FRAGMENT))
		return NULL;
	*verdict = ROCESTEER_VERDICT_FOREIGN;
	if (frame->roce.udp.dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return NULL;
	*verdict = CONTINUE;
	if (skb->gso_size ||
	    check_udp(skb, &frame->roce, PLAIN_L4_OFF, plain_udp_len(frame)) != CONTINUE)
		return NULL;
	return frame;
}

/* The packet in a plain frame without its flow and source. */
static __always_inline void read_plain(struct packet *pkt, const struct plain_frame *frame,
				       bool received)
{
	pkt->l3_off = ETH_HLEN;
	pkt->l4_off = PLAIN_L4_OFF;
	pkt->udp_len = plain_udp_len(frame);
	read_roce(pkt, &frame->roce, received);
}

/* The flow of the packet in a plain frame. */
static __always_inline void plain_key(struct rocesteer_flow_key *key,
				      const struct __sk_buff *skb,
				      const struct plain_frame *frame, bool received)
{
	set_queue_pair(key, skb, &frame->roce.bth);
	set_addr(key->peer, received ? frame->ip.saddr : frame->ip.daddr);
}

/* Our address in a plain frame. */
static __always_inline void plain_source(struct packet *pkt, const struct plain_frame *frame,
					 bool received)
{
	set_addr(pkt->source.addr, received ? frame->ip.daddr : frame->ip.saddr);
}

/* Frames that are not plain are parsed by global functions, each of which is verified once. */
__noinline int parse_any_udp(struct __sk_buff *skb, struct packet *pkt,
			     bool received)
{
	struct roce_headers *h;
	struct udphdr *udp;
	int verdict;

	if (!pkt)
		return ROCESTEER_VERDICT_FOREIGN;
	udp = header(skb, pkt->l4_off, sizeof(*udp));
	if (!udp)
		return NO_IP;
	if (udp->dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return ROCESTEER_VERDICT_FOREIGN;
	if (skb->gso_size)
		return ROCESTEER_VERDICT_GSO;
	h = header(skb, pkt->l4_off, sizeof(*h));
	if (!h)
		return NO_BTH;
	verdict = check_udp(skb, h, pkt->l4_off, pkt->udp_len);
	if (verdict != CONTINUE)
		return verdict;
	set_queue_pair(&pkt->key, skb, &h->bth);
	read_roce(pkt, h, received);
	return CONTINUE;
}

__noinline int parse_any_ip(struct __sk_buff *skb, struct packet *pkt,
			    __u32 proto, bool received)
{
	int verdict = ROCESTEER_VERDICT_FOREIGN;

	if (!pkt)
		return ROCESTEER_VERDICT_FOREIGN;
	if (proto == bpf_htons(ETH_P_IP))
		verdict = parse_ipv4(skb, pkt->l3_off, pkt, received);
	else if (proto == bpf_htons(ETH_P_IPV6))
		verdict = parse_ipv6(skb, pkt->l3_off, pkt, received);
	return verdict == CONTINUE ? parse_any_udp(skb, pkt, received) : verdict;
}

/* Ethernet and up to VLAN_DEPTH tags, then IP. */
__noinline int parse_linear(struct __sk_buff *skb, struct packet *pkt,
			    bool received)
{
	struct ethhdr *eth = header(skb, 0, sizeof(*eth));
	__u32 off = sizeof(*eth);
	__be16 proto;
	int i;

	if (!pkt || !eth)
		return NO_IP;
	proto = eth->h_proto;
	for (i = 0; i < VLAN_DEPTH; i++) {
		struct vlan_tag *tag;

		if (proto != bpf_htons(ETH_P_8021Q) &&
		    proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = header(skb, off, sizeof(*tag));
		if (!tag)
			return NO_IP;
		proto = tag->proto;
		off += sizeof(*tag);
	}
	pkt->l3_off = off;
	return parse_any_ip(skb, pkt, proto, received);
}

/**
 * parse_any() - find the RoCE v2 packet in a frame of any kind
 * @skb: the frame
 * @pkt: filled in when CONTINUE is returned
 * @received: the frame comes in
 *
 * Return: CONTINUE, or the verdict on a frame that is not RoCE v2.
 */
__noinline int parse_any(struct __sk_buff *skb, struct packet *pkt, bool received)
{
	__u32 len = HEADERS_MAX + sizeof(struct roce_headers);
	int verdict = parse_linear(skb, pkt, received);

	if (verdict == NO_IP || verdict == NO_BTH) {
		bpf_skb_pull_data(skb, len < skb->len ? len : skb->len);
		verdict = parse_linear(skb, pkt, received);
	}
	if (verdict == NO_IP)
		return ROCESTEER_VERDICT_FOREIGN;
	return verdict == NO_BTH ? ROCESTEER_VERDICT_MALFORMED : verdict;
}

/* Find the RoCE v2 packet in a frame. Arguments and result: parse_any() */
static __always_inline int parse_roce(struct __sk_buff *skb, struct packet *pkt,
				      bool received)
{
	const struct plain_frame *frame;
	int verdict;

	frame = find_plain(skb, &verdict);
	if (!frame)
		return verdict == CONTINUE ? parse_any(skb, pkt, received) : verdict;
	read_plain(pkt, frame, received);
	plain_key(&pkt->key, skb, frame, received);
	plain_source(pkt, frame, received);
	return CONTINUE;
}

/* Return: whether the transport service is RC. */
static __always_inline bool opcode_is_rc(__u8 opcode)
{
	return (opcode & ROCESTEER_OP_SERVICE) == ROCESTEER_OP_RC;
}

/* Return: whether an RC packet has a PSN of the peer's: READ data, an acknowledgment. */
static __always_inline bool opcode_is_response(__u8 opcode)
{
	return OPS_RESPONSE >> opcode % RC_OPCODES & 1;
}

static __always_inline bool opcode_is_ack(__u8 opcode)
{
	return opcode == ROCESTEER_OP_RC_ACK || opcode == ROCESTEER_OP_RC_ATOMIC_ACK;
}

/* Return: whether an acknowledgment asks for a packet, and acknowledges nothing. */
static __always_inline bool opcode_is_nak(__u8 opcode, __u8 syndrome)
{
	return opcode == ROCESTEER_OP_RC_ACK && syndrome & ROCESTEER_AETH_TYPE;
}

/* Return: whether an RC packet says what its sender will receive. */
static __always_inline bool opcode_tells_answers(__u8 opcode)
{
	return (ROCESTEER_OPS_ANSWERED | 1u << ROCESTEER_OP_RC_ACK) >> opcode % RC_OPCODES & 1;
}

static __always_inline bool is_rc(const struct packet *pkt)
{
	return opcode_is_rc(pkt->opcode);
}

static __always_inline bool is_response(const struct packet *pkt)
{
	return opcode_is_response(pkt->opcode);
}

static __always_inline bool is_ack(const struct packet *pkt)
{
	return opcode_is_ack(pkt->opcode);
}

static __always_inline bool is_nak(const struct packet *pkt)
{
	return opcode_is_nak(pkt->opcode, pkt->syndrome);
}

#endif /* PARSE_BPF_H */
