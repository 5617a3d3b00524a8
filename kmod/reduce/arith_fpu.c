// SPDX-License-Identifier: GPL-2.0
/*
 * Reduction with the FPU. The compiler may use FPU registers anywhere in this file: call
 * reduce_arith_fpu() between kernel_fpu_begin() and kernel_fpu_end() only.
 */
#include <linux/types.h>

/* The kernel sets the FPU to round to nearest even and to keep subnormal numbers. */
static inline __u32 fp32_add(__u32 a, __u32 b)
{
	union {
		__u32 bits;
		float value;
	} x = { .bits = a }, y = { .bits = b };

	x.value += y.value;
	return x.bits;
}

static inline __u64 fp64_add(__u64 a, __u64 b)
{
	union {
		__u64 bits;
		double value;
	} x = { .bits = a }, y = { .bits = b };

	x.value += y.value;
	return x.bits;
}

#include "arith_body.h"

/* reduce_arith() without the pad */
void reduce_arith_fpu(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		      const void *const *in, unsigned int ranks, unsigned int bytes)
{
	arith(type, op, sum, in, ranks, bytes);
}
