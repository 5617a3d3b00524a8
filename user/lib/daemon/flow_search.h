/* SPDX-License-Identifier: GPL-2.0 */
/* Find the paths of observed flows, by probes with their ports. */
#ifndef ROCESTEER_LIB_FLOW_SEARCH_H
#define ROCESTEER_LIB_FLOW_SEARCH_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "groups/groups.h"
#include "task.h"

/**
 * struct flow_search - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: the search; the caller sets @loop, @done and @arg
 * @at: time of the next search, CLOCK_MONOTONIC ns, or LOOP_NEVER
 * @all_at: time of the next search for the paths of all observed flows, not only of those
 *	whose path is unknown: a switch may have changed its hash
 * @all: the running search is for all observed flows
 * @delay: time until the next search for flows whose probes got no answer, ns
 */
struct flow_search {
	struct groups *groups;
	bool short_quotes;
	struct task task;
	__u64 at;
	__u64 all_at;
	bool all;
	__u64 delay;
};

/* Search soon for the path of flows that were just entered; many come at once. */
void flow_search_soon(struct flow_search *search);

/* Ports may take other paths than before: search for all observed flows. */
void flow_search_again(struct flow_search *search);

/**
 * flow_search_step() - begin a search if it is time, and none runs
 * @search: state
 *
 * Return: 0 or a negative errno.
 */
int flow_search_step(struct flow_search *search);

/* When flow_search_step() has something to do. */
__u64 flow_search_due(const struct flow_search *search);

#endif /* ROCESTEER_LIB_FLOW_SEARCH_H */
