/* SPDX-License-Identifier: GPL-2.0 */
/* Headers of a RoCE v2 packet, from its UDP header on. */
#ifndef ROCESTEER_RESEQ_HEADERS_H
#define ROCESTEER_RESEQ_HEADERS_H

#include <linux/skbuff.h>
#include <linux/udp.h>

#include <rocesteer/roce.h>

/* Headers of every packet, and the first word of the AETH or of the ICRC. */
struct rocesteer_headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
	u8 syndrome;
	u8 rest[3];
};

static inline bool rocesteer_headers_are_rc(const struct rocesteer_headers *h)
{
	return h->udp.dest == htons(ROCESTEER_ROCE_PORT) &&
	       !(h->bth.flags & ROCESTEER_BTH_TVER) &&
	       (h->bth.opcode & ROCESTEER_OP_SERVICE) == ROCESTEER_OP_RC;
}

static inline u32 rocesteer_headers_psn(const struct rocesteer_headers *h)
{
	return be32_to_cpu(h->bth.apsn) & ROCESTEER_PSN_MASK;
}

/* Return: bytes that a READ request asks for, 0 for other packets. */
static inline u32 rocesteer_headers_length(const struct rocesteer_headers *h,
					   const struct sk_buff *skb)
{
	const struct rocesteer_reth *reth;
	struct rocesteer_reth buf;

	if (h->bth.opcode != ROCESTEER_OP_RC_READ)
		return 0;
	reth = skb_header_pointer(skb, skb_transport_offset(skb) +
				  offsetof(struct rocesteer_headers, syndrome),
				  sizeof(buf), &buf);
	return reth ? be32_to_cpu(reth->length) : 0;
}

#endif /* ROCESTEER_RESEQ_HEADERS_H */
