/* SPDX-License-Identifier: GPL-2.0 */
/* Give a packet its source port; its ICRC and its UDP checksum follow. */
#ifndef SPORT_BPF_H
#define SPORT_BPF_H

#include <stddef.h>
#include "rocesteer/icrc.h"
#include "parse.bpf.h"

/* ICRC and ports are XORed as loaded from the packet: see rocesteer/icrc.h. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the BPF programs are for little-endian machines"
#endif

/* The headers that are changed. */
struct steered {
	struct udphdr udp;
	struct rocesteer_bth bth;
};

/* The first @len bytes, linear and writable, or NULL. */
static __always_inline void *writable(struct __sk_buff *skb, __u32 len)
{
	void *data = (void *)(long)skb->data;

	if (data + len <= (void *)(long)skb->data_end)
		return data;
	return bpf_skb_pull_data(skb, len) ? NULL : (void *)(long)skb->data;
}

/**
 * write_sport() - write the source port of a packet
 * @skb: the packet
 * @l4_off: offset of the UDP header
 * @icrc_off: offset of the ICRC
 * @sport: port, in network order
 * @icrc_xor: change of the ICRC, from rocesteer_icrc_delta()
 * @bits: bits of the BTH's dqpn that are set, in network order; the ICRC does not cover
 *	them
 *
 * Nothing is written unless all can be.
 *
 * Return: whether the packet was changed.
 */
static __always_inline bool write_sport(struct __sk_buff *skb, __u32 l4_off,
					__u32 icrc_off, __be16 sport,
					__u32 icrc_xor, __be32 bits)
{
	__u32 off = l4_off + offsetof(struct udphdr, check), old_icrc;
	struct steered *h;
	__be32 old_dqpn;
	__be16 old;
	__u32 *icrc;
	void *data;

	if (l4_off > HEADERS_MAX || icrc_off > FRAME_MAX)
		return false;
	data = (void *)(long)skb->data;
	icrc = data + icrc_off;
	if ((void *)(icrc + 1) > (void *)(long)skb->data_end) {
		if (bpf_skb_pull_data(skb, icrc_off + sizeof(*icrc)))
			return false;
		data = (void *)(long)skb->data;
		icrc = data + icrc_off;
		if ((void *)(icrc + 1) > (void *)(long)skb->data_end)
			return false;
	}
	h = data + l4_off;
	if ((void *)(h + 1) > (void *)(long)skb->data_end)
		return false;
	old = h->udp.source;
	old_dqpn = h->bth.dqpn;
	old_icrc = *icrc;
	h->udp.source = sport;
	if (bits)
		h->bth.dqpn = old_dqpn | bits;
	*icrc = old_icrc ^ icrc_xor;
	if (h->udp.check) {
		bpf_l4_csum_replace(skb, off, old_dqpn, old_dqpn | bits,
				    BPF_F_MARK_MANGLED_0 | sizeof(old_dqpn));
		bpf_l4_csum_replace(skb, off, old, sport,
				    BPF_F_MARK_MANGLED_0 | sizeof(sport));
		bpf_l4_csum_replace(skb, off, old_icrc, old_icrc ^ icrc_xor,
				    BPF_F_MARK_MANGLED_0 | sizeof(old_icrc));
	}
	/* The hash is that of the old path: bonds and ECMP routes below us would go by it. */
	if (skb->hash)
		bpf_set_hash_invalid(skb);
	return true;
}

#endif /* SPORT_BPF_H */
