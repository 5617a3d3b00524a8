/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How flows of equal length are shared out to paths so that every path carries
 * exactly its share. Pure: no kernel, no I/O, integers only.
 *
 * Each flow spans [0, unit). A piece is a contiguous range of one flow on one
 * path. With n flows and s paths, in the paper's terms:
 *
 * wrap	 The flows are laid end to end and cut where a path has its share
 *	 (McNaughton's wrap-around rule): the minimum of extra pieces,
 *	 s - gcd(n, s) for equal weights.
 * equal The rule of the Ethereal paper (arXiv 2407.00550): with r = n mod s,
 *	 n - r flows stay whole, dealt round robin; the last r are cut into
 *	 s / gcd(r, s) equal pieces each, dealt round robin.
 */
#ifndef ROCESTEER_PLAN_H
#define ROCESTEER_PLAN_H

#include <stddef.h>
#include <linux/types.h>

#define PLAN_MAX_FLOWS	1048576u
#define PLAN_MAX_PATHS	4096u
#define PLAN_MAX_PIECES	4194304u

enum plan_rule {
	PLAN_WRAP,
	PLAN_EQUAL,
};

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
 * struct plan - who carries what
 * @flows: number of flows
 * @paths: number of paths
 * @unit: length of each flow: the smallest for which all cuts are integers
 * @pieces: ascending by flow, then by range
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
 * @rule: which rule
 * @flows: 1..PLAN_MAX_FLOWS
 * @paths: 1..PLAN_MAX_PATHS
 * @weights: capacity of each path, NULL: all alike; 0: the path is not used
 *
 * Return: 0; -EINVAL when a number is out of range or all weights are 0;
 * -EOPNOTSUPP for PLAN_EQUAL with unequal weights; -EOVERFLOW when the units
 * exceed 63 bits; -E2BIG beyond PLAN_MAX_PIECES; -ENOMEM.
 */
int plan_make(struct plan *plan, enum plan_rule rule, __u32 flows, __u32 paths,
	      const __u32 *weights);

void plan_free(struct plan *plan);

/**
 * plan_order() - the order in which a host deals whole flows to paths
 * @seed: differs per host, so that hosts do not all begin with one path
 * @paths: number of paths
 * @order: filled with a permutation of 0..@paths - 1
 *
 * The same on every machine for the same seed.
 */
void plan_order(__u32 seed, __u32 paths, __u32 *order);

#endif /* ROCESTEER_PLAN_H */
