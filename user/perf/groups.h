/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of a run: a plan, as "rocesteer reduce plan --json" prints it, and how the buffer
 * is dealt to them.
 */
#ifndef ROCESTEER_PERF_GROUPS_H
#define ROCESTEER_PERF_GROUPS_H

#include "group.h"

#define GROUPS_MAX	64u	/* a bit each */

/**
 * struct groups - of a run
 * @group: array
 * @nr: 1..GROUPS_MAX
 */
struct groups {
	struct group *group;
	__u32 nr;
};

/**
 * groups_read() - read a plan
 * @file: name
 * @ranks: of the run
 * @groups: filled; to be freed by groups_free(), also after a failure
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int groups_read(const char *file, __u32 ranks, struct groups *groups, struct err *err);

/* The one group of a run without a plan. Return: 0 or -ENOMEM. */
int groups_single(__u32 number, __u32 packets, __u32 ranks, struct groups *groups);

void groups_free(struct groups *groups);

/* What all ranks must have in common. */
__u64 groups_hash(const struct groups *groups);

/* Does any rank's connection have to pass some router? */
bool groups_have_routers(const struct groups *groups);

/**
 * groups_labels() - the flow labels by which a rank's connections pass their routers
 * @groups: groups
 * @rank: whose
 * @file: port map of its host, read where a router is asked for
 * @label: set, by group; 0: any will do
 * @err: names the file, and the peer or path that it does not have
 *
 * Return: 0 or a negative errno.
 */
int groups_labels(const struct groups *groups, __u32 rank, const char *file,
		  __u32 label[GROUPS_MAX], struct err *err);

/**
 * groups_share() - the first of so many parts of a buffer
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
__u64 groups_share(__u64 bytes, __u32 parts, __u64 message, __u32 packet);

#endif /* ROCESTEER_PERF_GROUPS_H */
