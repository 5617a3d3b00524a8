/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4 (Aumasson, Bernstein 2012), a tag that only a holder of the key can make.
 *
 * No library that every host has offers such a tag: AF_ALG is a kernel option that
 * containers withhold, and crypt(3) takes milliseconds.
 */
#ifndef ROCESTEER_PERF_MAC_H
#define ROCESTEER_PERF_MAC_H

#include <stddef.h>
#include <linux/types.h>

#define MAC_KEY	16	/* bytes */

/* State of a message that is added piece by piece. */
struct mac {
	__u64 v[4];
	__u64 length;
};

void mac_begin(struct mac *mac, const __u8 key[MAC_KEY]);

/* Add a piece, whose length is a multiple of 8. */
void mac_add(struct mac *mac, const void *data, size_t length);

/* Add the last piece, which may be empty. Return: the tag. */
__u64 mac_end(struct mac *mac, const void *data, size_t length);

#endif /* ROCESTEER_PERF_MAC_H */
