/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_LIB_FNV1A_H
#define ROCESTEER_LIB_FNV1A_H

#include <stddef.h>
#include <linux/types.h>

/* FNV-1a with 64 bits: the hash of no bytes, and of more bytes. */
#define FNV1A_NONE	0xcbf29ce484222325ull

static inline __u64 fnv1a(__u64 hash, const void *data, size_t size)
{
	const __u8 *byte = data;

	while (size--)
		hash = (hash ^ *byte++) * 0x100000001b3ull;
	return hash;
}

#endif /* ROCESTEER_LIB_FNV1A_H */
