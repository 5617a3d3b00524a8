// SPDX-License-Identifier: GPL-2.0
#include "path_late.h"

#include <stdint.h>
#include <string.h>

#include "plan/plan.h"

/* Packets that left before a change come back until then; what they say is old. */
#define SETTLE		50000000ull

#define HOLD		10000000000ull
#define HOLD_MAX	(32 * HOLD)

#define LEAST		1	/* eighth: what a path carries at least */

#define VOTES		3	/* more than even ones that are enough */

/* Return: whether all usable paths go without a part; then each of them gets one back. */
static void level(struct path_late *late, __u32 nr_paths, __u64 usable)
{
	__u8 least = PATH_LATE_WHOLE;
	__u32 p;

	for (p = 0; p < nr_paths; p++)
		if (usable >> p & 1 && late->less[p] < least)
			least = late->less[p];
	for (p = 0; p < nr_paths; p++)
		late->less[p] -= late->less[p] < least ? late->less[p] : least;
}

static bool is_any_late(const struct path_late *late, __u32 nr_paths)
{
	__u32 p;

	for (p = 0; p < nr_paths; p++)
		if (late->less[p])
			return true;
	return false;
}

/* Return: whether a path carries another share by its votes: @step eighths less, or one more. */
static bool decide(struct path_late *late, __u32 p, __s32 enough, __u8 step)
{
	__u8 *less = &late->less[p];

	if (late->score[p] >= enough && *less < PATH_LATE_WHOLE - LEAST)
		*less += step;
	else if (late->score[p] <= -enough && *less)
		--*less;
	else
		return false;
	return true;
}

bool path_late_vote(struct path_late *late, __u32 nr_paths, __u32 p, __u64 usable, __u64 now)
{
	__s32 others = 0, enough;
	__u32 q;
	__u8 step = is_any_late(late, nr_paths) ? 1 : PATH_LATE_WHOLE / 2;
	bool changes = false;

	late->hold = late->hold ?: HOLD;
	if (late->raised && now - late->raised < late->hold && late->hold < HOLD_MAX)
		late->hold *= 2;	/* it was too early */
	late->raised = 0;
	if (late->due)
		late->due = now + late->hold;
	for (q = 0; q < nr_paths; q++)
		others += q != p && usable >> q & 1;
	if (!others || !(usable >> p & 1) || now - late->changed < SETTLE)
		return false;
	enough = VOTES * others;
	for (q = 0; q < nr_paths; q++) {
		if (!(usable >> q & 1))
			continue;
		late->score[q] += q == p ? others : -1;
		changes |= decide(late, q, enough, step);
		if (late->score[q] < -enough)
			late->score[q] = -enough;
	}
	if (!changes)
		return false;
	memset(late->score, 0, sizeof(late->score));
	level(late, nr_paths, usable);
	late->changed = now;
	late->due = is_any_late(late, nr_paths) ? now + late->hold : 0;
	return true;
}

bool path_late_step(struct path_late *late, __u32 nr_paths, __u64 now)
{
	__u32 p;

	if (!late->due || now < late->due)
		return false;
	for (p = 0; p < nr_paths; p++)
		late->less[p] -= !!late->less[p];
	late->raised = now;
	late->changed = now;
	late->due = now + late->hold;
	if (!is_any_late(late, nr_paths))
		late->due = 0;
	return true;
}

void path_late_shares(const struct path_late *late, __u32 nr_paths, const __u16 *weight,
		      __u16 share[ROCESTEER_MAX_PATHS])
{
	__u64 parts[ROCESTEER_MAX_PATHS], common = 0, most = 0;
	__u32 p;

	memset(share, 0, ROCESTEER_MAX_PATHS * sizeof(*share));
	if (!is_any_late(late, nr_paths))
		return;
	for (p = 0; p < nr_paths; p++) {
		parts[p] = (__u64)weight[p] * (PATH_LATE_WHOLE - late->less[p]);
		common = plan_gcd(parts[p], common);
		if (parts[p] > most)
			most = parts[p];
	}
	while (most / common > UINT16_MAX)
		common *= 2;
	for (p = 0; p < nr_paths; p++)
		share[p] = parts[p] / common ?: 1;
}

void path_late_read(struct path_late *late, __u32 nr_paths, const __u16 *weight,
		    const __u16 *share, __u64 now)
{
	__u16 known[ROCESTEER_MAX_PATHS];
	double most = 0;
	__u32 p;

	path_late_shares(late, nr_paths, weight, known);
	if (!memcmp(known, share, nr_paths * sizeof(*share)))
		return;
	memset(late, 0, sizeof(*late));
	for (p = 0; p < nr_paths; p++)
		if (most < (double)share[p] / weight[p])
			most = (double)share[p] / weight[p];
	for (p = 0; most && p < nr_paths; p++)
		late->less[p] = PATH_LATE_WHOLE -
				(__u8)(PATH_LATE_WHOLE * share[p] / weight[p] / most + 0.5);
	late->hold = HOLD;
	late->due = is_any_late(late, nr_paths) ? now + HOLD : 0;
}
