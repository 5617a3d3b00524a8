// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE v2 packets to virtual queue pair numbers: parse them and replace their payload. IB
 * spec vol. 1, 9.2 to 9.6 and annex A17; ICRC: 7.8.1.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include <rocesteer/icrc.h>
#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "packet.h"

#define PACKET_PAD		0x30	/* in the flags of a BTH */
#define PACKET_PAD_SHIFT	4
#define PACKET_ACK_REQUEST	BIT(31)	/* in apsn */
#define PACKET_SOLICITED	0x80	/* in the flags of a BTH */
#define PACKET_CNP_SIZE		16	/* behind the BTH of a CNP: reserved */

/* Most words of a payload with its padding */
#define PACKET_WORDS		(4096 / 4)

/* x^(32 * words) modulo the CRC polynomial, by words */
static u32 packet_power[PACKET_WORDS + 1] __ro_after_init;

/* Return: offset of the UDP header, or a negative number; @plain: no IP options before it. */
static int packet_udp4(const struct sk_buff *skb, bool *plain)
{
	int off = skb_network_offset(skb);
	const struct iphdr *ip;
	struct iphdr buf;

	ip = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!ip || ip->protocol != IPPROTO_UDP || ip->ihl < 5 ||
	    ip->frag_off & htons(IP_OFFSET))
		return -1;
	*plain = ip->ihl == 5 && !ip_is_fragment(ip);
	return off + ip->ihl * 4;
}

static int packet_udp6(const struct sk_buff *skb, bool *plain)
{
	int off = skb_network_offset(skb);
	const struct ipv6hdr *ip;
	__be16 fragment = 0;
	struct ipv6hdr buf;
	u8 next;

	ip = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!ip)
		return -1;
	next = ip->nexthdr;
	*plain = next == IPPROTO_UDP;
	off += sizeof(*ip);
	if (!*plain && ipv6_ext_hdr(next))
		off = ipv6_skip_exthdr(skb, off, &next, &fragment);
	return next == IPPROTO_UDP && !(fragment & htons(IP6_OFFSET)) ? off : -1;
}

static int packet_udp(const struct sk_buff *skb, bool *plain)
{
	if (skb->protocol == htons(ETH_P_IP))
		return packet_udp4(skb, plain);
	if (skb->protocol == htons(ETH_P_IPV6))
		return packet_udp6(skb, plain);
	return -1;
}

u32 reduce_packet_virtual(const struct sk_buff *skb)
{
	struct {
		struct udphdr udp;
		struct rocesteer_bth bth;
	} buf, *h;
	bool plain;
	u32 dqpn;
	int off;

	off = packet_udp(skb, &plain);
	if (off < 0)
		return 0;
	h = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!h || h->udp.dest != htons(ROCESTEER_ROCE_PORT) ||
	    ((h->bth.opcode & ROCESTEER_OP_SERVICE) != ROCESTEER_OP_RC &&
	     h->bth.opcode != ROCESTEER_OP_CNP))
		return 0;
	dqpn = be32_to_cpu(h->bth.dqpn) & ROCESTEER_QPN_MASK;
	return (dqpn & REDUCE_VIRTUAL) == REDUCE_VIRTUAL ? dqpn : 0;
}

static bool packet_is_v4(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP);
}

static u32 packet_ip_size(const struct sk_buff *skb)
{
	return packet_is_v4(skb) ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static struct udphdr *packet_udp_header(const struct sk_buff *skb)
{
	return (void *)skb_network_header(skb) + packet_ip_size(skb);
}

struct rocesteer_bth *reduce_packet_bth(const struct sk_buff *skb)
{
	return (void *)(packet_udp_header(skb) + 1);
}

/* Bytes of RETH and immediate, or of an answer's AETH */
static u32 packet_ext_size(u8 opcode)
{
	switch (opcode) {
	case ROCESTEER_OP_RC_WRITE_FIRST:
	case ROCESTEER_OP_RC_WRITE_ONLY:
		return sizeof(struct rocesteer_reth);
	case ROCESTEER_OP_RC_WRITE_ONLY_IMM:
		return sizeof(struct rocesteer_reth) + sizeof(__be32);
	case ROCESTEER_OP_RC_WRITE_LAST_IMM:
	case ROCESTEER_OP_RC_ACK:
		return sizeof(__be32);
	case ROCESTEER_OP_CNP:
		return PACKET_CNP_SIZE;
	default:
		return 0;
	}
}

void *reduce_packet_payload(const struct sk_buff *skb)
{
	struct rocesteer_bth *bth = reduce_packet_bth(skb);

	return (void *)(bth + 1) + packet_ext_size(bth->opcode);
}

/* Bytes of the packet from the network header on */
static u32 packet_total(const struct sk_buff *skb)
{
	return packet_is_v4(skb) ? ntohs(ip_hdr(skb)->tot_len) :
				   sizeof(struct ipv6hdr) + ntohs(ipv6_hdr(skb)->payload_len);
}

/* CRC up to the BTH, mutable fields masked: IB spec A17.3.3 */
static u32 packet_headers_crc(const struct sk_buff *skb)
{
	u8 buf[8 + sizeof(struct ipv6hdr) + sizeof(struct udphdr) +
	       sizeof(struct rocesteer_bth)];
	u32 ip_size = packet_ip_size(skb);
	u32 size = ip_size + sizeof(struct udphdr) + sizeof(struct rocesteer_bth);
	u8 *ip = buf + 8, *udp = ip + ip_size;

	memset(buf, 0xff, 8);
	memcpy(ip, skb_network_header(skb), size);
	if (packet_is_v4(skb)) {
		ip[offsetof(struct iphdr, tos)] = 0xff;
		ip[offsetof(struct iphdr, ttl)] = 0xff;
		memset(ip + offsetof(struct iphdr, check), 0xff, 2);
	} else {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[offsetof(struct ipv6hdr, hop_limit)] = 0xff;
	}
	memset(udp + offsetof(struct udphdr, check), 0xff, 2);
	udp[sizeof(struct udphdr) + offsetof(struct rocesteer_bth, dqpn)] = 0xff;
	return crc32_le(~0, buf, 8 + size);
}

static u32 packet_icrc(const struct sk_buff *skb, u32 behind_bth)
{
	return ~crc32_le(packet_headers_crc(skb), (void *)(reduce_packet_bth(skb) + 1),
			 behind_bth);
}

bool reduce_packet_icrc_is_right(const struct sk_buff *skb, const struct reduce_packet *packet)
{
	const u8 *end = (u8 *)(reduce_packet_bth(skb) + 1) + packet->behind_bth;

	return packet_icrc(skb, packet->behind_bth) == get_unaligned_le32(end);
}

static bool packet_addresses(const struct sk_buff *skb, struct reduce_packet *packet)
{
	if (packet_is_v4(skb)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &packet->source);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &packet->destination);
		return true;
	}
	packet->source = ipv6_hdr(skb)->saddr;
	packet->destination = ipv6_hdr(skb)->daddr;
	/* An IPv4-mapped address in an IPv6 packet is not the IPv4 host. */
	return !ipv6_addr_v4mapped(&packet->source) &&
	       !ipv6_addr_v4mapped(&packet->destination);
}

/* Return: bytes between BTH and ICRC, or -1 if the lengths are inconsistent. */
static int packet_length(const struct sk_buff *skb, struct reduce_packet *packet)
{
	const struct rocesteer_bth *bth = reduce_packet_bth(skb);
	u32 headers = packet_ip_size(skb) + sizeof(struct udphdr) + sizeof(*bth);
	u32 pad = (bth->flags & PACKET_PAD) >> PACKET_PAD_SHIFT;
	u32 ext = packet_ext_size(bth->opcode), total = packet_total(skb), payload;

	if (total < headers + ext + ROCESTEER_ICRC_SIZE ||
	    ntohs(packet_udp_header(skb)->len) != total - packet_ip_size(skb))
		return -1;
	payload = total - headers - ext - ROCESTEER_ICRC_SIZE;
	if (payload % 4 || payload < pad || payload > PACKET_WORDS * 4)
		return -1;
	packet->shape.length = payload - pad;
	return ext + payload;
}

static void packet_read_ext(const struct sk_buff *skb, struct reduce_packet *packet)
{
	const struct rocesteer_bth *bth = reduce_packet_bth(skb);
	const struct rocesteer_reth *reth = (void *)(bth + 1);
	u32 size = packet_ext_size(bth->opcode);

	packet->has_reth = size >= sizeof(*reth);
	packet->va = 0;
	packet->shape.dma_length = 0;
	packet->shape.imm = 0;
	if (packet->has_reth) {
		packet->va = get_unaligned_be64(reth->va);
		packet->shape.dma_length = get_unaligned_be32(&reth->length);
	}
	if (size % sizeof(*reth))
		packet->shape.imm = get_unaligned_be32((void *)(bth + 1) + size -
						       sizeof(__be32));
}

static bool packet_opcode_is_right(u8 opcode, bool answer)
{
	if (answer)
		return opcode == ROCESTEER_OP_RC_ACK || opcode == ROCESTEER_OP_CNP;
	return opcode >= ROCESTEER_OP_RC_WRITE_FIRST &&
	       opcode <= ROCESTEER_OP_RC_WRITE_ONLY_IMM;
}

int reduce_packet_read(struct sk_buff *skb, bool answer, struct reduce_packet *packet)
{
	const struct rocesteer_bth *bth;
	int off, behind_bth;
	bool plain;

	if (skb_is_gso(skb))
		return ROCESTEER_REDUCE_A_STATS_GSO;
	off = packet_udp(skb, &plain);
	if (!plain || !pskb_may_pull(skb, off + sizeof(struct udphdr) + sizeof(*bth)) ||
	    skb->len < packet_total(skb))
		return ROCESTEER_REDUCE_A_STATS_LENGTH;
	if (skb_ensure_writable(skb, packet_total(skb)))
		return ROCESTEER_REDUCE_A_STATS_NO_MEMORY;
	bth = reduce_packet_bth(skb);
	if (!packet_opcode_is_right(bth->opcode, answer) || bth->flags & ROCESTEER_BTH_TVER)
		return ROCESTEER_REDUCE_A_STATS_OPCODE;
	behind_bth = packet_length(skb, packet);
	if (behind_bth < 0 || (answer && packet->shape.length))
		return ROCESTEER_REDUCE_A_STATS_LENGTH;
	if (!packet_addresses(skb, packet))
		return ROCESTEER_REDUCE_A_STATS_ADDRESS;
	packet->behind_bth = behind_bth;
	packet->psn = be32_to_cpu(bth->apsn) & ROCESTEER_PSN_MASK;
	packet->shape.opcode = bth->opcode;
	if (!answer)
		packet_read_ext(skb, packet);
	return 0;
}

/* The caller computes the ICRC. */
static void packet_set_to(struct sk_buff *skb, const struct reduce_to *to)
{
	struct rocesteer_bth *bth = reduce_packet_bth(skb);

	bth->dqpn = (bth->dqpn & ~cpu_to_be32(ROCESTEER_QPN_MASK)) | cpu_to_be32(to->qpn);
	packet_udp_header(skb)->check = 0;
	skb->ip_summed = CHECKSUM_NONE;
	if (!to->source)
		return;
	if (packet_is_v4(skb)) {
		ip_hdr(skb)->saddr = to->source->s6_addr32[3];
		ip_hdr(skb)->daddr = to->destination->s6_addr32[3];
		ip_send_check(ip_hdr(skb));
	} else {
		ipv6_hdr(skb)->saddr = *to->source;
		ipv6_hdr(skb)->daddr = *to->destination;
	}
}

static void packet_set_icrc(struct sk_buff *skb, u32 behind_bth)
{
	put_unaligned_le32(packet_icrc(skb, behind_bth),
			   (u8 *)(reduce_packet_bth(skb) + 1) + behind_bth);
}

void reduce_packet_readdress(struct sk_buff *skb, const struct reduce_to *to)
{
	u32 headers = packet_ip_size(skb) + sizeof(struct udphdr) + sizeof(struct rocesteer_bth);

	packet_set_to(skb, to);
	packet_set_icrc(skb, packet_total(skb) - headers - ROCESTEER_ICRC_SIZE);
}

/* Multiply modulo the CRC polynomial, both bit-reflected. */
static u32 packet_multiply(u32 a, u32 b)
{
	u32 product = 0;
	int i;

	for (i = 31; i >= 0; i--) {
		product ^= b & -(a >> i & 1);
		b = rocesteer_crc32_shift(b);
	}
	return product;
}

static u32 packet_padded(u32 length)
{
	return round_up(length, 4);
}

u32 reduce_packet_crc(const void *sum, u32 length)
{
	return crc32_le(0, sum, packet_padded(length));
}

/*
 * A CRC is linear: the CRC of a message is the CRC of its first part, shifted by the length
 * of the second, plus the CRC from 0 of the second.
 */
void reduce_packet_finish(struct sk_buff *skb, const struct reduce_to *to, bool ack,
			  const void *sum, u32 length, u32 crc)
{
	struct rocesteer_bth *bth = reduce_packet_bth(skb);
	u32 padded = packet_padded(length), before;
	u8 *payload = reduce_packet_payload(skb);

	memcpy(payload, sum, padded);
	packet_set_to(skb, to);
	if (ack)
		bth->apsn |= cpu_to_be32(PACKET_ACK_REQUEST);
	before = crc32_le(packet_headers_crc(skb), (void *)(bth + 1),
			  payload - (u8 *)(bth + 1));
	put_unaligned_le32(~(packet_multiply(before, packet_power[padded / 4]) ^ crc),
			   payload + padded);
}

static void packet_set_total(struct sk_buff *skb, u32 total)
{
	if (packet_is_v4(skb)) {
		ip_hdr(skb)->tot_len = htons(total);
		ip_send_check(ip_hdr(skb));
	} else {
		ipv6_hdr(skb)->payload_len = htons(total - sizeof(struct ipv6hdr));
	}
	packet_udp_header(skb)->len = htons(total - packet_ip_size(skb));
}

struct sk_buff *reduce_packet_nudge(const struct sk_buff *skb, const struct reduce_to *to,
				    u32 psn)
{
	const u32 behind = sizeof(struct rocesteer_reth) + ROCESTEER_ICRC_SIZE;
	struct sk_buff *nudge = skb_copy_expand(skb, skb_headroom(skb), behind, GFP_ATOMIC);
	struct rocesteer_bth *bth;

	if (!nudge)
		return NULL;
	bth = reduce_packet_bth(nudge);
	skb_trim(nudge, (u8 *)(bth + 1) - nudge->data);
	memset(skb_put(nudge, behind), 0, behind);
	packet_set_total(nudge, nudge->len - skb_network_offset(nudge));
	bth->opcode = ROCESTEER_OP_RC_WRITE_ONLY;
	bth->flags &= ~(PACKET_PAD | PACKET_SOLICITED);
	bth->apsn = cpu_to_be32(PACKET_ACK_REQUEST | psn);
	packet_set_to(nudge, to);
	packet_set_icrc(nudge, sizeof(struct rocesteer_reth));
	return nudge;
}

void __init reduce_packet_init(void)
{
	unsigned int i, bit;

	packet_power[0] = BIT(31);	/* x^0 */
	for (i = 1; i <= PACKET_WORDS; i++) {
		packet_power[i] = packet_power[i - 1];
		for (bit = 0; bit < 32; bit++)
			packet_power[i] = rocesteer_crc32_shift(packet_power[i]);
	}
}
