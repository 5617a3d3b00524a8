/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_ARITH_H
#define REDUCE_ARITH_H

#include <linux/types.h>

#include <uapi/linux/rocesteer_reduce.h>

/* Bytes of an element */
static __always_inline unsigned int reduce_arith_size(enum rocesteer_reduce_type type)
{
	switch (type) {
	case ROCESTEER_REDUCE_TYPE_INT64:
	case ROCESTEER_REDUCE_TYPE_FP64:
		return 8;
	case ROCESTEER_REDUCE_TYPE_INT32:
	case ROCESTEER_REDUCE_TYPE_FP32:
		return 4;
	case ROCESTEER_REDUCE_TYPE_BF16:
	case ROCESTEER_REDUCE_TYPE_FP16:
	case __ROCESTEER_REDUCE_TYPE_MAX:
		break;
	}
	return 2;
}

bool reduce_arith(enum rocesteer_reduce_type type, enum rocesteer_reduce_op op, void *sum,
		  const void *const *in, unsigned int ranks, unsigned int bytes);

#endif /* REDUCE_ARITH_H */
