/* SPDX-License-Identifier: GPL-2.0 */
/* A whole flow may take another path when its packets overtake nothing. */
#ifndef MOVE_BPF_H
#define MOVE_BPF_H

#include "deal.bpf.h"
#include "psn.bpf.h"

/*
 * READ data is not acknowledged: all has arrived when the flow has sent none for longer than
 * packets stay in a network. In the units of rocesteer_flow_path's responded.
 */
#define IDLE_SILENCE	32

/*
 * Return: whether a flow overtakes nothing of its own on a new path: the peer has answered all
 * requests, or nobody tells the answers; and responses have arrived. @now: as responded.
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

/* Move a whole flow to its planned path, where the flow overtakes nothing. */
static __always_inline void move(struct rocesteer_flow_path *flow)
{
	flow->piece[0] = flow->next;
	flow->next.end = 0;
}

#endif /* MOVE_BPF_H */
