/* SPDX-License-Identifier: GPL-2.0 */
/* The search behind slice_place(): bitmaps whose intersection is large. */
#ifndef ROCESTEER_LIB_SLICE_SEARCH_H
#define ROCESTEER_LIB_SLICE_SEARCH_H

#include <stdbool.h>
#include <linux/types.h>

/**
 * struct slice_rows - bitmaps with weights
 * @nr: number of rows
 * @words: 64-bit words per bitmap
 * @mask: bitmaps, one row after the other, no two alike
 * @weight: of each row, ascending
 * @count: how often each row may be taken, at least 1
 */
struct slice_rows {
	__u32 nr;
	__u32 words;
	__u64 *mask;
	__u32 *weight;
	__u32 *count;
};

/**
 * slice_search() - take rows that have bits in common
 * @rows: to choose from
 * @take: number of rows to take, at least 1
 * @common: bits they must have in common, at least 1
 * @bits: set to bits such that the lightest @take rows that have them all are
 *	an answer of the least total weight: @rows->words words
 *
 * Return: 1 when there is an answer, 0 when there is none, -ENOMEM.
 */
int slice_search(const struct slice_rows *rows, __u32 take, __u32 common,
		 __u64 *bits);

/* Bits of a row that are also in @bits. */
static inline __u32 slice_common(const __u64 *row, const __u64 *bits,
				 __u32 words)
{
	__u32 n = 0, w;

	for (w = 0; w < words; w++)
		n += __builtin_popcountll(row[w] & bits[w]);
	return n;
}

/* Whether a row has all of @bits. */
static inline bool slice_covers(const __u64 *row, const __u64 *bits,
				__u32 words)
{
	__u64 missing = 0;
	__u32 w;

	for (w = 0; w < words; w++)
		missing |= bits[w] & ~row[w];
	return !missing;
}

#endif /* ROCESTEER_LIB_SLICE_SEARCH_H */
