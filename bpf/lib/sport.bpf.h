/* SPDX-License-Identifier: GPL-2.0 */
/* Give a packet its source port, by the module or by ourselves. */
#ifndef SPORT_BPF_H
#define SPORT_BPF_H

#include <stddef.h>
#include "rocesteer/icrc.h"
#include "parse.bpf.h"

/* K of every UDP length, see rocesteer/icrc.h; user space fills it. */
const volatile __u32 rs_icrc[ROCESTEER_ICRC_WORDS];

/* False where the module is not to be used although it is there. */
const volatile bool rs_use_module = true;

/* kmod/steer_bpf.c */
extern int bpf_rocesteer_set_sport(struct __sk_buff *skb, __u32 l4_off,
				   __be16 sport) __ksym __weak;

/* One XOR where the flow's last packet had the same length and port. */
static __always_inline __u32 icrc_delta(struct rocesteer_flow_path *path,
					__u16 v, __u32 udp_len)
{
	__u64 cache = *(volatile __u64 *)&path->icrc_cache;
	__u32 tag = udp_len << 16 | v;
	__u32 word = udp_len / 4;
	__u32 delta;

	if ((__u32)cache == tag)
		return cache >> 32;
	barrier_var(word);	/* the parser's check, for the verifier */
	if (word >= ROCESTEER_ICRC_WORDS)
		return 0;
	delta = rocesteer_icrc_delta(v, rs_icrc[word]);
	*(volatile __u64 *)&path->icrc_cache = (__u64)delta << 32 | tag;
	return delta;
}

/*
 * The ICRC goes first: it lies last, so that once it is written the kernel has
 * made all before it writable and nothing behind can fail half-way.
 */
static __always_inline int set_sport_bpf(struct __sk_buff *skb,
					 const struct packet *pkt,
					 struct rocesteer_flow_path *path)
{
	__u32 icrc_off = pkt->l4_end - ROCESTEER_ICRC_SIZE;
	__be16 sport = path->sport;
	__u32 old, new;

	if (bpf_skb_load_bytes(skb, icrc_off, &old, sizeof(old)))
		return -1;
	new = old ^ icrc_delta(path, pkt->sport ^ sport, pkt->udp_len);
	if (bpf_skb_store_bytes(skb, icrc_off, &new, sizeof(new), 0) ||
	    bpf_skb_store_bytes(skb, pkt->l4_off +
				offsetof(struct udphdr, source),
				&sport, sizeof(sport), 0))
		return -1;
	if (pkt->check) {
		__u32 off = pkt->l4_off + offsetof(struct udphdr, check);

		bpf_l4_csum_replace(skb, off, pkt->sport, sport,
				    BPF_F_MARK_MANGLED_0 | sizeof(sport));
		bpf_l4_csum_replace(skb, off, old, new,
				    BPF_F_MARK_MANGLED_0 | sizeof(new));
	}
	return 0;
}

/* Return: 0, or nonzero when the packet is as it was. */
static __always_inline int set_sport(struct __sk_buff *skb,
				     const struct packet *pkt,
				     struct rocesteer_flow_path *path)
{
	if (pkt->sport == path->sport)
		return 0;
	if (rs_use_module && bpf_ksym_exists(bpf_rocesteer_set_sport))
		return bpf_rocesteer_set_sport(skb, pkt->l4_off, path->sport);
	return set_sport_bpf(skb, pkt, path);
}

#endif /* SPORT_BPF_H */
