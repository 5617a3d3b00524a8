/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this library. */
#ifndef ROCESTEER_LIB_REPLAY_PRIV_H
#define ROCESTEER_LIB_REPLAY_PRIV_H

#include <stdbool.h>

#include "replay.h"

/**
 * struct replay_site - a cluster and its use
 * @fabric: free parts
 * @links: links of each pair while no job has the pair
 * @ocs: circuits; without tables if links are cables
 * @busy: by leaf, then GPU: the GPU is in use
 * @free_gpus: number of free GPUs
 * @circuit: buffer for new circuits
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
 * struct replay_place - place of a job
 * @slice: its part of the fabric; without slices only the servers count
 * @gpu: by rank: leaf * GPUs per leaf + number on the leaf
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
 * @site: cluster
 * @policy: rule
 * @gpus: number of GPUs
 * @place: filled if there is one; to be given back
 * @result: moved circuits are added
 *
 * Return: 1 if there is one, 0, or -ENOMEM.
 */
int replay_site_take(struct replay_site *site, enum replay_policy policy,
		     __u32 gpus, struct replay_place *place,
		     struct replay_result *result);
void replay_site_give(struct replay_site *site, struct replay_place *place);

/**
 * struct replay_load - flows on the links between leaves and spines
 * @flows: by link, links up first: flows, in millionths, each weighted by the share of time
 *	in which its job communicates
 * @own: by link: flows of the job that is routed
 * @first: by leaf, then spine: the first link of the pair; one entry more at the end
 * @spine: by link: spine at its other end
 * @spines: number of spines
 * @gpus_per_leaf: as in the fabric
 * @gpus_per_server: as in the fabric
 * @links: number of links up, and of links down
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

/* The links are the circuits of @ocs. Return: 0 or -ENOMEM; to be freed in any case. */
int replay_load_init(struct replay_load *load, const struct ocs *ocs,
		     const struct slice_fabric *fabric);
void replay_load_free(struct replay_load *load);

/**
 * replay_load_route() - the links that the flows of a job take
 * @load: load of the fabric
 * @policy: rule
 * @job: job of at least 2 GPUs
 * @place: its place
 * @seed: seed of random choices
 * @links: filled, at most two for each GPU
 * @nr: set to the number of links
 *
 * Return: 0 or -ENOMEM.
 */
int replay_load_route(struct replay_load *load, enum replay_policy policy,
		      const struct trace_job *job,
		      const struct replay_place *place, __u32 seed,
		      struct replay_link *links, __u32 *nr);

/*
 * Flows on the worst link of a job that has a slice, as replay_load_worst(), or -ENOMEM.
 */
__s64 replay_load_alone(const struct replay_load *load, const struct trace_job *job,
			const struct replay_place *place, __u32 seed);

/* Add the flows of a job to its links, or with @sign -1 remove them. */
void replay_load_add(struct replay_load *load, const struct trace_job *job,
		     const struct replay_link *links, __u32 nr, int sign);

/*
 * Flows on the worst link of a job while it communicates, in millionths: its own flows, and
 * flows of other jobs weighted by their share of time. At least TRACE_SHARE.
 */
__u64 replay_load_worst(const struct replay_load *load,
			const struct trace_job *job,
			const struct replay_link *links, __u32 nr);

#endif /* ROCESTEER_LIB_REPLAY_PRIV_H */
