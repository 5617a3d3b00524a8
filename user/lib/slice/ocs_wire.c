// SPDX-License-Identifier: GPL-2.0
#include "ocs_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH		20	/* circuits that make room one for the other */
#define STEPS		400	/* of the search for one circuit */
#define ALL_STEPS	40000	/* of all searches of a try */
#define TRIES		9	/* ways to choose spines */
#define TRAIL		65536u

int ocs_wire_init(struct ocs_wire *w, const struct ocs *ocs, __u32 parallel)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;
	size_t slots = (size_t)ocs->spines * ocs->oxcs;

	*w = (struct ocs_wire) {
		.ocs = ocs, .parallel = parallel,
		.port = calloc(ports, sizeof(*w->port)),
		.room = calloc(slots, sizeof(*w->room)),
		.left = calloc(ocs->spines, sizeof(*w->left)),
		.can = calloc(ocs->spines, sizeof(*w->can)),
		.lanes = calloc(ocs->spines, sizeof(*w->lanes)),
		.seen_port = calloc(ports, sizeof(*w->seen_port)),
		.seen_room = calloc(slots, sizeof(*w->seen_room)),
		.trail = calloc(TRAIL, sizeof(*w->trail)),
	};
	return w->port && w->room && w->left && w->can && w->lanes &&
	       w->seen_port && w->seen_room && w->trail ? 0 : -ENOMEM;
}

void ocs_wire_free(struct ocs_wire *w)
{
	free(w->port);
	free(w->room);
	free(w->left);
	free(w->can);
	free(w->lanes);
	free(w->seen_port);
	free(w->seen_room);
	free(w->trail);
}

static __u32 draw(struct ocs_wire *w)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return w->seed >> 33;
}

static __u16 *room_of(const struct ocs_wire *w, __u32 spine, __u32 oxc)
{
	return &w->room[(size_t)spine * w->ocs->oxcs + oxc];
}

static void set(struct ocs_wire *w, __u32 port, __u16 spine)
{
	__u32 oxc = port % w->ocs->oxcs;
	__u16 was = w->port[port];

	if (was < OCS_TAKEN)
		++*room_of(w, was, oxc);
	if (spine < OCS_TAKEN)
		--*room_of(w, spine, oxc);
	w->port[port] = spine;
}

static void change(struct ocs_wire *w, __u32 port, __u16 spine)
{
	w->trail[w->changes++] = (struct ocs_change) { port, w->port[port] };
	set(w, port, spine);
}

static void undo(struct ocs_wire *w, __u32 to)
{
	while (w->changes > to) {
		w->changes--;
		set(w, w->trail[w->changes].port, w->trail[w->changes].was);
	}
}

static bool put(struct ocs_wire *w, __u32 leaf, __u32 spine, int depth);

/* Use the free OXC at which the spine has most ports left, a present circuit first. */
static bool put_free(struct ocs_wire *w, __u32 leaf, __u32 spine)
{
	__u32 most = 0, best = 0, oxc;

	for (oxc = 0; oxc < w->ocs->oxcs; oxc++) {
		__u32 room = *room_of(w, spine, oxc);

		if (!room || w->port[ocs_port(w->ocs, leaf, oxc)] != OCS_FREE)
			continue;
		room = 2 * room +
		       (w->ocs->circuit[ocs_port(w->ocs, w->l->leaf[leaf], oxc)] == spine);
		if (room > most) {
			most = room;
			best = oxc;
		}
	}
	if (most)
		change(w, ocs_port(w->ocs, leaf, best), spine);
	return most;
}

/* Another circuit of the leaf moves to another OXC. */
static bool put_own(struct ocs_wire *w, __u32 leaf, __u32 spine, int depth)
{
	__u32 oxc;

	for (oxc = 0; oxc < w->ocs->oxcs; oxc++) {
		__u32 port = ocs_port(w->ocs, leaf, oxc), mark = w->changes;
		__u16 other = w->port[port];

		if (other >= OCS_TAKEN || other == spine || !*room_of(w, spine, oxc) ||
		    w->seen_port[port] == w->search)
			continue;
		w->seen_port[port] = w->search;
		change(w, port, spine);
		if (put(w, leaf, other, depth - 1) && w->port[port] == spine)
			return true;
		undo(w, mark);
	}
	return false;
}

/* A circuit of another leaf moves to another OXC, and frees the spine's port. */
static bool put_other(struct ocs_wire *w, __u32 leaf, __u32 spine, int depth)
{
	__u32 oxc, other;

	for (oxc = 0; oxc < w->ocs->oxcs; oxc++) {
		__u32 *seen = &w->seen_room[(size_t)spine * w->ocs->oxcs + oxc];
		__u32 port = ocs_port(w->ocs, leaf, oxc);

		if (w->port[port] != OCS_FREE || *seen == w->search)
			continue;
		*seen = w->search;
		for (other = 0; other < w->l->nr; other++) {
			__u32 from = ocs_port(w->ocs, other, oxc), mark = w->changes;

			if (w->port[from] != spine)
				continue;
			change(w, from, OCS_FREE);
			change(w, port, spine);
			if (put(w, other, spine, depth - 1))
				return true;
			undo(w, mark);
		}
	}
	return false;
}

/* Join a leaf to a spine once more; circuits of this job may move. */
static bool put(struct ocs_wire *w, __u32 leaf, __u32 spine, int depth)
{
	if (w->steps-- < 0 || w->changes > TRAIL - 4)
		return false;
	if (put_free(w, leaf, spine))
		return true;
	return depth && (put_own(w, leaf, spine, depth) || put_other(w, leaf, spine, depth));
}

/* Add a lane by a spine. */
static bool put_lane(struct ocs_wire *w, __u32 spine)
{
	__u32 leaf, link;
	bool fits = true;

	w->changes = 0;
	for (leaf = 0; leaf < w->l->nr; leaf++) {
		for (link = 0; fits && link < w->l->links[leaf]; link++) {
			w->search++;
			w->steps = STEPS;
			fits = put(w, leaf, spine, DEPTH);
			w->all_steps -= STEPS - w->steps;
		}
	}
	if (!fits)
		undo(w, 0);
	return fits;
}

/* Find the ports that other jobs leave. */
static void look(struct ocs_wire *w)
{
	const struct ocs *ocs = w->ocs;
	__u32 leaf, oxc, spine;
	size_t i;

	for (i = 0; i < (size_t)ocs->spines * ocs->oxcs; i++)
		w->room[i] = ocs->spine_ports;
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);

			if (ocs->fixed[port] && ocs->circuit[port] != OCS_DARK)
				--*room_of(w, ocs->circuit[port], oxc);
		}
	}
	for (leaf = 0; leaf < w->l->nr; leaf++)
		for (oxc = 0; oxc < ocs->oxcs; oxc++)
			w->port[ocs_port(ocs, leaf, oxc)] =
				ocs->fixed[ocs_port(ocs, w->l->leaf[leaf], oxc)] ?
				OCS_TAKEN : OCS_FREE;
	for (spine = 0; spine < ocs->spines; spine++) {
		w->left[spine] = 0;
		w->lanes[spine] = 0;
		for (oxc = 0; oxc < ocs->oxcs; oxc++)
			w->left[spine] += *room_of(w, spine, oxc);
	}
}

/* Lanes that a spine has ports for; 0 if a pair is shut. */
static __u32 count_lanes(const struct ocs_wire *w, __u32 spine)
{
	__u32 lanes = w->left[spine] / w->l->sum, i;

	if (lanes > w->parallel / w->l->most)
		lanes = w->parallel / w->l->most;
	for (i = 0; i < w->l->nr; i++)
		if (w->ocs->shut[ocs_pair(w->ocs, w->l->leaf[i], spine)])
			return 0;
	return lanes;
}

/*
 * The spine that can have most of the missing lanes, then the one with the fewest ports
 * left over. @try 1 and 2: a random one of equal spines; from 3 on: any. Or -1.
 */
static int best_spine(struct ocs_wire *w, __u32 lack, int try)
{
	__s64 key, most = -1;
	int best = -1;
	__u32 spine;

	for (spine = 0; spine < w->ocs->spines; spine++) {
		__u32 lanes = w->can[spine] < lack ? w->can[spine] : lack;

		if (!lanes)
			continue;
		key = (__s64)lanes << 32 | (0xfffff - (w->left[spine] - lanes * w->l->sum)) << 10;
		key |= try ? draw(w) & 1023 : 1023 - spine;
		key = try > 2 ? draw(w) : key;
		if (key > most) {
			most = key;
			best = spine;
		}
	}
	return best;
}

/* Return: true if the spines have the ports for the lanes. */
static bool begin(struct ocs_wire *w)
{
	__u32 all = 0, spine;

	look(w);
	w->all_steps = ALL_STEPS;
	for (spine = 0; spine < w->ocs->spines; spine++) {
		w->can[spine] = count_lanes(w, spine);
		all += w->can[spine];
	}
	return all >= w->l->lanes;
}

static bool find(struct ocs_wire *w, int try)
{
	__u32 lack = w->l->lanes;

	while (lack && w->all_steps > 0) {
		int best = best_spine(w, lack, try);

		if (best < 0)
			return false;
		for (; lack && w->can[best] && put_lane(w, best); w->can[best]--) {
			w->lanes[best]++;
			lack--;
		}
		w->can[best] = 0;
	}
	return !lack;
}

bool ocs_wire_find(struct ocs_wire *w, const struct slice_lanes *l)
{
	int try;

	w->l = l;
	w->seed = l->gpus;
	for (try = 0; try < TRIES && begin(w); try++)
		if (find(w, try))
			return true;
	return false;
}
