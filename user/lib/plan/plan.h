/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How flows of equal length are shared out to paths so that every path carries
 * exactly its share, in the fewest pieces. Pure: no kernel, no I/O, integers only.
 *
 * Each flow spans [0, unit). A piece is a contiguous range of one flow on one
 * path. With n flows and s paths in use n - n mod s flows stay whole, and there
 * are n + s - gcd(n, s) pieces: no plan has more whole flows, or fewer pieces.
 * With weights, each path has as many whole flows as fit into its share, and
 * there are at most n + s - 1 pieces; to find the fewest is NP-hard then.
 *
 * Paths carry the same bytes once all flows have sent the same. While some flows
 * send and others do not, paths carry what these flows have there: a whole flow
 * is on one path only. Who wants paths to be even at each moment puts each flow
 * on all of them, which needs no plan (enum rocesteer_split, rocesteer/types.h).
 *
 * A plan starts from the one before, its prior, and keeps what it can of it
 * without giving up any of that:
 *
 * - A plan that is right is kept: planned again, nothing differs.
 * - A whole flow leaves its path only as far as the path has more of them than
 *   fit into its share. So none does when a flow comes.
 * - No plan of the same loads moves less than what paths carry above their
 *   share. A plan moves no more if all flows were whole, no path has more than one
 *   above those that fit, and none of these has to fill another path: as when a
 *   flow comes or goes, or a path dies, while all paths have as many flows.
 * - Else few pieces cost more. On up to 64 paths that are alike, at most 2.25
 *   flows more when one flow comes or goes, and as much again and 2 flows when a
 *   path does; nothing when one flow takes the place of another. With s paths of
 *   any weights, as much again and 2 + s / 4 flows.
 *
 * The figures are from trial: selftests/host/test_replan.c. On few flows and
 * paths nearly all plans move the least that any plan of so few pieces
 * and so many whole flows does: selftests/host/test_plan_least.c.
 */
#ifndef ROCESTEER_LIB_PLAN_H
#define ROCESTEER_LIB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PLAN_MAX_FLOWS	1048576u
#define PLAN_MAX_PATHS	4096u

/**
 * struct plan_piece - a range of a flow on one path
 * @flow: flow, from 0
 * @path: path, from 0
 * @from: first unit of the range
 * @to: first unit behind it
 */
struct plan_piece {
	__u32 flow;
	__u32 path;
	__u64 from;
	__u64 to;
};

/**
 * struct plan_spec - what is to be planned
 * @flows: 1..PLAN_MAX_FLOWS
 * @paths: 1..PLAN_MAX_PATHS
 * @weights: capacity of each path, NULL: all alike; 0: the path is not used
 * @seed: what is new is dealt to paths in the order that plan_order() has for
 *	it; 0: as they are numbered
 * @prior: the pieces that flows have now, ascending by flow and range. Flows
 *	bear their new numbers, one without a piece is new. The end of a flow's
 *	last piece is its length, which may differ from that of others: a piece
 *	from 0 to 1 is a flow that is whole. A path beyond @paths is gone.
 * @nr_prior: 0: there is none
 */
struct plan_spec {
	__u32 flows;
	__u32 paths;
	const __u32 *weights;
	__u32 seed;
	const struct plan_piece *prior;
	size_t nr_prior;
};

/**
 * struct plan - who carries what
 * @flows: number of flows
 * @paths: number of paths
 * @unit: length of each flow: the smallest for which all cuts are integers,
 *	s / gcd(n, s) when paths are alike
 * @pieces: ascending by flow, then by range; those a flow had before come first,
 *	in the order it had them
 * @nr_pieces: at least @flows
 * @load: units per path
 */
struct plan {
	__u32 flows;
	__u32 paths;
	__u64 unit;
	struct plan_piece *pieces;
	size_t nr_pieces;
	__u64 *load;
};

/**
 * plan_make() - share flows out to paths
 * @plan: filled; to be freed by plan_free()
 * @spec: what is to be planned
 *
 * The same on every machine for the same @spec.
 *
 * Return: 0; -EINVAL when a number is out of range, all weights are 0 or the
 * prior is not in order; -EOVERFLOW when the units exceed 63 bits; -ENOMEM.
 */
int plan_make(struct plan *plan, const struct plan_spec *spec);

void plan_free(struct plan *plan);

/**
 * struct plan_change - what a plan moves of its prior
 * @unit: length of a flow, in which the others are counted
 * @moved: what flows carry no more where they did
 * @must: what any plan of these loads moves at least
 * @flows: of how many flows something moved
 */
struct plan_change {
	__u64 unit;
	__u64 moved;
	__u64 must;
	__u32 flows;
};

/**
 * plan_compare() - what a plan moves of its prior
 * @change: filled
 * @plan: the plan
 * @spec: what it was made from
 *
 * Return: 0; -EOVERFLOW when a common unit exceeds 63 bits; -ENOMEM.
 */
int plan_compare(struct plan_change *change, const struct plan *plan,
		 const struct plan_spec *spec);

/**
 * plan_order() - the order in which a host deals whole flows to paths
 * @seed: differs per host, so that hosts do not all begin with one path
 * @paths: number of paths
 * @order: filled with a permutation of 0..@paths - 1
 *
 * The same on every machine for the same seed.
 */
void plan_order(__u32 seed, __u32 paths, __u32 *order);

/**
 * plan_least_loaded() - the path with the least load for its weight, counting one more flow
 * @load: of each path
 * @weight: of each path; 0: the path cannot be used
 * @paths: number of paths
 * @first: of equal paths, the next one from here on; as least_loaded() of bpf/deal.bpf.c
 *
 * Return: the path, or -1.
 */
int plan_least_loaded(const __u64 *load, const __u32 *weight, __u32 paths, __u32 first);

/* More queue pairs per connection than this are never recommended. */
#define PLAN_QPS_MAX	16

/**
 * struct plan_qps - connections split over queue pairs that stay whole
 * @qps: queue pairs per connection
 * @imbalance: how full the fullest path is in the end, its share being 1
 * @always: each connection by itself is even, if its queue pairs are dealt by
 *	themselves: so are paths at each moment, whichever connections send
 */
struct plan_qps {
	__u64 qps;
	double imbalance;
	bool always;
};

/**
 * plan_qps() - over how many queue pairs to split connections
 * @spec: flows are connections; its seed and prior do not matter
 * @qps: filled, by ascending number of queue pairs: those up to PLAN_QPS_MAX
 *	that leave less imbalance than any fewer; then, however large, the least
 *	number that leaves none; at last the least one that is even always, often
 *	the same
 * @nr: set to how many were filled
 *
 * Return: as plan_make().
 */
int plan_qps(const struct plan_spec *spec, struct plan_qps qps[PLAN_QPS_MAX + 2],
	     size_t *nr);

#endif /* ROCESTEER_LIB_PLAN_H */
