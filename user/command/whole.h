/* SPDX-License-Identifier: GPL-2.0 */
/* Whole flows: do the queue pairs of a job's connections load all paths alike? */
#ifndef ROCESTEER_WHOLE_H
#define ROCESTEER_WHOLE_H

#include <rocesteer/types.h>

#include "base/base.h"

/**
 * struct whole - what is known of a job whose flows stay whole
 * @hosts: under the leaf of this host, in the job; 0: not known
 * @even: connections to a peer load its paths alike
 * @seen: queue pairs to the peer that is told of; 0: none yet
 * @needed: queue pairs for each connection that would load the paths to this peer alike; 0: there
 *	is no such peer
 * @paths: to this peer
 * @weight: of each of them
 */
struct whole {
	__u32 hosts;
	bool even;
	__u64 seen;
	__u64 needed;
	__u32 paths;
	__u32 weight[ROCESTEER_MAX_PATHS];
};

/**
 * whole_add() - take a peer into account
 * @w: zeroed but for @hosts before the first peer
 * @weight: of each path to the peer, also where it is held down: that passes
 * @paths: number of these, up to ROCESTEER_MAX_PATHS
 * @seen: queue pairs to the peer
 *
 * Of peers with queue pairs, else of all, the one with the most paths is told of.
 */
void whole_add(struct whole *w, const __u32 *weight, __u32 paths, __u64 seen);

/* What is wrong, and what mends it: for people, each without a full stop */
struct whole_words {
	char message[192];
	char hint[256];
};

/**
 * whole_say() - say what would load all paths alike
 * @w: all peers are added
 * @deal: enum rocesteer_deal
 * @actuator: enum rocesteer_actuator
 * @words: filled
 *
 * Return: the same for programs; NULL where nothing is to be said: paths are loaded alike, or there
 * is one at most.
 */
struct json_object *whole_say(const struct whole *w, __u32 deal, __u32 actuator,
			      struct whole_words *words);

#define WHOLE_NCCL	"NCCL_IB_QPS_PER_CONNECTION=%llu NCCL_IB_SPLIT_DATA_ON_QPS=1"

#endif /* ROCESTEER_WHOLE_H */
