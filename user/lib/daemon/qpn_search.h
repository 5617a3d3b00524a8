/* SPDX-License-Identifier: GPL-2.0 */
/* Find the ports of queue pairs that wait in rs_qpns, by probes. */
#ifndef ROCESTEER_LIB_QPN_SEARCH_H
#define ROCESTEER_LIB_QPN_SEARCH_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "groups/groups.h"
#include "task.h"

/**
 * struct qpn_search - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: the search; the caller sets @loop, @done and @arg
 * @at: time of the next search, CLOCK_MONOTONIC ns, or LOOP_NEVER
 */
struct qpn_search {
	struct groups *groups;
	bool short_quotes;
	struct task task;
	__u64 at;
};

/* Queue pairs wait: search soon, because many come at once. */
void qpn_search_soon(struct qpn_search *search);

/**
 * qpn_search_step() - begin a search if it is time, and none runs
 * @search: state
 *
 * A queue pair without a port waits until the next search.
 *
 * Return: 0 or a negative errno.
 */
int qpn_search_step(struct qpn_search *search);

/* When qpn_search_step() has something to do. */
__u64 qpn_search_due(const struct qpn_search *search);

#endif /* ROCESTEER_LIB_QPN_SEARCH_H */
