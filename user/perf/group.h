/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The group of ranks whose writes a switch sums, and the command by which the switch is told
 * of it: "COMMAND reduce load -", run by sh, reads the group as JSON.
 */
#ifndef ROCESTEER_PERF_GROUP_H
#define ROCESTEER_PERF_GROUP_H

#include "base/base.h"

#define GROUP_MAX	16383u	/* number of a group */
#define GROUP_RANKS	64u	/* at most */
#define GROUP_PACKETS	4096u	/* of all messages in flight */

/**
 * struct group_rank - what the switch has to know of a rank
 * @address: of its NIC, as addr.h has it
 * @qpn: its queue pair that receives results
 * @psn: first that it sends
 * @va: where its results begin, as writes to it say
 */
struct group_rank {
	__u8 address[16];
	__u32 qpn;
	__u32 psn;
	__u64 va;
};

/**
 * struct group - what the switch has to know
 * @command: that reaches the rocesteer command of the switch
 * @number: 0..GROUP_MAX
 * @type: of the elements, as the switch calls it
 * @mtu: bytes of a full packet's payload
 * @packets: of a message, at most
 * @window: messages in flight, at most
 * @rank: in the order of the ring
 * @ranks: 2..GROUP_RANKS
 */
struct group {
	const char *command;
	__u32 number;
	const char *type;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	const struct group_rank *rank;
	__u32 ranks;
};

/* The queue pair that a rank connects to in place of the next rank's: the switch takes it. */
static inline __u32 group_qpn(__u32 number, __u32 rank)
{
	return 0xc00000 | number << 8 | rank;
}

/**
 * group_load() - make the switch sum
 * @group: group
 * @timeout: ns, after which the command is ended
 * @err: says what the command has said last
 *
 * Return: 0 or a negative errno.
 */
int group_load(const struct group *group, __u64 timeout, struct err *err);

/* The reverse; @command and @number are enough. */
int group_unload(const struct group *group, __u64 timeout, struct err *err);

#endif /* ROCESTEER_PERF_GROUP_H */
