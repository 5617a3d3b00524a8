/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which links of a fabric lose, mark or delay packets, while they are up? Switches say nothing
 * of such gray links; the paths that hosts measured do, as several paths share a link. Pure.
 *
 * The rate of a path is the sum of the rates of its links and of what all paths of its
 * group have in common. The fewest links that explain the paths are named: the link that
 * explains the most comes first, and each one that is kept has to be needed beside the others.
 * Documentation/design.rst derives the thresholds.
 */
#ifndef ROCESTEER_LIB_REPORT_GRAY_H
#define ROCESTEER_LIB_REPORT_GRAY_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

/* No link, or one that is not known */
#define REPORT_NO_LINK		SIZE_MAX

/* Links of a path, at most: from leaf to agg, to core, to agg, to leaf */
#define REPORT_PATH_LINKS	4

/* A recording without a gray link has one named at most once in 10^REPORT_GRAY_SURE. */
#define REPORT_GRAY_SURE	6

/* Links that are named for one cause, at most */
#define REPORT_GRAY_MAX		32

/* Links that may be a named one instead, at most: the others of a path */
#define REPORT_GRAY_OTHERS	(REPORT_PATH_LINKS - 1)

/* A named link has at least so many rounds, or CNPs, that nothing else explains. */
#define REPORT_GRAY_ROUNDS	8
#define REPORT_GRAY_CNPS	32

/* A named link has at least so many times the rate that its paths have without it. */
#define REPORT_GRAY_RATIO	2

/*
 * A lost acknowledgment may repeat packets of a path that is not at fault, though mostly the next
 * acknowledgment prevents that. A link is named if its rate exceeds this part of all others'.
 */
#define REPORT_GRAY_ACKS	8

/* A named link delays each packet by at least so much. */
#define REPORT_GRAY_DELAY_NS	30000

/* The smallest delay of a path counts if at least so many probes were answered. */
#define REPORT_GRAY_ANSWERS	10

/* Causes of a gray link; report_cause_words has their names. */
enum report_cause {
	REPORT_LOSS,	/* packets are lost: rounds of go-back-N */
	REPORT_MARKS,	/* packets are marked: CNPs of flows that are whole on a path */
	REPORT_DELAY,	/* no packet is as fast as on the other paths */
};

extern const char * const report_cause_words[];

/**
 * struct report_path - what was measured on one path, in one recording
 * @link: numbers of its links, or REPORT_NO_LINK
 * @packets: packets that were sent
 * @rounds: rounds of go-back-N: each stands for a lost packet, or for a burst of them
 * @cnps: CNPs of flows that have this path alone
 * @probes: probes that were sent for @delay_min_ns
 * @lost: of these, without an answer. Routers limit answers, and answers have ways of their
 *	own: lost ones are no sign of a bad link
 * @delay_min_ns: the smallest delay of an answer
 * @group: number, below the number of paths, of the group in which this path is compared:
 *	the paths of one host, or leaf, to one other leaf, which differ in their spine only.
 *	A fault of the whole group, as a NIC that drops packets, is of no link. All 0: one group
 */
struct report_path {
	size_t link[REPORT_PATH_LINKS];
	__u64 packets;
	__u64 rounds;
	__u64 cnps;
	__u32 probes;
	__u32 lost;
	__u64 delay_min_ns;
	size_t group;
};

/**
 * struct report_gray - a gray link
 * @link: its number
 * @other: links that may be it instead, as the paths do not tell them apart
 * @nr_others: how many
 * @cause: what is wrong
 * @sure: a recording without a gray link has one named, as strongly as this one, at most once
 *	in 10^@sure; REPORT_GRAY_SURE..99
 * @paths: paths over the link that were measured
 * @packets: that they sent; 0 for REPORT_DELAY
 * @events: rounds or CNPs that the link explains; 0 for REPORT_DELAY
 * @rate: rounds or CNPs for each packet over the link; 0 for REPORT_DELAY
 * @delay_ns: by which the link delays each packet, at least; 0 for other causes
 */
struct report_gray {
	size_t link;
	size_t other[REPORT_GRAY_OTHERS];
	unsigned int nr_others;
	enum report_cause cause;
	unsigned int sure;
	size_t paths;
	__u64 packets;
	__u64 events;
	double rate;
	__u64 delay_ns;
};

/**
 * report_gray() - find gray links
 * @paths: measured paths; the same path may be there more than once, of several hosts
 * @nr_paths: how many, may be 0
 * @nr_links: directed links are numbered from 0 to @nr_links - 1
 * @found: filled, by cause, then the surest first
 * @room: of @found; up to REPORT_GRAY_MAX of each cause are found
 *
 * Equal paths give equal links. 32 leaves with 32 spines take less than half a second.
 *
 * Return: how many of @found are filled; -EINVAL if a number of a link or group is out of
 * range; -ENOMEM.
 */
int report_gray(const struct report_path *paths, size_t nr_paths, size_t nr_links,
		struct report_gray *found, size_t room);

#endif /* ROCESTEER_LIB_REPORT_GRAY_H */
