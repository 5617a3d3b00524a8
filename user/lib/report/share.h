/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How evenly flows share links, what steering would reach, and on which links flows meet.
 * Pure: numbers of a recording in, numbers of a report out.
 */
#ifndef ROCESTEER_LIB_REPORT_SHARE_H
#define ROCESTEER_LIB_REPORT_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Choices are numbered below this, in report_collisions(). */
#define REPORT_CHOICES_MAX	0x100000

/**
 * struct report_share - what one path or link carried in a period
 * @bytes: in the period
 * @flows: that were active in the period; a split flow counts on each of its paths
 * @choice: number of the links among which a switch chooses: all uplinks of one leaf, or all
 *	links into one leaf. report_imbalance() ignores it: there all are one choice
 * @up: at the end of the period
 */
struct report_share {
	__u64 bytes;
	__u32 flows;
	__u32 choice;
	bool up;
};

/**
 * struct report_imbalance - how evenly paths or links are used
 * @bytes: maximum by mean of the bytes; 1 is even, 0: there are none
 * @flows: mean of |flows - mean| / mean over the links, in percent; 0 is even. A split flow
 *	is many flows here
 * @whole: what @bytes would be if as many equal flows were dealt evenly to the paths that
 *	are up: ceil(flows / paths) * paths / flows; 0: no flows, or no path is up
 * @split: the same for flows that take all paths in turn: 1; 0 as above
 *
 * The means are over all that are up, and those that carried something before they went down.
 */
struct report_imbalance {
	double bytes;
	double flows;
	double whole;
	double split;
};

/**
 * struct report_collision - a link on which flows meet
 * @link: its index
 * @flows: active flows on it
 * @fair: flows on the fullest link if they were even: ceil(flows / links up) of its choice
 */
struct report_collision {
	size_t link;
	__u32 flows;
	__u32 fair;
};

/**
 * report_imbalance() - compute how evenly paths are used
 * @shares: of the paths of a group, or of the uplinks of a leaf
 * @nr: how many, may be 0
 * @result: filled
 */
void report_imbalance(const struct report_share *shares, size_t nr,
		      struct report_imbalance *result);

/**
 * report_collisions() - find links with more flows than their choice makes necessary
 * @links: directed links, in any order
 * @nr: how many, may be 0
 * @found: filled, the most flows above the fair number first, then by index
 * @room: of @found; with @nr entries there is room for all
 *
 * Where no link of a choice is up there is nothing to choose, and no collision.
 *
 * Return: how many there are, which may exceed @room; -EINVAL if a choice is out of range;
 * -ENOMEM.
 */
long report_collisions(const struct report_share *links, size_t nr,
		       struct report_collision *found, size_t room);

#endif /* ROCESTEER_LIB_REPORT_SHARE_H */
