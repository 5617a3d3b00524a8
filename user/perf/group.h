/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The group of ranks whose writes switches sum, and how its switches are told of it: each
 * by "COMMAND reduce .. -", which reads the group as JSON. A group of a plan (reduction.h) may be
 * on its switches already, and then joins; what was loaded here is unloaded here.
 */
#ifndef ROCESTEER_PERF_GROUP_H
#define ROCESTEER_PERF_GROUP_H

#include "base/base.h"

#define GROUP_MAX	16383u	/* number of a group */
#define GROUP_RANKS	64u	/* at most */
#define GROUP_PACKETS	4096u	/* of all messages in flight */
#define GROUP_SWITCHES	(GROUP_RANKS + 1)
#define GROUP_NO_ROOT	(~0u)

/**
 * struct group_rank - what a switch has to know of a rank
 * @address: of its NIC, as addr.h has it
 * @router: that its packets have to pass on their way to the next rank; all zero: any.
 *	This is the rank's affair, not the switch's
 * @leaf: number of its leaf
 * @qpn: its queue pair that receives results
 * @psn: first that it sends
 * @va: where results begin, as writes to it say
 */
struct group_rank {
	__u8 address[16];
	__u8 router[16];
	__u32 leaf;
	__u32 qpn;
	__u32 psn;
	__u64 va;
};

/**
 * struct group_switch - a switch that has to know
 * @name: "leaf3", "spine1"; empty: the one that the command reaches
 * @option: that says the same to its rocesteer
 * @loaded: it knows the group, from us
 * @answer: its last: 0 or a negative errno
 */
struct group_switch {
	char name[16];
	char option[24];
	bool loaded;
	int answer;
};

/**
 * struct group - what a switch has to know
 * @number: 0..GROUP_MAX
 * @planned: the group is of a plan, which says how @mtu, @window, @root and @rank are
 * @root: number of the spine where leaves meet, or GROUP_NO_ROOT
 * @type: of the elements, as the switch calls it
 * @mtu: bytes of a full packet's payload, at most
 * @packets: of a message, at most
 * @window: messages in flight, at most
 * @rank: in the order of the ring, leaf by leaf
 * @ranks: 2..GROUP_RANKS
 * @at: its switches
 * @switches: how many
 */
struct group {
	__u32 number;
	bool planned;
	__u32 root;
	const char *type;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	struct group_rank rank[GROUP_RANKS];
	__u32 ranks;
	struct group_switch at[GROUP_SWITCHES];
	__u32 switches;
};

/* The queue pair that a rank connects to in place of the next rank's: the switch takes it. */
static inline __u32 group_qpn(__u32 number, __u32 rank)
{
	return 0xc00000 | number << 8 | rank;
}

/* Find out which switches a group has: @at is filled. */
void group_find_switches(struct group *group);

/**
 * group_join() - make switches sum
 * @group: group
 * @command: that reaches a switch's rocesteer command; "%s" in it is the switch's name
 * @until: ns, by the clock of clock_ns(), when commands are ended
 * @err: what a switch has said last
 *
 * Return: 0 or a negative errno; then some of the switches may know the group.
 */
int group_join(struct group *group, const char *command, __u64 until, struct err *err);

/* Unload the group where group_join() has loaded it; @err as there, if a switch refuses. */
void group_leave(struct group *group, const char *command, __u64 until, struct err *err);

#endif /* ROCESTEER_PERF_GROUP_H */
