/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_READS_H
#define ROCESTEER_READS_H

#include <linux/types.h>

/* Ranges of PSNs that are awaited: as many READs as rxe lets be in flight. */
#define ROCESTEER_READS		128

/**
 * struct rocesteer_read - PSNs each of which comes, in a packet of its own
 * @from: the first one
 * @end: the one behind the last
 */
struct rocesteer_read {
	u32 from;
	u32 end;
};

/**
 * struct rocesteer_reads - responses that a queue pair awaits
 * @head: index of the first range, modulo ROCESTEER_READS
 * @nr: how many there are, 0..ROCESTEER_READS
 * @range: in order, and apart from each other: PSNs in between are acknowledged,
 *	maybe several at once
 *
 * Zeroed, it is empty. The lock is the caller's care.
 */
struct rocesteer_reads {
	u32 head;
	u32 nr;
	struct rocesteer_read range[ROCESTEER_READS];
};

int rocesteer_reads_add(struct rocesteer_reads *reads, u32 psn, u32 psns);
bool rocesteer_reads_pass(struct rocesteer_reads *reads, u32 psn, u32 *next);

#endif /* ROCESTEER_READS_H */
