/* SPDX-License-Identifier: GPL-2.0 */
/* Stand-ins for kernel headers, for code of the modules that is compiled for user space */
#ifndef ROCESTEER_TEST_KERNEL_TYPES_H
#define ROCESTEER_TEST_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#define max(a, b) ({			\
	__typeof__(a) _a = (a);		\
	__typeof__(b) _b = (b);		\
					\
	_a > _b ? _a : _b;		\
})

#endif /* ROCESTEER_TEST_KERNEL_TYPES_H */
