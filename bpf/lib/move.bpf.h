/* SPDX-License-Identifier: GPL-2.0 */
/* When a whole flow may go another way: it overtakes nothing. */
#ifndef MOVE_BPF_H
#define MOVE_BPF_H

#include "deal.bpf.h"
#include "psn.bpf.h"

/*
 * READ data is not acknowledged: what a flow sent has arrived when it has sent none
 * for longer than packets stay in a network. As rocesteer_flow_path's responded.
 */
#define IDLE_SILENCE	32

/*
 * Does a flow overtake nothing of its own on a new path? The peer has answered all
 * requests, and responses have arrived. Where nobody says what is answered, yes.
 * @now: as responded.
 */
static __always_inline bool may_move(const struct rocesteer_flow_path *flow,
				     __u32 now)
{
	__u32 next = flow->psns[ROCESTEER_REQUESTS].next;

	if (flow->acked == ROCESTEER_PSN_NONE) {
		if (!(flow->flags & ROCESTEER_FLOW_RESEQ_AUTO))
			return true;
		if (next != ROCESTEER_PSN_NONE)
			return false;
	} else if (((flow->acked + 1) & ROCESTEER_PSN_MASK) != next) {
		return false;
	}
	return flow->psns[ROCESTEER_RESPONSES].next == ROCESTEER_PSN_NONE ||
	       now - flow->responded >= IDLE_SILENCE;
}

/* Let a whole flow go where it shall, now that it overtakes nothing. */
static __always_inline void move(struct rocesteer_flow_path *flow)
{
	flow->piece[0] = flow->next;
	flow->next.end = 0;
}

#endif /* MOVE_BPF_H */
