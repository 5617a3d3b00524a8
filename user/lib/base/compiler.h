/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the kernel's headers. */
#ifndef ROCESTEER_LIB_COMPILER_H
#define ROCESTEER_LIB_COMPILER_H

#define __printf(format_index, first)	\
	__attribute((__format__(printf, format_index, first)))

#ifndef __aligned
#define __aligned(size)	__attribute((__aligned__(size)))
#endif

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

#define __stringify_1(x)	#x
#define __stringify(x)		__stringify_1(x)

#endif /* ROCESTEER_LIB_COMPILER_H */
