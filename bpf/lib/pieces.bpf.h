/* SPDX-License-Identifier: GPL-2.0 */
/* Which piece of its flow, and thereby which path, a packet takes. */
#ifndef PIECES_BPF_H
#define PIECES_BPF_H

#include "maps.bpf.h"
#include "parse.bpf.h"
#include "psn.bpf.h"

/* Return: whether a packet was sent by the present pieces of its flow. */
static __always_inline bool is_of_pieces(const struct rocesteer_flow_path *flow, __u32 psn)
{
	return flow->planned == ROCESTEER_PSN_NONE || !psn_before(psn, flow->planned);
}

/* The piece of the packet with a PSN, the slow way: as find_piece(). */
__noinline __u32 search_piece(const struct rocesteer_flow_path *flow, __u32 psn)
{
	__u32 last, period, i;

	if (!flow)	/* global functions are verified on their own */
		return 0;
	last = flow->nr_pieces - 1;
	period = flow->piece[last % ROCESTEER_MAX_PATHS].end;
	if (!period)
		return 0;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS)
		if (psn % period < flow->piece[i % ROCESTEER_MAX_PATHS].end)
			return i;
	return 0;
}

/**
 * find_piece() - the piece of a packet
 * @flow: its flow
 * @psn: its PSN; acknowledgments are not split
 *
 * By the PSN alone: a packet that is sent again takes its path again, whatever
 * messages it was part of, and a flow needs no more state than its plan. Most packets are
 * in the piece of the last one, or in the next.
 *
 * While rocesteer_set_flow() writes, old and new pieces mix: each one is valid.
 *
 * Return: index below ROCESTEER_MAX_PATHS.
 */
static __always_inline __u32 find_piece(struct rocesteer_flow_path *flow,
					__u32 psn)
{
	__u32 last = (flow->nr_pieces - 1) % ROCESTEER_MAX_PATHS;
	__u32 i = flow->recent % ROCESTEER_MAX_PATHS, x;
	const struct rocesteer_piece *at = &flow->piece[i];

	/* In BPF x modulo 0 is x: search_piece() finds that there is no piece. */
	x = psn % flow->piece[last].end;
	barrier_var(at);	/* or clang computes the address of each piece anew */
	if (x >= at[0].end && i < last && x < at[1].end)
		flow->recent = i + 1;
	else if (x >= at[0].end || i > last || (i && x < at[-1].end))
		flow->recent = x < flow->piece[0].end ? 0 : search_piece(flow, psn);
	/* Read again, as an unknown number: the verifier follows what comes next once. */
	return *(volatile __u32 *)&flow->recent % ROCESTEER_MAX_PATHS;
}

#endif /* PIECES_BPF_H */
