// SPDX-License-Identifier: GPL-2.0
/*
 * Leaves and spines for a shape of l leaves with s circuits each: a branch and
 * bound over sets of leaves, then over how often each spine is used, t_j, by the
 * bound of ocs_choice.c; the circuits themselves are searched for in ocs_wire.c.
 *
 * A place to compare with is guessed before. Then all is gone through with what is
 * cheap, then again with a proof for each choice that is still open: all are
 * better known then. Where the steps do not suffice for all of that, they are
 * used to guess on.
 */
#include "ocs_choice.h"

#include <errno.h>
#include <string.h>

/* New circuits at dark ports take nothing down. */
static __u32 bound(const struct ocs_choice *c, __u32 cost, __u32 from)
{
	__u32 rest = c->s->shape.leaves - c->chosen;
	__u64 dark = c->dark + (__u64)rest * c->dark_most[from];

	if (cost == OCS_NONE)
		return OCS_NONE;
	return cost > dark ? cost - dark : 0;
}

/* What is chosen costs at least, where no leaf has the dark ports of another. */
static __u32 least_cost(const struct ocs_choice *c)
{
	__u32 take = c->chosen, spines = c->s->ocs->spines, cost = 0, i, spine;

	for (i = 0; i < take; i++) {
		const __u16 *have = c->have + (size_t)c->order[i] * spines;
		__u32 dark = c->leaf[c->order[i]].dark, lack = 0;

		for (spine = 0; spine < spines; spine++)
			if (c->times[spine] > have[spine])
				lack += c->times[spine] - have[spine];
		cost += lack > dark ? lack - dark : 0;
	}
	for (spine = 0; spine < spines; spine++) {
		__u32 need = take * c->times[spine];
		__u32 covered = c->sum[spine] + c->spare[spine];

		cost += need > covered ? need - covered : 0;
	}
	return cost;
}

/* Use spine @spine @times more often; @cost is that of the spines before. */
static void choose_spines(struct ocs_choice *c, __u32 spine, __u32 units,
			  __u32 cost)
{
	struct ocs_search *s = c->s;
	__u32 rest, first, times;

	if (!ocs_step(s, s->ocs->spines))
		return;
	rest = ocs_choice_spread(c, c->nr, spine, units);
	if (rest == OCS_NONE || bound(c, cost + rest, c->nr) >= s->best)
		return;
	if (spine == s->ocs->spines) {
		if (least_cost(c) >= s->best)
			return;
		memcpy(s->times, c->times, spine * sizeof(*s->times));
		ocs_wire_solve(c->wire, c->all);
		return;
	}
	/* The best of the bound first, then all others. */
	first = c->times[spine];
	for (times = 0; times <= units + 1; times++) {
		__u32 want = times ? times - 1 : first, sum = cost;

		if (times && want == first)
			continue;
		ocs_choice_reset(c, spine, c->nr);
		while (c->times[spine] < want && c->step[spine] != OCS_NONE) {
			sum += c->step[spine];
			ocs_choice_use(c, spine, c->nr);
		}
		if (c->times[spine] < want ||
		    bound(c, sum, c->nr) >= s->best)
			break;
		choose_spines(c, spine + 1, units - want, sum);
		if (!*s->steps)
			return;
	}
}

static void choose_leaves(struct ocs_choice *c, __u32 from)
{
	struct ocs_search *s = c->s;

	for (; c->nr - from >= s->shape.leaves - c->chosen; from++) {
		if (!ocs_step(s, s->ocs->spines) ||
		    bound(c, ocs_choice_spread(c, from, 0, s->shape.gpus), from) >=
		    s->best)
			return;
		if (c->chosen == s->shape.leaves) {
			choose_spines(c, 0, s->shape.gpus, 0);
			return;
		}
		c->order[c->chosen] = from;
		ocs_choice_leaf(c, from, 1);
		choose_leaves(c, from + 1);
		ocs_choice_leaf(c, from, -1);
	}
}

/* Go through all, with a part of the steps. Return: whether they sufficed. */
static bool go_through(struct ocs_choice *c, bool all, __u32 part)
{
	struct ocs_search *s = c->s;
	__u64 rest = *s->steps - *s->steps / part;
	bool done;

	*s->steps -= rest;
	s->open = false;
	c->all = all;
	choose_leaves(c, 0);
	done = *s->steps > 0;
	*s->steps += rest;
	return done;
}

static void search(struct ocs_choice *c)
{
	struct ocs_search *s = c->s;

	ocs_guess(c);
	s->proven = go_through(c, false, 2) &&
		    (!s->open || go_through(c, true, 2));
	if (!s->proven && s->best == OCS_NONE)
		s->proven = go_through(c, true, 1);
	if (!s->proven && s->best != OCS_NONE)
		ocs_guess_more(c);
	s->proven |= !s->best;
}

int ocs_search_place(struct ocs_search *s)
{
	struct ocs_choice c;
	int ret;

	ret = ocs_choice_init(&c, s);
	if (ret)
		return ret;
	s->proven = true;
	if (c.nr >= s->shape.leaves) {
		c.wire = ocs_wire_new(s);
		if (c.wire)
			search(&c);
		else
			ret = -ENOMEM;
		ocs_wire_free(c.wire);
	}
	ocs_choice_free(&c);
	return ret;
}
