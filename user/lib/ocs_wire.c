// SPDX-License-Identifier: GPL-2.0
/*
 * Circuits for given leaves, each of which wants t_j to spine j: a branch and
 * bound over ports. First each port of the leaves whose circuit is wanted keeps
 * it or not, then what lacks is made at other ports of the leaf, the spine with
 * the fewest ports to choose from first, the cheapest port first.
 *
 * Before that, matchings of spines with ports give a place to compare with, leaf by
 * leaf: a circuit that finds no port takes that of another, which looks for one.
 *
 * The cost is the number of circuits taken down. Those of the leaves' own ports
 * count when their port gets another. Others count where a spine's new circuits
 * at an OXC are more than its ports that were dark or lost their circuit so. As
 * a circuit of the first kind may spare one of the second, but never more, the
 * cost never falls on the way down.
 */
#include "ocs_priv.h"

#include <stdlib.h>
#include <string.h>

/* Of a leaf's port: a spine, or what follows. */
#define FREE	((__u16)-1)
#define KEPT	((__u16)-2)

/**
 * struct ocs_wire - the search
 * @s: what is searched for
 * @room: by spine and OXC: ports that are not fixed
 * @dark: likewise: without a circuit
 * @used: likewise: kept and new circuits of the leaves
 * @fresh: likewise: new circuits, less those that lost their port to another
 * @banned: likewise: tried, by the node of this depth; matters from @base on
 * @base: depth of the leaf's first node
 * @depth: of the node
 * @need: by leaf of the search, then spine: circuits that lack
 * @lack: by leaf of the search: their sum
 * @port: by leaf of the search, then OXC
 * @cost: so far
 */
struct ocs_wire {
	struct ocs_search *s;
	__u16 *room;
	__u16 *dark;
	__u16 *used;
	int *fresh;
	__u32 *banned;
	__u32 base;
	__u32 depth;
	__u16 *need;
	__u32 *lack;
	__u16 *port;
	__u32 cost;
};

static size_t spine_port(const struct ocs_wire *w, __u32 spine, __u32 oxc)
{
	return (size_t)spine * w->s->ocs->oxcs + oxc;
}

static __u32 displaced(const struct ocs_wire *w, size_t at)
{
	return w->fresh[at] > w->dark[at] ? w->fresh[at] - w->dark[at] : 0;
}

/* Add to a spine's new circuits at an OXC. */
static void add_fresh(struct ocs_wire *w, __u32 spine, __u32 oxc, int n)
{
	size_t at = spine_port(w, spine, oxc);

	w->cost -= displaced(w, at);
	w->fresh[at] += n;
	w->cost += displaced(w, at);
}

/* Join a port of a leaf to a spine, or undo that with @n = -1. */
static void make(struct ocs_wire *w, __u32 i, __u32 oxc, __u32 spine, int n)
{
	const struct ocs *ocs = w->s->ocs;
	__u16 old = ocs->circuit[ocs_port(ocs, w->s->leaf[i], oxc)];

	w->port[ocs_port(ocs, i, oxc)] = n > 0 ? spine : FREE;
	w->need[(size_t)i * ocs->spines + spine] -= n;
	w->lack[i] -= n;
	w->used[spine_port(w, spine, oxc)] += n;
	add_fresh(w, spine, oxc, n);
	if (old == OCS_DARK)
		return;
	w->cost += n;
	add_fresh(w, old, oxc, -n);
}

/* What a new circuit would cost, OCS_NONE when it cannot be. */
static __u32 price(const struct ocs_wire *w, __u32 i, __u32 oxc, __u32 spine)
{
	const struct ocs *ocs = w->s->ocs;
	size_t port = ocs_port(ocs, w->s->leaf[i], oxc);
	size_t at = spine_port(w, spine, oxc);
	__u32 cost;

	if (ocs->fixed[port] || w->port[ocs_port(ocs, i, oxc)] != FREE ||
	    ocs->circuit[port] == spine || w->used[at] >= w->room[at] ||
	    w->banned[at] > w->base)
		return OCS_NONE;
	cost = w->fresh[at] >= w->dark[at];
	if (ocs->circuit[port] != OCS_DARK)
		cost += 1 - !!displaced(w, spine_port(w, ocs->circuit[port],
						      oxc));
	return cost;
}

static __u32 count_ports(const struct ocs_wire *w, __u32 i, __u32 spine)
{
	__u32 oxc, n = 0;

	for (oxc = 0; oxc < w->s->ocs->oxcs; oxc++)
		n += price(w, i, oxc, spine) != OCS_NONE;
	return n;
}

/* The spine that has the fewest ports to choose from beyond what it needs. */
static __u32 pick_spine(const struct ocs_wire *w, __u32 i)
{
	__u32 spines = w->s->ocs->spines, best = 0, spine;
	__s64 least = INT64_MAX;

	for (spine = 0; spine < spines; spine++) {
		__u16 need = w->need[(size_t)i * spines + spine];
		__s64 n;

		if (!need)
			continue;
		n = (__s64)count_ports(w, i, spine) - need;
		if (n < least) {
			least = n;
			best = spine;
		}
	}
	return best;
}

static void save(struct ocs_wire *w)
{
	struct ocs_search *s = w->s;
	const struct ocs *ocs = s->ocs;
	__u32 i, oxc;

	s->best = w->cost;
	memcpy(s->best_leaf, s->leaf, s->shape.leaves * sizeof(*s->leaf));
	memcpy(s->best_spine, s->times, ocs->spines * sizeof(*s->times));
	for (i = 0; i < s->shape.leaves; i++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t at = ocs_port(ocs, i, oxc);
			size_t port = ocs_port(ocs, s->leaf[i], oxc);

			s->best_port[at] = w->port[at] == KEPT ?
					   ocs->circuit[port] : w->port[at];
		}
	}
}

/* Nothing better is to be found for these leaves and spines. */
static bool is_done(const struct ocs_wire *w)
{
	return w->s->best <= w->s->least || !*w->s->steps;
}

static void make_new(struct ocs_wire *w, __u32 i);

/* One more to a spine: a port that was tried is not for those that follow. */
static void make_one(struct ocs_wire *w, __u32 i, __u32 spine)
{
	__u32 oxcs = w->s->ocs->oxcs, oxc, cost;

	w->depth++;
	for (cost = 0; cost <= 2; cost++) {
		for (oxc = 0; oxc < oxcs && !is_done(w); oxc++) {
			if (price(w, i, oxc, spine) != cost)
				continue;
			make(w, i, oxc, spine, 1);
			make_new(w, i);
			make(w, i, oxc, spine, -1);
			w->banned[spine_port(w, spine, oxc)] = w->depth;
		}
	}
	for (oxc = 0; oxc < oxcs; oxc++)
		if (w->banned[spine_port(w, spine, oxc)] == w->depth)
			w->banned[spine_port(w, spine, oxc)] = 0;
	w->depth--;
}

/* Make what leaf i and those after it lack. */
static void make_new(struct ocs_wire *w, __u32 i)
{
	__u32 base = w->base;

	if (w->cost >= w->s->best || !ocs_step(w->s))
		return;
	while (i < w->s->shape.leaves && !w->lack[i]) {
		i++;
		w->base = w->depth;
	}
	if (i == w->s->shape.leaves)
		save(w);
	else
		make_one(w, i, pick_spine(w, i));
	w->base = base;
}

/* Use a port for a spine: keep its circuit, or make one. */
static void put(struct ocs_wire *w, __u32 i, __u32 oxc, __u32 spine)
{
	const struct ocs *ocs = w->s->ocs;

	if (ocs->circuit[ocs_port(ocs, w->s->leaf[i], oxc)] != spine) {
		make(w, i, oxc, spine, 1);
		return;
	}
	w->port[ocs_port(ocs, i, oxc)] = KEPT;
	w->need[(size_t)i * ocs->spines + spine]--;
	w->lack[i]--;
	w->used[spine_port(w, spine, oxc)]++;
}

/* Undo that. Return: the spine. */
static __u32 lift(struct ocs_wire *w, __u32 i, __u32 oxc)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 spine = w->port[ocs_port(ocs, i, oxc)];

	if (spine != KEPT) {
		make(w, i, oxc, spine, -1);
		return spine;
	}
	spine = ocs->circuit[ocs_port(ocs, w->s->leaf[i], oxc)];
	w->port[ocs_port(ocs, i, oxc)] = FREE;
	w->need[(size_t)i * ocs->spines + spine]++;
	w->lack[i]++;
	w->used[spine_port(w, spine, oxc)]--;
	return spine;
}

/* The cheapest port that is left for a spine; the number of OXCs: none is. */
static __u32 find_port(const struct ocs_wire *w, __u32 i, __u32 spine)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 least = OCS_NONE, best = ocs->oxcs, oxc;

	for (oxc = 0; oxc < ocs->oxcs; oxc++) {
		size_t port = ocs_port(ocs, w->s->leaf[i], oxc);
		__u32 cost = price(w, i, oxc, spine);

		if (ocs->circuit[port] == spine && !ocs->fixed[port] &&
		    w->port[ocs_port(ocs, i, oxc)] == FREE)
			return oxc;
		if (cost < least) {
			least = cost;
			best = oxc;
		}
	}
	return best;
}

/* Find a port for a spine; ports of @seen are not to be taken from others. */
static bool match(struct ocs_wire *w, __u32 i, __u32 spine, bool *seen)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 oxc = find_port(w, i, spine), other;

	if (oxc < ocs->oxcs) {
		put(w, i, oxc, spine);
		return true;
	}
	for (oxc = 0; oxc < ocs->oxcs; oxc++) {
		if (seen[oxc] || w->port[ocs_port(ocs, i, oxc)] == FREE)
			continue;
		other = lift(w, i, oxc);
		if (other != spine && (price(w, i, oxc, spine) != OCS_NONE ||
				       ocs->circuit[ocs_port(ocs, w->s->leaf[i],
							     oxc)] == spine)) {
			seen[oxc] = true;
			put(w, i, oxc, spine);
			if (match(w, i, other, seen))
				return true;
			lift(w, i, oxc);
		}
		put(w, i, oxc, other);
	}
	return false;
}

/* Match what leaf i lacks. Return: false when that was not possible. */
static bool match_leaf(struct ocs_wire *w, __u32 i)
{
	const struct ocs *ocs = w->s->ocs;
	bool seen[SLICE_MAX_UPLINKS];

	while (w->lack[i]) {
		memset(seen, 0, ocs->oxcs * sizeof(*seen));
		if (!ocs_step(w->s) || !match(w, i, pick_spine(w, i), seen))
			return false;
	}
	return true;
}

/* Keep what can be, match what lacks, save that, and undo it all. */
static void match_all(struct ocs_wire *w)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 leaves = w->s->shape.leaves, i, oxc;

	for (i = 0; i < leaves; i++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, w->s->leaf[i], oxc);

			if (ocs_idle_link(ocs, port) &&
			    w->need[(size_t)i * ocs->spines +
				    ocs->circuit[port]])
				put(w, i, oxc, ocs->circuit[port]);
		}
	}
	for (i = 0; i < leaves; i++)
		if (!match_leaf(w, i))
			break;
	if (i == leaves && w->cost < w->s->best)
		save(w);
	for (i = 0; i < leaves; i++)
		for (oxc = 0; oxc < ocs->oxcs; oxc++)
			if (w->port[ocs_port(ocs, i, oxc)] != FREE)
				lift(w, i, oxc);
}

/* Circuits that leaf i takes down at least, if it may keep those from an OXC on. */
static __u32 count_lit(const struct ocs_wire *w, __u32 i, __u32 oxc)
{
	const struct ocs *ocs = w->s->ocs;
	__u16 kept[SLICE_MAX_SPINES];
	__u32 dark = 0, lack = w->lack[i], k;

	memset(kept, 0, ocs->spines * sizeof(*kept));
	for (k = 0; k < ocs->oxcs; k++) {
		size_t port = ocs_port(ocs, w->s->leaf[i], k);
		__u16 spine = ocs->circuit[port];

		if (!ocs->fixed[port] && spine == OCS_DARK)
			dark++;
		if (k < oxc || !ocs_idle_link(ocs, port) ||
		    kept[spine] == w->need[(size_t)i * ocs->spines + spine])
			continue;
		kept[spine]++;
		lack--;
	}
	return lack > dark ? lack - dark : 0;
}

/* Keep circuits of leaf i from an OXC on, and of those after it, or do not. */
static void keep(struct ocs_wire *w, __u32 i, __u32 oxc, __u32 lit)
{
	const struct ocs *ocs = w->s->ocs;
	size_t port, at;
	__u16 *need;

	for (; i < w->s->shape.leaves; i++, oxc = 0) {
		for (; oxc < ocs->oxcs; oxc++) {
			port = ocs_port(ocs, w->s->leaf[i], oxc);
			if (!ocs_idle_link(ocs, port))
				continue;
			need = &w->need[(size_t)i * ocs->spines +
					ocs->circuit[port]];
			if (*need)
				goto found;
		}
		lit += count_lit(w, i, ocs->oxcs);
		if (lit >= w->s->best)
			return;
	}
	make_new(w, 0);
	return;

found:
	if (!ocs_step(w->s))
		return;
	at = spine_port(w, ocs->circuit[port], oxc);
	--*need;
	w->lack[i]--;
	w->used[at]++;
	w->port[ocs_port(ocs, i, oxc)] = KEPT;
	keep(w, i, oxc + 1, lit);
	w->port[ocs_port(ocs, i, oxc)] = FREE;
	w->used[at]--;
	w->lack[i]++;
	++*need;
	if (!is_done(w) && lit + count_lit(w, i, oxc + 1) < w->s->best)
		keep(w, i, oxc + 1, lit);
}

void ocs_wire_solve(struct ocs_wire *w)
{
	struct ocs_search *s = w->s;
	const struct ocs *ocs = s->ocs;
	__u32 i, spine;

	for (i = 0; i < s->shape.leaves; i++) {
		w->lack[i] = s->shape.gpus;
		for (spine = 0; spine < ocs->spines; spine++)
			w->need[(size_t)i * ocs->spines + spine] =
				s->times[spine];
	}
	match_all(w);
	if (!is_done(w))
		keep(w, 0, 0, 0);
}

struct ocs_wire *ocs_wire_new(struct ocs_search *s)
{
	const struct ocs *ocs = s->ocs;
	size_t pairs = (size_t)ocs->spines * ocs->oxcs, at;
	__u32 leaves = s->shape.leaves, leaf, oxc;
	struct ocs_wire *w;
	__u16 *half;

	w = calloc(1, sizeof(*w) + pairs * sizeof(*w->fresh) +
		   (leaves + pairs) * sizeof(*w->lack) +
		   (3 * pairs + (size_t)leaves * (ocs->spines + ocs->oxcs)) *
		   sizeof(*half));
	if (!w)
		return NULL;
	w->s = s;
	w->fresh = (int *)(w + 1);
	w->lack = (__u32 *)(w->fresh + pairs);
	w->banned = w->lack + leaves;
	half = (__u16 *)(w->banned + pairs);
	w->room = half;
	w->dark = w->room + pairs;
	w->used = w->dark + pairs;
	w->need = w->used + pairs;
	w->port = w->need + (size_t)leaves * ocs->spines;
	memset(w->port, 0xff, (size_t)leaves * ocs->oxcs * sizeof(*w->port));
	for (at = 0; at < pairs; at++) {
		w->room[at] = ocs->spine_ports;
		w->dark[at] = ocs->spine_ports;
	}
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);

			if (ocs->circuit[port] == OCS_DARK)
				continue;
			at = spine_port(w, ocs->circuit[port], oxc);
			w->dark[at]--;
			w->room[at] -= ocs->fixed[port];
		}
	}
	return w;
}

void ocs_wire_free(struct ocs_wire *w)
{
	free(w);
}
