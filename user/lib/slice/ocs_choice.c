// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves and spines cost at least, for a shape of l leaves with s circuits
 * each. Leaf i has e_ij idle circuits to spine j, thus makes at least the sum over
 * j of max(0, t_j - e_ij) new ones, where t_j is how often the spine is used, each
 * at a port that is dark or loses its circuit. Spine j needs l * t_j ports, of which
 * its leaves have the sum of e_ij and a few are unused: the rest is taken from
 * other leaves, each of which loses a circuit. Both sums are of convex functions
 * of t_j alone, so that the t_j that sum up to s with the least cost are found by
 * taking the cheapest step s times. Leaves that are not chosen yet count as if
 * they had the most circuits to each spine that any leaf has that can still be
 * chosen.
 */
#include "ocs_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_leaves(const void *a, const void *b)
{
	const struct ocs_leaf *left = a, *right = b;

	if (left->idle != right->idle)
		return left->idle < right->idle ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static void collect(struct ocs_choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	const struct slice_shape *shape = &c->s->shape;
	__u32 servers = shape->gpus / c->s->fabric->gpus_per_server;
	__u32 number, oxc;

	for (number = 0; number < ocs->leaves; number++) {
		struct ocs_leaf leaf = { .number = number };

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

static void count_leaves(struct ocs_choice *c)
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

static void count_spines(struct ocs_choice *c)
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
}

/*
 * Cost of using a spine once more, OCS_NONE when it cannot be: new circuits at
 * leaves, and those that other leaves lose. @from: the next leaf that can be
 * chosen.
 */
static __u32 next_step(const struct ocs_choice *c, __u32 spine, __u32 from)
{
	__u32 take = c->s->shape.leaves, rest = take - c->chosen;
	__u32 most = c->most[(size_t)from * c->s->ocs->spines + spine];
	__u64 need = (__u64)take * (c->times[spine] + 1), covered;
	__u32 cost = c->below[spine];

	if (need > c->room[spine] || c->shut[spine])
		return OCS_NONE;
	if (most <= c->times[spine])
		cost += rest;
	covered = (__u64)c->sum[spine] + (__u64)rest * most + c->spare[spine];
	if (need > covered)
		cost += need - covered < take ? need - covered : take;
	return cost;
}

void ocs_choice_use(struct ocs_choice *c, __u32 spine, __u32 from)
{
	__u32 *count = c->count + (size_t)spine * (c->s->ocs->oxcs + 1);

	c->below[spine] += count[++c->times[spine]];
	c->step[spine] = next_step(c, spine, from);
}

void ocs_choice_reset(struct ocs_choice *c, __u32 spine, __u32 from)
{
	c->times[spine] = 0;
	c->below[spine] = c->count[(size_t)spine * (c->s->ocs->oxcs + 1)];
	c->step[spine] = next_step(c, spine, from);
}

__u32 ocs_choice_spread(struct ocs_choice *c, __u32 from, __u32 first, __u32 units)
{
	__u32 spines = c->s->ocs->spines, cost = 0, spine;

	for (spine = first; spine < spines; spine++)
		ocs_choice_reset(c, spine, from);
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
		ocs_choice_use(c, at, from);
	}
	return cost;
}

void ocs_choice_leaf(struct ocs_choice *c, __u32 i, int sign)
{
	const struct ocs *ocs = c->s->ocs;
	const bool *shut = ocs->shut + ocs_pair(ocs, c->leaf[i].number, 0);
	__u32 spines = ocs->spines, spine;

	for (spine = 0; spine < spines; spine++) {
		__u32 have = c->have[(size_t)i * spines + spine];

		c->sum[spine] += sign * have;
		c->shut[spine] += sign * shut[spine];
		c->count[(size_t)spine * (ocs->oxcs + 1) + have] += sign;
	}
	c->dark += sign * c->leaf[i].dark;
	if (sign > 0)
		c->s->leaf[c->chosen] = c->leaf[i].number;
	c->chosen += sign;
}

/* All in one piece. Return: it, or NULL. */
static void *make_room(struct ocs_choice *c)
{
	const struct ocs *ocs = c->s->ocs;
	size_t leaves = ocs->leaves + 1, spines = ocs->spines;
	size_t words = 2 * leaves + spines * (8 + ocs->oxcs);
	char *room = calloc(1, leaves * sizeof(*c->leaf) +
			    words * sizeof(__u32) +
			    2 * leaves * spines * sizeof(*c->have));
	__u32 *word;

	if (!room)
		return NULL;
	c->leaf = (struct ocs_leaf *)room;
	word = (__u32 *)(c->leaf + leaves);
	c->dark_most = word;
	c->spare = c->dark_most + leaves;
	c->room = c->spare + spines;
	c->sum = c->room + spines;
	c->step = c->sum + spines;
	c->below = c->step + spines;
	c->shut = c->below + spines;
	c->times = c->shut + spines;
	c->count = c->times + spines;
	c->order = c->count + spines * (1 + ocs->oxcs);
	c->have = (__u16 *)(word + words);
	c->most = c->have + leaves * spines;
	return room;
}

int ocs_choice_init(struct ocs_choice *c, struct ocs_search *s)
{
	*c = (struct ocs_choice){ .s = s };
	if (!make_room(c))
		return -ENOMEM;
	collect(c);
	count_leaves(c);
	count_spines(c);
	return 0;
}

void ocs_choice_free(struct ocs_choice *c)
{
	free(c->leaf);
}
