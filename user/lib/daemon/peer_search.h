/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the ports of peers that a job's port map does not have: of those that its flows go to, and
 * ahead of flows, of those that the job's record names. The models of the port map make that a
 * matter of a few probes. Without a model flows get the paths that four ports take, at once, and
 * the others when all ports were walked through.
 */
#ifndef ROCESTEER_LIB_PEER_SEARCH_H
#define ROCESTEER_LIB_PEER_SEARCH_H

#include <json-c/json.h>

#include "base/base.h"
#include "groups/groups.h"
#include "task.h"

/* Peers of one search; more are reported again later. */
#define PEER_SEARCH_MOST	256

/**
 * struct peer_search - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: the search; the caller sets @loop, @done and @arg
 * @walk: finds all paths of partial peers; the caller sets the same
 * @at: time of the next search, CLOCK_MONOTONIC ns, or LOOP_NEVER
 * @walk_at: likewise, of the next walk
 * @walked: when the last walk began; 0: it left no partial peer
 * @wanted: peers that wait for a search
 * @nr: number of peers
 * @jobs: set of struct ahead: jobs, whose named peers were searched or are to be
 */
struct peer_search {
	struct groups *groups;
	bool short_quotes;
	struct task task;
	struct task walk;
	__u64 at;
	__u64 walk_at;
	__u64 walked;
	struct rocesteer_peer_key wanted[PEER_SEARCH_MOST];
	size_t nr;
	struct set jobs;
};

/* A program has reported a peer: ROCESTEER_EVENT_PEER. */
void peer_search_want(struct peer_search *search, const struct rocesteer_event *event);

/* The tables were read: new jobs may name peers. Return: 0 or a negative errno. */
int peer_search_read(struct peer_search *search);

/* Begin a search if it is time, and none runs. */
void peer_search_step(struct peer_search *search);

/* When peer_search_step() has something to do. */
__u64 peer_search_due(const struct peer_search *search);

#endif /* ROCESTEER_LIB_PEER_SEARCH_H */
