/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ranks contribute, and what must come out. An element of a rank is the
 * product of a weight of the rank and a value of the index: a sum over ranks
 * is known without adding, and one that lacks a rank, or has one twice, shows.
 *
 * int32	any values; sums wrap around
 * float32	whole numbers small enough that every sum is exact, in whichever
 *		order it is made: the result is compared bit by bit
 */
#ifndef ROCESTEER_PERF_DATA_H
#define ROCESTEER_PERF_DATA_H

#include "layout.h"

enum data_type {
	DATA_INT32,
	DATA_FLOAT32,
};

/* Their names, ended by NULL. */
extern const char * const data_types[];

/* Add @elements of @from to those of @to. */
void data_add(enum data_type type, void *to, const void *from,
	      __u64 elements);

/* What a rank has before the collective; all else is made wrong. */
void data_fill(const struct layout *layout, enum data_type type, __u32 rank,
	       void *window);

/* Elements of the result that are wrong. */
__u64 data_check(const struct layout *layout, enum data_type type, __u32 rank,
		 const void *window);

#endif /* ROCESTEER_PERF_DATA_H */
