/* SPDX-License-Identifier: GPL-2.0 */
/* Give a packet its source port, by the module or by ourselves. */
#ifndef SPORT_BPF_H
#define SPORT_BPF_H

#include <asm/errno.h>
#include <stddef.h>
#include "rocesteer/icrc.h"
#include "maps.bpf.h"
#include "parse.bpf.h"

/* ICRC and ports are XORed as loaded from the packet: see rocesteer/icrc.h. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the BPF programs are for little-endian machines"
#endif

/* K of every UDP length, see rocesteer/icrc.h; user space fills it. */
const volatile __u32 rs_icrc[ROCESTEER_ICRC_WORDS];

/* False where the module is not to be used although it is there. */
const volatile bool rs_use_module = true;

/* kmod/steer_bpf.c */
extern int bpf_rocesteer_set_sport(struct __sk_buff *skb, __u32 l4_off,
				   __be16 sport) __ksym __weak;

/* Not static: the verifier looks at the sixteen steps once. */
__noinline __u32 icrc_compute(__u32 v, __u32 word)
{
	return word < ROCESTEER_ICRC_WORDS ?
	       rocesteer_icrc_delta(v, rs_icrc[word]) : 0;
}

/* One XOR where the piece's last packet had the same length and port. */
static __always_inline __u32 icrc_delta(volatile __u64 *icrc_cache, __u16 v,
					__u32 udp_len)
{
	__u64 cache = *icrc_cache;
	__u32 tag = udp_len << 16 | v;
	__u32 delta;

	if ((__u32)cache == tag)
		return cache >> 32;
	delta = icrc_compute(v, udp_len / 4);
	*icrc_cache = (__u64)delta << 32 | tag;
	return delta;
}

/*
 * The change of one packet, handed to rocesteer_write in skb->cb: writing to
 * packets directly is several times as fast as bpf_skb_store_bytes(), but makes
 * the kernel unshare every packet the program sees. In a program of its own it
 * does so for those that are steered, and foreign traffic stays untouched.
 */
enum {
	CB_L4_OFF,
	CB_ICRC_OFF,
	CB_ICRC_XOR,
	CB_SPORT,	/* network order */
	CB_DQPN,	/* bits of the BTH's dqpn that are set */
};

int rocesteer_write(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__uint(key_size, sizeof(__u32));
	__array(values, int (struct __sk_buff *));
} rs_write SEC(".maps") = {
	.values = { (void *)&rocesteer_write },
};

/* Make @len bytes linear and writable. Return: NULL when they are not. */
static __always_inline void *writable(struct __sk_buff *skb, __u32 len)
{
	if (skb->data + len > skb->data_end && bpf_skb_pull_data(skb, len))
		return NULL;
	return (void *)(long)skb->data;
}

/* What of a packet is changed. */
struct steered {
	struct udphdr udp;
	struct rocesteer_bth bth;
};

/* Nothing is written unless all can be. */
SEC("tcx/egress")
int rocesteer_write(struct __sk_buff *skb)
{
	__u32 l4_off = skb->cb[CB_L4_OFF], icrc_off = skb->cb[CB_ICRC_OFF];
	__u32 old_icrc, new_icrc, bits = skb->cb[CB_DQPN];
	__be16 old, new = skb->cb[CB_SPORT];
	__be32 old_dqpn, new_dqpn;
	struct steered *h;
	__u32 *icrc;
	void *data;

	if (l4_off > HEADERS_MAX || icrc_off > FRAME_MAX)
		goto failed;
	data = writable(skb, icrc_off + sizeof(*icrc));
	if (!data)
		goto failed;
	icrc = data + icrc_off;
	h = data + l4_off;
	if ((void *)(icrc + 1) > (void *)(long)skb->data_end ||
	    (void *)(h + 1) > (void *)(long)skb->data_end)
		goto failed;
	old = h->udp.source;
	old_icrc = *icrc;
	new_icrc = old_icrc ^ skb->cb[CB_ICRC_XOR];
	old_dqpn = h->bth.dqpn;
	new_dqpn = old_dqpn | bpf_htonl(bits);
	*icrc = new_icrc;
	h->udp.source = new;
	h->bth.dqpn = new_dqpn;
	if (h->udp.check) {
		__u32 off = l4_off + offsetof(struct udphdr, check);

		bpf_l4_csum_replace(skb, off, old_dqpn, new_dqpn,
				    BPF_F_MARK_MANGLED_0 | sizeof(new_dqpn));
		bpf_l4_csum_replace(skb, off, old, new,
				    BPF_F_MARK_MANGLED_0 | sizeof(new));
		bpf_l4_csum_replace(skb, off, old_icrc, new_icrc,
				    BPF_F_MARK_MANGLED_0 | sizeof(new_icrc));
	}
	/* It named the old path: bonds and ECMP routes below us would go by it. */
	if (skb->hash)
		bpf_set_hash_invalid(skb);
	count(&rs_verdicts, ROCESTEER_STEERED, ROCESTEER_VERDICT_MAX);
	return TCX_NEXT;
failed:
	count(&rs_verdicts, ROCESTEER_REWRITE_FAILED, ROCESTEER_VERDICT_MAX);
	return TCX_NEXT;
}

/* The module writes in place or not at all: unsharing is up to us. */
static __always_inline int set_sport_module(struct __sk_buff *skb,
					    const struct packet *pkt,
					    __be16 sport)
{
	int err = bpf_rocesteer_set_sport(skb, pkt->l4_off, sport);

	if (err == -EAGAIN && !bpf_skb_pull_data(skb, pkt->l4_end))
		err = bpf_rocesteer_set_sport(skb, pkt->l4_off, sport);
	return err ? ROCESTEER_REWRITE_FAILED : ROCESTEER_STEERED;
}

/**
 * set_sport() - give a packet the port of its path
 * @skb: the packet
 * @pkt: parsed
 * @sport: port of the path
 * @icrc_cache: of its piece
 * @bits: of dqpn, as by rocesteer_bth_paths(), that are set
 *
 * Return: the verdict; does not return when rocesteer_write takes over.
 */
static __always_inline int set_sport(struct __sk_buff *skb,
				     const struct packet *pkt,
				     __be16 sport, volatile __u64 *icrc_cache,
				     __u32 bits)
{
	if (pkt->sport == sport && !bits)
		return ROCESTEER_STEERED;
	if (!bits && rs_use_module && bpf_ksym_exists(bpf_rocesteer_set_sport))
		return set_sport_module(skb, pkt, sport);
	skb->cb[CB_L4_OFF] = pkt->l4_off;
	skb->cb[CB_ICRC_OFF] = pkt->l4_end - ROCESTEER_ICRC_SIZE;
	skb->cb[CB_ICRC_XOR] = icrc_delta(icrc_cache, pkt->sport ^ sport,
					  pkt->udp_len);
	skb->cb[CB_SPORT] = sport;
	skb->cb[CB_DQPN] = bits;
	bpf_tail_call_static(skb, &rs_write, 0);
	return ROCESTEER_REWRITE_FAILED;
}

#endif /* SPORT_BPF_H */
