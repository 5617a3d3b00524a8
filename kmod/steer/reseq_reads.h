/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_READS_H
#define ROCESTEER_RESEQ_READS_H

#include <linux/types.h>

/* Ranges of PSNs: as many READs as rxe lets be in flight. */
#define ROCESTEER_OUTSTANDING_MAX	128

/**
 * struct rocesteer_psn_range - PSNs each of which comes, in a packet of its own
 * @from: the first one
 * @end: the one behind the last
 */
struct rocesteer_psn_range {
	u32 from;
	u32 end;
};

/**
 * struct rocesteer_outstanding - READ requests and atomics that are outstanding
 * @head: index of the first range, modulo ROCESTEER_OUTSTANDING_MAX
 * @nr: how many there are, 0..ROCESTEER_OUTSTANDING_MAX
 * @range: in order, and apart from each other: PSNs in between are acknowledged,
 *	maybe several at once
 *
 * Zeroed, it is empty. The lock is the caller's care.
 */
struct rocesteer_outstanding {
	u32 head;
	u32 nr;
	struct rocesteer_psn_range range[ROCESTEER_OUTSTANDING_MAX];
};

int rocesteer_outstanding_add(struct rocesteer_outstanding *out, u32 psn,
			      u32 psns);
bool rocesteer_outstanding_pass(struct rocesteer_outstanding *out, u32 psn,
				u32 *next);

#endif /* ROCESTEER_RESEQ_READS_H */
