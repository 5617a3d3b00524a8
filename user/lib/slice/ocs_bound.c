// SPDX-License-Identifier: GPL-2.0
/*
 * What circuits for given leaves and spines take down at least.
 *
 * Each spine gets the circuits that lack, as if it were alone: an assignment of
 * them, each of a leaf, to ports of its slots, so that no slot has too many. What
 * is left out is that a leaf's port has one circuit only. In its place a port has
 * a price, paid by each spine that makes a new circuit there, and taken off the
 * sum as often as the port can be used (Lagrange):
 *
 * - a dark port: price p >= 0. Made at most once: sum of p * uses - p <= 0.
 * - a port with a circuit to a spine that is not used: p >= 1. The first new
 *   circuit takes that one down: p * uses + 1 - p <= 1, or <= 0 without any.
 * - a port with a circuit to a spine that is used: p >= 0. The circuit is lost at
 *   one end, where another spine takes the port, or at the other, where another
 *   leaf takes the spine's, or at both, and counts once. Up to p = 1 the one end
 *   pays p, the other 1 - p. Above, the port is as one with a spine that is not
 *   used, whose circuit is lost: p * uses + 1 - p; and the spine that keeps it
 *   pays p - 1, so that this makes 0.
 *
 * So circuits that can be cost no less than the sum, whatever the prices are, and
 * assignments that are the best at these prices bound it from below. In a slot,
 * dark ports cost nothing, those of the leaves' circuits 1 - p where that is more,
 * others one.
 *
 * Prices rise where ports are wanted more than once, and fall where they are not
 * wanted, in steps that get smaller: the bound then comes close to the best one,
 * which is that of the linear program of ocs_lp.c with x and t fixed.
 */
#include "ocs_wire.h"

#define SCALE	8	/* of prices and costs */
#define MOST	(16 * SCALE)	/* of a price */

/* What is above. */
static int over(int a, int b)
{
	return a > b ? a - b : 0;
}

/* Whether a port has a circuit to a spine that is used. */
static bool is_inner(const struct ocs_wire *w, size_t at)
{
	return w->own[at] != OCS_DARK && w->s->times[w->own[at]];
}

/* The price that takes nothing off the sum. */
static int least_price(const struct ocs_wire *w, size_t at)
{
	return w->own[at] == OCS_DARK || is_inner(w, at) ? 0 : SCALE;
}

void ocs_bound_begin(struct ocs_wire *w)
{
	size_t ports = (size_t)w->s->shape.leaves * w->s->ocs->oxcs, at;

	for (at = 0; at < ports; at++)
		w->price[at] = w->own[at] == OCS_DARK ? 0 : SCALE;
}

/*
 * Columns for a slot: first circuits of the leaves, all of them, as each may be
 * kept; then what is dark, then other circuits. Return: whether there was room.
 */
static bool add_slot(struct ocs_wire *w, __u32 spine, __u32 oxc)
{
	__u32 leaves = w->s->shape.leaves, n = w->match.cols, end, all, i;
	size_t at = ocs_slot(w, spine, oxc);

	all = w->used[at] + w->stay[at] + w->out[at];
	end = n + w->room[at] - w->used[at];
	for (i = 0; i < leaves && n < OCS_SIDE; i++) {
		size_t port = ocs_port(w->s->ocs, i, oxc);

		if (w->own[port] != spine || w->pin[port] != OCS_OPEN)
			continue;
		w->col[n++] = (struct ocs_column){
			oxc, i, over(SCALE, w->price[port]),
		};
		all++;
	}
	if (i < leaves)
		return false;
	for (i = 0; i < leaves && n < end && n < OCS_SIDE; i++, all++)
		w->col[n++] = (struct ocs_column){
			oxc, leaves, all < w->room[at] ? 0 : SCALE,
		};
	w->match.cols = n;
	return n >= end || i == leaves;
}

/* A circuit of leaf i in a column. */
static int column_cost(const struct ocs_wire *w, __u32 spine, __u32 i,
		       const struct ocs_column *c)
{
	size_t at = ocs_port(w->s->ocs, i, c->oxc);

	if (w->pin[at] != OCS_OPEN)
		return OCS_NEVER;
	if (w->own[at] == spine)
		return c->leaf == i ? over(w->price[at], SCALE) : OCS_NEVER;
	return c->cost + w->price[at];
}

/* Note what a spine got; of ports that are dear, also what it keeps. */
static void note(struct ocs_wire *w, __u32 spine)
{
	const struct ocs_match *m = &w->match;
	__u32 leaves = w->s->shape.leaves, n;

	for (n = 0; n < m->cols; n++) {
		const struct ocs_column *c = &w->col[n];
		size_t at;

		if (m->row[n] == OCS_NO_ROW)
			continue;
		at = ocs_port(w->s->ocs, w->unit[m->row[n]], c->oxc);
		if (w->port[at] != OCS_FREE)
			w->clash = at;
		w->port[at] = spine;
		if (w->own[at] != spine || w->price[at] > SCALE)
			w->hits[at]++;
		if (w->own[at] == spine || c->leaf == leaves)
			continue;
		at = ocs_port(w->s->ocs, c->leaf, c->oxc);
		w->hits[at] -= w->price[at] <= SCALE;
	}
}

/* Return: what a spine pays, OCS_NEVER: too much; -1: not known. */
static __s64 assign_spine(struct ocs_wire *w, __u32 spine)
{
	struct ocs_match *m = &w->match;
	int *line = w->cost;
	__u32 i, n, oxc;
	__s64 cost;

	for (i = 0, n = 0; i < w->s->shape.leaves; i++)
		n += ocs_need(w, i, spine);
	if (!n)
		return 0;
	m->rows = 0;
	m->cols = 0;
	for (oxc = 0; oxc < w->s->ocs->oxcs; oxc++)
		if (n > OCS_SIDE || !add_slot(w, spine, oxc))
			return -1;
	if (!ocs_step(w->s, (__u64)w->s->shape.leaves * m->cols))
		return OCS_NEVER;
	for (i = 0; i < w->s->shape.leaves; i++) {
		for (n = 0; n < m->cols; n++)
			*line++ = column_cost(w, spine, i, &w->col[n]);
		ocs_add_rows(w, ocs_need(w, i, spine), i, i);
	}
	cost = ocs_match(m, w->s->steps);
	if (cost < 0 || cost >= OCS_NEVER)
		return OCS_NEVER;
	note(w, spine);
	return cost;
}

/* The bound at these prices, @cost where it is not known. */
static __s64 assign(struct ocs_wire *w, __s64 cost)
{
	size_t ports = (size_t)w->s->shape.leaves * w->s->ocs->oxcs, at;
	__s64 sum = 0, more;
	__u32 n;

	w->clash = OCS_NO_PORT;
	for (at = 0; at < ports; at++) {
		w->port[at] = w->pin[at] == OCS_OPEN ? OCS_FREE : w->pin[at];
		w->hits[at] = 0;
		if (w->pin[at] != OCS_OPEN)
			continue;
		if (is_inner(w, at))
			sum -= over(w->price[at], SCALE);
		else
			sum -= w->price[at] - least_price(w, at);
	}
	for (n = 0; n < w->nr; n++) {
		more = assign_spine(w, w->spine[n]);
		if (more >= OCS_NEVER)
			return OCS_NEVER;
		if (more < 0) {
			w->clash = 0;
			return cost;
		}
		sum += more;
	}
	return cost + (sum > 0 ? (sum + SCALE - 1) / SCALE : 0);
}

static void change_prices(struct ocs_wire *w, int by)
{
	size_t ports = (size_t)w->s->shape.leaves * w->s->ocs->oxcs, at;

	for (at = 0; at < ports; at++) {
		int least = least_price(w, at), price = w->price[at];
		bool stays = is_inner(w, at) && price <= SCALE;
		int want = w->hits[at] - !stays;

		price += want > 0 ? by : want < 0 ? -by : 0;
		w->price[at] = price < least ? least :
			       price > MOST ? MOST : price;
	}
}

__s64 ocs_bound(struct ocs_wire *w, __s64 cost, __u32 rounds)
{
	__s64 best = cost, least;
	__u32 i;

	for (i = 0; i < rounds; i++) {
		if (!ocs_step(w->s, w->s->shape.leaves * w->s->ocs->oxcs))
			return OCS_NEVER;
		least = assign(w, cost);
		if (least > best)
			best = least;
		if (best >= w->s->best || best >= OCS_NEVER)
			break;
		change_prices(w, i < 4 ? SCALE / 2 : i < 12 ? SCALE / 4 :
				 SCALE / 8);
	}
	return best;
}
