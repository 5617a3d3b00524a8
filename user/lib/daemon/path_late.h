/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of paths whose packets come late. Receivers say for which path a split flow waits, which
 * is a vote for that path, and against the others. Where all paths are alike, votes are even. A
 * path with three votes more than that carries less, a path that has as many less carries more, up
 * to what its weight says. When nobody has voted for a while, late paths carry more, as a link may
 * be as fast as before. If it is not, the next attempt is made after twice that while.
 */
#ifndef ROCESTEER_LIB_PATH_LATE_H
#define ROCESTEER_LIB_PATH_LATE_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

#define PATH_LATE_WHOLE	8	/* parts of a weight */

/**
 * struct path_late - late paths of a group
 * @less: eighths of its weight that each path goes without, 0..7
 * @score: votes for each path times the number of the others, less the votes for others
 * @changed: time of the last change
 * @raised: time of the last change to more
 * @hold: time without a late packet until more is tried
 * @due: time to try, or 0
 *
 * Times are CLOCK_MONOTONIC ns.
 */
struct path_late {
	__u8 less[ROCESTEER_MAX_PATHS];
	__s32 score[ROCESTEER_MAX_PATHS];
	__u64 changed;
	__u64 raised;
	__u64 hold;
	__u64 due;
};

/**
 * path_late_vote() - a flow waits for a path
 * @late: late paths of its group
 * @nr_paths: paths of the group
 * @p: path
 * @usable: paths that carry packets, a bit each
 * @now: time
 *
 * At least one usable path keeps its weight. A vote behind a recent change does not count.
 *
 * Return: whether shares have changed.
 */
bool path_late_vote(struct path_late *late, __u32 nr_paths, __u32 p, __u64 usable, __u64 now);

/* Give late paths more if it is time. Return: whether shares have changed. */
bool path_late_step(struct path_late *late, __u32 nr_paths, __u64 now);

/**
 * path_late_shares() - shares of paths
 * @late: late paths
 * @nr_paths: number of paths
 * @weight: their weights
 * @share: filled: as small as can be; all 0 where no path is late
 */
void path_late_shares(const struct path_late *late, __u32 nr_paths, const __u16 *weight,
		      __u16 share[ROCESTEER_MAX_PATHS]);

/* The reverse, where @share was written by somebody else: an earlier daemon. */
void path_late_read(struct path_late *late, __u32 nr_paths, const __u16 *weight,
		    const __u16 *share, __u64 now);

#endif /* ROCESTEER_LIB_PATH_LATE_H */
