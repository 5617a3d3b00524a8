// SPDX-License-Identifier: GPL-2.0
#include "traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "collective.h"

const char * const sim_patterns[] = {
	[SIM_PERMUTATION] = "permutation",
	[SIM_ALL_TO_ALL] = "all-to-all",
	[SIM_PAIRWISE] = "pairwise",
	[SIM_HIERARCHICAL] = "hierarchical",
	[SIM_DIRECT] = "direct",
	[SIM_HALVING] = "halving-doubling",
	[SIM_RING] = "ring",
	[SIM_TREE] = "tree",
	NULL
};

/**
 * struct making - a pattern in the making
 * @traffic: result
 * @hosts: number of hosts
 * @leaf: hosts of a leaf
 * @size: bytes of a host's buffer
 * @err: 0 or a negative errno
 */
struct making {
	struct sim_traffic *traffic;
	__u32 hosts;
	__u32 leaf;
	double size;
	int err;
};

static void add(struct making *m, __u32 from, __u32 to, double bytes)
{
	m->err = m->err ?: sim_add_flow(m->traffic, from, to, bytes);
}

/* Each host to the one at a distance, counted in a circle of @group hosts */
static void add_shift(struct making *m, __u32 distance, __u32 group, double bytes)
{
	__u32 i;

	for (i = 0; i < m->hosts; i++)
		add(m, i, i - i % group + (i % group + distance) % group, bytes);
	m->traffic->steps++;
}

static void add_permutation(struct making *m, __u32 seed)
{
	__u32 *to = calloc(m->hosts, sizeof(*to)), i;

	if (!to) {
		m->err = -ENOMEM;
		return;
	}
	random_order(seed, m->hosts, to);
	for (i = 0; i < m->hosts; i++)
		add(m, i, to[i], m->size);
	free(to);
	m->traffic->steps++;
}

/* Of the steps of a shift, those that there is room for, each with the bytes of as many */
static void add_shifts(struct making *m, __u32 steps, __u32 unit, __u32 group, double bytes,
		       __u32 most)
{
	__u32 taken = steps < most ? steps : most, i;

	for (i = 0; i < taken; i++)
		add_shift(m, (1 + (__u64)i * steps / taken) * unit, group, bytes * steps / taken);
	m->traffic->all_steps += steps;
}

static void add_hierarchical(struct making *m, __u32 most)
{
	__u32 leaves = m->hosts / m->leaf;
	double part = m->size / m->hosts;

	add_shifts(m, m->leaf - 1, 1, m->leaf, part * leaves, most / 2);
	add_shifts(m, leaves - 1, m->leaf, m->hosts, part * m->leaf, most / 2);
}

static void add_collective(struct making *m, __u32 hosts, enum chunk_kind kind, enum chunk_alg alg)
{
	struct sim_groups all = { .n = hosts, .nr = 1, .stride = 1 };

	m->err = m->err ?: sim_add_collective(m->traffic, &all, kind, alg, m->size);
}

/* Of the first 2 * @rest hosts those with even numbers halve, each for the next one as well. */
static __u32 folded(__u32 i, __u32 rest)
{
	return i < rest ? 2 * i : i + rest;
}

static void add_halving(struct making *m)
{
	struct sim_traffic *traffic = m->traffic;
	__u32 power = 1, rest, i;
	size_t first;

	while (power <= m->hosts / 2)
		power *= 2;
	rest = m->hosts - power;
	for (i = 0; i < rest; i++)
		add(m, 2 * i + 1, 2 * i, m->size);
	traffic->steps += rest > 0;
	first = traffic->nr;
	add_collective(m, power, CHUNK_ALL_REDUCE, CHUNK_HALVING);
	for (; first < traffic->nr; first++) {
		traffic->flow[first].from = folded(traffic->flow[first].from, rest);
		traffic->flow[first].to = folded(traffic->flow[first].to, rest);
	}
	for (i = 0; i < rest; i++)
		add(m, 2 * i, 2 * i + 1, m->size);
	traffic->steps += rest > 0;
}

static void add_all(struct making *m, enum sim_pattern pattern, __u32 seed)
{
	__u32 n = m->hosts;

	switch (pattern) {
	case SIM_PERMUTATION:
		add_permutation(m, seed);
		break;
	case SIM_ALL_TO_ALL:
		add_collective(m, n, CHUNK_ALL_TO_ALL, CHUNK_DIRECT);
		break;
	case SIM_PAIRWISE:
		add_shifts(m, n - 1, 1, n, m->size / n, SIM_MAX_FLOWS / n);
		break;
	case SIM_HIERARCHICAL:
		add_hierarchical(m, SIM_MAX_FLOWS / n);
		break;
	case SIM_DIRECT:
		add_collective(m, n, CHUNK_ALL_REDUCE, CHUNK_DIRECT);
		break;
	case SIM_HALVING:
		add_halving(m);
		break;
	case SIM_RING:
		add_collective(m, n, CHUNK_ALL_REDUCE, CHUNK_RING);
		break;
	case SIM_TREE:
		add_collective(m, n, CHUNK_ALL_REDUCE, CHUNK_TREE);
		break;
	}
}

int sim_traffic_make(struct sim_traffic *traffic, enum sim_pattern pattern, __u32 hosts, __u32 leaf,
		     double size, __u32 seed)
{
	struct making m = { .traffic = traffic, .hosts = hosts, .leaf = leaf, .size = size };

	*traffic = (struct sim_traffic) {};
	add_all(&m, pattern, seed);
	traffic->all_steps = traffic->all_steps ?: traffic->steps;
	if (pattern >= SIM_DIRECT)
		traffic->sum = size;
	return m.err;
}

static int compare_flows(const void *a, const void *b)
{
	const struct sim_flow *left = a, *right = b;

	if (left->step != right->step)
		return left->step < right->step ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->qp < right->qp ? -1 : left->qp > right->qp;
}

void sim_traffic_order(struct sim_traffic *traffic)
{
	struct sim_flow *flow = traffic->flow;
	__u32 last = 0;
	size_t i;

	for (i = 0; i < traffic->nr; i++)
		flow[i].qp = i;
	qsort(flow, traffic->nr, sizeof(*flow), compare_flows);
	traffic->steps = 0;
	for (i = 0; i < traffic->nr; i++) {
		bool begins = !i || flow[i].step != last;

		last = flow[i].step;
		traffic->steps += begins;
		flow[i].step = traffic->steps - 1;
		flow[i].qp = begins || flow[i].from != flow[i - 1].from ||
			     flow[i].to != flow[i - 1].to ? 0 : flow[i - 1].qp + 1;
	}
	traffic->all_steps = traffic->steps;
}

void sim_traffic_free(struct sim_traffic *traffic)
{
	free(traffic->flow);
	free(traffic->way);
	*traffic = (struct sim_traffic) {};
}
