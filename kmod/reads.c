// SPDX-License-Identifier: GPL-2.0
/*
 * Responses that a queue pair awaits, by the PSNs that its own requests take. It
 * is the requester that numbers them, and the only one to know what has to come.
 */
#include <linux/errno.h>

#include <rocesteer/roce.h>

#include "reads.h"

/* PSNs are compared by serial number arithmetic: no more can be in flight. */
#define READS_MAX_PSNS	((ROCESTEER_PSN_MASK + 1) / 2)

/* Its @i-th range; also for one behind the last. */
static struct rocesteer_read *reads_range(struct rocesteer_reads *reads, u32 i)
{
	return &reads->range[(reads->head + i) % ROCESTEER_READS];
}

/**
 * rocesteer_reads_add() - the queue pair sends a READ request, or an atomic
 * @reads: responses that it awaits
 * @psn: PSN of the request, and of the first response
 * @psns: how many responses there are, not 0
 *
 * A PSN that was asked for before says that the queue pair goes back: it will send
 * all requests from there on again, and nothing else is awaited.
 *
 * Return: 0; 1 where the queue pair has gone back; -ENOSPC where there are more
 * than ROCESTEER_READS ranges, or more PSNs than can be told apart: then nothing
 * is awaited.
 */
int rocesteer_reads_add(struct rocesteer_reads *reads, u32 psn, u32 psns)
{
	struct rocesteer_read *last = reads_range(reads, reads->nr - 1);
	u32 end = (psn + psns) & ROCESTEER_PSN_MASK, first = psn;
	bool back;

	back = reads->nr && rocesteer_psn_diff(psn, last->end) < 0;
	if (back)
		reads->nr = 0;
	if (reads->nr)
		first = reads_range(reads, 0)->from;
	if (psns >= READS_MAX_PSNS ||
	    psns + ((psn - first) & ROCESTEER_PSN_MASK) >= READS_MAX_PSNS)
		goto full;
	if (reads->nr && last->end == psn) {
		last->end = end;
		return 0;
	}
	if (reads->nr == ROCESTEER_READS)
		goto full;
	*reads_range(reads, reads->nr++) = (struct rocesteer_read) {
		.from = psn,
		.end = end,
	};
	return back;

full:
	reads->nr = 0;
	return -ENOSPC;
}

/**
 * rocesteer_reads_pass() - a response is delivered
 * @reads: responses that the queue pair awaits
 * @psn: its PSN; those before it are not awaited any more either
 * @next: set to the PSN of the next one that is
 *
 * Return: false where none is.
 */
bool rocesteer_reads_pass(struct rocesteer_reads *reads, u32 psn, u32 *next)
{
	u32 behind = (psn + 1) & ROCESTEER_PSN_MASK;

	for (; reads->nr; reads->nr--, reads->head++) {
		struct rocesteer_read *first = reads_range(reads, 0);

		if (rocesteer_psn_diff(first->end, behind) <= 0)
			continue;
		if (rocesteer_psn_diff(first->from, behind) < 0)
			first->from = behind;
		*next = first->from;
		return true;
	}
	return false;
}
