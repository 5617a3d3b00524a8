// SPDX-License-Identifier: GPL-2.0
/*
 * Rewriting the UDP source port of a RoCE v2 packet, with the ICRC and the UDP
 * checksum that cover it. The cost does not depend on the packet's length.
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

/* Change a UDP header and the ICRC behind it. All of it is writable. */
static void sport_write(struct sk_buff *skb, struct udphdr *uh, __be16 sport)
{
	unsigned int udp_len = ntohs(uh->len);
	void *icrc = (void *)uh + udp_len - ROCESTEER_ICRC_SIZE;
	__be32 from, to;
	u16 v;

	v = le16_to_cpu((__force __le16)(uh->source ^ sport));
	from = get_unaligned((__be32 *)icrc);
	put_unaligned_le32(get_unaligned_le32(icrc) ^ sport_delta(v, udp_len),
			   icrc);
	to = get_unaligned((__be32 *)icrc);

	if (uh->check) {
		/* Neither touches a sum that is left to the device. */
		inet_proto_csum_replace2(&uh->check, skb, uh->source, sport,
					 false);
		inet_proto_csum_replace4(&uh->check, skb, from, to, false);
		if (!uh->check && skb->ip_summed != CHECKSUM_PARTIAL)
			uh->check = CSUM_MANGLED_0;
	}
	uh->source = sport;

	/*
	 * skb->csum, where a driver gave it, covered the old bytes. The hash
	 * named the old path: it survives a veth, and bonds and ECMP routes
	 * below us would go by it.
	 */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	skb_clear_hash(skb);
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
	const struct udphdr *uh;
	struct udphdr buf;
	u32 udp_len;

	if (skb_is_gso(skb) || l4_off > skb->len)
		return -EINVAL;
	uh = skb_header_pointer(skb, l4_off, sizeof(buf), &buf);
	if (!uh || uh->dest != htons(ROCESTEER_ROCE_PORT))
		return -EINVAL;
	udp_len = ntohs(uh->len);
	if (udp_len < ROCESTEER_MIN_UDP_LEN ||
	    udp_len > ROCESTEER_MAX_UDP_LEN || udp_len % 4 ||
	    udp_len > skb->len - l4_off)
		return -EINVAL;

	if (uh->source == sport)
		return 0;
	if (!sport_writable(skb, l4_off + udp_len))
		return -EAGAIN;
	sport_write(skb, (void *)(skb->data + l4_off), sport);
	return 0;
}
