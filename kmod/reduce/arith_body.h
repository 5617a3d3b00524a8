/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reduction of payloads, compiled twice: in arith.c with integers, in arith_fpu.c with the
 * FPU. Both define fp32_add() and fp64_add(), the IEEE 754 sum of two numbers, round to nearest
 * even, with any NaN for a NaN. All else is integer arithmetic, so both yield the same bits.
 *
 * Elements are held in 32 bits: 16-bit elements in the upper half, as fp32 for a sum, and
 * in the order of int32 for minimum and maximum. Loops have no branches and comparisons are
 * signed, so that compilers can vectorise them for SSE2. Elements of 64 bits have a loop of
 * their own, arith_wide.h.
 */
#ifndef REDUCE_ARITH_BODY_H
#define REDUCE_ARITH_BODY_H

#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "arith.h"
#include "arith_wide.h"

#define SIGN		0x80000000
#define MAGNITUDE	0x7fffffff
#define EXPONENT(e)	((e) << 23)	/* of fp32; adding it multiplies by 2^e */
#define ONE_HALF	EXPONENT(126)
#define FP16_MIN	EXPONENT(113)	/* the least normal fp16, 2^-14, as fp32 */

/* Elements with intermediate results on the stack, 512 bytes */
#define ARITH_BLOCK	128

void reduce_arith_fpu(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		      const void *const *in, unsigned int ranks, unsigned int bytes);

static __always_inline __s32 infinity(enum rocesteer_reduce_type type)
{
	return type == ROCESTEER_REDUCE_TYPE_FP16 ? 0x7c000000 : 0x7f800000;
}

static __always_inline __s32 quiet_nan(enum rocesteer_reduce_type type)
{
	return type == ROCESTEER_REDUCE_TYPE_FP16 ? 0x7e000000 : 0x7fc00000;
}

static __always_inline bool is_nan(enum rocesteer_reduce_type type, __s32 x)
{
	return (x & MAGNITUDE) > infinity(type);
}

/* Subnormal numbers: add a leading one, then subtract it. */
static __always_inline __s32 fp16_to_fp32(__s32 x)
{
	__s32 magnitude = (x & MAGNITUDE) >> 3;
	__s32 tiny = fp32_add(magnitude + FP16_MIN, FP16_MIN | SIGN);
	__s32 other = magnitude + (magnitude < EXPONENT(31) ? EXPONENT(112) : EXPONENT(224));

	return (magnitude < EXPONENT(1) ? tiny : other) | (x & SIGN);
}

/* Adding 0.5 rounds to the last place of subnormal fp16. */
static __always_inline __s32 fp32_to_fp16(__s32 x)
{
	__s32 magnitude = x & MAGNITUDE;
	__s32 tiny = fp32_add(magnitude, ONE_HALF) - ONE_HALF;
	__s32 other = (magnitude - EXPONENT(112) + 0xfff + (magnitude >> 13 & 1)) >> 13;

	if (other > 0x7c00)
		other = 0x7c00;
	return (magnitude < FP16_MIN ? tiny : other) << 16 | (x & SIGN);
}

static __always_inline __s32 fp32_to_bf16(__s32 x)
{
	return ((__u32)x + 0x7fff + (x >> 16 & 1)) & 0xffff0000;
}

/* Numbers with sign and magnitude in the order of int32, and back. */
static __always_inline __s32 order(__s32 x)
{
	return x ^ (x >> 31 & MAGNITUDE);
}

static __always_inline __s32 load(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op,
				  const void *from)
{
	__le32 word;
	__le16 half;
	__s32 x;

	if (reduce_arith_size(type) == 4) {
		memcpy(&word, from, 4);
		x = __le32_to_cpu(word);
	} else {
		memcpy(&half, from, 2);
		x = (__u32)__le16_to_cpu(half) << 16;
	}
	if (type == ROCESTEER_REDUCE_TYPE_INT32)
		return x;
	if (op == ROCESTEER_REDUCE_OP_SUM)
		return type == ROCESTEER_REDUCE_TYPE_FP16 ? fp16_to_fp32(x) : x;
	/* Before or behind all numbers; order() maps both to a NaN. */
	if (is_nan(type, x))
		return op == ROCESTEER_REDUCE_OP_MIN ? SIGN : MAGNITUDE;
	return order(x);
}

static __always_inline __s32 combine(enum rocesteer_reduce_type type,
				     enum rocesteer_reduce_op op, __s32 a, __s32 b)
{
	if (op == ROCESTEER_REDUCE_OP_MIN)
		return a < b ? a : b;
	if (op == ROCESTEER_REDUCE_OP_MAX)
		return a > b ? a : b;
	if (type == ROCESTEER_REDUCE_TYPE_INT32)
		return (__u32)a + (__u32)b;
	return fp32_add(a, b);
}

static __always_inline __s32 result(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op,
				    __s32 x)
{
	if (type == ROCESTEER_REDUCE_TYPE_INT32)
		return x;
	if (op != ROCESTEER_REDUCE_OP_SUM)
		return is_nan(type, order(x)) ? quiet_nan(type) : order(x);
	if (is_nan(ROCESTEER_REDUCE_TYPE_FP32, x))
		return quiet_nan(type);
	if (type == ROCESTEER_REDUCE_TYPE_BF16)
		return fp32_to_bf16(x);
	return type == ROCESTEER_REDUCE_TYPE_FP16 ? fp32_to_fp16(x) : x;
}

static __always_inline void store(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op,
				  void *to, __s32 x)
{
	__le32 word = __cpu_to_le32(result(type, op, x));
	__le16 half = __cpu_to_le16((__u32)result(type, op, x) >> 16);

	if (reduce_arith_size(type) == 4)
		memcpy(to, &word, 4);
	else
		memcpy(to, &half, 2);
}

static __always_inline void arith_loop(enum rocesteer_reduce_type type,
				       enum rocesteer_reduce_op op, void *sum,
				       const void *const *in, unsigned int ranks,
				       unsigned int bytes)
{
	unsigned int size = reduce_arith_size(type), at, n, r, i;
	__s32 block[ARITH_BLOCK], *x = block;	/* a pointer: no UBSAN bounds checks */

	for (at = 0; at < bytes; at += n * size) {
		n = (bytes - at) / size < ARITH_BLOCK ? (bytes - at) / size : ARITH_BLOCK;
		for (i = 0; i < n; i++)
			x[i] = load(type, op, in[0] + at + i * size);
		for (r = 1; r < ranks; r++)
			for (i = 0; i < n; i++)
				x[i] = combine(type, op, x[i],
					       load(type, op, in[r] + at + i * size));
		for (i = 0; i < n; i++)
			store(type, op, sum + at + i * size, x[i]);
	}
}

static __always_inline void arith_op(enum rocesteer_reduce_type type,
				     enum rocesteer_reduce_op op, void *sum,
				     const void *const *in, unsigned int ranks,
				     unsigned int bytes)
{
	switch (op) {
	case ROCESTEER_REDUCE_OP_SUM:
		return arith_loop(type, ROCESTEER_REDUCE_OP_SUM, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_OP_MIN:
		return arith_loop(type, ROCESTEER_REDUCE_OP_MIN, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_OP_MAX:
		return arith_loop(type, ROCESTEER_REDUCE_OP_MAX, sum, in, ranks, bytes);
	}
}

/* One loop for each type and operation, in which both are constants. */
static void arith(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		  const void *const *in, unsigned int ranks, unsigned int bytes)
{
	switch (type) {
	case ROCESTEER_REDUCE_TYPE_INT32:
		return arith_op(ROCESTEER_REDUCE_TYPE_INT32, op, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_TYPE_FP32:
		return arith_op(ROCESTEER_REDUCE_TYPE_FP32, op, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_TYPE_BF16:
		return arith_op(ROCESTEER_REDUCE_TYPE_BF16, op, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_TYPE_FP16:
		return arith_op(ROCESTEER_REDUCE_TYPE_FP16, op, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_TYPE_INT64:
		return arith_wide(ROCESTEER_REDUCE_TYPE_INT64, op, sum, in, ranks, bytes);
	case ROCESTEER_REDUCE_TYPE_FP64:
		return arith_wide(ROCESTEER_REDUCE_TYPE_FP64, op, sum, in, ranks, bytes);
	case __ROCESTEER_REDUCE_TYPE_MAX:
		return;
	}
}

#endif /* REDUCE_ARITH_BODY_H */
