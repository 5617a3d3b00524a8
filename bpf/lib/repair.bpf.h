/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A round of go-back-N after a NAK which says that a path is silent: only packets of that path are
 * sent again. See struct rocesteer_repair.
 */
#ifndef REPAIR_BPF_H
#define REPAIR_BPF_H

#include "pieces.bpf.h"

/**
 * begin_repair() - note the round that a NAK asks for
 * @flow: its flow
 * @psn: PSN that the peer asks for
 * @silent: the path of that packet is silent
 *
 * The round before is over. A flow on a detour has packets of two pieces on one path: then all are
 * sent again.
 */
static __always_inline void begin_repair(struct rocesteer_flow_path *flow, __u32 psn, bool silent)
{
	struct rocesteer_repair *repair = &flow->repair;

	repair->end = repair->from;
	if (!silent || flow->detour.until)
		return;
	repair->path = flow->piece[search_piece(flow, psn) % ROCESTEER_MAX_PATHS].path;
	repair->from = psn;
	repair->end = flow->psns[ROCESTEER_REQUESTS].next;
}

/**
 * is_spared() - whether the peer has a packet that is sent again
 * @pkt: the packet
 * @flow: its flow
 * @i: its piece
 *
 * READs and atomics are sent, as the peer answers each of them once more. So is the last packet:
 * where the peer lacks others after all, the last one makes it ask for them.
 */
static __always_inline bool is_spared(const struct packet *pkt, struct rocesteer_flow_path *flow,
				      __u32 i)
{
	struct rocesteer_repair *repair = &flow->repair;

	if (repair->from == repair->end)
		return false;
	if (pkt->psn != repair->from) {
		repair->end = repair->from;
		return false;
	}
	repair->from = (pkt->psn + 1) & ROCESTEER_PSN_MASK;
	return repair->from != repair->end && pkt->opcode < ROCESTEER_OP_RC_READ &&
	       flow->piece[i].path != repair->path && is_of_pieces(flow, pkt->psn);
}

#endif /* REPAIR_BPF_H */
