/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group of ranks whose writes switches sum. Each switch gets the group as JSON by
 * "COMMAND reduce .. -". A group of a plan may be on its switches already and then joins; a
 * group that was loaded here is unloaded here.
 */
#ifndef ROCESTEER_LIB_RING_GROUP_H
#define ROCESTEER_LIB_RING_GROUP_H

#include <rocesteer/roce.h>

#include "base/base.h"
#include "reduce/reduce.h"

#define GROUP_SWITCHES	(ROCESTEER_REDUCE_MAX_RANKS + 1)
#define GROUP_PSN_SPREAD	0x10000u	/* of the first PSNs of ranks */

/**
 * struct group_psns - addends of the random parts of first PSNs
 * @base: for all ranks
 * @opposite: ranks that get 2^23 more, a bit each
 */
struct group_psns {
	__u32 base;
	__u64 opposite;
};

/**
 * struct group_switch - a switch of a group
 * @name: "leaf3", "spine1"; empty: the switch that the command reaches
 * @option: option of rocesteer for this switch
 * @loaded: the group was loaded here
 * @answer: last answer: 0 or a negative errno
 */
struct group_switch {
	char name[16];
	char option[24];
	bool loaded;
	int answer;
};

/**
 * struct group - a group
 * @config: the group, as switches know it; group_join() sets first PSNs and @joined
 * @planned: @config is from a plan, which says all but type, operation and queue pairs
 * @part: by rank: random part of the first PSN, below GROUP_PSN_SPREAD
 * @psns: set by group_join()
 * @at: its switches
 * @switches: number of switches
 */
struct group {
	struct reduce_config config;
	bool planned;
	__u32 part[ROCESTEER_REDUCE_MAX_RANKS];
	struct group_psns psns;
	struct group_switch at[GROUP_SWITCHES];
	__u32 switches;
};

/* The virtual queue pair that a rank connects to; the switch has it. */
static inline __u32 group_qpn(__u32 id, __u32 rank)
{
	return ROCESTEER_QPN_REDUCE | id << 8 | rank;
}

/* The virtual queue pair of a box that a rank's receiver connects to. */
static inline __u32 group_answer_qpn(__u32 id, __u32 rank)
{
	return group_qpn(id, rank) | 0xc0;
}

/* The first PSN that a rank sends, by its random part */
static inline __u32 group_psn(const struct group *group, __u32 rank, __u32 part)
{
	__u32 more = group->psns.opposite >> rank & 1 ? 1u << 23 : 0;

	return (group->psns.base + part + more) & 0xffffff;
}

/* A group without a plan, with a box or none. */
void group_init(struct group *group, __u32 id, __u32 packets, const __u8 box[16], __u32 ranks);

/* Fill @at with the switches of a group of a plan. */
void group_find_switches(struct group *group);

/**
 * group_join() - join the group on its switches, or load it
 * @group: group
 * @command: command that runs rocesteer on a switch; "%s" stands for the switch's name
 * @until: time when commands are killed, as of clock_ns()
 * @err: last error of a switch
 *
 * The first PSN is random, and apart from those that the switches have seen of earlier runs in a
 * group of this number.
 *
 * Return: 0 or a negative errno, after which some switches may have the group; -EEXIST where a
 * switch has another one of this number.
 */
int group_join(struct group *group, const char *command, __u64 until, struct err *err);

/* Unload the group if group_join() has loaded it; @err is the last error of a switch. */
void group_leave(struct group *group, const char *command, __u64 until, struct err *err);

#endif /* ROCESTEER_LIB_RING_GROUP_H */
