/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An All-Reduce that a switch sums (NetReduce), on one rank.
 *
 * A rank writes its buffer to the rank after it, message by message, over an RC connection
 * whose other end is a virtual queue pair: the switch sums what all ranks write, puts the sum
 * in the place of each rank's payload, and the receiver's queue pair in the place of the
 * virtual one. So each rank gets the sum from the rank before it. Without the switch nobody
 * has such a queue pair, and nothing arrives.
 *
 * A message is posted when the result NETREDUCE_WINDOW messages before it has arrived. Results
 * have a buffer of their own: when something fails, the input is as it was.
 */
#ifndef ROCESTEER_PERF_NETREDUCE_H
#define ROCESTEER_PERF_NETREDUCE_H

#include "group.h"
#include "nic.h"

#define NETREDUCE_WINDOW	2u	/* messages in flight, at most */
#define NETREDUCE_FAILURE	256	/* of a text */
#define NETREDUCE_IOVA		(WINDOW_IOVA * 2)	/* of the buffer of results */

/**
 * struct netreduce - the connections of a group, and a run
 * @nic: whose device is used
 * @group: group; its switches sum
 * @label: flow label of @out; 0: any
 * @tag: of its completions, see netreduce_tag()
 * @key: of the buffer of results, which is as large as the input
 * @out: queue pair to the next rank, by way of the switch
 * @in: queue pair from the rank before
 * @mtu: enum ibv_mtu, the same on all ranks
 * @message: bytes of a message, the last may be shorter
 * @rkey: of the next rank's results
 * @from: bytes of the buffer before the part that is the group's
 * @bytes: of that part
 * @messages: of a run
 * @before: messages of all runs before, the same on all ranks
 * @posted: messages of this run
 * @sent: likewise, that are acknowledged
 * @received: results of this run
 * @failure: why it has failed, empty: it has not
 */
struct netreduce {
	struct nic *nic;
	const struct group *group;
	__u32 label;
	__u32 tag;
	__u32 key;
	struct ibv_qp *out;
	struct ibv_qp *in;
	enum ibv_mtu mtu;
	__u64 message;
	__u32 rkey;
	__u64 from;
	__u64 bytes;
	__u64 messages;
	__u64 before;
	__u64 posted;
	__u64 sent;
	__u64 received;
	char failure[NETREDUCE_FAILURE];
};

/**
 * struct netreduce_card - what a rank tells of itself
 * @address: of its NIC, with the key of its results
 * @out: queue pair that it sends by
 * @in: queue pair that it receives results by
 */
struct netreduce_card {
	struct nic_address address;
	__u32 out;
	__u32 in;
};

/* Completions of a NIC that a group may have at a time, beside those of the NIC's plan. */
#define NETREDUCE_COMPLETIONS	(4 * NETREDUCE_WINDOW)

/**
 * netreduce_open() - get queue pairs
 * @netreduce: with @nic, @group, @label, @tag, @key set; to be stopped, also after a failure
 *
 * @nic is open, with room for NETREDUCE_COMPLETIONS.
 *
 * Return: 0, or a negative errno with @nic->err set.
 */
int netreduce_open(struct netreduce *netreduce);

void netreduce_describe(const struct netreduce *netreduce, struct netreduce_card *card);

/* With the cards of all ranks: @mtu is known then. Return: as netreduce_open(). */
int netreduce_connect(struct netreduce *netreduce, const struct netreduce_card *cards);

/* Bytes of a full packet's payload, when connected. */
__u32 netreduce_mtu(const struct netreduce *netreduce);

/* Add to what a switch has to know of a rank. */
void netreduce_tell(const struct netreduce_card *card, struct group_rank *rank);

/* Deal a part of the buffer to the group, when connected. */
void netreduce_deal(struct netreduce *netreduce, __u64 from, __u64 bytes);

/* Forget the run before, when all ranks have ended it. */
void netreduce_reset(struct netreduce *netreduce);

/* Begin a run, when all ranks are ready: the rest happens in loop_wait(). */
void netreduce_start(struct netreduce *netreduce);

/* Whose completion it is, by @tag: it may be that of queue pairs that are gone. */
__u32 netreduce_tag(const struct ibv_wc *wc);

/* Take a completion. */
void netreduce_completed(struct netreduce *netreduce, const struct ibv_wc *wc);

/* The run is over: all results are here and all messages sent, or it has failed. */
bool netreduce_is_over(const struct netreduce *netreduce);

/* Give up, unless it has failed before. */
void netreduce_fail(struct netreduce *netreduce, const char *fmt, ...) __printf(2, 3);

/* Nothing is sent and received any more: there are no queue pairs. */
void netreduce_stop(struct netreduce *netreduce);

#endif /* ROCESTEER_PERF_NETREDUCE_H */
