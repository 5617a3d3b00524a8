// SPDX-License-Identifier: GPL-2.0
/*
 * Leaves and spines for a shape of l leaves with s circuits each: a branch and
 * bound over sets of leaves, then over how often each spine is used, t_j, with
 * the circuits themselves searched for in ocs_wire.c.
 *
 * The bound. Leaf i has e_ij idle circuits to spine j, thus makes at least the
 * sum over j of max(0, t_j - e_ij) new ones, each at a port that is dark or loses
 * its circuit. Spine j needs l * t_j ports, of which its leaves have the sum of
 * e_ij and a few are unused: the rest is taken from other leaves, each of which
 * loses a circuit. Both sums are of convex functions of t_j alone, so that the
 * t_j that sum up to s with the least bound are found by taking the cheapest
 * step s times. Leaves that are not chosen yet count as if they had the most
 * circuits to each spine that any leaf has that can still be chosen.
 *
 * Leaves with few idle ports come first: of places alike they are taken.
 */
#include "ocs_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A leaf that the shape fits. */
struct leaf {
	__u32 number;
	__u32 idle;	/* ports */
	__u32 dark;	/* of these */
};

struct choice {
	struct ocs_search *s;
	struct ocs_wire *wire;
	struct leaf *leaf;
	__u32 nr;
	__u16 *have;	/* by leaf, then spine: idle circuits */
	__u16 *most;	/* likewise: the most from this leaf on */
	__u32 *dark_most;	/* likewise */
	__u32 *spare;	/* by spine: ports without a circuit */
	__u32 *room;	/* by spine: ports that are not fixed */
	__u32 *sum;	/* by spine: idle circuits to chosen leaves */
	__u32 *count;	/* by spine, then e: chosen leaves with e circuits */
	__u32 *step;	/* by spine: cost of one more */
	__u32 *below;	/* by spine: chosen leaves with at most times circuits */
	__u32 *times;	/* by spine */
	__u32 chosen;
	__u32 dark;	/* ports of chosen leaves */
};

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *left = a, *right = b;

	if (left->idle != right->idle)
		return left->idle < right->idle ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static void collect(struct choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	const struct slice_shape *shape = &c->s->shape;
	__u32 servers = shape->gpus / c->s->fabric->gpus_per_server;
	__u32 number, oxc;

	for (number = 0; number < ocs->leaves; number++) {
		struct leaf leaf = { .number = number };

		if (slice_whole_servers(c->s->fabric, number) < servers)
			continue;
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, number, oxc);

			leaf.idle += !ocs->fixed[port];
			leaf.dark += !ocs->fixed[port] &&
				     ocs->circuit[port] == OCS_DARK;
		}
		if (leaf.idle >= shape->gpus)
			c->leaf[c->nr++] = leaf;
	}
	qsort(c->leaf, c->nr, sizeof(*c->leaf), compare_leaves);
}

static void count_leaves(struct choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	__u32 spines = ocs->spines, i, oxc, spine;

	for (i = c->nr; i--;) {
		__u16 *have = c->have + (size_t)i * spines;
		__u16 *most = c->most + (size_t)i * spines;

		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, c->leaf[i].number, oxc);

			if (ocs_idle_link(ocs, port))
				have[ocs->circuit[port]]++;
		}
		for (spine = 0; spine < spines; spine++)
			most[spine] = have[spine] > most[spine + spines] ?
				      have[spine] : most[spine + spines];
		c->dark_most[i] = c->leaf[i].dark > c->dark_most[i + 1] ?
				  c->leaf[i].dark : c->dark_most[i + 1];
	}
}

static void count_spines(struct choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	size_t ports = (size_t)ocs->leaves * ocs->oxcs, port;
	__u32 spine;

	for (spine = 0; spine < ocs->spines; spine++) {
		c->spare[spine] = ocs->spine_ports * ocs->oxcs;
		c->room[spine] = c->spare[spine];
	}
	for (port = 0; port < ports; port++) {
		spine = ocs->circuit[port];
		if (spine == OCS_DARK)
			continue;
		c->spare[spine]--;
		c->room[spine] -= ocs->fixed[port];
	}
	for (spine = 0; spine < ocs->spines; spine++)
		if (ocs->shut[spine])
			c->room[spine] = 0;
}

/*
 * Cost of using a spine once more, OCS_NONE when it cannot be: new circuits at
 * leaves, and those that other leaves lose. @from: the next leaf that can be
 * chosen.
 */
static __u32 next_step(const struct choice *c, __u32 spine, __u32 from)
{
	__u32 take = c->s->shape.leaves, rest = take - c->chosen;
	__u32 most = c->most[(size_t)from * c->s->ocs->spines + spine];
	__u64 need = (__u64)take * (c->times[spine] + 1), covered;
	__u32 cost = c->below[spine];

	if (need > c->room[spine])
		return OCS_NONE;
	if (most <= c->times[spine])
		cost += rest;
	covered = (__u64)c->sum[spine] + (__u64)rest * most + c->spare[spine];
	if (need > covered)
		cost += need - covered < take ? need - covered : take;
	return cost;
}

static void use_spine(struct choice *c, __u32 spine, __u32 from)
{
	__u32 *count = c->count + (size_t)spine * (c->s->ocs->oxcs + 1);

	c->below[spine] += count[++c->times[spine]];
	c->step[spine] = next_step(c, spine, from);
}

static void reset_spine(struct choice *c, __u32 spine, __u32 from)
{
	c->times[spine] = 0;
	c->below[spine] = c->count[(size_t)spine * (c->s->ocs->oxcs + 1)];
	c->step[spine] = next_step(c, spine, from);
}

/*
 * The least bound for @units circuits to spines from @first on, which are left
 * in @c->times; OCS_NONE when there are not as many. Of spines alike, one with
 * ports to spare.
 */
static __u32 spread(struct choice *c, __u32 from, __u32 first, __u32 units)
{
	__u32 spines = c->s->ocs->spines, cost = 0, spine;

	for (spine = first; spine < spines; spine++)
		reset_spine(c, spine, from);
	while (units--) {
		__u32 best = OCS_NONE, most = 0, at = 0;

		for (spine = first; spine < spines; spine++) {
			__u32 left = c->room[spine] -
				     c->s->shape.leaves * c->times[spine];

			if (c->step[spine] > best || c->step[spine] == OCS_NONE ||
			    (c->step[spine] == best && left <= most))
				continue;
			best = c->step[spine];
			most = left;
			at = spine;
		}
		if (best == OCS_NONE)
			return OCS_NONE;
		cost += best;
		use_spine(c, at, from);
	}
	return cost;
}

/* New circuits at dark ports take nothing down. */
static __u32 bound(const struct choice *c, __u32 cost, __u32 from)
{
	__u32 rest = c->s->shape.leaves - c->chosen;
	__u64 dark = c->dark + (__u64)rest * c->dark_most[from];

	if (cost == OCS_NONE)
		return OCS_NONE;
	return cost > dark ? cost - dark : 0;
}

/* Use spine @spine @times more often; @cost is that of the spines before. */
static void choose_spines(struct choice *c, __u32 spine, __u32 units,
			  __u32 cost)
{
	struct ocs_search *s = c->s;
	__u32 rest, first, times;
	__u64 part;

	if (!ocs_step(s))
		return;
	rest = spread(c, c->nr, spine, units);
	if (rest == OCS_NONE || bound(c, cost + rest, c->nr) >= s->best)
		return;
	if (spine == s->ocs->spines) {
		memcpy(s->times, c->times, spine * sizeof(*s->times));
		s->least = bound(c, cost, c->nr);
		part = ocs_part_begin(s);
		ocs_wire_solve(c->wire);
		ocs_part_end(s, part);
		return;
	}
	/* The best of the bound first, then all others. */
	first = c->times[spine];
	for (times = 0; times <= units + 1; times++) {
		__u32 want = times ? times - 1 : first, sum = cost;

		if (times && want == first)
			continue;
		reset_spine(c, spine, c->nr);
		while (c->times[spine] < want && c->step[spine] != OCS_NONE) {
			sum += c->step[spine];
			use_spine(c, spine, c->nr);
		}
		if (c->times[spine] < want ||
		    bound(c, sum, c->nr) >= s->best)
			break;
		choose_spines(c, spine + 1, units - want, sum);
		if (!*s->steps)
			return;
	}
}

static void add_leaf(struct choice *c, __u32 i, int sign)
{
	__u32 spines = c->s->ocs->spines, spine;

	for (spine = 0; spine < spines; spine++) {
		__u32 have = c->have[(size_t)i * spines + spine];

		c->sum[spine] += sign * have;
		c->count[(size_t)spine * (c->s->ocs->oxcs + 1) + have] += sign;
	}
	c->dark += sign * c->leaf[i].dark;
	if (sign > 0)
		c->s->leaf[c->chosen] = c->leaf[i].number;
	c->chosen += sign;
}

static void choose_leaves(struct choice *c, __u32 from)
{
	struct ocs_search *s = c->s;
	__u64 part;

	for (; c->nr - from >= s->shape.leaves - c->chosen; from++) {
		if (!ocs_step(s) ||
		    bound(c, spread(c, from, 0, s->shape.gpus), from) >=
		    s->best)
			return;
		if (c->chosen == s->shape.leaves) {
			part = ocs_part_begin(s);
			choose_spines(c, 0, s->shape.gpus, 0);
			ocs_part_end(s, part);
			return;
		}
		add_leaf(c, from, 1);
		choose_leaves(c, from + 1);
		add_leaf(c, from, -1);
	}
}

/* All in one piece. Return: it, or NULL. */
static void *make_room(struct choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	size_t leaves = ocs->leaves + 1, spines = ocs->spines;
	size_t words = leaves + spines * (7 + ocs->oxcs);
	char *room = calloc(1, leaves * sizeof(*c->leaf) +
			    words * sizeof(__u32) +
			    2 * leaves * spines * sizeof(*c->have));
	__u32 *word;

	if (!room)
		return NULL;
	c->leaf = (struct leaf *)room;
	word = (__u32 *)(c->leaf + leaves);
	c->dark_most = word;
	c->spare = c->dark_most + leaves;
	c->room = c->spare + spines;
	c->sum = c->room + spines;
	c->step = c->sum + spines;
	c->below = c->step + spines;
	c->times = c->below + spines;
	c->count = c->times + spines;
	c->have = (__u16 *)(word + words);
	c->most = c->have + leaves * spines;
	return room;
}

int ocs_search_place(struct ocs_search *s)
{
	struct choice c = { .s = s };
	void *room = make_room(&c);

	if (!room)
		return -ENOMEM;
	collect(&c);
	if (c.nr >= s->shape.leaves) {
		c.wire = ocs_wire_new(s);
		if (!c.wire) {
			free(room);
			return -ENOMEM;
		}
		count_leaves(&c);
		count_spines(&c);
		choose_leaves(&c, 0);
		ocs_wire_free(c.wire);
	}
	free(room);
	return 0;
}
