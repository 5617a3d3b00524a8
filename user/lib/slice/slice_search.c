// SPDX-License-Identifier: GPL-2.0
/*
 * Branch and bound over pairs (X, T): X rows to take, T bits that all of X
 * have, at least "common" of them; the weight of X is to be the least. A node
 * holds a set of rows and a set of bits, and stands for the pairs with X among
 * its rows and T among its bits; the root has all.
 *
 * Why the result is exact. A row with fewer than "common" of the node's bits is
 * in no X: it goes. A bit is in no T of a better pair when the lightest rows
 * that have it are too few, or weigh as much as the best pair known: it goes.
 * Both are repeated until nothing changes. What is left weighs at least as much
 * as its lightest rows: the node ends when that is no improvement, and also when
 * these rows have enough bits in common, as they are then the best of the node.
 * Otherwise each pair falls into one of two nodes, both of them smaller:
 *
 * by a row, one of the lightest that lacks a bit: either it has all of T, then T
 * is among the node's bits that it has; or it does not, then nor does any row
 * whose bits in this node are among its own, and these rows are not in X;
 *
 * by a bit that one of the lightest lacks: either it is in T, then X is among
 * the rows that have it; or it is not, then nor is any bit all of whose rows in
 * this node have it too, for X could take that bit as well.
 *
 * The last step takes T for all that X has in common, which is no restriction.
 *
 * The problem is NP-hard. Light rows have few bits: to take one leaves few for
 * the others, to leave it out raises the bound, so that rows are good to branch
 * on where few rows have to agree on many bits, and bits where many rows have to
 * agree on few. Where that changes was found by trial. Fabrics filled by jobs
 * take a few nodes of about a microsecond. It is slow where rows are many and
 * random, each with most of the bits: millions of nodes for 256 rows of 32 bits
 * of which four fifths are set.
 */
#include "slice_search.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE	UINT64_MAX

struct node {
	__u64 *bits;
	__u64 *rows;
};

struct search {
	const struct slice_rows *in;
	__u32 take;
	__u32 common;
	__u32 row_words;	/* of a set of rows */
	__u64 *column;		/* by bit: the set of rows that have it */
	struct node *node;	/* by depth */
	__u64 *shared;		/* bits that the lightest rows have in common */
	__u64 least;		/* weight of these */
	__u64 best;		/* least weight known, NONE at first */
	__u64 *best_bits;
};

static void bit_set(__u64 *set, __u32 bit)
{
	set[bit / 64] |= 1ULL << bit % 64;
}

static void bit_clear(__u64 *set, __u32 bit)
{
	set[bit / 64] &= ~(1ULL << bit % 64);
}

static bool bit_test(const __u64 *set, __u32 bit)
{
	return set[bit / 64] >> bit % 64 & 1;
}

/* The first bit of a set from @bit on, @words * 64 when there is none. */
static __u32 bit_next(const __u64 *set, __u32 words, __u32 bit)
{
	__u32 w = bit / 64;
	__u64 rest;

	if (w >= words)
		return words * 64;
	rest = set[w] >> bit % 64;
	if (rest)
		return bit + __builtin_ctzll(rest);
	while (++w < words)
		if (set[w])
			return w * 64 + __builtin_ctzll(set[w]);
	return words * 64;
}

static const __u64 *row_mask(const struct search *s, __u32 row)
{
	return s->in->mask + (size_t)row * s->in->words;
}

static const __u64 *bit_column(const struct search *s, __u32 bit)
{
	return s->column + (size_t)bit * s->row_words;
}

static void set_and(__u64 *to, const __u64 *a, const __u64 *b, __u32 words)
{
	__u32 w;

	for (w = 0; w < words; w++)
		to[w] = a[w] & b[w];
}

/* Whether all that @a has of @within is also in @b. */
static bool is_part(const __u64 *a, const __u64 *within, const __u64 *b,
		    __u32 words)
{
	__u64 more = 0;
	__u32 w;

	for (w = 0; w < words; w++)
		more |= a[w] & within[w] & ~b[w];
	return !more;
}

/* What the lightest rows to take weigh; their shared bits are noted. */
static __u64 lightest(struct search *s, const __u64 *rows)
{
	__u32 left = s->take, row;
	__u64 sum = 0;

	memset(s->shared, 0xff, s->in->words * sizeof(*s->shared));
	for (row = bit_next(rows, s->row_words, 0); row < s->row_words * 64;
	     row = bit_next(rows, s->row_words, row + 1)) {
		__u32 n = s->in->count[row];

		if (n > left)
			n = left;
		sum += (__u64)n * s->in->weight[row];
		set_and(s->shared, s->shared, row_mask(s, row), s->in->words);
		left -= n;
		if (!left)
			return sum;
	}
	return NONE;
}

/* What the lightest of those that have a bit weigh. */
static __u64 lightest_with(const struct search *s, const __u64 *rows,
			   __u32 bit)
{
	const __u64 *column = bit_column(s, bit);
	__u32 left = s->take, w;
	__u64 sum = 0;

	for (w = 0; w < s->row_words; w++) {
		__u64 rest = rows[w] & column[w];

		for (; rest; rest &= rest - 1) {
			__u32 row = w * 64 + __builtin_ctzll(rest);
			__u32 n = s->in->count[row];

			if (n >= left)
				return sum + (__u64)left * s->in->weight[row];
			sum += (__u64)n * s->in->weight[row];
			left -= n;
		}
	}
	return NONE;
}

static void drop_rows(struct search *s, struct node *node)
{
	__u32 row;

	for (row = bit_next(node->rows, s->row_words, 0);
	     row < s->row_words * 64;
	     row = bit_next(node->rows, s->row_words, row + 1))
		if (slice_common(row_mask(s, row), node->bits, s->in->words) <
		    s->common)
			bit_clear(node->rows, row);
}

/* Return: true when a bit went. */
static bool drop_bits(struct search *s, struct node *node)
{
	__u32 words = s->in->words, bit;
	bool dropped = false;

	for (bit = bit_next(node->bits, words, 0); bit < words * 64;
	     bit = bit_next(node->bits, words, bit + 1)) {
		if (bit_test(s->shared, bit) ||
		    lightest_with(s, node->rows, bit) < s->best)
			continue;
		bit_clear(node->bits, bit);
		dropped = true;
	}
	return dropped;
}

/* Return: false when the node has nothing better than what is known. */
static bool tighten(struct search *s, struct node *node)
{
	do {
		drop_rows(s, node);
		s->least = lightest(s, node->rows);
		if (s->least >= s->best)
			return false;
	} while (drop_bits(s, node));
	return true;
}

/* The first row that lacks a bit of the node: it is one of the lightest. */
static const __u64 *pick_row(const struct search *s, const struct node *node)
{
	__u32 row = bit_next(node->rows, s->row_words, 0);

	while (slice_covers(row_mask(s, row), node->bits, s->in->words))
		row = bit_next(node->rows, s->row_words, row + 1);
	return row_mask(s, row);
}

/* Make two of @node: the pairs with all of T in a row go to @in. */
static void branch_row(const struct search *s, struct node *node,
		       struct node *in)
{
	const __u64 *mask = pick_row(s, node);
	__u32 words = s->in->words, row;

	set_and(in->bits, node->bits, mask, words);
	memcpy(in->rows, node->rows, s->row_words * sizeof(*in->rows));
	for (row = bit_next(node->rows, s->row_words, 0);
	     row < s->row_words * 64;
	     row = bit_next(node->rows, s->row_words, row + 1))
		if (is_part(row_mask(s, row), node->bits, mask, words))
			bit_clear(node->rows, row);
}

/* The rarest bit that the lightest do not share. */
static __u32 pick_bit(const struct search *s, const struct node *node)
{
	__u32 words = s->in->words, least = UINT32_MAX, best = 0, bit;

	for (bit = bit_next(node->bits, words, 0); bit < words * 64;
	     bit = bit_next(node->bits, words, bit + 1)) {
		__u32 n;

		if (bit_test(s->shared, bit))
			continue;
		n = slice_common(bit_column(s, bit), node->rows, s->row_words);
		if (n < least) {
			least = n;
			best = bit;
		}
	}
	return best;
}

/* Make two of @node: the pairs with a bit in T go to @in. */
static void branch_bit(const struct search *s, struct node *node,
		       struct node *in)
{
	const __u64 *column = bit_column(s, pick_bit(s, node));
	__u32 words = s->in->words, bit;

	set_and(in->rows, node->rows, column, s->row_words);
	memcpy(in->bits, node->bits, words * sizeof(*in->bits));
	for (bit = bit_next(node->bits, words, 0); bit < words * 64;
	     bit = bit_next(node->bits, words, bit + 1))
		if (is_part(bit_column(s, bit), node->rows, column,
			    s->row_words))
			bit_clear(node->bits, bit);
}

static void solve(struct search *s, struct node *node)
{
	while (tighten(s, node)) {
		if (slice_common(s->shared, s->shared, s->in->words) >=
		    s->common) {
			s->best = s->least;
			memcpy(s->best_bits, s->shared,
			       s->in->words * sizeof(*s->shared));
			return;
		}
		if (3 * s->take < 4 * s->common)
			branch_row(s, node, node + 1);
		else
			branch_bit(s, node, node + 1);
		solve(s, node + 1);
	}
}

/* All that a search needs, in one piece. Return: it, or NULL. */
static void *make_room(struct search *s, __u32 bits)
{
	__u32 words = s->in->words, depth = bits + 1, d;
	size_t sets = (size_t)bits * s->row_words + words +
		      (size_t)depth * (words + s->row_words);
	void *room = calloc(1, sets * sizeof(__u64) +
			    depth * sizeof(struct node));
	__u64 *set = room;

	if (!room)
		return NULL;
	s->column = set;
	set += (size_t)bits * s->row_words;
	s->shared = set;
	set += words;
	s->node = (struct node *)(set + (size_t)depth *
				  (words + s->row_words));
	for (d = 0; d < depth; d++) {
		s->node[d].bits = set;
		s->node[d].rows = set + words;
		set += words + s->row_words;
	}
	return room;
}

int slice_search(const struct slice_rows *rows, __u32 take, __u32 common,
		 __u64 *bits)
{
	__u32 words = rows->words, row, bit;
	struct search s = {
		.in = rows,
		.take = take,
		.common = common,
		.row_words = (rows->nr + 63) / 64,
		.best = NONE,
		.best_bits = bits,
	};
	void *room;

	if (common > words * 64)
		return 0;
	room = make_room(&s, words * 64);
	if (!room)
		return -ENOMEM;
	for (row = 0; row < rows->nr; row++) {
		const __u64 *mask = row_mask(&s, row);

		bit_set(s.node->rows, row);
		for (bit = bit_next(mask, words, 0); bit < words * 64;
		     bit = bit_next(mask, words, bit + 1)) {
			bit_set(s.node->bits, bit);
			bit_set(s.column + (size_t)bit * s.row_words, row);
		}
	}
	solve(&s, s.node);
	free(room);
	return s.best != NONE;
}
