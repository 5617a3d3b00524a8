// SPDX-License-Identifier: GPL-2.0
/*
 * Places that are good, by local search: nothing is proven. First sets of leaves at
 * random, of which leaves are exchanged as long as the new and lost circuits of
 * ocs_choice.c get fewer, their circuits found then. After that the best place is
 * changed, a leaf or a spine at random, and kept changed where it is as good.
 */
#include "ocs_choice.h"

#include <string.h>

#define TRIES	64	/* of sets of leaves without a better place */

/* What the chosen leaves cost at least. */
static __u32 try_set(struct ocs_choice *c)
{
	if (!ocs_step(c->s, (__u64)c->s->ocs->spines * c->s->shape.gpus))
		return OCS_NONE;
	return ocs_choice_spread(c, c->nr, 0, c->s->shape.gpus);
}

static void swap(struct ocs_choice *c, __u32 in, __u32 out)
{
	__u32 leaf = c->order[in];

	ocs_choice_leaf(c, leaf, -1);
	ocs_choice_leaf(c, c->order[out], 1);
	c->order[in] = c->order[out];
	c->order[out] = leaf;
}

/* Exchange a leaf where the cost gets less; now and then where it does not change. */
static bool exchange_one(struct ocs_choice *c, __u32 in, __u32 *least)
{
	__u32 out, cost;
	bool better = false;

	for (out = c->s->shape.leaves; out < c->nr && *c->s->steps; out++) {
		swap(c, in, out);
		cost = try_set(c);
		if (cost > *least ||
		    (cost == *least && c->order[in] > c->order[out] &&
		     ocs_random(c->s) % 64))
			swap(c, in, out);
		if (cost >= *least)
			continue;
		*least = cost;
		better = true;
	}
	return better;
}

static void exchange(struct ocs_choice *c)
{
	__u32 least = try_set(c), in;
	bool better = true;

	while (better) {
		better = false;
		for (in = 0; in < c->s->shape.leaves; in++)
			better |= exchange_one(c, in, &least);
	}
}

/* Choose leaves at random, and then better ones; at first those in order. */
static void choose(struct ocs_choice *c, bool first)
{
	__u32 *order = c->order, i, j, leaf;

	for (i = 0; i < c->nr; i++) {
		j = first ? i : i + ocs_random(c->s) % (c->nr - i);
		leaf = order[i];
		order[i] = order[j];
		order[j] = leaf;
		if (i < c->s->shape.leaves)
			ocs_choice_leaf(c, order[i], 1);
	}
	if (!first)
		exchange(c);
}

/* Find circuits for what is chosen. */
static void wire(struct ocs_choice *c)
{
	struct ocs_search *s = c->s;
	__u32 i;

	for (i = 0; i < s->shape.leaves; i++)
		s->leaf[i] = c->leaf[c->order[i]].number;
	memcpy(s->times, c->times, s->ocs->spines * sizeof(*s->times));
	ocs_wire_solve(c->wire, false);
}

void ocs_guess(struct ocs_choice *c)
{
	struct ocs_search *s = c->s;
	__u64 rest = *s->steps / 4 * 3;
	__u32 tries, best, i;
	bool first = true;

	*s->steps -= rest;
	for (i = 0; i < c->nr; i++)
		c->order[i] = i;
	for (tries = 0; tries < TRIES && *s->steps && s->best; tries++) {
		best = s->best;
		choose(c, first);
		first = false;
		if (try_set(c) != OCS_NONE)
			wire(c);
		for (i = 0; i < s->shape.leaves; i++)
			ocs_choice_leaf(c, c->order[i], -1);
		if (s->best < best)
			tries = 0;
	}
	*s->steps += rest;
}

/* The best place, but for a leaf or a spine. Return: false: it is as it was. */
static bool change(struct ocs_choice *c)
{
	struct ocs_search *s = c->s;
	__u32 take = s->shape.leaves, i, spine = ocs_random(s) % s->ocs->spines;
	__u32 leaf = c->leaf[ocs_random(s) % c->nr].number;

	memcpy(s->leaf, s->best_leaf, take * sizeof(*s->leaf));
	memcpy(s->times, s->best_spine, s->ocs->spines * sizeof(*s->times));
	if (ocs_random(s) % 2) {
		for (i = 0; i < take; i++)
			if (s->leaf[i] == leaf)
				return false;
		s->leaf[ocs_random(s) % take] = leaf;
		return true;
	}
	i = ocs_random(s) % s->ocs->spines;
	if (!s->times[i] || i == spine ||
	    (__u64)take * (s->times[spine] + 1) > c->room[spine])
		return false;
	s->times[i]--;
	s->times[spine]++;
	return true;
}

void ocs_guess_more(struct ocs_choice *c)
{
	struct ocs_search *s = c->s;

	while (s->best && ocs_step(s, s->ocs->spines))
		if (change(c))
			ocs_wire_retry(c->wire);
}
