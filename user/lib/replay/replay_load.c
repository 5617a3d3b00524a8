// SPDX-License-Identifier: GPL-2.0
/* Flows of the replay, and the links that they share. */
#include <errno.h>
#include <stdlib.h>

#include "replay_priv.h"

int replay_load_init(struct replay_load *load,
		     const struct slice_fabric *fabric)
{
	__u32 uplinks = fabric->spines * fabric->links_per_pair;
	__u32 most = uplinks > fabric->gpus_per_leaf ? uplinks :
						       fabric->gpus_per_leaf;

	*load = (struct replay_load) {
		.up = calloc(fabric->leaves, most * sizeof(*load->up)),
		.down = calloc(fabric->leaves, most * sizeof(*load->down)),
		.spines = fabric->spines,
		.links = fabric->links_per_pair,
		.gpus_per_leaf = fabric->gpus_per_leaf,
	};
	return load->up && load->down ? 0 : -ENOMEM;
}

void replay_load_free(struct replay_load *load)
{
	free(load->up);
	free(load->down);
}

/* A hash of three numbers, of which all bits matter. */
static __u32 mix(__u32 a, __u32 b, __u32 c)
{
	__u64 x = ((__u64)a << 32 | b) * 0x9e3779b97f4a7c15 + c;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) >> 32;
}

/* The step of the pattern that goes half of the job away, or its only one. */
static __u32 worst_step(const struct trace_job *job)
{
	switch (job->pattern) {
	case CONTENTION_HALVING:
		return contention_steps(job->pattern, job->gpus, 0) - 1;
	case CONTENTION_ALL_TO_ALL:
		return job->gpus / 2 - 1;
	default:
		return 0;
	}
}

/* The links of a flow between leaves. */
static struct replay_flow route(const struct replay_load *load,
				enum replay_policy policy,
				const struct replay_place *place,
				const struct contention_flow *flow, __u32 seed)
{
	__u32 uplinks = load->spines * load->links;
	__u32 from = place->gpu[flow->from], up, down;
	__u32 to = place->gpu[flow->to] / load->gpus_per_leaf;

	up = from % load->gpus_per_leaf % uplinks;
	down = up;
	if (policy == REPLAY_ECMP) {
		up = mix(seed, flow->from, flow->to) % uplinks;
		down = up / load->links * load->links +
		       mix(seed, flow->to, flow->from) % load->links;
	}
	return (struct replay_flow) {
		from / load->gpus_per_leaf * uplinks + up,
		to * uplinks + down,
	};
}

int replay_load_route(const struct replay_load *load, enum replay_policy policy,
		      const struct trace_job *job,
		      const struct replay_place *place, __u32 seed,
		      struct replay_flow *flows, __u32 *nr)
{
	__u32 each = load->gpus_per_leaf, i;
	struct contention_flow *step;
	int ret;

	*nr = 0;
	if (job->gpus < 2 || policy == REPLAY_IDEAL || place->slice.nr_spines)
		return 0;
	step = calloc(job->gpus, sizeof(*step));
	if (!step)
		return -ENOMEM;
	ret = contention_step(job->pattern, job->gpus, 0, seed, worst_step(job),
			      step);
	for (i = 0; !ret && i < job->gpus; i++)
		if (place->gpu[step[i].from] / each !=
		    place->gpu[step[i].to] / each)
			flows[(*nr)++] = route(load, policy, place, &step[i],
					       seed);
	free(step);
	return ret;
}

void replay_load_add(struct replay_load *load, const struct replay_flow *flows,
		     __u32 nr, int sign)
{
	__u32 i;

	for (i = 0; i < nr; i++) {
		load->up[flows[i].up] += sign;
		load->down[flows[i].down] += sign;
	}
}

__u32 replay_load_worst(const struct replay_load *load,
			const struct replay_flow *flows, __u32 nr)
{
	__u32 worst = 1, i;

	for (i = 0; i < nr; i++) {
		__u32 up = load->up[flows[i].up];
		__u32 down = load->down[flows[i].down];

		worst = up > worst ? up : worst;
		worst = down > worst ? down : worst;
	}
	return worst;
}
