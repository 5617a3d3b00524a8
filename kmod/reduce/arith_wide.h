/* SPDX-License-Identifier: GPL-2.0 */
/* Elements of 64 bits, for arith_body.h, which says where fp64_add() is from. */
#ifndef REDUCE_ARITH_WIDE_H
#define REDUCE_ARITH_WIDE_H

#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "arith.h"

#define WIDE_SIGN	0x8000000000000000ULL
#define WIDE_MAGNITUDE	0x7fffffffffffffffULL
#define WIDE_INFINITY	0x7ff0000000000000ULL
#define WIDE_NAN	0x7ff8000000000000ULL

/* Elements with intermediate results on the stack, 512 bytes */
#define WIDE_BLOCK	64

/* Numbers with sign and magnitude in the order of int64, and back. */
static __always_inline __s64 wide_order(__s64 x)
{
	return x ^ (x >> 63 & WIDE_MAGNITUDE);
}

static __always_inline bool wide_is_nan(__u64 x)
{
	return (x & WIDE_MAGNITUDE) > WIDE_INFINITY;
}

static __always_inline __s64 wide_load(enum rocesteer_reduce_type type,
				       enum rocesteer_reduce_op op, const void *from)
{
	__le64 word;
	__s64 x;

	memcpy(&word, from, sizeof(word));
	x = __le64_to_cpu(word);
	if (type == ROCESTEER_REDUCE_TYPE_INT64 || op == ROCESTEER_REDUCE_OP_SUM)
		return x;
	/* Before or behind all numbers; wide_order() maps both to a NaN. */
	if (wide_is_nan(x))
		return op == ROCESTEER_REDUCE_OP_MIN ? WIDE_SIGN : WIDE_MAGNITUDE;
	return wide_order(x);
}

static __always_inline __s64 wide_combine(enum rocesteer_reduce_type type,
					  enum rocesteer_reduce_op op, __s64 a, __s64 b)
{
	if (op == ROCESTEER_REDUCE_OP_MIN)
		return a < b ? a : b;
	if (op == ROCESTEER_REDUCE_OP_MAX)
		return a > b ? a : b;
	if (type == ROCESTEER_REDUCE_TYPE_INT64)
		return (__u64)a + (__u64)b;
	return fp64_add(a, b);
}

static __always_inline void wide_store(enum rocesteer_reduce_type type,
				       enum rocesteer_reduce_op op, void *to, __s64 x)
{
	__le64 word;

	if (type == ROCESTEER_REDUCE_TYPE_FP64) {
		if (op != ROCESTEER_REDUCE_OP_SUM)
			x = wide_order(x);
		if (wide_is_nan(x))
			x = WIDE_NAN;
	}
	word = __cpu_to_le64(x);
	memcpy(to, &word, sizeof(word));
}

static __always_inline void wide_loop(enum rocesteer_reduce_type type,
				      enum rocesteer_reduce_op op, void *sum,
				      const void *const *in, unsigned int ranks,
				      unsigned int bytes)
{
	__s64 block[WIDE_BLOCK], *x = block;	/* a pointer: no UBSAN bounds checks */
	unsigned int at, n, r, i;

	for (at = 0; at < bytes; at += n * 8) {
		n = (bytes - at) / 8 < WIDE_BLOCK ? (bytes - at) / 8 : WIDE_BLOCK;
		for (i = 0; i < n; i++)
			x[i] = wide_load(type, op, in[0] + at + i * 8);
		for (r = 1; r < ranks; r++)
			for (i = 0; i < n; i++)
				x[i] = wide_combine(type, op, x[i],
						    wide_load(type, op, in[r] + at + i * 8));
		for (i = 0; i < n; i++)
			wide_store(type, op, sum + at + i * 8, x[i]);
	}
}

static __always_inline void arith_wide(enum rocesteer_reduce_type type,
				       enum rocesteer_reduce_op op, void *sum,
				       const void *const *in, unsigned int ranks,
				       unsigned int bytes)
{
	switch (op) {
	case ROCESTEER_REDUCE_OP_SUM:
		return wide_loop(type, ROCESTEER_REDUCE_OP_SUM, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_OP_MIN:
		return wide_loop(type, ROCESTEER_REDUCE_OP_MIN, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_OP_MAX:
		return wide_loop(type, ROCESTEER_REDUCE_OP_MAX, sum, in, ranks, bytes);
	}
}

#endif /* REDUCE_ARITH_WIDE_H */
