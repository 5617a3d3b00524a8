// SPDX-License-Identifier: GPL-2.0
#include "outbox.h"

#include <errno.h>
#include <stdlib.h>

int outbox_init(struct outbox *outbox)
{
	outbox->message = calloc(outbox->room + 1, sizeof(*outbox->message));
	return outbox->message ? 0 : -ENOMEM;
}

void outbox_free(struct outbox *outbox)
{
	free(outbox->message);
}

static struct message *waiting(const struct outbox *outbox, __u32 i)
{
	return &outbox->message[(outbox->first + i) % outbox->room];
}

void outbox_put(struct outbox *outbox, const struct message *message)
{
	__u32 at = outbox->nr++;

	for (; at && waiting(outbox, at - 1)->order > message->order; at--)
		*waiting(outbox, at) = *waiting(outbox, at - 1);
	*waiting(outbox, at) = *message;
}

const struct message *outbox_get(struct outbox *outbox, __u32 *index)
{
	const struct message *message;
	__u64 least;

	if (!outbox->nr || outbox->given == outbox->most)
		return NULL;
	message = waiting(outbox, 0);
	least = OUTBOX_LEAST * message->elements * ELEMENT;
	if (outbox->given >= OUTBOX_LEAST && outbox->bytes >= outbox->enough &&
	    (!outbox->under_way || outbox->bytes >= outbox->under_way + least))
		return NULL;
	*index = outbox->first;
	outbox->first = (outbox->first + 1) % outbox->room;
	outbox->nr--;
	outbox->given++;
	outbox->bytes += message->elements * ELEMENT;
	return message;
}

const struct message *outbox_done(struct outbox *outbox, __u32 index)
{
	const struct message *message = &outbox->message[index];

	outbox->given--;
	outbox->bytes -= message->elements * ELEMENT;
	return message;
}
