/* SPDX-License-Identifier: GPL-2.0 */
/* What the search for leaves and spines and that for circuits have in common. */
#ifndef ROCESTEER_LIB_OCS_PRIV_H
#define ROCESTEER_LIB_OCS_PRIV_H

#include <stdint.h>

#include "ocs.h"
#include "slice_priv.h"

#define OCS_NONE	UINT32_MAX	/* no place is known */

/**
 * struct ocs_search - a search for a place of one shape
 * @fabric: for its servers
 * @ocs: circuits
 * @shape: of the place
 * @steps: left
 * @best: circuits that the best place known takes down, OCS_NONE at first
 * @best_leaf: its leaves
 * @best_spine: its circuits to each spine, by leaf
 * @best_port: by its leaves, then OXC: the spine to join the port to, or
 *	OCS_DARK: not needed
 * @leaf: the leaves that are tried
 * @times: their circuits to each spine
 * @seed: of what is tried at random
 * @open: it is not known whether some circuits are better
 * @proven: no place takes down fewer
 */
struct ocs_search {
	const struct slice_fabric *fabric;
	const struct ocs *ocs;
	struct slice_shape shape;
	__u64 *steps;
	__u32 best;
	__u32 *best_leaf;
	__u32 *best_spine;
	__u16 *best_port;
	__u32 *leaf;
	__u32 *times;
	__u64 seed;
	bool open;
	bool proven;
};

/* Count steps. Return: false when there are not as many left. */
static inline bool ocs_step(struct ocs_search *s, __u64 n)
{
	if (*s->steps <= n) {
		*s->steps = 0;
		return false;
	}
	*s->steps -= n;
	return true;
}

/* Find the best place of a shape. Return: 0 or -ENOMEM; @s->best says it. */
int ocs_search_place(struct ocs_search *s);

/* A number at random; equal searches get equal numbers. */
static inline __u32 ocs_random(struct ocs_search *s)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return s->seed >> 33;
}

/*
 * Find circuits for @s->leaf and @s->times, better than the best known; @all: or
 * prove that there are none.
 */
struct ocs_wire;
struct ocs_wire *ocs_wire_new(struct ocs_search *s);
void ocs_wire_free(struct ocs_wire *w);
void ocs_wire_solve(struct ocs_wire *w, bool all);
/* Likewise, from what the best place has for the same leaves, and briefly. */
void ocs_wire_retry(struct ocs_wire *w);

#endif /* ROCESTEER_LIB_OCS_PRIV_H */
