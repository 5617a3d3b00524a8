// SPDX-License-Identifier: GPL-2.0
/* Choose lanes over leaves, and over their links. */
#include "slice_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STARTS	8	/* leaves to begin with */

int slice_lanes_init(struct slice_lanes *l, const struct slice_fabric *fabric, __u32 gpus)
{
	*l = (struct slice_lanes) {
		.gpus = gpus,
		.leaf = calloc(fabric->leaves, sizeof(*l->leaf)),
		.on = calloc(fabric->leaves, sizeof(*l->on)),
		.links = calloc(fabric->leaves, sizeof(*l->links)),
	};
	return l->leaf && l->on && l->links ? 0 : -ENOMEM;
}

void slice_lanes_free(struct slice_lanes *l)
{
	free(l->leaf);
	free(l->on);
	free(l->links);
}

__u32 slice_lane_numbers(__u32 gpus, __u32 each, __u32 most, __u32 *number)
{
	__u32 n = 0, lanes;

	if (gpus % each)
		return 0;
	for (lanes = most < gpus ? most : gpus; lanes; lanes--)
		if (!(gpus % lanes) && !(lanes % each))
			number[n++] = lanes;
	return n;
}

void slice_lanes_count(struct slice_lanes *l)
{
	__u32 all = 0, i;

	for (i = 0; i < l->nr; i++)
		all += slice_divide_up(l->on[i], l->lanes);
	l->sum = 0;
	l->most = 0;
	for (i = 0; i < l->nr; i++) {
		__u32 own = slice_divide_up(l->on[i], l->lanes);

		/* All flows of a lane that leave one leaf enter the others. */
		l->links[i] = own < all - own ? own : all - own;
		l->sum += l->links[i];
		l->most = l->links[i] > l->most ? l->links[i] : l->most;
	}
}

static __u32 count_common(const __u64 *a, const __u64 *b, __u32 words)
{
	__u32 n = 0, w;

	for (w = 0; w < words; w++)
		n += __builtin_popcountll(a[w] & b[w]);
	return n;
}

static __u32 least(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

/* Is a leaf a better next one, when a number of servers is missing? */
static bool is_better(const struct slice_leaf *a, const struct slice_leaf *b, __u32 lack)
{
	__u32 gives = least(a->servers, lack), other = least(b->servers, lack);

	if (gives != other)
		return gives > other;
	if (a->uplinks != b->uplinks)
		return a->uplinks < b->uplinks;
	return a->servers < b->servers;
}

/* The best leaf that has lanes in common with the chosen leaves, or -1. */
static int next_leaf(const struct slice_lanes *l, const struct slice_leaf *leaf,
		     __u32 nr, const bool *taken, const __u64 *common, __u32 words,
		     __u32 lack)
{
	int best = -1;
	__u32 i;

	for (i = 0; i < nr; i++) {
		if (taken[i] || !leaf[i].servers ||
		    (best >= 0 && !is_better(&leaf[i], &leaf[best], lack)))
			continue;
		if (!words || count_common(common, leaf[i].spines, words) >= l->lanes)
			best = i;
	}
	return best;
}

int slice_first_leaf(const struct slice_leaf *leaf, __u32 nr, __u32 need)
{
	__u32 i, best = 0;

	for (i = 1; i < nr; i++)
		if (is_better(&leaf[i], &leaf[best], need))
			best = i;
	return nr && leaf[best].servers ? (int)best : -1;
}

static void sort_leaves(struct slice_lanes *l)
{
	__u32 i, j;

	for (i = 1; i < l->nr; i++) {
		__u32 leaf = l->leaf[i], on = l->on[i];

		for (j = i; j && l->leaf[j - 1] > leaf; j--) {
			l->leaf[j] = l->leaf[j - 1];
			l->on[j] = l->on[j - 1];
		}
		l->leaf[j] = leaf;
		l->on[j] = on;
	}
}

bool slice_lanes_choose(struct slice_lanes *l, const struct slice_fabric *fabric,
			const struct slice_leaf *leaf, __u32 nr, __u32 first,
			__u32 words)
{
	__u32 lack = l->gpus / fabric->gpus_per_server, w;
	__u64 common[SLICE_MAX_UPLINKS / 64];
	bool taken[SLICE_MAX_LEAVES] = {};
	int next = first;

	memset(common, 0xff, sizeof(common));
	l->nr = 0;
	for (; next >= 0; next = next_leaf(l, leaf, nr, taken, common, words, lack)) {
		__u32 servers = least(leaf[next].servers, lack);

		taken[next] = true;
		for (w = 0; w < words; w++)
			common[w] &= leaf[next].spines[w];
		l->leaf[l->nr] = leaf[next].number;
		l->on[l->nr++] = servers * fabric->gpus_per_server;
		lack -= servers;
		if (lack)
			continue;
		sort_leaves(l);
		slice_lanes_count(l);
		return true;
	}
	return false;
}

/* Links of a pair that one job may have. */
static __u32 links_of(const struct slice_fabric *fabric, __u32 leaf, __u32 spine)
{
	return least(fabric->free_links[(size_t)leaf * fabric->spines + spine], fabric->parallel);
}

/*
 * Lanes that a leaf can have by each spine with a number of links in each, as consecutive
 * bits: common bits are common lanes.
 */
static __u32 make_bits(const struct slice_fabric *fabric, __u32 leaf, __u32 links, __u64 *bits)
{
	__u32 each = least(fabric->links_per_pair, fabric->parallel), n = 0;
	__u32 spine, i;

	memset(bits, 0, SLICE_MAX_UPLINKS / 8);
	for (spine = 0; spine < fabric->spines; spine++) {
		__u32 lanes = links_of(fabric, leaf, spine) / links;

		for (i = spine * each; i < spine * each + lanes; i++)
			bits[i / 64] |= 1ULL << i % 64;
		n += lanes;
	}
	return n;
}

/* The servers and lanes of a leaf: fewer servers need fewer links in each lane. */
static void look_at(const struct slice_fabric *fabric, __u32 lanes,
		    struct slice_leaf *leaf, __u64 *bits)
{
	__u32 most = least(fabric->links_per_pair, fabric->parallel);
	__u32 each = fabric->gpus_per_server, spine;

	leaf->uplinks = 0;
	for (spine = 0; spine < fabric->spines; spine++)
		leaf->uplinks += links_of(fabric, leaf->number, spine);
	leaf->spines = bits;
	leaf->servers = least(slice_whole_servers(fabric, leaf->number), most * lanes / each);
	while (leaf->servers) {
		__u32 links = slice_divide_up(leaf->servers * each, lanes);

		if (lanes * links <= leaf->uplinks &&
		    make_bits(fabric, leaf->number, links, bits) >= lanes)
			return;
		leaf->servers = (links - 1) * lanes / each;
	}
}

static int compare(const void *a, const void *b)
{
	const struct slice_leaf *left = a, *right = b;

	if (left->servers != right->servers)
		return left->servers > right->servers ? -1 : 1;
	if (left->uplinks != right->uplinks)
		return left->uplinks < right->uplinks ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

/**
 * struct search - places over leaves
 * @fabric: where
 * @l: lanes that are tried
 * @best: those with the fewest leaves, then links; no leaves: none is known
 * @leaf: what each leaf could give
 * @nr: number of @leaf
 * @bits: for @leaf
 * @words: of the bits of a leaf
 */
struct search {
	const struct slice_fabric *fabric;
	struct slice_lanes l;
	struct slice_lanes best;
	struct slice_leaf *leaf;
	__u32 nr;
	__u64 *bits;
	__u32 words;
};

static __u64 count_links(const struct slice_lanes *l)
{
	return (__u64)l->lanes * l->sum;
}

/* Start with a leaf. Return: true if there is a place. */
static bool try_leaf(struct search *s, __u32 first)
{
	struct slice_lanes *best = &s->best, was;

	if (!slice_lanes_choose(&s->l, s->fabric, s->leaf, s->nr, first, s->words) ||
	    !slice_has_links(s->fabric, &s->l))
		return false;
	if (!best->nr || s->l.nr < best->nr ||
	    (s->l.nr == best->nr && count_links(&s->l) < count_links(best))) {
		was = *best;
		*best = s->l;
		s->l = was;
		s->l.lanes = best->lanes;
	}
	return true;
}

/*
 * A leaf with more GPUs than all other leaves of the job needs only as many links as those:
 * it may have fewer uplinks than its servers would need.
 */
static bool try_big(struct search *s, __u32 first)
{
	struct slice_leaf *leaf = &s->leaf[first], was = *leaf;
	__u64 bits[SLICE_MAX_UPLINKS / 64];
	bool found;

	leaf->servers = slice_whole_servers(s->fabric, leaf->number);
	leaf->spines = bits;
	make_bits(s->fabric, leaf->number, 1, bits);
	found = leaf->servers > was.servers && try_leaf(s, first);
	*leaf = was;
	return found;
}

/* Do the leaves with the most servers suffice, if at most as many as in the best place? */
static bool may_be_better(const struct search *s)
{
	__u32 lack = s->l.gpus / s->fabric->gpus_per_server, i;

	for (i = 0; i < s->nr && lack && !(s->best.nr && i == s->best.nr); i++)
		lack -= least(s->leaf[i].servers, lack);
	return !lack;
}

static void try_lanes(struct search *s, __u32 lanes)
{
	const struct slice_fabric *fabric = s->fabric;
	__u32 starts, i;

	slice_progress(fabric);
	s->l.lanes = lanes;
	s->nr = 0;
	for (i = 0; i < fabric->leaves; i++) {
		s->leaf[s->nr].number = i;
		look_at(fabric, lanes, &s->leaf[s->nr],
			s->bits + (size_t)i * (SLICE_MAX_UPLINKS / 64));
		s->nr += !!s->leaf[s->nr].servers;
	}
	qsort(s->leaf, s->nr, sizeof(*s->leaf), compare);
	starts = s->nr < STARTS ? s->nr : STARTS;
	for (i = may_be_better(s) ? 0 : starts; i < starts && !try_leaf(s, i); i++)
		;
	for (i = 0; i < starts && !try_big(s, i); i++)
		;
}

int slice_place_across(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	__u32 each = least(fabric->links_per_pair, fabric->parallel);
	struct search s = {
		.fabric = fabric, .words = (fabric->spines * each + 63) / 64,
		.leaf = calloc(fabric->leaves, sizeof(*s.leaf)),
		.bits = calloc(fabric->leaves, SLICE_MAX_UPLINKS / 8),
	};
	__u32 number[SLICE_MAX_NUMBERS], i, n;
	int ret = -ENOMEM;

	if (!slice_lanes_init(&s.l, fabric, gpus) &&
	    !slice_lanes_init(&s.best, fabric, gpus) && s.leaf && s.bits)
		ret = 0;
	n = ret ? 0 : slice_lane_numbers(gpus, fabric->gpus_per_server,
					 fabric->spines * each, number);
	for (i = 0; i < n; i++)
		try_lanes(&s, number[i]);
	if (s.best.nr)
		ret = slice_take_leaves(slice, fabric, &s.best) ?:
		      slice_take_links(slice, fabric, &s.best);
	slice_lanes_free(&s.l);
	slice_lanes_free(&s.best);
	free(s.leaf);
	free(s.bits);
	return ret;
}

int slice_take_leaves(struct slice *slice, const struct slice_fabric *fabric,
		      const struct slice_lanes *l)
{
	__u32 servers = l->gpus / fabric->gpus_per_server, i;

	if (slice_make_room(slice, l->nr, l->lanes, servers))
		return -ENOMEM;
	slice->stage = SLICE_VCLOS;
	for (i = 0; i < l->nr; i++) {
		slice->leaves[i] = l->leaf[i];
		slice->lane_links[i] = l->links[i];
		slice_take_servers(slice, fabric, l->leaf[i], l->on[i]);
	}
	slice->nr_leaves = l->nr;
	return 0;
}

/* Lanes that a spine can have. */
static __u32 lanes_by(const struct slice_fabric *fabric, const struct slice_lanes *l, __u32 spine)
{
	__u32 lanes = l->lanes, i;

	for (i = 0; i < l->nr && lanes; i++)
		lanes = least(lanes, links_of(fabric, l->leaf[i], spine) / l->links[i]);
	return lanes;
}

bool slice_has_links(const struct slice_fabric *fabric, const struct slice_lanes *l)
{
	__u32 lanes = 0, spine;

	for (spine = 0; spine < fabric->spines; spine++)
		lanes += lanes_by(fabric, l, spine);
	return lanes >= l->lanes;
}

bool slice_take_links(struct slice *slice, const struct slice_fabric *fabric,
		      const struct slice_lanes *l)
{
	__u32 lanes[SLICE_MAX_SPINES], take[SLICE_MAX_SPINES] = {};
	__u32 need = l->lanes, spine;

	for (spine = 0; spine < fabric->spines; spine++)
		lanes[spine] = lanes_by(fabric, l, spine);
	while (need) {
		__u32 best = 0;

		/* The fewest lanes that are enough, or else the most. */
		for (spine = 1; spine < fabric->spines; spine++)
			if (lanes[best] < need ? lanes[spine] > lanes[best] :
			    lanes[spine] >= need && lanes[spine] < lanes[best])
				best = spine;
		if (!lanes[best])
			return false;
		take[best] = least(lanes[best], need);
		need -= take[best];
		lanes[best] = 0;
	}
	for (spine = 0; spine < fabric->spines; spine++)
		while (take[spine]--)
			slice->spines[slice->nr_spines++] = spine;
	slice->objective = (__u64)l->lanes * l->sum;
	return true;
}
