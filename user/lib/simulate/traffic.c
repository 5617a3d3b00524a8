// SPDX-License-Identifier: GPL-2.0
#include "traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "chunk/chunk.h"

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
 * @step: the step that is made
 */
struct making {
	struct sim_traffic *traffic;
	__u32 hosts;
	__u32 leaf;
	double size;
	__u32 step;
};

static void add(struct making *m, __u32 from, __u32 to, double bytes)
{
	if (from == to)
		return;
	m->traffic->flow[m->traffic->nr++] = (struct sim_flow) {
		.from = from, .to = to, .step = m->step, .bytes = bytes,
	};
}

/* Each host to the one at a distance, counted in a circle of @group hosts */
static void add_shift(struct making *m, __u32 distance, __u32 group, double bytes)
{
	__u32 i;

	for (i = 0; i < m->hosts; i++)
		add(m, i, i - i % group + (i % group + distance) % group, bytes);
}

static int add_permutation(struct making *m, __u32 seed)
{
	__u32 *to = calloc(m->hosts, sizeof(*to)), i;

	if (!to)
		return -ENOMEM;
	random_order(seed, m->hosts, to);
	for (i = 0; i < m->hosts; i++)
		add(m, i, to[i], m->size);
	free(to);
	return 0;
}

/* Of the steps of a shift, those that there is room for, each with the bytes of as many */
static void add_shifts(struct making *m, __u32 steps, __u32 unit, __u32 group, double bytes,
		       __u32 most)
{
	__u32 taken = steps < most ? steps : most, i;

	for (i = 0; i < taken; i++, m->step++)
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

/* The number of a host among those that halve, where the first @rest of these stand for two */
static __u32 folded(__u32 i, __u32 rest)
{
	return i < rest ? 2 * i : i + rest;
}

/* A step of halving and the one of doubling have the same pairs. */
static void add_halving(struct making *m)
{
	__u32 power = 1, rest, k, i;

	while (power <= m->hosts / 2)
		power *= 2;
	rest = m->hosts - power;
	for (i = 0; i < rest; i++)
		add(m, 2 * i + 1, 2 * i, m->size);
	m->step += rest > 0;
	for (k = power / 2; k; k /= 2, m->step++)
		for (i = 0; i < power; i++)
			add(m, folded(i, rest), folded(i ^ k, rest), 2 * m->size * k / power);
	for (i = 0; i < rest; i++)
		add(m, 2 * i, 2 * i + 1, m->size);
	m->step += rest > 0;
}

static void add_tree(struct making *m)
{
	__u32 all = chunk_alg_tree_steps(m->hosts) * CHUNK_TREE_WIDTH, i, index;
	int gather;

	for (gather = 0; gather < 2; gather++) {
		for (i = 0; i < m->hosts; i++) {
			for (index = 0; index < all; index++) {
				struct chunk_exchange e =
					chunk_alg_tree(gather, m->hosts, i, index);

				add(m, i, e.to, m->size * e.parts / e.of);
			}
		}
	}
}

/* Flows of a pattern, at most; of steps that are sampled SIM_MAX_FLOWS at most. */
static size_t count(enum sim_pattern pattern, size_t hosts)
{
	switch (pattern) {
	case SIM_ALL_TO_ALL:
	case SIM_DIRECT:
		return hosts * (hosts - 1);
	case SIM_PAIRWISE:
	case SIM_HIERARCHICAL:
		return hosts * (hosts - 1) < SIM_MAX_FLOWS ? hosts * (hosts - 1) : SIM_MAX_FLOWS;
	case SIM_HALVING:
		return hosts * 24;
	case SIM_TREE:
		return hosts * 2 * CHUNK_TREE_WIDTH;
	default:
		return hosts;
	}
}

static int add_all(struct making *m, enum sim_pattern pattern, __u32 seed)
{
	__u32 n = m->hosts, i;

	switch (pattern) {
	case SIM_PERMUTATION:
		return add_permutation(m, seed);
	case SIM_ALL_TO_ALL:
	case SIM_DIRECT:
		for (i = 1; i < n; i++)
			add_shift(m, i, n, (pattern == SIM_DIRECT ? 2 : 1) * m->size / n);
		break;
	case SIM_PAIRWISE:
		add_shifts(m, n - 1, 1, n, m->size / n, SIM_MAX_FLOWS / n);
		break;
	case SIM_HIERARCHICAL:
		add_hierarchical(m, SIM_MAX_FLOWS / n);
		break;
	case SIM_HALVING:
		add_halving(m);
		break;
	case SIM_RING:
		add_shift(m, 1, n, 2 * m->size * (n - 1) / n);
		break;
	case SIM_TREE:
		add_tree(m);
		break;
	}
	return 0;
}

int sim_traffic_make(struct sim_traffic *traffic, enum sim_pattern pattern, __u32 hosts, __u32 leaf,
		     double size, __u32 seed)
{
	struct making m = { .traffic = traffic, .hosts = hosts, .leaf = leaf, .size = size };
	size_t most = count(pattern, hosts);
	int ret;

	*traffic = (struct sim_traffic) {};
	if (most > SIM_MAX_FLOWS)
		return -E2BIG;
	traffic->flow = calloc(most, sizeof(*traffic->flow));
	if (!traffic->flow)
		return -ENOMEM;
	ret = add_all(&m, pattern, seed);
	traffic->steps = m.step ?: 1;
	traffic->all_steps = traffic->all_steps ?: traffic->steps;
	if (pattern >= SIM_DIRECT)
		traffic->sum = size;
	return ret;
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
