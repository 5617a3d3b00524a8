/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4 (Aumasson, Bernstein 2012): who has the key makes the tag of a
 * message, nobody else can.
 *
 * It is here because nothing that every host has gives such a tag: AF_ALG is a
 * kernel option that containers withhold, crypt(3) takes milliseconds.
 */
#ifndef ROCESTEER_PERF_MAC_H
#define ROCESTEER_PERF_MAC_H

#include <stddef.h>
#include <linux/types.h>

#define MAC_KEY	16	/* bytes */

/* A message that is read piece by piece. */
struct mac {
	__u64 v[4];
	__u64 length;
};

void mac_begin(struct mac *mac, const __u8 key[MAC_KEY]);

/* A piece that is not the last: its length is a multiple of 8. */
void mac_add(struct mac *mac, const void *data, size_t length);

/* The last piece, which may be empty. Return: the tag. */
__u64 mac_end(struct mac *mac, const void *data, size_t length);

#endif /* ROCESTEER_PERF_MAC_H */
