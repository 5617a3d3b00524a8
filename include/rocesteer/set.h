/* SPDX-License-Identifier: GPL-2.0 */
/* Arguments of the programs in bpf/plan.bpf.c, which change entries of the maps. */
#ifndef ROCESTEER_SET_H
#define ROCESTEER_SET_H

#include "types.h"

/**
 * struct rocesteer_set_flow - argument of the program rocesteer_set_flow
 * @key: flow
 * @job: job that it must belong to
 * @nr_pieces: 1..ROCESTEER_MAX_PATHS
 * @now: not 0: also where packets are in flight that may be overtaken
 * @reserved: zero
 * @piece: its new pieces
 *
 * A flow that the peer does not resequence moves when nothing is in flight, as far as
 * that is known. Of an observed flow @piece says which path its own port takes.
 *
 * The program returns 0; -ENOENT when the job has no such flow; -EPERM when it
 * would be split although nobody restores its order; -EBUSY when its queue pair
 * has its port for good; -EINVAL when @nr_pieces is out of range, or a piece is
 * not on a path of the flow's group, with the peer's port of that path, or with
 * the flow's own where it is observed.
 */
struct rocesteer_set_flow {
	struct rocesteer_flow_key key;
	__u32 job;
	__u32 nr_pieces;
	__u32 now;
	__u32 reserved;
	struct rocesteer_piece piece[ROCESTEER_MAX_PATHS];
};

/**
 * struct rocesteer_set_group - argument of the program rocesteer_set_group
 * @key: group
 * @down: its paths that are held down, a bit each
 *
 * The program returns 0, or -ENOENT when there is no such group.
 */
struct rocesteer_set_group {
	struct rocesteer_group_key key;
	__u64 down;
};

/**
 * struct rocesteer_set_observe - argument of the program rocesteer_set_observe
 * @key: group
 * @observe: as in struct rocesteer_group
 * @reserved: zero
 *
 * Flows that are in the table stay as they are. The program returns 0, or -ENOENT when there
 * is no such group.
 */
struct rocesteer_set_observe {
	struct rocesteer_group_key key;
	__u32 observe;
	__u32 reserved;
};

/**
 * struct rocesteer_set_paths - argument of the program rocesteer_set_paths
 * @key: group
 * @down: as in struct rocesteer_group, like the fields that follow
 * @nr_paths: likewise
 * @first: likewise
 * @weight: likewise
 * @router: likewise
 * @leaf: likewise
 * @via: likewise
 *
 * Counters stay as they are, by the old numbers of the paths, until flows are moved.
 *
 * The program returns 0; -ENOENT when there is no such group; -EINVAL when @nr_paths is out
 * of range.
 */
struct rocesteer_set_paths {
	struct rocesteer_group_key key;
	__u64 down;
	__u32 nr_paths;
	__u32 first;
	__u16 weight[ROCESTEER_MAX_PATHS];
	__u8 router[ROCESTEER_MAX_PATHS][16];
	__u8 leaf[ROCESTEER_MAX_PATHS][16];
	__u8 via[ROCESTEER_MAX_PATHS][16];
};

/**
 * struct rocesteer_set_peer - argument of the program rocesteer_set_peer
 * @key: peer
 * @peer: what the peer becomes, but for its @flows, which the programs count
 *
 * The program returns 0, or -ENOENT when the job has no such peer.
 */
struct rocesteer_set_peer {
	struct rocesteer_peer_key key;
	struct rocesteer_peer peer;
};

/**
 * struct rocesteer_set_order - argument of the program rocesteer_set_order
 * @key: flow
 * @orders: not 0: this end resequences the peer's packets, and tells the peer; 0: this end
 *	does not, the peer's word is forgotten, and the flow is whole
 *
 * The program returns 0, or -ENOENT when there is no such flow.
 */
struct rocesteer_set_order {
	struct rocesteer_flow_key key;
	__u32 orders;
};

_Static_assert(sizeof(struct rocesteer_set_flow) ==
	       40 + ROCESTEER_MAX_PATHS * 8, "padding");
_Static_assert(sizeof(struct rocesteer_set_group) == 32, "padding");
_Static_assert(sizeof(struct rocesteer_set_paths) ==
	       40 + ROCESTEER_MAX_PATHS * 50, "padding");
_Static_assert(sizeof(struct rocesteer_set_peer) ==
	       64 + ROCESTEER_MAX_PATHS * 6, "padding");

#endif /* ROCESTEER_SET_H */
