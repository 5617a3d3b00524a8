/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of a run: a plan, as "rocesteer reduce plan --json" prints it, and how the buffer
 * is dealt to them.
 */
#ifndef ROCESTEER_PERF_REDUCTION_H
#define ROCESTEER_PERF_REDUCTION_H

#include "group.h"

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
 * @ranks: of the run
 * @groups: filled; to be freed by reduction_free(), also after a failure
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int reduction_read(const char *file, __u32 ranks, struct reduction *groups, struct err *err);

/* The one group of a run without a plan. Return: 0 or -ENOMEM. */
int reduction_single(__u32 number, __u32 packets, __u32 ranks, struct reduction *groups);

void reduction_free(struct reduction *groups);

/* What all ranks must have in common. */
__u64 reduction_hash(const struct reduction *groups);

/* Does any rank's connection have to pass some router? */
bool reduction_have_routers(const struct reduction *groups);

/**
 * reduction_labels() - the flow labels by which a rank's connections pass their routers
 * @groups: groups
 * @rank: whose
 * @file: port map of its host, read where a router is asked for
 * @label: set, by group; 0: any will do
 * @err: names the file, and the peer or path that it does not have
 *
 * Return: 0 or a negative errno.
 */
int reduction_labels(const struct reduction *groups, __u32 rank, const char *file,
		     __u32 label[REDUCTION_GROUPS], struct err *err);

/**
 * reduction_share() - the first of so many parts of a buffer
 * @bytes: of the buffer, whole elements
 * @parts: how many
 * @message: bytes of a message of the one who gets it
 * @packet: bytes of a packet
 *
 * Parts differ by at most a sixteenth. As far as that allows, they are whole messages, else
 * whole packets, else whole elements.
 *
 * Return: its bytes.
 */
__u64 reduction_share(__u64 bytes, __u32 parts, __u64 message, __u32 packet);

#endif /* ROCESTEER_PERF_REDUCTION_H */
