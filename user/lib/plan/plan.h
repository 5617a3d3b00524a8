/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deal flows of equal length to paths so that every path carries exactly its share, in the
 * fewest pieces. Pure: no kernel, no I/O, integers only.
 *
 * Each flow spans [0, unit). A piece is a contiguous range of one flow on one path. With n
 * flows and s paths, n - n mod s flows stay whole, and there are n + s - gcd(n, s) pieces: no
 * plan has more whole flows, or fewer pieces. With weights, each path has as many whole flows
 * as fit into its share, and there are at most n + s - 1 pieces; the minimum is NP-hard.
 *
 * Paths carry equal bytes once all flows have sent the same. While only some flows send,
 * loads may differ, because a whole flow is on one path. To balance paths at each moment, put
 * each flow on all paths, which needs no plan (enum rocesteer_split, rocesteer/types.h).
 *
 * A plan starts from the previous one, its prior, and moves little:
 *
 * - A plan that is right stays as it is.
 * - A whole flow leaves its path only if the path has more whole flows than fit into its
 *   share. So none moves when a flow is added.
 * - Any plan has to move the excess of each path over its share. A plan moves no more if all
 *   flows were whole, no path has more than one flow too many, and none of these has to fill
 *   another path: as when a flow is added or removed, or a path dies, while all paths have
 *   equally many flows.
 * - Otherwise few pieces cost more. On up to 64 equal paths: at most 2.25 flows more when a
 *   flow is added or removed, twice the excess and 2 flows more when a path is, and nothing
 *   when one flow replaces another. With s paths of any weights: twice the excess and
 *   2 + s / 4 flows more.
 *
 * These figures are measured by selftests/host/plan/test_replan.c. On few flows and paths nearly
 * all plans move the minimum for so few pieces: selftests/host/plan/test_plan_least.c.
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
 * @to: first unit after the range
 */
struct plan_piece {
	__u32 flow;
	__u32 path;
	__u64 from;
	__u64 to;
};

/**
 * struct plan_spec - input of a plan
 * @flows: 1..PLAN_MAX_FLOWS
 * @paths: 1..PLAN_MAX_PATHS
 * @weights: capacity of each path; NULL: all equal; 0: the path is not used
 * @seed: seed of random_order() for new flows; 0: the order of numbers
 * @prior: present pieces, ascending by flow and range. Flows have their new numbers; a flow
 *	without a piece is new. The last piece ends at the length of the flow, which may
 *	differ between flows: a whole flow has one piece from 0 to 1. A path beyond @paths
 *	is gone
 * @nr_prior: number of present pieces
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
 * struct plan - a plan
 * @flows: number of flows
 * @paths: number of paths
 * @unit: length of each flow: the smallest for which all cuts are integers, s / gcd(n, s) if
 *	paths are equal
 * @pieces: ascending by flow, then by range; present pieces of a flow come first, in the
 *	present order
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
 * plan_make() - deal flows to paths
 * @plan: filled; to be freed by plan_free()
 * @spec: input
 *
 * Equal input gives equal plans on every machine.
 *
 * Return: 0; -EINVAL if a number is out of range, all weights are 0 or the prior is not in
 * order; -EOVERFLOW if the units exceed 63 bits; -ENOMEM.
 */
int plan_make(struct plan *plan, const struct plan_spec *spec);

void plan_free(struct plan *plan);

/**
 * struct plan_change - difference between a plan and its prior
 * @unit: length of a flow; @moved and @must are in parts of it
 * @moved: parts of flows that leave their path
 * @must: minimum of @moved for these loads
 * @flows: number of flows of which a part moves
 */
struct plan_change {
	__u64 unit;
	__u64 moved;
	__u64 must;
	__u32 flows;
};

/**
 * plan_compare() - compare a plan with its prior
 * @change: filled
 * @plan: the plan
 * @spec: its input
 *
 * Return: 0; -EOVERFLOW if a common unit exceeds 63 bits; -ENOMEM.
 */
int plan_compare(struct plan_change *change, const struct plan *plan, const struct plan_spec *spec);

/**
 * plan_least_loaded() - the path with the least load for its weight, counting one more flow
 * @load: of each path
 * @weight: of each path; 0: the path cannot be used
 * @paths: number of paths
 * @first: of equal paths, the first from this one on; as in least_loaded() of bpf/deal.bpf.c
 *
 * Return: the path, or -1.
 */
int plan_least_loaded(const __u64 *load, const __u32 *weight, __u32 paths, __u32 first);

#define PLAN_LEVEL_MAX	0xffff	/* as weights of paths in the tables */

/**
 * plan_level() - find weights by which more load makes the load of paths level
 * @weight: capacity of each path, 0: the path cannot be used; changed to what each path gets of the
 *	load, relative to the others, up to PLAN_LEVEL_MAX; 0: the path has more than the others
 *	will have
 * @carried: load of each path now
 * @paths: number of paths, up to ROCESTEER_MAX_PATHS; one of them can be used
 * @load: load that comes, not 0; in all below 2^41
 */
void plan_level(__u32 *weight, const __u64 *carried, __u32 paths, __u64 load);

/**
 * plan_scale() - the units of a plan
 * @spec: its paths and flows are in range
 * @unit: set: length of a flow; of one flow this is the number of whole queue pairs that load
 *	the paths alike
 * @share: filled: load of each path, in units; NULL: not wanted
 *
 * Return: 0 or -EINVAL or -EOVERFLOW, as plan_make().
 */
int plan_scale(const struct plan_spec *spec, __u64 *unit, __u64 *share);

/* The greatest common divisor; of 0 and a number it is the number. */
__u64 plan_gcd(__u64 a, __u64 b);

/* More queue pairs per connection than this are never recommended. */
#define PLAN_QPS_MAX	16

/**
 * struct plan_qps - connections split over queue pairs that stay whole
 * @qps: queue pairs per connection
 * @imbalance: load of the fullest path in the end, in units of its share
 * @always: each connection alone can be even, so paths are even at each moment, whichever
 *	connections send
 */
struct plan_qps {
	__u64 qps;
	double imbalance;
	bool always;
};

/**
 * plan_qps() - over how many queue pairs to split connections
 * @spec: input, with connections as flows; seed and prior are not used
 * @qps: filled, ascending: numbers up to PLAN_QPS_MAX with less imbalance than any smaller
 *	number; the least number without imbalance; the least number that is always even,
 *	often the same
 * @nr: set to the number of entries
 *
 * Return: as plan_make().
 */
int plan_qps(const struct plan_spec *spec, struct plan_qps qps[PLAN_QPS_MAX + 2], size_t *nr);

#endif /* ROCESTEER_LIB_PLAN_H */
