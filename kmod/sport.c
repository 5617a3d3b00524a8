// SPDX-License-Identifier: GPL-2.0
/*
 * Rewriting the UDP source port of a RoCE v2 packet, or what else the ICRC covers,
 * with the ICRC and the UDP checksum. The cost does not depend on the packet's
 * length.
 */
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/checksum.h>

#include <rocesteer/icrc.h>
#include <rocesteer/types.h>

#include "sport.h"

/* K of icrc.h, by UDP length / 4 */
static u32 icrc_k[ROCESTEER_ICRC_WORDS] __ro_after_init;

/*
 * Changes of the ICRC that were computed: the word in bits 63..32, the UDP length
 * in 31..16, old port ^ new port in 15..0. One word, so that whoever interrupts
 * or migrates us finds a whole one.
 */
#define SPORT_CACHE_BITS	6
static DEFINE_PER_CPU(u64, icrc_cache[1 << SPORT_CACHE_BITS]);

/**
 * rocesteer_sport_init() - compute the table
 */
void __init rocesteer_sport_init(void)
{
	rocesteer_icrc_init(icrc_k);
}

/*
 * May the first @len bytes be written where they are? True exactly where
 * skb_ensure_writable() has nothing to do.
 */
static bool sport_writable(const struct sk_buff *skb, unsigned int len)
{
	return len <= skb_headlen(skb) &&
	       (!skb_cloned(skb) || skb_clone_writable(skb, len));
}

/* Of a flow most packets have one length, and all of them the same ports. */
static u32 sport_delta(u16 v, unsigned int udp_len)
{
	u32 tag = udp_len << 16 | v, slot = hash_32(tag, SPORT_CACHE_BITS);
	u64 cache = this_cpu_read(icrc_cache[slot]);
	u32 delta;

	if ((u32)cache == tag)
		return cache >> 32;
	delta = rocesteer_icrc_delta(v, icrc_k[udp_len / 4]);
	this_cpu_write(icrc_cache[slot], (u64)delta << 32 | tag);
	return delta;
}

/*
 * Change a field of a packet, a multiple of 4 bytes behind the begin of its UDP
 * header, and the ICRC. All of it is writable.
 */
static void sport_write(struct sk_buff *skb, struct udphdr *uh, __be16 *field,
			__be16 value)
{
	unsigned int udp_len = ntohs(uh->len);
	void *icrc = (void *)uh + udp_len - ROCESTEER_ICRC_SIZE;
	unsigned int off = (void *)field - (void *)uh;
	__be32 from, to;
	u16 v;

	v = le16_to_cpu((__force __le16)(*field ^ value));
	from = get_unaligned((__be32 *)icrc);
	/* As if it were the port of a packet that begins there. */
	put_unaligned_le32(get_unaligned_le32(icrc) ^
			   sport_delta(v, udp_len - off), icrc);
	to = get_unaligned((__be32 *)icrc);

	if (uh->check) {
		/* Neither touches a sum that is left to the device. */
		inet_proto_csum_replace2(&uh->check, skb, *field, value,
					 false);
		inet_proto_csum_replace4(&uh->check, skb, from, to, false);
		if (!uh->check && skb->ip_summed != CHECKSUM_PARTIAL)
			uh->check = CSUM_MANGLED_0;
	}
	*field = value;

	/*
	 * skb->csum, where a driver gave it, covered the old bytes. The hash
	 * named the old path: it survives a veth, and bonds and ECMP routes
	 * below us would go by it.
	 */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	skb_clear_hash(skb);
}

/* The UDP length of what may be a RoCE v2 packet, or 0. */
static u32 sport_udp_len(const struct sk_buff *skb, u32 l4_off, __be16 *sport)
{
	const struct udphdr *uh;
	struct udphdr buf;
	u32 udp_len;

	if (skb_is_gso(skb) || l4_off > skb->len)
		return 0;
	uh = skb_header_pointer(skb, l4_off, sizeof(buf), &buf);
	if (!uh || uh->dest != htons(ROCESTEER_ROCE_PORT))
		return 0;
	*sport = uh->source;
	udp_len = ntohs(uh->len);
	if (udp_len < ROCESTEER_MIN_UDP_LEN ||
	    udp_len > ROCESTEER_MAX_UDP_LEN || udp_len % 4 ||
	    udp_len > skb->len - l4_off)
		return 0;
	return udp_len;
}

/**
 * rocesteer_sport_set() - set the UDP source port of a RoCE v2 packet
 * @skb: packet, the ICRC right behind the UDP payload; not a fragment
 * @l4_off: offset of the UDP header from skb->data
 * @sport: new source port
 *
 * The packet is written where it is, never moved or copied: BPF programs may
 * hold pointers into it that the verifier keeps valid across a call of a
 * kfunc. A packet that is cloned or not linear is the caller's to unshare, up
 * to the end of the ICRC. Those that rxe sends are neither.
 *
 * The ICRC is found by the UDP length: short frames are padded behind it.
 *
 * Context: Any; the caller owns @skb.
 * Return: 0, also where the port was @sport already; -EINVAL when this is no
 * RoCE v2 packet; -EAGAIN when it must be made linear and unshared first.
 * Nothing is changed where an error is returned.
 */
int rocesteer_sport_set(struct sk_buff *skb, u32 l4_off, __be16 sport)
{
	struct udphdr *uh;
	__be16 old;
	u32 len;

	len = sport_udp_len(skb, l4_off, &old);
	if (!len)
		return -EINVAL;
	if (old == sport)
		return 0;
	if (!sport_writable(skb, l4_off + len))
		return -EAGAIN;
	uh = (void *)skb->data + l4_off;
	sport_write(skb, uh, &uh->source, sport);
	return 0;
}

/**
 * rocesteer_sport_promise() - say that the order of responses is restored
 * @skb: READ request, as rxe sends it
 * @l4_off: offset of the UDP header from skb->data
 * @bits: of apsn that say so, and are set; not of the PSN
 *
 * Where the packet cannot be written it does not say so, and what answers it takes
 * one path.
 *
 * Context: Any; the caller owns @skb.
 */
void rocesteer_sport_promise(struct sk_buff *skb, u32 l4_off, u32 bits)
{
	u32 len;
	__be16 unused, *field;
	struct {
		struct udphdr udp;
		struct rocesteer_bth bth;
	} *h;

	len = sport_udp_len(skb, l4_off, &unused);
	if (!len || !sport_writable(skb, l4_off + len))
		return;
	h = (void *)skb->data + l4_off;
	field = (__be16 *)&h->bth.apsn;
	sport_write(skb, &h->udp, field, *field | htons(bits >> 16));
}
