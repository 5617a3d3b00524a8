/* SPDX-License-Identifier: GPL-2.0 */
/* When a whole flow may go another way: it overtakes nothing. */
#ifndef ACK_BPF_H
#define ACK_BPF_H

#include "deal.bpf.h"
#include "psn.bpf.h"

/* Has the peer answered all requests? Where it cannot be known, yes. */
static __always_inline bool is_idle(const struct rocesteer_flow_path *flow)
{
	if (flow->acked == ROCESTEER_PSN_NONE)
		return !(flow->flags & ROCESTEER_FLOW_ASKS);
	return ((flow->acked + 1) & ROCESTEER_PSN_MASK) ==
	       flow->psns[ROCESTEER_REQUESTS].next;
}

/*
 * READ data is not acknowledged: what a flow sent has arrived when it has sent nothing
 * for longer than packets stay in a network. As rocesteer_flow_path's responded.
 */
#define IDLE_SILENCE	32

/* Has a flow that only sends responses sent none for so long? */
static __always_inline bool is_silent(const struct rocesteer_flow_path *flow,
				      __u32 now)
{
	return flow->psns[ROCESTEER_REQUESTS].next == ROCESTEER_PSN_NONE &&
	       now - flow->responded >= IDLE_SILENCE;
}

/* Does a flow that is about to send a packet overtake nothing on a new path? */
static __always_inline bool may_move(const struct rocesteer_flow_path *flow,
				     __u32 seq)
{
	return seq == ROCESTEER_REQUESTS ? is_idle(flow) :
					   is_silent(flow, coarse_now());
}

/* Let a whole flow go where it shall, now that it overtakes nothing. */
static __always_inline void move(struct rocesteer_flow_path *flow)
{
	flow->piece[0] = flow->next;
	flow->next.end = 0;
}

#endif /* ACK_BPF_H */
