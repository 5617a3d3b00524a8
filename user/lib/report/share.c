// SPDX-License-Identifier: GPL-2.0
/* How evenly flows share links: see share.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "share.h"

/**
 * struct choice - links among which a switch chooses
 * @flows: on all of them
 * @up: links that are up
 */
struct choice {
	__u64 flows;
	__u64 up;
};

static bool counts(const struct report_share *share)
{
	return share->up || share->bytes || share->flows;
}

static __u64 fair_flows(__u64 flows, __u64 up)
{
	return flows / up + (flows % up != 0);
}

void report_imbalance(const struct report_share *shares, size_t nr, struct report_imbalance *result)
{
	double bytes = 0, max = 0, off = 0;
	__u64 flows = 0, used = 0, up = 0;

	memset(result, 0, sizeof(*result));
	for (size_t i = 0; i < nr; i++) {
		used += counts(&shares[i]);
		up += shares[i].up;
		flows += shares[i].flows;
		bytes += shares[i].bytes;
		max = fmax(max, shares[i].bytes);
	}
	if (bytes > 0)
		result->bytes = max * used / bytes;
	if (!flows)
		return;
	for (size_t i = 0; i < nr; i++)
		if (counts(&shares[i]))
			off += fabs(shares[i].flows - (double)flows / used);
	result->flows = 100 * off / flows;
	if (!up)
		return;
	result->whole = (double)fair_flows(flows, up) * up / flows;
	result->split = 1;
}

static int count_choices(const struct report_share *links, size_t nr, struct choice **choices)
{
	__u32 last = 0;

	for (size_t i = 0; i < nr; i++) {
		if (links[i].choice >= REPORT_CHOICES_MAX)
			return -EINVAL;
		if (links[i].choice > last)
			last = links[i].choice;
	}
	*choices = calloc((size_t)last + 1, sizeof(**choices));
	if (!*choices)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		(*choices)[links[i].choice].flows += links[i].flows;
		(*choices)[links[i].choice].up += links[i].up;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct report_collision *a = left, *b = right;
	__u32 above_a = a->flows - a->fair, above_b = b->flows - b->fair;

	if (above_a != above_b)
		return above_a < above_b ? 1 : -1;
	return (a->link > b->link) - (a->link < b->link);
}

long report_collisions(const struct report_share *links, size_t nr,
		       struct report_collision *found, size_t room)
{
	struct report_collision *all;
	struct choice *choices = NULL;
	long nr_found = 0;
	int err;

	err = count_choices(links, nr, &choices);
	if (err)
		return err;
	all = calloc(nr + 1, sizeof(*all));
	if (!all) {
		free(choices);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct choice *choice = &choices[links[i].choice];
		__u64 fair = choice->up ? fair_flows(choice->flows, choice->up) : 0;

		if (choice->up && links[i].flows > fair)
			all[nr_found++] = (struct report_collision){ i, links[i].flows, fair };
	}
	qsort(all, nr_found, sizeof(*all), compare);
	if ((size_t)nr_found < room)
		room = nr_found;
	if (room)
		memcpy(found, all, room * sizeof(*found));
	free(all);
	free(choices);
	return nr_found;
}
