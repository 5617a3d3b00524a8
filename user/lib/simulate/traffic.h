/* SPDX-License-Identifier: GPL-2.0 */
/* Who sends what to whom: the steps of a collective, or flows that are known otherwise. */
#ifndef ROCESTEER_LIB_SIMULATE_TRAFFIC_H
#define ROCESTEER_LIB_SIMULATE_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define SIM_MAX_FLOWS	4194304u	/* of a traffic; about that many where steps are sampled */

/**
 * enum sim_pattern - patterns, of hosts with buffers of one size
 * @SIM_PERMUTATION: each host sends its buffer to one other, at random
 * @SIM_ALL_TO_ALL: each host sends a part of its buffer to each other host, all at once
 * @SIM_PAIRWISE: the same, with each step to a host one further
 * @SIM_HIERARCHICAL: the same: to hosts of the same leaf what is for their places, then to those
 *	of the same place, with each step one leaf further
 * @SIM_DIRECT: All-Reduce: an all-to-all scatters and reduces, another one gathers
 * @SIM_HALVING: All-Reduce by recursive halving, then doubling. Hosts beyond a power of two give
 *	their data to one of the first hosts, and get the sum last
 * @SIM_RING: All-Reduce: each host to the next, part by part
 * @SIM_TREE: All-Reduce by the two trees of chunk_alg_tree(), with so many chunks that all
 *	exchanges are at one time
 */
enum sim_pattern {
	SIM_PERMUTATION,
	SIM_ALL_TO_ALL,
	SIM_PAIRWISE,
	SIM_HIERARCHICAL,
	SIM_DIRECT,
	SIM_HALVING,
	SIM_RING,
	SIM_TREE,
};

/* Their names, ended by NULL. */
extern const char * const sim_patterns[];

/**
 * struct sim_flow - bytes from one host to another
 * @from: host
 * @to: another host
 * @step: flows of a step begin when those of the step before have ended
 * @qp: number among the flows of the pair in the step: each has a queue pair of its own
 * @nr_ways: number of its ways in @ways of the traffic; 0: the policy decides
 * @first_way: first of these
 * @bytes: above 0
 */
struct sim_flow {
	__u32 from;
	__u32 to;
	__u32 step;
	__u32 qp;
	__u32 nr_ways;
	size_t first_way;
	double bytes;
};

/**
 * struct sim_way - bytes of a flow on a path
 * @path: as of sim_path_links()
 * @bytes: relative to the other ways of the flow
 */
struct sim_way {
	__u32 path;
	double bytes;
};

/**
 * struct sim_traffic - flows, ascending by step
 * @flow: flows
 * @nr: number of @flow
 * @way: paths of flows for which they are known
 * @nr_ways: number of @way
 * @steps: number of steps
 * @all_steps: that the pattern has: if more than @steps, these are some of them, evenly apart, and
 *	each stands for as many
 * @sum: size of a buffer of which all hosts get the sum; 0: the pattern is no All-Reduce
 */
struct sim_traffic {
	struct sim_flow *flow;
	size_t nr;
	struct sim_way *way;
	size_t nr_ways;
	__u32 steps;
	__u32 all_steps;
	double sum;
};

/**
 * sim_traffic_make() - the flows of a pattern
 * @traffic: filled; to be freed by sim_traffic_free() in any case
 * @pattern: pattern
 * @hosts: number of hosts, at least 2
 * @leaf: hosts of a leaf
 * @size: bytes of a host's buffer
 * @seed: of the permutation
 *
 * Equal steps that follow each other, as those of a ring, are one step with all of their bytes.
 *
 * Return: 0; -E2BIG beyond SIM_MAX_FLOWS; -ENOMEM.
 */
int sim_traffic_make(struct sim_traffic *traffic, enum sim_pattern pattern, __u32 hosts, __u32 leaf,
		     double size, __u32 seed);

struct err;
struct sim_shape;

/**
 * sim_traffic_read() - read a list of flows with bytes (Documentation/formats.rst)
 * @traffic: filled; to be freed by sim_traffic_free() in any case
 * @file: name
 * @shape: fabric
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int sim_traffic_read(struct sim_traffic *traffic, const char *file, const struct sim_shape *shape,
		     struct err *err);

/**
 * sim_traffic_order() - order flows by step, and number steps and queue pairs
 * @traffic: flows in any order; steps without flows are left out
 */
void sim_traffic_order(struct sim_traffic *traffic);

void sim_traffic_free(struct sim_traffic *traffic);

#endif /* ROCESTEER_LIB_SIMULATE_TRAFFIC_H */
