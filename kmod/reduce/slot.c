// SPDX-License-Identifier: GPL-2.0
/* The slots of a group: slot.h says what they are for. */
#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#endif

#include <rocesteer/roce.h>

#include "slot.h"

/* A PSN so far ahead is no duplicate and cannot be the next one. */
#define SLOT_NUDGE_AHEAD	0x400000u

/* Return: index of the slot of a position, which is not negative. */
u32 reduce_slots_index(const struct reduce_slots *slots, s64 position)
{
	return (u64)position % slots->nr_slots;
}

static struct reduce_slot *slot_at(const struct reduce_slots *slots, u32 index)
{
	return slots->slot + index * reduce_slot_size(slots->nr_ranks);
}

static struct reduce_slot *slot_of(const struct reduce_slots *slots, s64 position)
{
	return slot_at(slots, reduce_slots_index(slots, position));
}

static u64 all_ranks(const struct reduce_slots *slots)
{
	return ~0ull >> (64 - slots->nr_ranks);
}

void reduce_slots_init(struct reduce_slots *slots)
{
	u32 i;

	memset(slots->slot, 0, slots->nr_slots * reduce_slot_size(slots->nr_ranks));
	for (i = 0; i < slots->nr_slots; i++)
		slot_at(slots, i)->position = REDUCE_NO_POSITION;
	for (i = 0; i < slots->nr_ranks; i++) {
		slots->conn[i].nudged = REDUCE_NO_POSITION;
		slots->conn[i].last = REDUCE_NO_POSITION;
	}
}

static void slot_hold(struct reduce_slots *slots, struct reduce_slot *slot, u32 rank,
		      void *packet)
{
	slot->packet[rank] = packet;
	slots->held++;
}

static void *slot_release(struct reduce_slots *slots, struct reduce_slot *slot, u32 rank)
{
	void *packet = slot->packet[rank];

	if (packet)
		slots->held--;
	slot->packet[rank] = NULL;
	return packet;
}

static void slot_empty(struct reduce_slots *slots, struct reduce_slot *slot)
{
	void *packet;
	u32 r;

	for (r = 0; r < slots->nr_ranks; r++) {
		packet = slot_release(slots, slot, r);
		if (packet)
			reduce_slots_drop(slots, packet);
	}
}

void reduce_slots_poison(struct reduce_slots *slots, enum reduce_poison why, u32 rank)
{
	u32 i;

	if (slots->poison)
		return;
	slots->poison = why;
	slots->poison_rank = rank;
	for (i = 0; i < slots->nr_slots; i++)
		slot_empty(slots, slot_at(slots, i));
}

/* The position of a PSN that is less than 2^23 away from what comes next. */
static s64 conn_position(const struct reduce_conn *conn, u32 psn)
{
	return conn->next + rocesteer_psn_diff(psn, conn->psn + (u32)conn->next);
}

/*
 * Results leave in order. The sender may have gone back: then no result leaves before the
 * sender has come to it. Otherwise its acknowledgment would overtake the packets that the
 * sender repeats; rxe of Linux 7.2 loses count of its PSNs then.
 */
static bool conn_may_leave(const struct reduce_conn *conn, const struct reduce_slot *slot,
			   u32 rank)
{
	return slot->position == conn->out && slot->done && slot->packet[rank] &&
	       conn->out <= conn->last;
}

static void conn_pump(struct reduce_slots *slots, u32 rank)
{
	struct reduce_conn *conn = &slots->conn[rank];
	struct reduce_slot *slot = slot_of(slots, conn->out);

	while (conn_may_leave(conn, slot, rank)) {
		reduce_slots_emit(slots, rank, slot, slot_release(slots, slot, rank));
		conn->results++;
		slot = slot_of(slots, ++conn->out);
	}
	conn->out_most = max(conn->out_most, conn->out);
}

/*
 * A sender that goes back begins with the first packet that its receiver has not
 * acknowledged. A sender that leaves out what has left before knows that the receiver
 * has it, or the receiver will ask for it.
 */
static void conn_follow(struct reduce_conn *conn, s64 position)
{
	bool restart = position <= conn->last;

	conn->restarts += restart;
	conn->last = position;
	if (position <= conn->out_most && (restart || position > conn->out))
		conn->out = position;
}

/* The sum is complete: the packet carries it once more, when it is its turn. */
static void slot_replay(struct reduce_slots *slots, struct reduce_slot *slot, u32 rank,
			void *packet)
{
	struct reduce_conn *conn = &slots->conn[rank];
	void *before;

	if (slot->position < conn->out) {
		conn->stale++;
		reduce_slots_drop(slots, packet);
		return;
	}
	conn->replays++;
	before = slot_release(slots, slot, rank);
	if (before)
		reduce_slots_drop(slots, before);
	slot_hold(slots, slot, rank, packet);
}

/* An input is missing before this packet. A receiver asks once for each PSN. */
static void conn_gap(struct reduce_slots *slots, u32 rank, const void *packet)
{
	struct reduce_conn *conn = &slots->conn[rank];

	if (conn->nudged == conn->next)
		return;
	conn->nudged = conn->next;
	conn->gaps++;
	reduce_slots_nudge(slots, rank, (conn->psn + (u32)conn->next + SLOT_NUDGE_AHEAD) &
			   ROCESTEER_PSN_MASK, packet);
}

static void conn_advance(struct reduce_slots *slots, u32 rank)
{
	struct reduce_conn *conn = &slots->conn[rank];
	struct reduce_slot *slot = slot_of(slots, conn->next);

	while (slot->position == conn->next && slot->ranks >> rank & 1)
		slot = slot_of(slots, ++conn->next);
}

static void slot_complete(struct reduce_slots *slots, struct reduce_slot *slot)
{
	u32 r;

	reduce_slots_sum(slots, slot);
	slot->done = true;
	while (slot->position == slots->done && slot->done)
		slot = slot_of(slots, ++slots->done);
	for (r = 0; r < slots->nr_ranks; r++)
		conn_pump(slots, r);
}

static void slot_input(struct reduce_slots *slots, struct reduce_slot *slot, u32 rank,
		       void *packet)
{
	struct reduce_conn *conn = &slots->conn[rank];

	if (slot->ranks >> rank & 1) {
		conn->duplicates++;
		reduce_slots_drop(slots, packet);
		return;
	}
	conn->inputs++;
	slot->ranks |= 1ull << rank;
	slot_hold(slots, slot, rank, packet);
	if (slot->position > conn->next)
		conn_gap(slots, rank, packet);
	else
		conn_advance(slots, rank);
	if (slot->ranks == all_ranks(slots))
		slot_complete(slots, slot);
}

static bool shape_equal(const struct reduce_shape *a, const struct reduce_shape *b)
{
	return a->offset == b->offset && a->dma_length == b->dma_length &&
	       a->imm == b->imm && a->length == b->length && a->opcode == b->opcode;
}

/*
 * What is wrong with a packet, or REDUCE_ALIVE. A rank is at most its window, half of the
 * slots, ahead of the sums that are complete. So a slot that is used again has no packet
 * that anybody waits for, unless the one who waits has sent what it should not.
 */
static enum reduce_poison slot_check(const struct reduce_slots *slots,
				     const struct reduce_slot *slot, s64 position,
				     const struct reduce_shape *shape)
{
	if (position < 0 || position >= slots->done + slots->nr_slots / 2)
		return REDUCE_BEYOND;
	if (!shape->length)
		return REDUCE_EMPTY;
	if (slot->position == position && !shape_equal(&slot->shape, shape))
		return REDUCE_DISAGREE;
	return REDUCE_ALIVE;
}

static void slot_begin(struct reduce_slots *slots, struct reduce_slot *slot, s64 position,
		       const struct reduce_shape *shape)
{
	slot_empty(slots, slot);
	slot->position = position;
	slot->ranks = 0;
	slot->done = false;
	slot->shape = *shape;
}

void reduce_slots_receive(struct reduce_slots *slots, u32 rank, u32 psn,
			  const struct reduce_shape *shape, void *packet)
{
	struct reduce_conn *conn = &slots->conn[rank];
	s64 position = conn_position(conn, psn);
	struct reduce_slot *slot = slot_of(slots, position);
	enum reduce_poison why = slot_check(slots, slot, position, shape);

	if (slots->poison || why) {
		reduce_slots_poison(slots, why, rank);
		reduce_slots_drop(slots, packet);
		return;
	}
	/* A packet of before what the slots remember, too, tells that its sender goes back. */
	conn_follow(conn, position);
	if (slot->position > position) {
		conn->stale++;
		reduce_slots_drop(slots, packet);
		return;
	}
	if (slot->position < position)
		slot_begin(slots, slot, position, shape);
	if (slot->done)
		slot_replay(slots, slot, rank, packet);
	else
		slot_input(slots, slot, rank, packet);
	conn_pump(slots, rank);
}
