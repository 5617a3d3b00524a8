// SPDX-License-Identifier: GPL-2.0
/* Flows of the replay, and the links that they share. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "replay_priv.h"

/* Links of a leaf among which a flow may choose. */
struct range {
	__u32 begin;
	__u32 end;
};

/* The links of a flow: each is numbered from 0. */
struct way {
	__u32 up;
	__u32 down;
};

int replay_load_init(struct replay_load *load, const struct ocs *ocs,
		     const struct slice_fabric *fabric)
{
	size_t pairs = (size_t)ocs->leaves * ocs->spines, pair;
	size_t ports = (size_t)ocs->leaves * ocs->oxcs, port;
	__u32 link = 0;

	*load = (struct replay_load) {
		.first = calloc(pairs + 1, sizeof(*load->first)),
		.spine = calloc(ports, sizeof(*load->spine)),
		.flows = calloc(2 * ports, sizeof(*load->flows)),
		.own = calloc(2 * ports, sizeof(*load->own)),
		.spines = ocs->spines,
		.gpus_per_leaf = fabric->gpus_per_leaf,
		.gpus_per_server = fabric->gpus_per_server,
	};
	if (!load->first || !load->spine || !load->flows || !load->own)
		return -ENOMEM;
	for (port = 0; port < ports; port++)
		if (ocs->circuit[port] != OCS_DARK)
			load->first[ocs_pair(ocs, port / ocs->oxcs, ocs->circuit[port]) + 1]++;
	for (pair = 0; pair < pairs; pair++) {
		load->first[pair + 1] += load->first[pair];
		while (link < load->first[pair + 1])
			load->spine[link++] = pair % ocs->spines;
	}
	load->links = link;
	return 0;
}

void replay_load_free(struct replay_load *load)
{
	free(load->first);
	free(load->spine);
	free(load->flows);
	free(load->own);
}

/* A hash of three numbers, of which all bits matter. */
static __u32 mix(__u32 a, __u32 b, __u32 c)
{
	__u64 x = ((__u64)a << 32 | b) * 0x9e3779b97f4a7c15 + c;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) >> 32;
}

/* Ranks of a group in hierarchical patterns: the ranks of a server, if they divide the job. */
static __u32 group_of(const struct replay_load *load, const struct trace_job *job)
{
	return job->gpus % load->gpus_per_server ? job->gpus : load->gpus_per_server;
}

/* The step of the pattern that goes half of the job away, or its last one. */
static __u32 worst_step(const struct trace_job *job, __u32 group)
{
	long steps = contention_steps(job->pattern, job->gpus, group);
	__u32 groups = job->gpus / group;

	if (job->pattern == CONTENTION_HIERARCHICAL_ALL_TO_ALL && groups > 1)
		return steps - (groups + 1) / 2;
	if (job->pattern == CONTENTION_HIERARCHICAL_ALL_TO_ALL ||
	    job->pattern == CONTENTION_ALL_TO_ALL)
		return job->gpus / 2 - 1;
	return steps - 1;
}

/* The flows of that step. Return: flows, to be freed, or NULL. */
static struct contention_flow *worst_flows(const struct replay_load *load,
					   const struct trace_job *job, __u32 seed)
{
	struct contention_flow *flows = calloc(job->gpus, sizeof(*flows));
	__u32 group = group_of(load, job);

	if (flows && !contention_step(job->pattern, job->gpus, group, seed,
				      worst_step(job, group), flows))
		return flows;
	free(flows);
	return NULL;
}

static struct range links_up(const struct replay_load *load, __u32 leaf)
{
	const __u32 *first = load->first + (size_t)leaf * load->spines;

	return (struct range) { first[0], first[load->spines] };
}

/* Links down from the spine of a link, or all links of the leaf if the spine has none to it. */
static struct range links_down(const struct replay_load *load, __u32 up, __u32 leaf)
{
	const __u32 *first = load->first + (size_t)leaf * load->spines +
			     load->spine[up];

	if (first[0] == first[1])
		return links_up(load, leaf);
	return (struct range) { first[0], first[1] };
}

static __u32 pick(struct range range, __u32 number)
{
	return range.begin + number % (range.end - range.begin);
}

/* Flows that another flow would meet on its worse link. */
static __u64 crowd(const struct replay_load *load, struct way way)
{
	__u32 down = load->links + way.down;
	__u64 one = load->flows[way.up] +
		    load->own[way.up] * (__u64)TRACE_SHARE;
	__u64 other = load->flows[down] + load->own[down] * (__u64)TRACE_SHARE;

	return one > other ? one : other;
}

/*
 * The pair of links with the fewest flows on its worse link, through a spine that both
 * leaves have if there is one, so that other flows keep their choice.
 */
static struct way least(const struct replay_load *load, struct range ups, __u32 to)
{
	struct way way = {}, best = {};
	__u64 fewest = ~0ull;

	for (way.up = ups.begin; fewest && way.up < ups.end; way.up++) {
		struct range downs = links_down(load, way.up, to);

		for (way.down = downs.begin; way.down < downs.end; way.down++) {
			bool joined = load->spine[way.up] == load->spine[way.down];
			__u64 flows = 2 * crowd(load, way) + !joined;

			if (flows < fewest) {
				fewest = flows;
				best = way;
			}
		}
	}
	return best;
}

/* Add a flow to a link of its job, which is listed with the first one. */
static void count(struct replay_load *load, __u32 link, struct replay_link *links, __u32 *nr)
{
	if (!load->own[link]++)
		links[(*nr)++].link = link;
}

static struct way find(const struct replay_load *load,
		       enum replay_policy policy, struct range ups, __u32 to,
		       __u32 place, const struct contention_flow *flow,
		       __u32 seed)
{
	__u32 down = place;
	struct way way;

	if (policy == REPLAY_BALANCED)
		return least(load, ups, to);
	if (policy == REPLAY_ECMP) {
		place = mix(seed, flow->from, flow->to);
		down = mix(seed, flow->to, flow->from);
	}
	way.up = pick(ups, place);
	way.down = pick(links_down(load, way.up, to), down);
	return way;
}

/* Count a flow between leaves, if these have links. */
static void route(struct replay_load *load, enum replay_policy policy,
		  const struct replay_place *place,
		  const struct contention_flow *flow, __u32 seed,
		  struct replay_link *links, __u32 *nr)
{
	__u32 each = load->gpus_per_leaf, from = place->gpu[flow->from];
	__u32 to = place->gpu[flow->to] / each;
	struct range ups = links_up(load, from / each);
	struct range downs = links_up(load, to);
	struct way way;

	if (from / each == to || ups.begin == ups.end || downs.begin == downs.end)
		return;
	way = find(load, policy, ups, to, from % each, flow, seed);
	count(load, way.up, links, nr);
	count(load, load->links + way.down, links, nr);
}

int replay_load_route(struct replay_load *load, enum replay_policy policy,
		      const struct trace_job *job,
		      const struct replay_place *place, __u32 seed,
		      struct replay_link *links, __u32 *nr)
{
	struct contention_flow *flows = worst_flows(load, job, seed);
	__u32 i;

	*nr = 0;
	if (!flows)
		return -ENOMEM;
	for (i = 0; i < job->gpus; i++)
		route(load, policy, place, &flows[i], seed, links, nr);
	for (i = 0; i < *nr; i++) {
		links[i].flows = load->own[links[i].link];
		load->own[links[i].link] = 0;
	}
	free(flows);
	return 0;
}

__s64 replay_load_alone(const struct replay_load *load, const struct trace_job *job,
			const struct replay_place *place, __u32 seed)
{
	struct contention_flow *flows = worst_flows(load, job, seed);
	struct contention_layout layout = {};
	long worst = -ENOMEM;

	if (flows && !contention_layout_of(&place->slice, &layout))
		worst = contention_worst(&layout, flows, job->gpus);
	contention_layout_free(&layout);
	free(flows);
	if (worst < 0)
		return worst;
	return (worst ? : 1) * (__s64)TRACE_SHARE;
}

void replay_load_add(struct replay_load *load, const struct trace_job *job,
		     const struct replay_link *links, __u32 nr, int sign)
{
	__s64 each = sign * (__s64)job->communication;
	__u32 i;

	for (i = 0; i < nr; i++)
		load->flows[links[i].link] += each * links[i].flows;
}

__u64 replay_load_worst(const struct replay_load *load,
			const struct trace_job *job,
			const struct replay_link *links, __u32 nr)
{
	__u64 rest = TRACE_SHARE - job->communication, worst = TRACE_SHARE;
	__u32 i;

	/* The load has the share of the job's own flows already. */
	for (i = 0; i < nr; i++) {
		__u64 flows = load->flows[links[i].link] + rest * links[i].flows;

		worst = flows > worst ? flows : worst;
	}
	return worst;
}
