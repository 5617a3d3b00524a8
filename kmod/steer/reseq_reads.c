// SPDX-License-Identifier: GPL-2.0
/* Outstanding READ requests and atomics of a queue pair, as PSNs of their responses. */
#include <linux/errno.h>

#include <rocesteer/roce.h>

#include "reseq_reads.h"

/* Serial number arithmetic cannot compare PSNs that are further apart. */
#define OUTSTANDING_MAX_PSNS	((ROCESTEER_PSN_MASK + 1) / 2)

static struct rocesteer_psn_range *
outstanding_range(struct rocesteer_outstanding *out, u32 i)
{
	return &out->range[(out->head + i) % ROCESTEER_OUTSTANDING_MAX];
}

/**
 * rocesteer_outstanding_add() - the queue pair sends a READ request or an atomic
 * @out: outstanding requests
 * @psn: PSN of the request, and of the first response
 * @psns: number of responses, not 0
 *
 * If @psn was requested before, the queue pair has gone back and will repeat all requests
 * from @psn on: no other request is outstanding.
 *
 * Return: 0; 1 if the queue pair has gone back; -ENOSPC with more ranges or PSNs than fit:
 * then no request is outstanding.
 */
int rocesteer_outstanding_add(struct rocesteer_outstanding *out, u32 psn,
			      u32 psns)
{
	struct rocesteer_psn_range *last = outstanding_range(out, out->nr - 1);
	u32 end = (psn + psns) & ROCESTEER_PSN_MASK, first = psn;
	bool back;

	back = out->nr && rocesteer_psn_diff(psn, last->end) < 0;
	if (back)
		out->nr = 0;
	if (out->nr)
		first = outstanding_range(out, 0)->from;
	if (psns >= OUTSTANDING_MAX_PSNS ||
	    psns + ((psn - first) & ROCESTEER_PSN_MASK) >= OUTSTANDING_MAX_PSNS)
		goto full;
	if (out->nr && last->end == psn) {
		last->end = end;
		return 0;
	}
	if (out->nr == ROCESTEER_OUTSTANDING_MAX)
		goto full;
	*outstanding_range(out, out->nr++) = (struct rocesteer_psn_range) {
		.from = psn,
		.end = end,
	};
	return back;

full:
	out->nr = 0;
	return -ENOSPC;
}

/**
 * rocesteer_outstanding_pass() - a response is delivered
 * @out: outstanding requests
 * @psn: PSN of the response; this and earlier PSNs are no longer outstanding
 * @next: set to the first outstanding PSN
 *
 * Return: false if no PSN is outstanding.
 */
bool rocesteer_outstanding_pass(struct rocesteer_outstanding *out, u32 psn,
				u32 *next)
{
	u32 behind = (psn + 1) & ROCESTEER_PSN_MASK;

	for (; out->nr; out->nr--, out->head++) {
		struct rocesteer_psn_range *first = outstanding_range(out, 0);

		if (rocesteer_psn_diff(first->end, behind) <= 0)
			continue;
		if (rocesteer_psn_diff(first->from, behind) < 0)
			first->from = behind;
		*next = first->from;
		return true;
	}
	return false;
}
