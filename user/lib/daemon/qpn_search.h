/* SPDX-License-Identifier: GPL-2.0 */
/* Find the ports of queue pairs that wait for them in rs_qpns, by probes. */
#ifndef ROCESTEER_LIB_QPN_SEARCH_H
#define ROCESTEER_LIB_QPN_SEARCH_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "task.h"
#include "group.h"

/**
 * struct qpn_search - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: the search that is under way; its @loop, @done and @arg are the caller's
 * @at: when to begin the next one, CLOCK_MONOTONIC ns, or LOOP_NEVER
 */
struct qpn_search {
	struct groups *groups;
	bool short_quotes;
	struct task task;
	__u64 at;
};

/* Queue pairs wait: begin soon, as many come at once. */
void qpn_search_soon(struct qpn_search *search);

/**
 * qpn_search_step() - begin if it is time to, and none is under way
 * @search: state
 *
 * A queue pair to which no port was found waits on, until others are searched for.
 *
 * Return: 0 or a negative errno.
 */
int qpn_search_step(struct qpn_search *search);

/* When qpn_search_step() has something to do. */
__u64 qpn_search_due(const struct qpn_search *search);

#endif /* ROCESTEER_LIB_QPN_SEARCH_H */
