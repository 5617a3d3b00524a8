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
 * @flows: by link, those up first, then those down: flows on it, in millionths, each
 *	of them by the share of time in which its job communicates
 * @own: likewise: flows of the job that is routed
 * @first: by leaf, then spine: the first link of the pair, which ends where the next
 *	pair's begin; so one more at the end
 * @spine: by link: at its other end
 * @spines: of the fabric
 * @gpus_per_leaf: likewise
 * @gpus_per_server: likewise
 * @links: up, and as many down
 */
struct replay_load {
	__u64 *flows;
	__u32 *own;
	__u32 *first;
	__u32 *spine;
	__u32 spines;
	__u32 gpus_per_leaf;
	__u32 gpus_per_server;
	__u32 links;
};

/* A link that a job has flows on. */
struct replay_link {
	__u32 link;	/* in the tables */
	__u32 flows;
};

/* Links are circuits, those of @ocs. Return: 0 or -ENOMEM; free in any case. */
int replay_load_init(struct replay_load *load, const struct ocs *ocs,
		     const struct slice_fabric *fabric);
void replay_load_free(struct replay_load *load);

/**
 * replay_load_route() - the links that the flows of a job take
 * @load: of the fabric
 * @policy: how they are routed
 * @job: whose; of at least 2 GPUs
 * @place: where it runs
 * @seed: of what is random
 * @links: filled, at most two for each of its GPUs
 * @nr: set
 *
 * Return: 0 or -ENOMEM.
 */
int replay_load_route(struct replay_load *load, enum replay_policy policy,
		      const struct trace_job *job,
		      const struct replay_place *place, __u32 seed,
		      struct replay_link *links, __u32 *nr);

/*
 * Flows on the worst link of a job that has a slice, in millionths, as in
 * replay_load_worst(). Return: that, or -ENOMEM.
 */
__s64 replay_load_alone(const struct replay_load *load, const struct trace_job *job,
			const struct replay_place *place, __u32 seed);

/* Add the flows of a job to its links, or take them off with -1. */
void replay_load_add(struct replay_load *load, const struct trace_job *job,
		     const struct replay_link *links, __u32 nr, int sign);

/*
 * Flows on the worst link of a job while it communicates, in millionths: its own, and
 * those of others by the share of time in which they are there. TRACE_SHARE at least.
 */
__u64 replay_load_worst(const struct replay_load *load,
			const struct trace_job *job,
			const struct replay_link *links, __u32 nr);

#endif /* ROCESTEER_LIB_REPLAY_PRIV_H */
