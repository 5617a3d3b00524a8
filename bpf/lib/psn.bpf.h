/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PSNs of a flow tell its losses: RC is go-back-N, so a PSN that is not ahead of
 * the highest begins, or goes on with, a round of retransmission.
 */
#ifndef PSN_BPF_H
#define PSN_BPF_H

#include "rocesteer/roce.h"
#include "rocesteer/types.h"

/* Most packets that a sender has in flight. */
#define PSN_WINDOW	0x10000

/* Return: whether @a is before @b in the 24-bit sequence. */
static __always_inline bool psn_before(__u32 a, __u32 b)
{
	return (a - b) & (ROCESTEER_PSN_MASK + 1) >> 1;
}

/* Return: whether @psn is ahead of all PSNs that were sent. */
static __always_inline bool psn_is_new(const struct rocesteer_psns *psns,
				       __u32 psn)
{
	return psns->next == ROCESTEER_PSN_NONE || !psn_before(psn, psns->next);
}

/* Keep account of a packet that is sent, and is new. */
static __always_inline void psn_advance(struct rocesteer_psns *psns, __u32 psn)
{
	psns->next = (psn + 1) & ROCESTEER_PSN_MASK;
	psns->last = psns->next;
}

/* The queue pair began again, with a PSN far from those before. */
static __always_inline void psn_begin(struct rocesteer_psns *psns,
				      struct rocesteer_resent *resent, __u32 psn)
{
	resent->again = 0;
	resent->rounds = 0;
	resent->repeats = ROCESTEER_PSN_NONE;
	psn_advance(psns, psn);
}

/**
 * psn_note() - keep account of a packet that is sent
 * @psns: its sequence of its flow
 * @resent: the rounds of that
 * @psn: its PSN
 *
 * A receiver acknowledges a duplicate again: for acknowledgments a round says
 * that the peer began one.
 *
 * Return: how many rounds in a row began with @psn, where it begins one; else 0.
 */
static __always_inline __u32 psn_note(struct rocesteer_psns *psns,
				      struct rocesteer_resent *resent, __u32 psn)
{
	__u32 last = psns->last;

	if (psn_is_new(psns, psn)) {
		psn_advance(psns, psn);
		return 0;
	}
	if (((psns->next - psn) & ROCESTEER_PSN_MASK) > PSN_WINDOW) {
		psn_begin(psns, resent, psn);
		return 0;
	}
	psns->last = (psn + 1) & ROCESTEER_PSN_MASK;
	if (!psn_before(psn, last))
		return 0;
	if ((resent->again & ROCESTEER_PSN_MASK) != psn) {
		resent->again = psn;
		resent->rounds = 0;
		resent->repeats = psns->next;
	}
	return ++resent->rounds;
}

/**
 * psn_answers() - the request that an acknowledgment, or READ data, answers
 * @psns: the requests of its flow
 * @psn: its PSN
 * @data: it is, or ends, what a READ or an atomic asked for: numbered from the request
 *	on, so maybe beyond the last request
 *
 * A forger who sees none of the flow has to guess a PSN: one in 256 guesses is right.
 *
 * Return: PSN of the last request that is answered; ROCESTEER_PSN_NONE where it
 * cannot be of this flow.
 */
static __always_inline __u32 psn_answers(const struct rocesteer_psns *psns,
					 __u32 psn, bool data)
{
	__u32 last = (psns->next - 1) & ROCESTEER_PSN_MASK;

	if (psns->next == ROCESTEER_PSN_NONE)
		return ROCESTEER_PSN_NONE;
	if (((last - psn) & ROCESTEER_PSN_MASK) < PSN_WINDOW)
		return psn;
	if (data && ((psn - last) & ROCESTEER_PSN_MASK) < PSN_WINDOW)
		return last;
	return ROCESTEER_PSN_NONE;
}

/*
 * Return: whether the peer's request can have this PSN. Responses to earlier requests have the
 * PSNs before.
 */
static __always_inline bool psn_continues(const struct rocesteer_psns *psns,
					  __u32 psn)
{
	return psns->next != ROCESTEER_PSN_NONE &&
	       ((psn - psns->next + PSN_WINDOW) & ROCESTEER_PSN_MASK) <
	       2 * PSN_WINDOW;
}

/* The peer has all packets before this one. */
static __always_inline void psn_acked(struct rocesteer_resent *resent, __u32 psn)
{
	if (resent->repeats != ROCESTEER_PSN_NONE &&
	    !psn_before(psn, resent->repeats))
		resent->repeats = ROCESTEER_PSN_NONE;
}

/*
 * The peer asks for a packet, which begins the next round. A packet that a timeout has
 * repeated already was lost twice; one of a @silent path counts as if it were. RNR: the packet
 * arrived, do not count it as lost.
 */
static __always_inline void psn_asked(const struct rocesteer_psns *psns,
				      struct rocesteer_resent *resent, __u32 psn,
				      bool not_ready, bool silent)
{
	bool repeated = resent->repeats != ROCESTEER_PSN_NONE &&
			psn_before(psn, resent->repeats) &&
			psn_before(psn, psns->last);

	if (not_ready || (resent->again & ROCESTEER_PSN_MASK) != psn) {
		resent->again = psn | ROCESTEER_PSN_ASKED;
		resent->rounds = (repeated || silent) && !not_ready;
	}
	psn_acked(resent, psn);
}

#endif /* PSN_BPF_H */
