// SPDX-License-Identifier: GPL-2.0
/*
 * Reduction in the registers of the FPU. The compiler may use them anywhere in this
 * file, so this is the only one that is compiled so, and its function is called only
 * between kernel_fpu_begin() and kernel_fpu_end().
 */
#include <linux/types.h>

/* As the kernel has set the FPU: to nearest even, and subnormal numbers are kept. */
static inline __u32 fp32_add(__u32 a, __u32 b)
{
	union {
		__u32 bits;
		float value;
	} x = { .bits = a }, y = { .bits = b };

	x.value += y.value;
	return x.bits;
}

#include "arith_body.h"

/* As reduce_arith(), but for the pad. */
void reduce_arith_fpu(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		      const void *const *in, unsigned int ranks, unsigned int bytes)
{
	arith(type, op, sum, in, ranks, bytes);
}
