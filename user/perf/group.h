/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group of ranks whose writes switches sum. Each switch gets the group as JSON by
 * "COMMAND reduce .. -". A group of a plan (reduction.h) may be on its switches already and
 * then joins; a group that was loaded here is unloaded here.
 */
#ifndef ROCESTEER_PERF_GROUP_H
#define ROCESTEER_PERF_GROUP_H

#include "base/base.h"

#define GROUP_MAX	16383u	/* number of a group */
#define GROUP_RANKS	64u	/* at most */
#define GROUP_PACKETS	4096u	/* of all messages in flight */
#define GROUP_SWITCHES	(GROUP_RANKS + 1)
#define GROUP_NO_ROOT	(~0u)
#define GROUP_PSN_SPREAD	0x10000u	/* of the first PSNs of ranks */

/**
 * struct group_rank - a rank of a group
 * @address: address of its NIC, as in addr.h
 * @router: router that its packets to the next rank have to pass; all zero: any. Not for the
 *	switch
 * @leaf: number of its leaf
 * @qpn: queue pair that receives results
 * @psn: random part of the first PSN that it sends, below GROUP_PSN_SPREAD
 * @va: virtual address of the results
 * @sender: queue pair that sends, for a box
 */
struct group_rank {
	__u8 address[16];
	__u8 router[16];
	__u32 leaf;
	__u32 qpn;
	__u32 psn;
	__u64 va;
	__u32 sender;
};

/**
 * struct group_psns - what group_join() adds to the random parts of first PSNs
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
 * @number: 0..GROUP_MAX
 * @planned: the group is from a plan, which has @mtu, @window, @root and @rank
 * @psns: set by group_join()
 * @box: address of a box beside the switches, which sums, or all zero
 * @root: number of the spine that sums for all leaves, or GROUP_NO_ROOT
 * @type: type of the elements, as the switch names it
 * @op: operation, as the switch names it
 * @mtu: payload of a packet, at most
 * @packets: packets of a message, at most
 * @window: messages in flight, at most
 * @rank: ranks in the order of the ring, leaf by leaf
 * @ranks: 2..GROUP_RANKS
 * @at: its switches
 * @switches: number of switches
 */
struct group {
	__u32 number;
	bool planned;
	struct group_psns psns;
	__u8 box[16];
	__u32 root;
	const char *type;
	const char *op;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	struct group_rank rank[GROUP_RANKS];
	__u32 ranks;
	struct group_switch at[GROUP_SWITCHES];
	__u32 switches;
};

/* The virtual queue pair that a rank connects to; the switch has it. */
static inline __u32 group_qpn(__u32 number, __u32 rank)
{
	return 0xc00000 | number << 8 | rank;
}

/* Likewise of a box: the one that a rank's receiver connects to. */
static inline __u32 group_answer_qpn(__u32 number, __u32 rank)
{
	return group_qpn(number, rank) | 0xc0;
}

/* The first PSN that a rank sends, by its random part */
static inline __u32 group_psn(const struct group *group, __u32 rank, __u32 part)
{
	__u32 more = group->psns.opposite >> rank & 1 ? 1u << 23 : 0;

	return (group->psns.base + part + more) & 0xffffff;
}

/* Does a box beside the switches sum? */
static inline bool group_is_box(const struct group *group)
{
	return !addr_is_none(group->box);
}

/* Fill @at with the switches of the group. */
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

#endif /* ROCESTEER_PERF_GROUP_H */
