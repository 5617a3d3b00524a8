// SPDX-License-Identifier: GPL-2.0
#include "step.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

/**
 * struct groups - hosts that run a collective with each other, in groups at the same time
 * @n: members of a group
 * @nr: number of groups
 * @stride: from a member to the next one
 * @apart: from the first member of a group to the first one of the next group
 */
struct groups {
	__u32 n;
	__u32 nr;
	__u32 stride;
	__u32 apart;
};

/**
 * struct making - a collective in the making
 * @traffic: result
 * @room: of its flows
 * @groups: who takes part
 * @kind: kind
 * @alg: algorithm
 * @bytes: of a member's buffer
 * @steps: steps of the algorithm
 * @width: exchanges of a member in each of these
 * @err: 0 or a negative errno
 */
struct making {
	struct sim_traffic *traffic;
	size_t room;
	struct groups groups;
	enum chunk_kind kind;
	enum chunk_alg alg;
	double bytes;
	__u32 steps;
	__u32 width;
	int err;
};

static struct groups groups_of(enum chunk_group group, __u32 hosts, __u32 model)
{
	switch (group) {
	case CHUNK_GROUP_MODEL:
		return (struct groups) { model, hosts / model, 1, model };
	case CHUNK_GROUP_DATA:
		return (struct groups) { hosts / model, model, model, 1 };
	default:
		return (struct groups) { hosts, 1, 1, 0 };
	}
}

static void add(struct making *m, __u32 from, __u32 to, double bytes)
{
	struct sim_traffic *traffic = m->traffic;
	struct sim_flow *more;

	if (m->err || from == to)
		return;
	if (traffic->nr == SIM_MAX_FLOWS) {
		m->err = -E2BIG;
		return;
	}
	if (traffic->nr == m->room) {
		m->room = m->room ? 2 * m->room : 1024;
		more = reallocarray(traffic->flow, m->room, sizeof(*more));
		if (!more) {
			m->err = -ENOMEM;
			return;
		}
		traffic->flow = more;
	}
	traffic->flow[traffic->nr++] = (struct sim_flow) {
		.from = from, .to = to, .step = traffic->steps, .bytes = bytes,
	};
}

static bool is_whole(const struct making *m)
{
	return m->kind == CHUNK_ALL_REDUCE && chunk_alg_is_whole(m->alg);
}

/* The steps of a tree are at one time: there are as many chunks. */
static void set_steps(struct making *m)
{
	if (m->kind == CHUNK_ALL_TO_ALL) {
		m->steps = 1;
		m->width = m->groups.n - 1;
	} else if (is_whole(m)) {
		m->steps = 1;
		m->width = chunk_alg_whole_steps(m->alg, m->groups.n) * CHUNK_TREE_WIDTH;
	} else {
		m->steps = chunk_alg_steps(m->alg, m->groups.n);
		m->width = chunk_alg_width(m->alg, m->groups.n);
	}
}

static struct chunk_exchange exchange(const struct making *m, __u32 me, __u32 index)
{
	__u32 n = m->groups.n, half = m->width / 2;

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

/* A step in all groups, with the bytes of several */
static void add_exchanges(struct making *m, __u32 step, double bytes)
{
	const struct groups *groups = &m->groups;
	__u32 me, i, g;

	for (me = 0; me < groups->n; me++) {
		for (i = 0; i < m->width && !m->err; i++) {
			struct chunk_exchange x = exchange(m, me, step * m->width + i);

			for (g = 0; g < groups->nr; g++)
				add(m, g * groups->apart + me * groups->stride,
				    g * groups->apart + x.to * groups->stride,
				    bytes * x.parts / x.of);
		}
	}
	m->traffic->steps++;
}

static int add_collective(struct making *m)
{
	bool both = m->kind == CHUNK_ALL_REDUCE && !is_whole(m);
	__u32 step, next;

	set_steps(m);
	for (step = 0; step < m->steps; step = next) {
		for (next = step + 1; next < m->steps && is_equal(m, step, next);)
			next++;
		add_exchanges(m, step, m->bytes * (both ? 2 : 1) * (next - step));
	}
	return m->err;
}

static int refuse(const struct making *m, const struct chunk_step *step, __u32 i, __u32 hosts,
		  struct err *err)
{
	if (m->err == -E2BIG)
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: the collectives of %u hosts have more than %u flows",
			       step->name, i, hosts, SIM_MAX_FLOWS);
	return m->err;
}

/* Do groups divide the hosts, and does the algorithm take them? */
static int check(const struct making *m, const struct chunk_step *step, __u32 i, __u32 hosts,
		 struct err *err)
{
	if (step->collective[i].group != CHUNK_GROUP_ALL &&
	    (hosts % step->model || m->groups.n < 2))
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: model-parallel groups of %u ranks do not divide %u hosts, or leave a %s group of one",
			       step->name, i, step->model, hosts,
			       chunk_groups[step->collective[i].group]);
	if (m->kind != CHUNK_ALL_TO_ALL && !chunk_alg_takes(m->alg, m->groups.n))
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: %s is for a power of two, a group has %u ranks",
			       step->name, i, chunk_algs[m->alg], m->groups.n);
	return 0;
}

int sim_traffic_step(struct sim_traffic *traffic, const struct chunk_step *step, enum chunk_alg alg,
		     __u32 hosts, struct err *err)
{
	struct making m = { .traffic = traffic, .alg = alg };
	bool sum = true;
	int ret = 0;
	__u32 i;

	*traffic = (struct sim_traffic) {};
	for (i = 0; !ret && i < step->nr; i++) {
		const struct chunk_step_collective *of = &step->collective[i];

		m.kind = of->kind;
		m.groups = groups_of(of->group, hosts, step->model);
		m.bytes = (double)of->size * of->count;
		ret = check(&m, step, i, hosts, err);
		if (!ret && add_collective(&m))
			ret = refuse(&m, step, i, hosts, err);
		sum = sum && of->kind == CHUNK_ALL_REDUCE && m.groups.n == hosts;
		traffic->sum += m.bytes;
	}
	traffic->sum = sum ? traffic->sum : 0;
	traffic->all_steps = traffic->steps;
	return ret;
}
