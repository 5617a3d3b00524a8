// SPDX-License-Identifier: GPL-2.0
/*
 * Packets by which a queue pair says what it will receive: NAKs, and requests that need a
 * response of their own.
 */
#include <linux/bitops.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include <rocesteer/roce.h>

#include "flow.h"
#include "net.h"
#include "reseq.h"
#include "reseq_answers.h"
#include "reseq_headers.h"
#include "reseq_mark.h"
#include "reseq_table.h"

static bool answers_is_nak(const struct rocesteer_headers *h)
{
	return h->bth.opcode == ROCESTEER_OP_RC_ACK &&
	       (h->syndrome == ROCESTEER_AETH_NAK_PSN ||
		(h->syndrome & ROCESTEER_AETH_TYPE) == ROCESTEER_AETH_RNR);
}

/* The queue pair of @reseq sends @skb. */
static s64 answers_note(struct rocesteer_reseq *reseq, struct sk_buff *skb)
{
	const struct rocesteer_headers *h;
	struct rocesteer_headers buf;
	u32 psn;

	h = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(*h), &buf);
	if (!h || !rocesteer_headers_are_rc(h))
		return -EINVAL;
	psn = rocesteer_headers_psn(h);
	if (h->bth.opcode == ROCESTEER_OP_RC_ACK)
		return rocesteer_reseq_answer(reseq, psn, answers_is_nak(h));
	if (ROCESTEER_OPS_ANSWERED & BIT(h->bth.opcode) &&
	    rocesteer_reseq_expect_read(reseq, psn, rocesteer_headers_length(h, skb)) &&
	    h->bth.opcode == ROCESTEER_OP_RC_READ)
		rocesteer_read_mark_set(skb, skb_transport_offset(skb));
	return 0;
}

/* See bpf_rocesteer_flow_answers(). Context: any but hard interrupts. */
s64 rocesteer_answers_note(struct rocesteer_net *rn,
			   const struct rocesteer_flow_key *key,
			   struct sk_buff *skb)
{
	struct rocesteer_reseq *reseq;
	s64 result = -ENOENT;

	if (rocesteer_reseq_none(rn))
		return -ENOENT;
	rcu_read_lock();
	reseq = rocesteer_flow_reseq(rn, key, skb);
	if (reseq)
		result = answers_note(reseq, skb);
	rcu_read_unlock();
	return result;
}
