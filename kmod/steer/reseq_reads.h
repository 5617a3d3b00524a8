/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_READS_H
#define ROCESTEER_RESEQ_READS_H

#include <linux/types.h>

/* Ranges of PSNs: rxe has at most as many READs in flight */
#define ROCESTEER_OUTSTANDING_MAX	128

/* PSNs of expected responses: [@from, @end) */
struct rocesteer_psn_range {
	u32 from;
	u32 end;
};

/**
 * struct rocesteer_outstanding - READ requests and atomics that are outstanding
 * @head: index of the first range, modulo ROCESTEER_OUTSTANDING_MAX
 * @nr: number of ranges, 0..ROCESTEER_OUTSTANDING_MAX
 * @range: ring of disjoint ranges in order; PSNs in between belong to other requests,
 *	whose acknowledgments may be coalesced
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
