// SPDX-License-Identifier: GPL-2.0
/* The slots of a group, see slot.h. */
#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#endif

#include <rocesteer/roce.h>

#include "slot.h"

/* A PSN so far ahead is neither a duplicate nor the next one. */
#define SLOT_NUDGE_AHEAD	0x400000u

/* Return: index of the slot of a position, not negative. */
u32 reduce_slots_index(const struct reduce_slots *slots, s64 position)
{
	return (u64)position % slots->nr_slots;
}

static struct reduce_slot *slot_at(const struct reduce_slots *slots, u32 index)
{
	return slots->slot + index * reduce_slot_size(slots->nr_inputs);
}

static struct reduce_slot *slot_of(const struct reduce_slots *slots, s64 position)
{
	return slot_at(slots, reduce_slots_index(slots, position));
}

static u64 all_inputs(const struct reduce_slots *slots)
{
	return ~0ull >> (64 - slots->nr_inputs);
}

void reduce_slots_init(struct reduce_slots *slots)
{
	u32 i;

	memset(slots->slot, 0, slots->nr_slots * reduce_slot_size(slots->nr_inputs));
	for (i = 0; i < slots->nr_slots; i++)
		slot_at(slots, i)->position = REDUCE_NO_POSITION;
	for (i = 0; i < reduce_slots_conns(slots); i++) {
		slots->conn[i].nudged = REDUCE_NO_POSITION;
		slots->conn[i].last = REDUCE_NO_POSITION;
		slots->conn[i].back = REDUCE_NO_POSITION;
	}
}

static void slot_hold(struct reduce_slots *slots, struct reduce_slot *slot, u32 c,
		      void *packet)
{
	slot->packet[c] = packet;
	slots->held++;
}

static void *slot_release(struct reduce_slots *slots, struct reduce_slot *slot, u32 c)
{
	void *packet = slot->packet[c];

	if (packet)
		slots->held--;
	slot->packet[c] = NULL;
	return packet;
}

static void slot_empty(struct reduce_slots *slots, struct reduce_slot *slot)
{
	void *packet;
	u32 c;

	for (c = 0; c < slots->nr_inputs; c++) {
		packet = slot_release(slots, slot, c);
		if (packet)
			reduce_slots_drop(slots, packet);
	}
}

void reduce_slots_poison(struct reduce_slots *slots, enum reduce_poison why, u32 c)
{
	u32 i;

	if (slots->poison)
		return;
	slots->poison = why;
	slots->poison_conn = c;
	for (i = 0; i < slots->nr_slots; i++)
		slot_empty(slots, slot_at(slots, i));
}

/* Position of a PSN, less than 2^23 away from the next one */
static s64 conn_position(const struct reduce_conn *conn, u32 psn)
{
	return conn->next + rocesteer_psn_diff(psn, conn->psn + (u32)conn->next);
}

bool reduce_slots_any(const struct reduce_slots *slots)
{
	u32 c;

	for (c = 0; c < reduce_slots_conns(slots); c++)
		if (slots->conn[c].last != REDUCE_NO_POSITION)
			return true;
	return false;
}

u32 reduce_slots_used(const struct reduce_slots *slots, u32 c)
{
	return (slots->conn[c].psn + (u32)slots->conn[c].next) & ROCESTEER_PSN_MASK;
}

bool reduce_psn_is_apart(u32 psn, u32 used)
{
	s32 ahead = rocesteer_psn_diff(psn, used);

	return used == REDUCE_NO_PSN || ahead >= REDUCE_PSN_APART || ahead <= -REDUCE_PSN_APART;
}

/*
 * Packets leave in order. If the sender has gone back, a packet waits until the sender has
 * repeated it. Otherwise the acknowledgment would overtake the repeated packets, which
 * confuses the PSNs of rxe in Linux 7.2.
 */
static bool conn_may_leave(const struct reduce_slots *slots, const struct reduce_slot *slot,
			   u32 c)
{
	const struct reduce_conn *conn = &slots->conn[c];
	bool ready = reduce_slots_goes_up(slots, c) ? slot->summed : slot->done;

	return slot->position == conn->out && ready && slot->packet[c] &&
	       conn->out <= conn->last;
}

/* Return: whether the budget lasts. */
static bool conn_pump(struct reduce_slots *slots, u32 c, u32 *budget)
{
	struct reduce_conn *conn = &slots->conn[c];
	struct reduce_slot *slot = slot_of(slots, conn->out);

	while (conn_may_leave(slots, slot, c)) {
		if (!*budget)
			return false;
		--*budget;
		conn->results++;
		reduce_slots_emit(slots, c, slot, slot_release(slots, slot, c));
		slot = slot_of(slots, ++conn->out);
	}
	return true;
}

void reduce_slots_pump(struct reduce_slots *slots, u32 budget)
{
	while (slots->pending && conn_pump(slots, __builtin_ctzll(slots->pending), &budget))
		slots->pending &= slots->pending - 1;
}

/*
 * A sender goes back to the first packet that the receiver has not acknowledged, and sends all
 * packets from there. A single packet that comes again is a duplicate of the network: nothing
 * need follow it.
 */
static void conn_follow(struct reduce_conn *conn, s64 position)
{
	bool goes_back = conn->back != REDUCE_NO_POSITION && position == conn->back + 1 &&
			 position <= conn->last;

	conn->restarts += goes_back;
	conn->back = position > conn->last || goes_back ? REDUCE_NO_POSITION : position;
	if (position > conn->last || goes_back)
		conn->last = position;
}

/*
 * Does an input come again with another payload? One of them is of an earlier run. Once the sum
 * is complete, the rank may have the result, and have changed its input.
 */
static bool slot_disagrees(const struct reduce_slots *slots, const struct reduce_slot *slot, u32 c,
			   const void *packet)
{
	return !slot->summed && slot->packet[c] &&
	       !reduce_slots_equal(slots, slot, slot->packet[c], packet);
}

/* The sum is complete: the packet carries it again, at once if the sum has left before. */
static void slot_replay(struct reduce_slots *slots, struct reduce_slot *slot, u32 c,
			void *packet)
{
	struct reduce_conn *conn = &slots->conn[c];
	void *before;

	conn->replays++;
	if (slot->position < conn->out) {
		conn->results++;
		reduce_slots_emit(slots, c, slot, packet);
		return;
	}
	before = slot_release(slots, slot, c);
	if (before)
		reduce_slots_drop(slots, before);
	slot_hold(slots, slot, c, packet);
}

/* An input before this packet is missing. A receiver asks once for each PSN. */
static void conn_gap(struct reduce_slots *slots, u32 c, const void *packet)
{
	struct reduce_conn *conn = &slots->conn[c];

	if (conn->nudged == conn->next)
		return;
	conn->nudged = conn->next;
	conn->gaps++;
	reduce_slots_nudge(slots, c, (conn->psn + (u32)conn->next + SLOT_NUDGE_AHEAD) &
			   ROCESTEER_PSN_MASK, packet);
}

static void conn_advance(struct reduce_slots *slots, u32 c)
{
	struct reduce_conn *conn = &slots->conn[c];
	struct reduce_slot *slot = slot_of(slots, conn->next);

	while (slot->position == conn->next && slot->inputs >> c & 1)
		slot = slot_of(slots, ++conn->next);
}

static void slot_done(struct reduce_slots *slots, struct reduce_slot *slot)
{
	slot->done = true;
	while (slot->position == slots->done && slot->done)
		slot = slot_of(slots, ++slots->done);
}

static void slot_complete(struct reduce_slots *slots, struct reduce_slot *slot)
{
	reduce_slots_sum(slots, slot);
	slot->summed = true;
	if (!slots->leaf)
		slot_done(slots, slot);
	slots->pending = all_inputs(slots);
}

static void slot_input(struct reduce_slots *slots, struct reduce_slot *slot, u32 c,
		       void *packet)
{
	struct reduce_conn *conn = &slots->conn[c];

	if (slot->inputs >> c & 1) {
		conn->duplicates++;
		reduce_slots_drop(slots, packet);
		return;
	}
	conn->inputs++;
	slot->inputs |= 1ull << c;
	slot_hold(slots, slot, c, packet);
	if (slot->position > conn->next)
		conn_gap(slots, c, packet);
	else
		conn_advance(slots, c);
	if (slot->inputs == all_inputs(slots))
		slot_complete(slots, slot);
}

/* The result of a slot has arrived at a leaf. It leaves at once: its receiver detects gaps. */
static void slot_result(struct reduce_slots *slots, struct reduce_slot *slot, u32 down,
			void *packet)
{
	struct reduce_conn *conn = &slots->conn[down];
	bool first = !slot->done;

	conn->next = max(conn->next, slot->position + 1);
	if (first) {
		conn->inputs++;
		reduce_slots_take(slots, slot, packet);
		slot_done(slots, slot);
		slots->pending = all_inputs(slots);
	} else {
		conn->replays++;
	}
	conn->results++;
	reduce_slots_emit(slots, down, slot, packet);
}

static bool shape_equal(const struct reduce_shape *a, const struct reduce_shape *b)
{
	return a->offset == b->offset && a->dma_length == b->dma_length &&
	       a->imm == b->imm && a->length == b->length && a->opcode == b->opcode;
}

/*
 * A rank is at most its window, half of the slots, ahead of the results. So no rank waits for a
 * packet in a slot that is reused, unless it has exceeded its window. A result contains the
 * inputs of this leaf, which have arrived before. A packet that is elsewhere is dropped: it is
 * forged, or of an earlier run.
 */
static bool slot_is_beyond(const struct reduce_slots *slots, const struct reduce_slot *slot,
			   u32 c, s64 position)
{
	if (position < 0 || position >= slots->done + slots->nr_slots / 2)
		return true;
	return reduce_slots_comes_down(slots, c) && slot->position <= position &&
	       !(slot->position == position && slot->summed);
}

/* Return: why a packet poisons the group, or REDUCE_ALIVE. */
static enum reduce_poison slot_check(const struct reduce_slots *slots,
				     const struct reduce_slot *slot, u32 c, s64 position,
				     const struct reduce_shape *shape, const void *packet)
{
	if (!shape->length)
		return REDUCE_EMPTY;
	if (slot->position != position)
		return REDUCE_ALIVE;
	if (!shape_equal(&slot->shape, shape) ||
	    (!reduce_slots_comes_down(slots, c) && slot_disagrees(slots, slot, c, packet)))
		return REDUCE_DISAGREE;
	return REDUCE_ALIVE;
}

static void slot_begin(struct reduce_slots *slots, struct reduce_slot *slot, s64 position,
		       const struct reduce_shape *shape)
{
	slot_empty(slots, slot);
	slot->position = position;
	slot->inputs = 0;
	slot->summed = false;
	slot->done = false;
	slot->shape = *shape;
}

bool reduce_slots_receive(struct reduce_slots *slots, u32 c, u32 psn,
			  const struct reduce_shape *shape, enum reduce_poison why,
			  void *packet)
{
	struct reduce_conn *conn = &slots->conn[c];
	s64 position = conn_position(conn, psn);
	struct reduce_slot *slot = slot_of(slots, position);

	if (slots->poison || slot_is_beyond(slots, slot, c, position)) {
		conn->beyond += !slots->poison;
		reduce_slots_drop(slots, packet);
		return false;
	}
	/* A packet older than the slots also shows that its sender has gone back. */
	conn_follow(conn, position);
	why = why ?: slot_check(slots, slot, c, position, shape, packet);
	if (why) {
		reduce_slots_poison(slots, why, c);
		reduce_slots_drop(slots, packet);
		return false;
	}
	if (slot->position > position) {
		conn->stale++;
		reduce_slots_drop(slots, packet);
		return true;
	}
	if (reduce_slots_comes_down(slots, c)) {
		slot_result(slots, slot, c, packet);
		return true;
	}
	if (slot->position < position)
		slot_begin(slots, slot, position, shape);
	if (slot->summed)
		slot_replay(slots, slot, c, packet);
	else
		slot_input(slots, slot, c, packet);
	slots->pending |= 1ull << c;
	return true;
}
