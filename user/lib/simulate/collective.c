// SPDX-License-Identifier: GPL-2.0
#include "collective.h"

#include <errno.h>
#include <stdlib.h>

/**
 * struct making - a collective in the making
 * @traffic: result
 * @groups: who takes part
 * @kind: kind
 * @alg: algorithm
 * @steps: steps of the algorithm
 * @width: exchanges of a member in each of these
 */
struct making {
	struct sim_traffic *traffic;
	const struct sim_groups *groups;
	enum chunk_kind kind;
	enum chunk_alg alg;
	__u32 steps;
	__u32 width;
};

#define LEAST_ROOM	1024u	/* flows; the room is doubled when it is full */

int sim_add_flow(struct sim_traffic *traffic, __u32 from, __u32 to, double bytes)
{
	size_t nr = traffic->nr, room = nr ? 2 * nr : LEAST_ROOM;
	struct sim_flow *more;

	if (from == to)
		return 0;
	if (nr == SIM_MAX_FLOWS)
		return -E2BIG;
	if (!nr || (nr >= LEAST_ROOM && !(nr & (nr - 1)))) {
		more = reallocarray(traffic->flow, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		traffic->flow = more;
	}
	traffic->flow[traffic->nr++] = (struct sim_flow) {
		.from = from, .to = to, .step = traffic->steps, .bytes = bytes,
	};
	return 0;
}

static bool is_whole(const struct making *m)
{
	return m->kind == CHUNK_ALL_REDUCE && chunk_alg_is_whole(m->alg);
}

/* The steps of a tree are at one time: there are as many chunks. */
static void set_steps(struct making *m)
{
	__u32 n = m->groups->n;

	if (m->kind == CHUNK_ALL_TO_ALL) {
		m->steps = 1;
		m->width = n - 1;
	} else if (is_whole(m)) {
		m->steps = 1;
		m->width = chunk_alg_whole_steps(m->alg, n) * CHUNK_TREE_WIDTH;
	} else {
		m->steps = chunk_alg_steps(m->alg, n);
		m->width = chunk_alg_width(m->alg, n);
	}
}

static struct chunk_exchange exchange(const struct making *m, __u32 me, __u32 index)
{
	__u32 n = m->groups->n, half = m->width / 2;

	if (m->kind == CHUNK_ALL_TO_ALL)
		return chunk_alg_swap(n, me, index);
	if (is_whole(m))
		return chunk_alg_tree(index >= half, n, me, index % half);
	return chunk_alg_exchange(m->alg, false, n, me, index);
}

/* All members do alike: if the first one sends to the same others, so do all. */
static bool is_equal(const struct making *m, __u32 step, __u32 other)
{
	__u32 i;

	for (i = 0; i < m->width; i++)
		if (exchange(m, 0, step * m->width + i).to !=
		    exchange(m, 0, other * m->width + i).to)
			return false;
	return true;
}

/* An exchange of a member in all groups */
static int add_exchange(struct making *m, __u32 me, __u32 index, double bytes)
{
	struct chunk_exchange x = exchange(m, me, index);
	__u32 from = me * m->groups->stride, to = x.to * m->groups->stride, g;
	int ret = 0;

	for (g = 0; !ret && g < m->groups->nr; g++)
		ret = sim_add_flow(m->traffic, g * m->groups->apart + from,
				   g * m->groups->apart + to, bytes * x.parts / x.of);
	return ret;
}

static int add_exchanges(struct making *m, __u32 step, double bytes)
{
	__u32 me, i;
	int ret = 0;

	for (me = 0; !ret && me < m->groups->n; me++)
		for (i = 0; !ret && i < m->width; i++)
			ret = add_exchange(m, me, step * m->width + i, bytes);
	m->traffic->steps++;
	return ret;
}

int sim_add_collective(struct sim_traffic *traffic, const struct sim_groups *groups,
		       enum chunk_kind kind, enum chunk_alg alg, double bytes)
{
	struct making m = { .traffic = traffic, .groups = groups, .kind = kind, .alg = alg };
	bool both = kind == CHUNK_ALL_REDUCE && !is_whole(&m);
	__u32 step, next;
	int ret = 0;

	set_steps(&m);
	for (step = 0; !ret && step < m.steps; step = next) {
		for (next = step + 1; next < m.steps && is_equal(&m, step, next);)
			next++;
		ret = add_exchanges(&m, step, bytes * (both ? 2 : 1) * (next - step));
	}
	return ret;
}
