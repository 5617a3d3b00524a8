// SPDX-License-Identifier: GPL-2.0
/*
 * Reduction of payloads in the order of the ranks. Sums of floating point numbers are
 * bit for bit those of IEEE 754, with the FPU (arith_fpu.c) and without.
 */
#ifdef __KERNEL__
#include <linux/fpu.h>
#endif

#include "arith.h"

/* Extra bits of a significand; rounding needs guard, round and sticky */
#define GUARD	6

/**
 * ieee_add() - IEEE 754 addition in integers, round to nearest even
 * @a: an operand
 * @b: another one
 * @fraction: bits of the fraction, a constant
 * @width: bits of a number, a constant
 *
 * @a becomes the operand of greater magnitude. The last bit of a shifted significand is
 * sticky. Return: the sum; any NaN for a NaN.
 */
static __always_inline __u64 ieee_add(__u64 a, __u64 b, unsigned int fraction, unsigned int width)
{
	__u64 sign = 1ULL << (width - 1), one = 1ULL << fraction, infinity = sign - one;
	int low = infinity >> fraction, exponent, shift;	/* low: the exponent's mask */
	__u64 x, y, sticky;

	if ((a & (sign - 1)) < (b & (sign - 1))) {
		x = a;
		a = b;
		b = x;
	}
	if ((a & infinity) == infinity)	/* infinity - infinity is a NaN */
		return (a ^ b) == sign ? infinity | one >> 1 : a;

	/* Numbers but subnormal ones have a leading one. These have the least exponent. */
	x = ((a & (one - 1)) | (a & infinity ? one : 0)) << GUARD;
	y = ((b & (one - 1)) | (b & infinity ? one : 0)) << GUARD;
	exponent = (a >> fraction & low) ?: 1;
	shift = exponent - ((int)(b >> fraction & low) ?: 1);
	if (shift > 63)
		shift = 63;
	sticky = y & ((1ULL << shift) - 1) ? 1 : 0;
	y = y >> shift | sticky;
	x = (a ^ b) & sign ? x - y : x + y;
	if (!x)
		return a & b & sign;

	shift = __builtin_clzll(x) - (63 - GUARD - (int)fraction);
	if (shift < 0) {
		x = x >> 1 | (x & 1);
		exponent++;
	} else {
		if (shift >= exponent)
			shift = exponent - 1;
		x <<= shift;
		exponent -= shift;
	}
	/* A carry, like the leading one, is added to the exponent. */
	x += (1 << (GUARD - 1)) - 1 + (x >> GUARD & 1);
	x = ((__u64)(exponent - 1) << fraction) + (x >> GUARD);
	if (x > infinity)
		x = infinity;
	return x | (a & sign);
}

static __u32 fp32_add(__u32 a, __u32 b)
{
	return ieee_add(a, b, 23, 32);
}

static __u64 fp64_add(__u64 a, __u64 b)
{
	return ieee_add(a, b, 52, 64);
}

#include "arith_body.h"

/* For shorter payloads, saving the FPU registers takes longer than integer arithmetic. */
#define FPU_BYTES	128

/* Only x86 allows the FPU in softirq. */
static bool arith_fpu(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		      const void *const *in, unsigned int ranks, unsigned int bytes)
{
#ifdef CONFIG_X86_64
	if (bytes >= FPU_BYTES && irq_fpu_usable()) {
		kernel_fpu_begin();
		reduce_arith_fpu(type, op, sum, in, ranks, bytes);
		kernel_fpu_end();
		return true;
	}
#endif
	return false;
}

/**
 * reduce_arith() - reduce the payloads of all ranks to one
 * @type: type of the elements, little-endian
 * @op: operation
 * @sum: result, aligned to 4 bytes, of @bytes rounded up to 4; the pad is zero
 * @in: payloads, in the order of the ranks; of any alignment
 * @ranks: number of payloads, at least 1
 * @bytes: length of a payload, a multiple of the size of an element
 *
 * Elements are combined in the order of the ranks: ((x0 op x1) op x2) op ... int32 and int64
 * wrap. bf16 and fp16 are added as fp32, and the sum is rounded once, to nearest even. A
 * resulting NaN is 0x7fc00000, 0x7fc0, 0x7e00 or 0x7ff8000000000000. Minimum and maximum are
 * those of IEEE 754-2019: they propagate NaN, and -0 < +0.
 *
 * Context: any, does not sleep.
 * Return: whether the FPU was used. The result does not depend on it.
 */
bool reduce_arith(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		  const void *const *in, unsigned int ranks, unsigned int bytes)
{
	bool fpu = arith_fpu(type, op, sum, in, ranks, bytes);

	if (!fpu)
		arith(type, op, sum, in, ranks, bytes);
	memset(sum + bytes, 0, -bytes & 3);
	return fpu;
}
