/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of a run, from a plan that "rocesteer reduce plan --json" prints.
 */
#ifndef ROCESTEER_PERF_REDUCTION_H
#define ROCESTEER_PERF_REDUCTION_H

#include "ring/ring.h"

#define REDUCTION_GROUPS	64u	/* a bit each */

/**
 * struct reduction - groups of a run
 * @group: array
 * @nr: 1..REDUCTION_GROUPS
 */
struct reduction {
	struct group *group;
	__u32 nr;
};

/**
 * reduction_read() - read a plan
 * @file: name
 * @ranks: number of ranks
 * @groups: filled; to be freed by reduction_free(), also after a failure
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int reduction_read(const char *file, __u32 ranks, struct reduction *groups, struct err *err);

/* The one group of a run without a plan, with a box or none. Return: 0 or -ENOMEM. */
int reduction_single(__u32 number, __u32 packets, const __u8 box[16], __u32 ranks,
		     struct reduction *groups);

void reduction_free(struct reduction *groups);

/* Hash of the groups, which ranks compare. */
__u64 reduction_hash(const struct reduction *groups);

/* Has the connection of any rank to pass a certain router? */
bool reduction_have_routers(const struct reduction *groups);

/**
 * reduction_labels() - the flow labels by which a rank's connections pass their routers
 * @groups: groups
 * @rank: rank
 * @file: port map of its host, read if a router is needed
 * @label: set, by group; 0: any label
 * @err: names the file, and the missing peer or path
 *
 * Return: 0 or a negative errno.
 */
int reduction_labels(const struct reduction *groups, __u32 rank, const char *file,
		     __u32 label[REDUCTION_GROUPS], struct err *err);

/**
 * reduction_share() - size of the first part of a buffer
 * @bytes: bytes of the buffer, whole elements
 * @parts: number of parts
 * @message: bytes of a message of the first group
 * @packet: bytes of a packet
 *
 * Parts differ by at most a sixteenth. Within this limit they are whole messages, or else
 * whole packets, or else whole elements.
 *
 * Return: bytes.
 */
__u64 reduction_share(__u64 bytes, __u32 parts, __u64 message, __u32 packet);

#endif /* ROCESTEER_PERF_REDUCTION_H */
