/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages that wait for a NIC, in the order of the plan. A NIC keeps the order in which it
 * gets messages, so it gets few at a time: a dimension works on one stage at a time, and
 * later stages only fill gaps. Pure.
 */
#ifndef ROCESTEER_PERF_OUTBOX_H
#define ROCESTEER_PERF_OUTBOX_H

#include "engine.h"

#define OUTBOX_LEAST	2u	/* one is being sent, one is next */

/**
 * struct outbox - messages of a NIC
 * @message: ring of messages: those that the NIC has, then @nr that wait
 * @room: size of the ring: all messages of a run
 * @first: first message that waits
 * @nr: number of messages that wait
 * @most: messages that the NIC may have
 * @enough: bytes above which the NIC gets no more than OUTBOX_LEAST messages
 * @under_way: bytes that have left, and are not acknowledged yet, when a link is busy: the NIC
 *	gets OUTBOX_LEAST messages more
 * @given: messages that the NIC has
 * @bytes: bytes of these
 */
struct outbox {
	struct message *message;
	__u32 room;
	__u32 first;
	__u32 nr;
	__u32 most;
	__u64 enough;
	__u64 under_way;
	__u32 given;
	__u64 bytes;
};

/* @room, @most and @enough are set. Return: 0 or -ENOMEM. */
int outbox_init(struct outbox *outbox);

void outbox_free(struct outbox *outbox);

/* Add a message, after those of its stage and of earlier stages. */
void outbox_put(struct outbox *outbox, const struct message *message);

/**
 * outbox_get() - the next message for the NIC
 * @outbox: outbox
 * @index: set to its number, for outbox_done()
 *
 * Return: the message, or NULL while the NIC has enough.
 */
const struct message *outbox_get(struct outbox *outbox, __u32 *index);

/* A message has left. Return: the message. */
const struct message *outbox_done(struct outbox *outbox, __u32 index);

#endif /* ROCESTEER_PERF_OUTBOX_H */
