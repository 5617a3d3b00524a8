/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the PSNs of a flow tell: RC is go-back-N, so a PSN that is not ahead of
 * the highest begins, or goes on with, a round of retransmission.
 */
#ifndef PSN_BPF_H
#define PSN_BPF_H

#include "rocesteer/roce.h"
#include "rocesteer/types.h"

/* Is @a before @b in the 24-bit sequence? */
static __always_inline bool psn_before(__u32 a, __u32 b)
{
	return (a - b) & (ROCESTEER_PSN_MASK + 1) >> 1;
}

/**
 * psn_note() - keep account of a packet that is sent
 * @psns: its sequence of its flow
 * @psn: its PSN
 *
 * A receiver acknowledges a duplicate again: for acknowledgments a round says
 * that the peer began one.
 *
 * Return: how many rounds in a row began with @psn, where it begins one; else 0.
 */
static __always_inline __u32 psn_note(struct rocesteer_psns *psns, __u32 psn)
{
	__u32 next = (psn + 1) & ROCESTEER_PSN_MASK, last = psns->last;

	psns->last = next;
	if (psns->next == ROCESTEER_PSN_NONE ||
	    !psn_before(psn, psns->next)) {
		psns->next = next;
		return 0;
	}
	if (!psn_before(psn, last))
		return 0;
	if ((psns->again & ROCESTEER_PSN_MASK) != psn) {
		psns->again = psn;
		psns->rounds = 0;
		psns->repeats = psns->next;
	}
	return ++psns->rounds;
}

/* The peer has all packets before this one. */
static __always_inline void psn_acked(struct rocesteer_psns *psns, __u32 psn)
{
	if (psns->repeats != ROCESTEER_PSN_NONE &&
	    !psn_before(psn, psns->repeats))
		psns->repeats = ROCESTEER_PSN_NONE;
}

/*
 * The peer asks for a packet, which begins the next round. One that a timeout has
 * repeated already was lost twice. One that did come, when nobody was ready to
 * receive it, was not lost at all.
 */
static __always_inline void psn_asked(struct rocesteer_psns *psns, __u32 psn,
				      bool not_ready)
{
	bool repeated = psns->repeats != ROCESTEER_PSN_NONE &&
			psn_before(psn, psns->repeats) &&
			psn_before(psn, psns->last);

	if (not_ready || (psns->again & ROCESTEER_PSN_MASK) != psn) {
		psns->again = psn | ROCESTEER_PSN_ASKED;
		psns->rounds = repeated && !not_ready;
	}
	psn_acked(psns, psn);
}

#endif /* PSN_BPF_H */
