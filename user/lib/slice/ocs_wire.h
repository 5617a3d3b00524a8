/* SPDX-License-Identifier: GPL-2.0 */
/* Circuits for given leaves and spines: what their search and its bound share. */
#ifndef ROCESTEER_LIB_OCS_WIRE_H
#define ROCESTEER_LIB_OCS_WIRE_H

#include "ocs_match.h"
#include "ocs_priv.h"

/* Of a leaf's port: a spine, or what follows. */
#define OCS_FREE	((__u16)-1)	/* not used */
#define OCS_OPEN	((__u16)-2)	/* not decided */

#define OCS_SIDE	1024u	/* most rows and columns: SLICE_MAX_UPLINKS */
#define OCS_NO_PORT	SIZE_MAX

/* Of a slot, for one circuit: its leaf of the search, or their number. */
struct ocs_column {
	__u32 oxc;
	__u32 leaf;
	int cost;
};

/**
 * struct ocs_wire - the search; a slot is what a spine has at an OXC
 * @s: what is searched for
 * @match: of circuits that lack with ports, or with parts of slots
 * @unit: by row of @match: the spine, or the leaf of the search
 * @col: by column of @match, where these are parts of slots
 * @cost: lines of @match
 * @spine: spines that are used
 * @nr: number of @spine
 * @slots: number of slots
 * @room: by slot: ports that are not fixed
 * @idle: likewise: circuits that are not fixed
 * @out: likewise: those of leaves that are not of the search
 * @used: likewise: circuits for the job
 * @stay: likewise: others, of leaves of the search
 * @own: by leaf of the search, then OXC: idle circuit, or OCS_DARK
 * @pin: likewise: what is decided
 * @port: likewise: what is tried, nothing open
 * @price: likewise: see ocs_bound.c
 * @hits: likewise: spines that want the port in the bound; see ocs_bound.c
 * @clash: a port that two spines want in the bound, or OCS_NO_PORT
 * @need: by leaf of the search, then spine: circuits that are not pinned
 */
struct ocs_wire {
	struct ocs_search *s;
	struct ocs_match match;
	__u32 *unit;
	struct ocs_column *col;
	int *cost;
	__u32 *spine;
	__u32 nr;
	size_t slots;
	__u16 *room;
	__u16 *idle;
	__u16 *out;
	__u16 *used;
	__u16 *stay;
	__u16 *own;
	__u16 *pin;
	__u16 *port;
	int *price;
	int *hits;
	size_t clash;
	__u16 *need;
};

static inline size_t ocs_slot(const struct ocs_wire *w, __u32 spine, __u32 oxc)
{
	return (size_t)spine * w->s->ocs->oxcs + oxc;
}

static inline __u32 ocs_need(const struct ocs_wire *w, __u32 i, __u32 spine)
{
	return w->need[(size_t)i * w->s->ocs->spines + spine];
}

/* One row for each circuit that lacks, with the costs of a line. */
static inline void ocs_add_rows(struct ocs_wire *w, __u32 lack, __u32 unit,
				__u32 line)
{
	struct ocs_match *m = &w->match;

	while (lack--) {
		w->unit[m->rows] = unit;
		m->line[m->rows++] = w->cost + (size_t)line * m->cols;
	}
}

/* Ports begin with prices that take nothing for what is there. */
void ocs_bound_begin(struct ocs_wire *w);

/*
 * ocs_bound() - what circuits take down at least
 * @cost: what those that are pinned do; they are in @w->used and @w->stay
 * @rounds: at most, to find better prices
 *
 * @w->port, @w->hits and @w->clash are set to what the last round found.
 *
 * Return: the bound; at least OCS_NEVER where there are no circuits, or no steps
 * are left.
 */
__s64 ocs_bound(struct ocs_wire *w, __s64 cost, __u32 rounds);

#endif /* ROCESTEER_LIB_OCS_WIRE_H */
