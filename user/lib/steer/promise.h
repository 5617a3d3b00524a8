/* SPDX-License-Identifier: GPL-2.0 */
/* Balance of paths that the choice of paths promises. */
#ifndef ROCESTEER_LIB_PROMISE_H
#define ROCESTEER_LIB_PROMISE_H

#include <rocesteer/types.h>

#include "base/base.h"

struct steer;

/**
 * enum promise - how a flow shares the paths with others of its kind
 * @PROMISE_NONE: the flow carries acknowledgments and has no share, or is observed
 * @PROMISE_BYTES: paths carry the same in the end, as far as whole flows divide evenly
 * @PROMISE_PERMUTATIONS: the flow is whole, by place: paths carry the same while each host
 *	sends to one other host, if a leaf has as many hosts as paths
 * @PROMISE_ALWAYS: the flow is on all paths that are up: paths carry the same at each moment
 */
enum promise {
	PROMISE_NONE,
	PROMISE_BYTES,
	PROMISE_PERMUTATIONS,
	PROMISE_ALWAYS,
};

/**
 * struct promises - state that promises follow from
 * @jobs: how each job splits and deals
 * @groups: paths of each group that are down
 * @peers: paths to each peer that are up
 */
struct promises {
	struct set jobs;
	struct set groups;
	struct set peers;
};

/**
 * promises_read() - read that state
 * @promises: zeroed; to be freed by promises_free(), on failure too
 * @s: tables
 * @job: a job; 0: all jobs
 *
 * Return: 0 or a negative errno.
 */
int promises_read(struct promises *promises, struct steer *s, __u32 job);

/* The promise of a flow with the pieces of @path. */
enum promise promise_of(const struct promises *promises,
			const struct rocesteer_flow_key *key,
			const struct rocesteer_flow_path *path);

void promises_free(struct promises *promises);

#endif /* ROCESTEER_LIB_PROMISE_H */
