/* SPDX-License-Identifier: GPL-2.0 */
/* What the choice of a flow's paths promises for their loads. */
#ifndef ROCESTEER_LIB_PROMISE_H
#define ROCESTEER_LIB_PROMISE_H

#include <rocesteer/types.h>

#include "base/base.h"

struct steer;

/**
 * enum promise - how a flow shares the paths with others of its kind
 * @PROMISE_NONE: it has no share of a path: it only acknowledges
 * @PROMISE_BYTES: paths carry the same in the end, as far as whole flows come out even
 * @PROMISE_PERMUTATIONS: whole, by place: paths carry the same also while each host sends
 *	to one other, if a leaf has as many hosts as paths
 * @PROMISE_ALWAYS: the flow is on all paths that are up: they carry the same at each
 *	moment
 */
enum promise {
	PROMISE_NONE,
	PROMISE_BYTES,
	PROMISE_PERMUTATIONS,
	PROMISE_ALWAYS,
};

/**
 * struct promises - what the promise of a flow follows from
 * @jobs: how each one splits and deals
 * @groups: their paths that are down
 * @peers: paths to each one that are up
 */
struct promises {
	struct set jobs;
	struct set groups;
	struct set peers;
};

/**
 * promises_read() - take the choices of jobs, and the paths that are up
 * @promises: zeroed; to be freed by promises_free(), on failure too
 * @s: tables
 * @job: of this job only; 0: of all
 *
 * Return: 0 or a negative errno.
 */
int promises_read(struct promises *promises, struct steer *s, __u32 job);

/* What a flow promises, as its pieces were when @path was read. */
enum promise promise_of(const struct promises *promises,
			const struct rocesteer_flow_key *key,
			const struct rocesteer_flow_path *path);

void promises_free(struct promises *promises);

#endif /* ROCESTEER_LIB_PROMISE_H */
