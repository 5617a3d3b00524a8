/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of a NIC on their way out, those that the plan has first ahead of
 * those it has later. What a NIC has been given stays in that order, so it is
 * given little: as a plan has it, a dimension works on one stage at a time, and
 * the next ones only fill the gaps. Pure.
 */
#ifndef ROCESTEER_PERF_OUTBOX_H
#define ROCESTEER_PERF_OUTBOX_H

#include "engine.h"

#define OUTBOX_LEAST	2u	/* one is being sent, one is next */

/**
 * struct outbox - messages of one NIC
 * @message: of a run, a ring: given to the NIC, then @nr that wait
 * @room: messages of a run: none is overwritten before the run is over
 * @first: that waits
 * @nr: that wait
 * @most: messages that the NIC may have
 * @enough: bytes after which it gets no more than OUTBOX_LEAST
 * @given: messages that it has
 * @bytes: of them
 */
struct outbox {
	struct message *message;
	__u32 room;
	__u32 first;
	__u32 nr;
	__u32 most;
	__u64 enough;
	__u32 given;
	__u64 bytes;
};

/* With @room, @most and @enough set. Return: 0 or -ENOMEM. */
int outbox_init(struct outbox *outbox);

void outbox_free(struct outbox *outbox);

/* Keep a message, behind those of its stage and of earlier ones. */
void outbox_put(struct outbox *outbox, const struct message *message);

/**
 * outbox_get() - the message that the NIC is to be given next
 * @outbox: outbox
 * @index: set to its number, for outbox_done()
 *
 * Return: the message, or NULL while the NIC has enough.
 */
const struct message *outbox_get(struct outbox *outbox, __u32 *index);

/* A message has left. Return: the message. */
const struct message *outbox_done(struct outbox *outbox, __u32 index);

#endif /* ROCESTEER_PERF_OUTBOX_H */
