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

#define NETREDUCE_WINDOW	2u	/* messages in flight */

/**
 * struct netreduce - the connections, and a run
 * @nic: whose device is used
 * @bytes: of the input
 * @group: number of the group
 * @packets: of a message
 * @results: buffer, as large as the input
 * @mr: of @results
 * @out: queue pair to the next rank, by way of the switch
 * @in: queue pair from the rank before
 * @mtu: enum ibv_mtu, the same on all ranks
 * @message: bytes of a message, the last may be shorter
 * @rkey: of the next rank's results
 * @messages: of a run
 * @before: messages of all runs before, the same on all ranks
 * @posted: messages of this run
 * @sent: likewise, that are acknowledged
 * @received: results of this run
 * @failure: why it has failed, empty: it has not
 */
struct netreduce {
	struct nic *nic;
	__u64 bytes;
	__u32 group;
	__u32 packets;
	void *results;
	struct ibv_mr *mr;
	struct ibv_qp *out;
	struct ibv_qp *in;
	enum ibv_mtu mtu;
	__u64 message;
	__u32 rkey;
	__u64 messages;
	__u64 before;
	__u64 posted;
	__u64 sent;
	__u64 received;
	char failure[128];
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

/* Completions of a NIC that a run may have at a time, beside those of its plan. */
#define NETREDUCE_COMPLETIONS	(4 * NETREDUCE_WINDOW)

/**
 * netreduce_open() - get ready
 * @netreduce: with @nic, @bytes, @group, @packets set; to be closed, also after a failure
 *
 * @nic is open, with room for NETREDUCE_COMPLETIONS.
 *
 * Return: 0, or a negative errno with @nic->err set.
 */
int netreduce_open(struct netreduce *netreduce);

/* Closed before its NIC. */
void netreduce_close(struct netreduce *netreduce);

void netreduce_describe(const struct netreduce *netreduce, struct netreduce_card *card);

/* With the cards of all ranks: @mtu is known then. Return: as netreduce_open(). */
int netreduce_connect(struct netreduce *netreduce, const struct netreduce_card *cards);

/* Bytes of a full packet's payload, when connected. */
__u32 netreduce_mtu(const struct netreduce *netreduce);

/* What the switch has to know of a rank. */
struct group_rank netreduce_rank(const struct netreduce_card *card);

/* Forget the run before, when all ranks have ended it. */
void netreduce_reset(struct netreduce *netreduce);

/* Begin a run, when all ranks are ready: the rest happens in loop_wait(). */
void netreduce_start(struct netreduce *netreduce);

/* The run is over: all results are here and all messages sent, or it has failed. */
bool netreduce_is_over(const struct netreduce *netreduce);

/* Give up, unless it has failed before. */
void netreduce_fail(struct netreduce *netreduce, const char *fmt, ...) __printf(2, 3);

/* Nothing is sent and received any more. */
void netreduce_stop(struct netreduce *netreduce);

#endif /* ROCESTEER_PERF_NETREDUCE_H */
