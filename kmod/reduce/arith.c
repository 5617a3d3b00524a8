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

/* The implicit leading one */
static __u32 significand_of(__u32 x)
{
	return (x & 0x7fffff) | (x & 0x7f800000 ? 1 << 23 : 0);
}

/* Subnormal numbers have the exponent of the least normal ones. */
static int exponent_of(__u32 x)
{
	int exponent = x >> 23 & 0xff;

	return exponent ? exponent : 1;
}

/*
 * IEEE 754 addition in integers, round to nearest even. @a becomes the operand of greater
 * magnitude. The last bit of a shifted significand is sticky.
 */
static __u32 fp32_add(__u32 a, __u32 b)
{
	__u32 x, y, swap, sticky;
	int exponent, shift;

	if ((a & 0x7fffffff) < (b & 0x7fffffff)) {
		swap = a;
		a = b;
		b = swap;
	}
	if ((a & 0x7f800000) == 0x7f800000)	/* infinity - infinity is a NaN */
		return (a ^ b) == 1U << 31 ? 0x7fc00000 : a;

	x = significand_of(a) << GUARD;
	y = significand_of(b) << GUARD;
	exponent = exponent_of(a);
	shift = exponent - exponent_of(b);
	if (shift > 31)
		shift = 31;
	sticky = y & ((1U << shift) - 1) ? 1 : 0;
	y = y >> shift | sticky;
	x = (a ^ b) >> 31 ? x - y : x + y;
	if (!x)
		return a & b & 1U << 31;

	shift = __builtin_clz(x) - (8 - GUARD);
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
	x = ((exponent - 1) << 23) + (x >> GUARD);
	if (x > 0x7f800000)
		x = 0x7f800000;
	return x | (a & 1U << 31);
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
 * Elements are combined in the order of the ranks: ((x0 op x1) op x2) op ... int32
 * wraps. bf16 and fp16 are added as fp32, and the sum is rounded once, to nearest even. A
 * resulting NaN is 0x7fc00000, 0x7fc0 or 0x7e00. Minimum and maximum are those of IEEE
 * 754-2019: they propagate NaN, and -0 < +0.
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
