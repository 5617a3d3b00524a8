/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An All-Reduce that a switch sums (NetReduce), on one rank.
 *
 * A rank writes its buffer to the next rank, message by message, over an RC connection
 * whose other end is a virtual queue pair. The switch adds the payloads of all ranks,
 * replaces each payload by the sum, and the virtual queue pair by that of the receiver. So
 * each rank gets the sum from the rank before it. Without the switch no host has the
 * virtual queue pair, and nothing arrives.
 *
 * A message is posted when the result REDUCE_WINDOW messages before it has arrived.
 * Results have a buffer of their own: after a failure the input is unchanged.
 */
#ifndef ROCESTEER_LIB_RING_NETREDUCE_H
#define ROCESTEER_LIB_RING_NETREDUCE_H

#include "group.h"
#include "verbs/verbs.h"

#define NETREDUCE_FAILURE	256	/* of a text */
/* Bit of each wr_id of netreduce.c: a NIC may have other queue pairs as well. */
#define NIC_GUEST		0x4000000000000000ull
#define WINDOW_IOVA		0x10000000000ull	/* where each rank registers its window */
#define NETREDUCE_IOVA		(WINDOW_IOVA * 2)	/* of the buffer of results */

/**
 * struct netreduce_message - a message of a rank
 * @from: virtual address of the input
 * @to: virtual address of the sum at the next rank
 * @bytes: length
 */
struct netreduce_message {
	__u64 from;
	__u64 to;
	__u32 bytes;
};

/**
 * struct netreduce - connections of a group, and a run
 * @nic: device that the connections use
 * @group: group that switches sum for
 * @label: flow label of @out; 0: any
 * @tag: tag of the completions, see netreduce_tag()
 * @key: key of the buffer of results, which is as large as the input
 * @out: queue pair to the next rank, through the switch
 * @in: queue pair from the rank before
 * @mtu: enum ibv_mtu, the same on all ranks
 * @message: bytes of a message; the last may be shorter
 * @rkey: remote key of the next rank's results
 * @from: offset of the group's part of the buffer, in bytes
 * @bytes: size of this part
 * @messages: messages of a run
 * @list: these messages, of which more may come while they are sent; NULL: all of @message
 *	bytes, one after the other
 * @before: messages of all earlier runs, the same on all ranks
 * @posted: posted messages of this run
 * @sent: acknowledged messages of this run
 * @received: results of this run
 * @failure: reason of a failure, or empty
 */
struct netreduce {
	struct nic_device *nic;
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
	const struct netreduce_message *list;
	__u64 before;
	__u64 posted;
	__u64 sent;
	__u64 received;
	char failure[NETREDUCE_FAILURE];
};

/**
 * struct netreduce_card - addresses of a rank
 * @address: address of its NIC, with the key of its results
 * @out: queue pair that sends
 * @in: queue pair that receives results
 * @psn: random part of the first PSN that it sends
 */
struct netreduce_card {
	struct nic_address address;
	__u32 out;
	__u32 in;
	__u32 psn;
};

/* Completions that a group may have at a time. */
#define NETREDUCE_COMPLETIONS	(4 * REDUCE_WINDOW)

/**
 * netreduce_open() - create queue pairs
 * @netreduce: with @nic, @group, @label, @tag, @key set; to be stopped, also after a failure
 *
 * @nic is open, and its completion queue has room for NETREDUCE_COMPLETIONS more.
 *
 * Return: 0, or a negative errno with @nic->err set.
 */
int netreduce_open(struct netreduce *netreduce);

void netreduce_describe(const struct netreduce *netreduce, struct netreduce_card *card);

/* Bytes of a full packet's payload, by the cards of all ranks. */
__u32 netreduce_common_mtu(const struct group *group, const struct netreduce_card *cards);

/*
 * Connect rank @rank of the group, which switches know, by the cards of all its ranks; sets @mtu.
 * Return: as netreduce_open().
 */
int netreduce_connect(struct netreduce *netreduce, const struct netreduce_card *cards, __u32 rank);

/* Bytes of a full packet's payload, when connected. */
__u32 netreduce_mtu(const struct netreduce *netreduce);

/* Fill the queue pairs and PSN of a rank, for switches. */
void netreduce_put(const struct netreduce_card *card, struct group *group, __u32 rank);

/* Deal a part of the buffer to the group, when connected. */
void netreduce_deal(struct netreduce *netreduce, __u64 from, __u64 bytes);

/* Forget the last run, which all ranks have ended. */
void netreduce_reset(struct netreduce *netreduce);

/* Begin a run on all ranks, or go on with more messages; the rest is done in loop_wait(). */
void netreduce_start(struct netreduce *netreduce);

/* The owner of a completion, by @tag: its queue pairs may be gone. */
__u32 netreduce_tag(const struct ibv_wc *wc);

/* Handle a completion. */
void netreduce_completed(struct netreduce *netreduce, const struct ibv_wc *wc);

/* Is the run over? All results have arrived and all messages are sent, or it has failed. */
bool netreduce_is_over(const struct netreduce *netreduce);

/* Fail the run, unless it has failed before. */
void netreduce_fail(struct netreduce *netreduce, const char *fmt, ...) __printf(2, 3);

/* Destroy the queue pairs. */
void netreduce_stop(struct netreduce *netreduce);

#endif /* ROCESTEER_LIB_RING_NETREDUCE_H */
