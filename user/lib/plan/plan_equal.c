// SPDX-License-Identifier: GPL-2.0
/*
 * The rule of the Ethereal paper. Dealt round robin, the pieces of a flow go to
 * paths that follow each other, a window; all flows that are cut share
 * gcd(r, s) windows. So they are dealt whole to windows here.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan_priv.h"

/* What flows have on paths becomes what they can keep of it in windows. */
static void merge_links(struct deal *deal, const __u64 *window_of,
			__u64 piece, __u64 *last)
{
	struct deal_link *links = deal->links;
	size_t i, nr = 0;

	for (i = 0; i < deal->nr_links; i++) {
		__u32 flow = links[i].end[FLOWS];
		__u32 window = window_of[links[i].end[PATHS]];
		__u64 have = links[i].have < piece ? links[i].have : piece;
		size_t at = last[window];

		if (at >= nr || links[at].end[FLOWS] != flow ||
		    links[at].end[PATHS] != window) {
			at = nr++;
			last[window] = at;
			links[at] = (struct deal_link) {
				.end = { flow, window },
			};
		}
		links[at].have += have;
	}
	deal->nr_links = nr;
}

/* Cut what was dealt to windows, from piece @first on. */
static void cut_pieces(struct deal *deal, size_t first, const __u32 *order,
		       __u32 cut)
{
	struct plan_piece *pieces = &deal->pieces[first];
	size_t i, at = (deal->nr_pieces - first) * cut;

	deal->nr_pieces = first + at;
	for (i = at / cut; i--;) {	/* behind what is still to be cut */
		struct plan_piece piece = pieces[i];
		const __u32 *window = &order[piece.path * cut];
		__u32 n;

		piece.to /= cut;
		for (n = cut; n--;) {
			piece.path = window[(i + n) % cut];
			pieces[--at] = piece;
		}
	}
}

int deal_equal(struct deal *deal, __u32 cut)
{
	struct deal_side paths = deal->side[PATHS], windows;
	size_t first;
	__u64 piece;
	__u32 i, nr;

	deal_whole(deal, FLOWS);
	if (!deal->side[FLOWS].nr_open)
		return 0;
	first = deal->nr_pieces;
	piece = deal->side[FLOWS].left[deal->side[FLOWS].open[0]] / cut;
	nr = paths.nr_open / cut;
	if (deal_side_init(&windows, nr))
		return -ENOMEM;
	for (i = 0; i < paths.nr_open; i++) {
		paths.rest[paths.open[i]] = i / cut;
		windows.left[i / cut] += paths.left[paths.open[i]];
	}
	for (i = 0; i < nr; i++)
		windows.open[i] = i;
	windows.nr_open = nr;
	merge_links(deal, paths.rest, piece, windows.rest);
	deal->side[PATHS] = windows;
	deal_whole(deal, FLOWS);
	deal->side[PATHS] = paths;
	free(windows.left);
	cut_pieces(deal, first, paths.open, cut);
	return 0;
}
