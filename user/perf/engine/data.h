/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input and expected output. An element of a rank is the product of a weight of the rank
 * and a value of the index, so the sum over ranks is known without adding, and a sum that
 * lacks a rank, or has one twice, differs.
 *
 * int32: any values; sums wrap around. float32: whole numbers small enough that every sum
 * is exact in any order, so the result is compared bit by bit.
 */
#ifndef ROCESTEER_PERF_DATA_H
#define ROCESTEER_PERF_DATA_H

#include "layout.h"

enum data_type {
	DATA_INT32,
	DATA_FLOAT32,
};

/* Names of types, ended by NULL. */
extern const char * const data_types[];

/* Add @elements of @from to those of @to. */
void data_add(enum data_type type, void *to, const void *from, __u64 elements);

/* Fill the input of a rank; all other elements get wrong values. */
void data_fill(const struct layout *layout, enum data_type type, __u32 rank, void *window);

/* Number of wrong elements of the result. */
__u64 data_check(const struct layout *layout, enum data_type type, __u32 rank, const void *window);

#endif /* ROCESTEER_PERF_DATA_H */
