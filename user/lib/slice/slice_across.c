// SPDX-License-Identifier: GPL-2.0
/* Places over several leaves. */
#include "slice_priv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "slice_search.h"

/* A leaf as the search over leaves sees it. */
struct leaf {
	__u32 number;
	__u32 whole;	/* servers that are wholly free */
	__u32 uplinks;	/* that are free */
	const __u64 *mask;	/* of them */
	__u32 words;	/* of the mask */
};

/* The leaves that a job can be spread over, lightest first, alike together. */
struct leaves {
	struct leaf *leaf;
	__u32 nr;
	__u32 words;
	__u64 *masks;
};

unsigned int slice_shapes(const struct slice_fabric *fabric, __u32 gpus,
			  struct slice_shape *shapes)
{
	__u32 uplinks = fabric->spines * fabric->links_per_pair;
	unsigned int n = 0;
	__u32 leaves;

	for (leaves = 2; leaves <= fabric->leaves && leaves <= gpus; leaves++) {
		__u32 each = gpus / leaves;

		if (gpus % leaves || each % fabric->gpus_per_server ||
		    each > fabric->gpus_per_leaf || each > uplinks)
			continue;
		shapes[n++] = (struct slice_shape) { leaves, each };
	}
	return n;
}

static int compare_masks(const struct leaf *a, const struct leaf *b)
{
	__u32 w;

	for (w = 0; w < a->words; w++)
		if (a->mask[w] != b->mask[w])
			return a->mask[w] < b->mask[w] ? -1 : 1;
	return 0;
}

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *left = a, *right = b;

	if (left->uplinks != right->uplinks)
		return left->uplinks < right->uplinks ? -1 : 1;
	return compare_masks(left, right) ?:
	       (left->number < right->number ? -1 : 1);
}

/*
 * Each spine has @links_per_pair bits, of which the first are set, as many as
 * links are free: the bits that leaves have in common are then the links that
 * each of them has.
 */
static __u32 make_mask(const struct slice_fabric *fabric, __u32 leaf,
		       __u64 *mask)
{
	const __u8 *links = fabric->free_links + (size_t)leaf * fabric->spines;
	__u32 spine, bit = 0, n = 0, i;

	for (spine = 0; spine < fabric->spines; spine++) {
		for (i = 0; i < links[spine]; i++)
			mask[(bit + i) / 64] |= 1ULL << (bit + i) % 64;
		bit += fabric->links_per_pair;
		n += links[spine];
	}
	return n;
}

static int collect_leaves(const struct slice_fabric *fabric,
			  struct leaves *leaves)
{
	__u32 words = (fabric->spines * fabric->links_per_pair + 63) / 64;
	__u32 number;

	leaves->words = words;
	leaves->leaf = calloc(fabric->leaves, sizeof(*leaves->leaf));
	leaves->masks = calloc((size_t)fabric->leaves * words,
			       sizeof(*leaves->masks));
	if (!leaves->leaf || !leaves->masks)
		return -ENOMEM;
	for (number = 0; number < fabric->leaves; number++) {
		__u64 *mask = leaves->masks + (size_t)number * words;
		__u32 whole = slice_whole_servers(fabric, number);

		if (!whole)
			continue;
		leaves->leaf[leaves->nr++] = (struct leaf) {
			.number = number,
			.whole = whole,
			.uplinks = make_mask(fabric, number, mask),
			.mask = mask,
			.words = words,
		};
	}
	qsort(leaves->leaf, leaves->nr, sizeof(*leaves->leaf), compare_leaves);
	return 0;
}

static void free_leaves(struct leaves *leaves)
{
	free(leaves->leaf);
	free(leaves->masks);
}

/* Servers that the shape takes of each leaf. */
static bool fits(const struct slice_fabric *fabric,
		 const struct slice_shape *shape, const struct leaf *leaf)
{
	return leaf->whole >= shape->gpus / fabric->gpus_per_server &&
	       leaf->uplinks >= shape->gpus;
}

/* Leaves alike become one row. Return: leaves that the shape fits. */
static __u32 make_rows(const struct slice_fabric *fabric,
		       const struct leaves *leaves,
		       const struct slice_shape *shape, struct slice_rows *rows)
{
	const struct leaf *last = NULL;
	__u32 fit = 0, i;

	rows->nr = 0;
	for (i = 0; i < leaves->nr; i++) {
		const struct leaf *leaf = &leaves->leaf[i];

		if (!fits(fabric, shape, leaf))
			continue;
		fit++;
		if (last && !compare_masks(last, leaf)) {
			rows->count[rows->nr - 1]++;
			continue;
		}
		memcpy(rows->mask + (size_t)rows->nr * rows->words, leaf->mask,
		       rows->words * sizeof(*rows->mask));
		rows->weight[rows->nr] = leaf->uplinks;
		rows->count[rows->nr++] = 1;
		last = leaf;
	}
	return fit;
}

/* Make the slice of what the search found. */
static int take_leaves(const struct slice_fabric *fabric,
		       const struct leaves *leaves,
		       const struct slice_shape *shape, const __u64 *bits,
		       struct slice *slice)
{
	__u32 servers = shape->gpus / fabric->gpus_per_server, i;

	if (slice_make_room(slice, shape->leaves, shape->gpus,
			    shape->leaves * servers))
		return -ENOMEM;
	slice->stage = SLICE_VCLOS;
	for (i = 0; slice->nr_leaves < shape->leaves; i++) {
		const struct leaf *leaf = &leaves->leaf[i];

		if (!fits(fabric, shape, leaf) ||
		    !slice_covers(leaf->mask, bits, leaves->words))
			continue;
		slice->leaves[slice->nr_leaves++] = leaf->number;
	}
	slice_take_servers(slice, fabric, shape->gpus);
	return slice_take_links(slice, fabric, shape->gpus);
}

int slice_place_across(const struct slice_fabric *fabric, __u32 gpus,
		       struct slice *slice)
{
	struct slice_shape shapes[SLICE_MAX_SHAPES];
	unsigned int nr = slice_shapes(fabric, gpus, shapes), i;
	struct leaves leaves = {};
	struct slice_rows rows;
	__u64 *bits;
	int ret;

	if (!nr)
		return 0;
	ret = collect_leaves(fabric, &leaves);
	rows.words = leaves.words;
	rows.mask = calloc((size_t)leaves.nr + 1, rows.words * sizeof(*bits));
	rows.weight = calloc(leaves.nr + 1, sizeof(*rows.weight));
	rows.count = calloc(leaves.nr + 1, sizeof(*rows.count));
	bits = calloc(rows.words, sizeof(*bits));
	if (!rows.mask || !rows.weight || !rows.count || !bits)
		ret = -ENOMEM;
	for (i = 0; !ret && i < nr; i++) {
		if (make_rows(fabric, &leaves, &shapes[i], &rows) <
		    shapes[i].leaves)
			continue;
		ret = slice_search(&rows, shapes[i].leaves, shapes[i].gpus,
				   bits);
		if (ret == 1)
			ret = take_leaves(fabric, &leaves, &shapes[i], bits,
					  slice);
	}
	free(rows.mask);
	free(rows.weight);
	free(rows.count);
	free(bits);
	free_leaves(&leaves);
	return ret;
}

