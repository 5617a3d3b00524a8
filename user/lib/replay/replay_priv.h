/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the replay have in common. */
#ifndef ROCESTEER_LIB_REPLAY_PRIV_H
#define ROCESTEER_LIB_REPLAY_PRIV_H

#include <stdbool.h>

#include "replay.h"

/**
 * struct replay_site - a cluster, and what of it is in use
 * @fabric: what is free
 * @links: likewise, what is free of a pair while no job has it
 * @ocs: its circuits, no tables where links are cables
 * @busy: by leaf, then GPU
 * @free_gpus: their number
 * @circuit: room for circuits that are to be
 */
struct replay_site {
	struct slice_fabric fabric;
	const __u8 *links;
	struct ocs ocs;
	bool *busy;
	__u32 free_gpus;
	__u16 *circuit;
};

/**
 * struct replay_place - where a job runs
 * @slice: its part of the fabric; without slices only the servers count
 * @gpu: by rank: its GPU, leaf * GPUs per leaf + number on the leaf
 */
struct replay_place {
	struct slice slice;
	__u32 *gpu;
};

int replay_site_init(struct replay_site *site, const struct replay_spec *spec,
		     enum replay_policy policy);
void replay_site_free(struct replay_site *site);

/**
 * replay_site_take() - find a place for a job, and take it
 * @site: where
 * @policy: how
 * @gpus: of the job
 * @place: filled when there is one; to be given back
 * @result: circuits that were moved are added
 *
 * Return: 1 when there is one, 0, or -ENOMEM.
 */
int replay_site_take(struct replay_site *site, enum replay_policy policy,
		     __u32 gpus, struct replay_place *place,
		     struct replay_result *result);
void replay_site_give(struct replay_site *site, struct replay_place *place);

/**
 * struct replay_load - flows on the links between leaves and spines
 * @up: by leaf, then link; in slices, where each GPU has a link, by GPU
 * @down: likewise
 * @spines: of the fabric
 * @links: likewise, per pair; the links to a spine follow each other
 * @gpus_per_leaf: likewise
 */
struct replay_load {
	__u32 *up;
	__u32 *down;
	__u32 spines;
	__u32 links;
	__u32 gpus_per_leaf;
};

/* A flow between leaves: its links, in both tables. */
struct replay_flow {
	__u32 up;
	__u32 down;
};

int replay_load_init(struct replay_load *load,
		     const struct slice_fabric *fabric);
void replay_load_free(struct replay_load *load);

/**
 * replay_load_route() - the flows of a job
 * @load: of the fabric
 * @policy: how they are routed
 * @job: whose
 * @place: where it runs
 * @seed: of what is random
 * @flows: filled, at most as many as it has GPUs
 * @nr: set
 *
 * Return: 0 or -ENOMEM.
 */
int replay_load_route(const struct replay_load *load, enum replay_policy policy,
		      const struct trace_job *job,
		      const struct replay_place *place, __u32 seed,
		      struct replay_flow *flows, __u32 *nr);

/* Add flows to their links, or take them off with -1. */
void replay_load_add(struct replay_load *load, const struct replay_flow *flows,
		     __u32 nr, int sign);

/* Flows on the worst link that any of these takes, at least 1. */
__u32 replay_load_worst(const struct replay_load *load,
			const struct replay_flow *flows, __u32 nr);

#endif /* ROCESTEER_LIB_REPLAY_PRIV_H */
