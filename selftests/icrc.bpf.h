/* SPDX-License-Identifier: GPL-2.0 */
/* A source port for the packets of programs that have no loader. */
#ifndef SELFTESTS_ICRC_BPF_H
#define SELFTESTS_ICRC_BPF_H

#include "../bpf/lib/sport.bpf.h"

/* K of rocesteer/icrc.h, computed when a length is first seen */
__u32 icrc_k[ROCESTEER_ICRC_WORDS];

static __noinline __u32 icrc_k_of(__u32 word)
{
	__u32 a = 0x80000000, i;

	if (word >= ROCESTEER_ICRC_WORDS)
		return 0;
	if (!icrc_k[word]) {
		bpf_for(i, 0, word * 32 - 16)
			a = rocesteer_crc32_shift(a);
		icrc_k[word] = a;
	}
	return icrc_k[word];
}

/* Give a packet its source port, in network order, and set @bits of its BTH's dqpn. */
static __always_inline void set_sport(struct __sk_buff *skb, const struct packet *pkt,
				      __be16 sport, __u32 bits)
{
	write_sport(skb, pkt->l4_off,
		    pkt->l4_off + pkt->udp_len - ROCESTEER_ICRC_SIZE, sport,
		    rocesteer_icrc_delta(pkt->sport ^ sport,
					 icrc_k_of(pkt->udp_len / 4)), bpf_htonl(bits));
}

#endif /* SELFTESTS_ICRC_BPF_H */
