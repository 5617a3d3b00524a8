// SPDX-License-Identifier: GPL-2.0
/*
 * Circuits for given leaves, each of which wants t_j to spine j.
 *
 * The cost is the number of circuits taken down: those of the leaves' own ports
 * that get another, and others where a spine's ports at an OXC, its slot, do not
 * suffice for all.
 *
 * To find good ones, each leaf in turn has its circuits assigned to its ports
 * anew, at the least cost while the others are as they are; of those alike one at
 * random, so that the next may find better.
 *
 * To prove that there are no better ones: a branch and bound over the leaves'
 * ports, by the bound of ocs_bound.c. Where that is made of circuits that can be,
 * it is what they cost, or close to it; else two spines want a port, and that is
 * decided next: one of the spines has it, or it is not used.
 */
#include "ocs_wire.h"

#include <stdlib.h>
#include <string.h>

#define CROWD	64	/* cost of one user of a slot too many, while that may be */
#define CHANCE	32	/* of a cost; less is random */
#define STALE	24	/* rounds of turns without a better place until they end */
#define RETRY	3	/* likewise, where a place was changed a little */
#define ROUNDS	30	/* of prices, at first */
#define AGAIN	3	/* likewise, where a port more is decided */

/* Circuits taken down in a slot, where so many are used and would stay. */
static __s64 slot_cost(const struct ocs_wire *w, size_t at, __u32 used,
		       __u32 stay)
{
	__u32 all = used + stay + w->out[at];

	if (used > w->room[at])
		return (__s64)OCS_NEVER * (used - w->room[at]);
	return all > w->room[at] ? all - w->room[at] : 0;
}

/* Enter a leaf's ports into the slots, or take them out with @n = -1. */
static void enter(struct ocs_wire *w, const __u16 *port, __u32 i, int n)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 oxc;

	for (oxc = 0; oxc < ocs->oxcs; oxc++) {
		__u16 own = w->own[ocs_port(ocs, i, oxc)];
		__u16 to = port[ocs_port(ocs, i, oxc)];

		if (to < OCS_OPEN)
			w->used[ocs_slot(w, to, oxc)] += n;
		else if (to == OCS_FREE && own != OCS_DARK)
			w->stay[ocs_slot(w, own, oxc)] += n;
	}
}

/* Enter all ports. Return: the circuits taken down; from OCS_NEVER: cannot be. */
static __s64 tally(struct ocs_wire *w, const __u16 *port)
{
	size_t ports = (size_t)w->s->shape.leaves * w->s->ocs->oxcs, at;
	__s64 cost = 0;
	__u32 i;

	memset(w->used, 0, w->slots * sizeof(*w->used));
	memset(w->stay, 0, w->slots * sizeof(*w->stay));
	for (i = 0; i < w->s->shape.leaves; i++)
		enter(w, port, i, 1);
	for (at = 0; at < ports; at++)
		cost += port[at] < OCS_OPEN && w->own[at] != OCS_DARK &&
			port[at] != w->own[at];
	for (at = 0; at < w->slots; at++)
		cost += slot_cost(w, at, w->used[at], w->stay[at]);
	return cost;
}

/* Keep what was found; also what is as good, which may lead to better. */
static void save(struct ocs_wire *w, __s64 cost)
{
	struct ocs_search *s = w->s;
	const struct ocs *ocs = s->ocs;

	if (cost >= OCS_NEVER || cost > s->best)
		return;
	s->best = cost;
	memcpy(s->best_leaf, s->leaf, s->shape.leaves * sizeof(*s->leaf));
	memcpy(s->best_spine, s->times, ocs->spines * sizeof(*s->times));
	memcpy(s->best_port, w->port,
	       (size_t)s->shape.leaves * ocs->oxcs * sizeof(*w->port));
}

/* What a port costs more than when it is left, the others being as they are. */
static int port_cost(const struct ocs_wire *w, __u16 own, __u32 oxc,
		     __u32 spine)
{
	size_t at = ocs_slot(w, spine, oxc);
	__s64 cost;

	if (own == spine)
		return w->used[at] < w->room[at] ? 0 : CROWD;
	cost = slot_cost(w, at, w->used[at] + 1, w->stay[at]) -
	       slot_cost(w, at, w->used[at], w->stay[at]);
	if (cost >= OCS_NEVER)
		cost = CROWD;
	if (own == OCS_DARK)
		return cost;
	at = ocs_slot(w, own, oxc);
	return cost + 1 + slot_cost(w, at, w->used[at], w->stay[at]) -
	       slot_cost(w, at, w->used[at], w->stay[at] + 1);
}

/* Give leaf i the ports that were assigned. */
static void take_ports(struct ocs_wire *w, __u32 i)
{
	const struct ocs *ocs = w->s->ocs;
	__u32 oxc, row;

	for (oxc = 0; oxc < ocs->oxcs; oxc++) {
		row = w->match.row[oxc];
		w->port[ocs_port(ocs, i, oxc)] =
			row == OCS_NO_ROW ? OCS_FREE : w->unit[row];
	}
}

/* Assign leaf i anew, where nothing is pinned but what is fixed. */
static bool turn(struct ocs_wire *w, __u32 i)
{
	const struct ocs *ocs = w->s->ocs;
	int *line = w->cost;
	__u32 n, oxc;
	__s64 cost;

	if (!ocs_step(w->s, (__u64)w->nr * ocs->oxcs))
		return false;
	enter(w, w->port, i, -1);
	w->match.rows = 0;
	w->match.cols = ocs->oxcs;
	for (n = 0; n < w->nr; n++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t at = ocs_port(ocs, i, oxc);

			*line++ = w->pin[at] != OCS_OPEN ? OCS_NEVER :
				  CHANCE * port_cost(w, w->own[at], oxc,
						     w->spine[n]) +
				  (int)(ocs_random(w->s) & 3);
		}
		ocs_add_rows(w, w->s->times[w->spine[n]], w->spine[n], n);
	}
	cost = ocs_match(&w->match, w->s->steps);
	if (cost < 0 || cost >= OCS_NEVER)
		return false;
	take_ports(w, i);
	enter(w, w->port, i, 1);
	return true;
}

/* Assign the leaves in turn, as long as that finds better; @least will do. */
static void take_turns(struct ocs_wire *w, __s64 least, __u32 rounds)
{
	__s64 cost, best = INT64_MAX;
	__u32 stale = 0, i;

	tally(w, w->port);
	while (stale++ < rounds && w->s->best > least) {
		for (i = 0; i < w->s->shape.leaves; i++)
			if (!turn(w, i))
				return;
		if (!ocs_step(w->s, w->slots))
			return;
		cost = tally(w, w->port);
		if (cost < best) {
			best = cost;
			stale = 0;
		}
		save(w, cost);
	}
}

/* A port to decide next: the one most wanted or lost, and of these the dearest. */
static size_t pick(const struct ocs_wire *w)
{
	size_t ports = (size_t)w->s->shape.leaves * w->s->ocs->oxcs, at;
	size_t best = OCS_NO_PORT;
	int most = 0;

	for (at = 0; at < ports; at++) {
		int hits = abs(w->hits[at]);

		if (w->pin[at] != OCS_OPEN ||
		    (best != OCS_NO_PORT &&
		     (hits < most || (hits == most &&
				      w->price[at] <= w->price[best]))))
			continue;
		best = at;
		most = hits;
	}
	return best;
}

static __s64 bound(struct ocs_wire *w, __u32 rounds)
{
	__s64 cost;

	if (!ocs_step(w->s, w->slots))
		return OCS_NEVER;
	cost = tally(w, w->pin);
	if (cost >= w->s->best || cost >= OCS_NEVER)
		return cost;
	return ocs_bound(w, cost, rounds);
}

static void decide(struct ocs_wire *w);

/* Decide a port; the spine, or that it is not used. */
static void decide_port(struct ocs_wire *w, size_t at, __u16 to)
{
	const struct ocs *ocs = w->s->ocs;
	__u16 *need = to == OCS_FREE ? NULL :
		      w->need + at / ocs->oxcs * ocs->spines + to;

	if (need && !*need)
		return;
	w->pin[at] = to;
	if (need)
		--*need;
	decide(w);
	w->pin[at] = OCS_OPEN;
	if (need)
		++*need;
}

/* All that can follow what is pinned. */
static void decide(struct ocs_wire *w)
{
	__s64 least = bound(w, AGAIN);
	__u16 first;
	size_t at;
	__u32 n;

	if (least >= w->s->best || least >= OCS_NEVER)
		return;
	if (w->clash == OCS_NO_PORT)
		save(w, tally(w, w->port));
	at = pick(w);
	if (least >= w->s->best || at == OCS_NO_PORT)
		return;
	first = w->port[at];
	decide_port(w, at, first);
	for (n = 0; n <= w->nr; n++) {
		__u16 to = n < w->nr ? w->spine[n] : OCS_FREE;

		if (to != first)
			decide_port(w, at, to);
	}
}

/*
 * Enter the leaves and spines that are searched for, nothing decided. Return:
 * false: one is shut to another, or no steps are left.
 */
static bool begin(struct ocs_wire *w)
{
	const struct ocs_search *s = w->s;
	const struct ocs *ocs = s->ocs;
	__u32 i, oxc, spine;

	if (!ocs_step(w->s, w->slots + (__u64)s->shape.leaves *
			    (ocs->spines + ocs->oxcs)))
		return false;
	w->nr = 0;
	for (spine = 0; spine < ocs->spines; spine++)
		if (s->times[spine])
			w->spine[w->nr++] = spine;
	memcpy(w->out, w->idle, w->slots * sizeof(*w->out));
	for (i = 0; i < s->shape.leaves; i++) {
		for (spine = 0; spine < ocs->spines; spine++) {
			if (s->times[spine] &&
			    ocs->shut[ocs_pair(ocs, s->leaf[i], spine)])
				return false;
			w->need[ocs_pair(ocs, i, spine)] = s->times[spine];
		}
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, s->leaf[i], oxc);
			size_t at = ocs_port(ocs, i, oxc);

			w->own[at] = ocs->fixed[port] ? OCS_DARK :
							ocs->circuit[port];
			w->pin[at] = ocs->fixed[port] ? OCS_FREE : OCS_OPEN;
			w->port[at] = OCS_FREE;
			if (w->own[at] != OCS_DARK)
				w->out[ocs_slot(w, w->own[at], oxc)]--;
		}
	}
	return true;
}

void ocs_wire_solve(struct ocs_wire *w, bool all)
{
	__s64 least;

	if (!begin(w))
		return;
	ocs_bound_begin(w);
	least = bound(w, ROUNDS);
	if (least >= w->s->best || least >= OCS_NEVER)
		return;
	take_turns(w, least, STALE);
	if (least >= w->s->best)
		return;
	w->s->open = true;
	if (all)
		decide(w);
}

void ocs_wire_retry(struct ocs_wire *w)
{
	const struct ocs_search *s = w->s;
	size_t row = s->ocs->oxcs;
	__u32 i;

	if (!begin(w))
		return;
	for (i = 0; i < s->shape.leaves; i++)
		if (s->leaf[i] == s->best_leaf[i])
			memcpy(w->port + i * row, s->best_port + i * row,
			       row * sizeof(*w->port));
	take_turns(w, 0, RETRY);
}

/* All in one piece, but for @match. */
static struct ocs_wire *make_room(const struct ocs_search *s)
{
	const struct ocs *ocs = s->ocs;
	size_t slots = (size_t)ocs->spines * ocs->oxcs;
	size_t ports = (size_t)s->shape.leaves * ocs->oxcs;
	size_t needs = (size_t)s->shape.leaves * ocs->spines;
	size_t lines = (size_t)s->shape.leaves * OCS_SIDE;
	size_t cells = slots > lines ? slots : lines;
	struct ocs_wire *w;

	w = calloc(1, sizeof(*w) + OCS_SIDE * sizeof(*w->col) +
		   (cells + 2 * ports) * sizeof(*w->cost) +
		   (OCS_SIDE + ocs->spines) * sizeof(*w->unit) +
		   (5 * slots + 3 * ports + needs) * sizeof(*w->room));
	if (!w)
		return NULL;
	w->slots = slots;
	w->col = (struct ocs_column *)(w + 1);
	w->cost = (int *)(w->col + OCS_SIDE);
	w->price = w->cost + cells;
	w->hits = w->price + ports;
	w->unit = (__u32 *)(w->hits + ports);
	w->spine = w->unit + OCS_SIDE;
	w->room = (__u16 *)(w->spine + ocs->spines);
	w->idle = w->room + slots;
	w->out = w->idle + slots;
	w->used = w->out + slots;
	w->stay = w->used + slots;
	w->own = w->stay + slots;
	w->pin = w->own + ports;
	w->port = w->pin + ports;
	w->need = w->port + ports;
	return w;
}

struct ocs_wire *ocs_wire_new(struct ocs_search *s)
{
	const struct ocs *ocs = s->ocs;
	struct ocs_wire *w = make_room(s);
	__u32 leaf, oxc;
	size_t at;

	if (!w)
		return NULL;
	w->s = s;
	if (ocs_match_init(&w->match, OCS_SIDE, OCS_SIDE)) {
		ocs_wire_free(w);
		return NULL;
	}
	for (at = 0; at < w->slots; at++)
		w->room[at] = ocs->spine_ports;
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			at = ocs_port(ocs, leaf, oxc);
			if (ocs->circuit[at] == OCS_DARK)
				continue;
			if (ocs->fixed[at])
				w->room[ocs_slot(w, ocs->circuit[at], oxc)]--;
			else
				w->idle[ocs_slot(w, ocs->circuit[at], oxc)]++;
		}
	}
	return w;
}

void ocs_wire_free(struct ocs_wire *w)
{
	if (!w)
		return;
	ocs_match_free(&w->match);
	free(w);
}
