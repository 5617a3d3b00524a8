// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "plan_priv.h"

/* @now and @had, by path: parts of the present flow, and of all flows before. */
struct compare {
	const struct plan *plan;
	const struct plan_spec *spec;
	struct plan_change *change;
	__u64 *now;
	__u64 *had;
};

static size_t flow_end(const struct plan_piece *pieces, size_t nr, size_t at)
{
	__u32 flow = pieces[at].flow;

	while (at < nr && pieces[at].flow == flow)
		at++;
	return at;
}

/* The least common multiple of all lengths of flows. */
static int common_unit(const struct compare *c)
{
	const struct plan_piece *prior = c->spec->prior;
	__u64 *unit = &c->change->unit;
	size_t i, end;

	*unit = c->plan->unit;
	for (i = 0; i < c->spec->nr_prior; i = end) {
		__u64 length;

		end = flow_end(prior, c->spec->nr_prior, i);
		length = prior[end - 1].to;
		length /= plan_gcd(*unit, length);
		if ((__uint128_t)*unit * length * c->plan->flows > INT64_MAX)
			return -EOVERFLOW;
		*unit *= length;
	}
	return 0;
}

/* Return: the part of a flow that leaves its prior paths. */
static __u64 flow_moved(const struct compare *c, size_t at, size_t end)
{
	const struct plan_piece *prior = c->spec->prior;
	__u64 scale = c->change->unit / prior[end - 1].to, moved = 0;

	for (; at < end; at++) {
		__u64 share = (prior[at].to - prior[at].from) * scale, stays;
		__u32 path = prior[at].path;

		if (path >= c->plan->paths) {
			c->change->must += share;
			moved += share;
			continue;
		}
		stays = share < c->now[path] ? share : c->now[path];
		c->now[path] -= stays;
		c->had[path] += share;
		moved += share - stays;
	}
	return moved;
}

static void compare_flows(const struct compare *c)
{
	const struct plan_piece *pieces = c->plan->pieces;
	const struct plan_piece *prior = c->spec->prior;
	__u64 scale = c->change->unit / c->plan->unit, moved;
	size_t at, end, i, first = 0, behind;

	for (at = 0; at < c->spec->nr_prior; at = end) {
		end = flow_end(prior, c->spec->nr_prior, at);
		while (pieces[first].flow != prior[at].flow)
			first++;
		behind = flow_end(pieces, c->plan->nr_pieces, first);
		for (i = first; i < behind; i++)
			c->now[pieces[i].path] = scale *
				(pieces[i].to - pieces[i].from);
		moved = flow_moved(c, at, end);
		c->change->moved += moved;
		c->change->flows += moved > 0;
		for (i = first; i < behind; i++)
			c->now[pieces[i].path] = 0;
		first = behind;
	}
}

int plan_compare(struct plan_change *change, const struct plan *plan, const struct plan_spec *spec)
{
	struct compare c = { .plan = plan, .spec = spec, .change = change };
	__u64 scale;
	__u32 p;
	int err;

	*change = (struct plan_change) {};
	err = common_unit(&c);
	if (err)
		return err;
	c.now = calloc(plan->paths, sizeof(*c.now));
	c.had = calloc(plan->paths, sizeof(*c.had));
	if (!c.now || !c.had) {
		err = -ENOMEM;
		goto out;
	}
	compare_flows(&c);
	scale = change->unit / plan->unit;
	for (p = 0; p < plan->paths; p++)
		if (c.had[p] > plan->load[p] * scale)
			change->must += c.had[p] - plan->load[p] * scale;
out:
	free(c.now);
	free(c.had);
	return err;
}
