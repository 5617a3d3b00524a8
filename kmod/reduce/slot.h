/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of a group: which packets wait, which sums are complete, and when a result may
 * leave on which connection. slot.c has no dependencies: the module and a model checker,
 * selftests/host/reduce/test_slot.c, compile it and define the functions at the end of this file.
 *
 * Rank r sends its input to rank r + 1. The switch replaces the input by the sum of all
 * ranks. The position of a packet is its PSN less the first PSN of its connection. Packets of
 * all connections at one position share a slot; positions that differ by the number of slots
 * share memory. With W messages in flight of at most P packets, 2 W P slots are enough and W
 * P are not, see Documentation/reduce.rst.
 *
 * A connection is told from its earlier runs by its PSNs alone, see reduce_psn_is_apart().
 *
 * A leaf sums the inputs of its own ranks, which is a part of the result. The connection of
 * its last rank carries the part to the root, which sums the parts of all leaves. The
 * connection that enters the leaf, from the last rank of another leaf to the first rank of
 * this leaf, brings the result. A part is never sent to a host.
 */
#ifndef REDUCE_SLOT_H
#define REDUCE_SLOT_H

#include <linux/types.h>

#define REDUCE_MAX_RANKS	64

/* No position, and the position before the first one */
#define REDUCE_NO_POSITION	(-1)

/* No PSN: a connection has had no run. */
#define REDUCE_NO_PSN		0xffffffffu

/* PSNs between a run of a connection and the next one, either way */
#define REDUCE_PSN_APART	0x400000

/**
 * struct reduce_shape - what packets of all connections at one position have in common
 * @offset: address in the RETH less the base of the receiver's memory; 0 without RETH
 * @dma_length: length in the RETH, bytes; 0 without RETH
 * @imm: immediate, host order; 0 without one
 * @length: bytes of payload, without padding
 * @opcode: of the BTH
 */
struct reduce_shape {
	u64 offset;
	u32 dma_length;
	u32 imm;
	u16 length;
	u8 opcode;
};

/**
 * struct reduce_slot - packets of all connections at one position
 * @position: REDUCE_NO_POSITION: the slot was never used
 * @inputs: bit mask of connections whose input has arrived
 * @summed: the sum is complete
 * @done: the result is available: the sum, or what the root has sent to a leaf
 * @shape: shape of all packets
 * @packet: waiting packets by connection, or NULL. Opaque to slot.c
 */
struct reduce_slot {
	s64 position;
	u64 inputs;
	bool summed;
	bool done;
	struct reduce_shape shape;
	void *packet[];
};

/**
 * struct reduce_conn - a connection from a rank to the next one
 * @psn: first PSN
 * @next: first position whose input has not arrived; for the connection that brings results,
 *	the position behind all of them
 * @nudged: value of @next when the receiver was nudged last
 * @last: highest position that the sender has sent since it went back
 * @back: position of the latest packet if @last is not before it, or REDUCE_NO_POSITION. If
 *	the next packet follows it, the sender has gone back; if not, it was a duplicate
 * @out: position of the next packet to leave for the first time
 * @inputs: packets that were summed, or brought a result
 * @duplicates: packets dropped as their input is in an incomplete sum already
 * @replays: retransmissions that carried a complete sum
 * @stale: packets dropped as they are older than the slots
 * @beyond: packets dropped as they are further ahead or behind than a rank can be, or a result
 *	arrived before the inputs
 * @gaps: missing inputs
 * @restarts: times that the sender went back
 * @results: packets that left with the result or a part
 */
struct reduce_conn {
	u32 psn;
	s64 next;
	s64 nudged;
	s64 last;
	s64 back;
	s64 out;
	u64 inputs;
	u64 duplicates;
	u64 replays;
	u64 stale;
	u64 beyond;
	u64 gaps;
	u64 restarts;
	u64 results;
};

/**
 * enum reduce_poison - why a group is poisoned, so that nothing is summed for it
 * @REDUCE_ALIVE: the group is not poisoned
 * @REDUCE_DISAGREE: packets at one position have different shapes, or a packet comes again
 *	with another payload
 * @REDUCE_EMPTY: a packet has no payload
 * @REDUCE_BEYOND: not used any more
 * @REDUCE_ROUTE: the packets of a rank changed their route
 * @REDUCE_DEVICE: a device of waiting packets goes down
 * @REDUCE_GONE: the group is being removed
 */
enum reduce_poison {
	REDUCE_ALIVE,
	REDUCE_DISAGREE,
	REDUCE_EMPTY,
	REDUCE_BEYOND,
	REDUCE_ROUTE,
	REDUCE_DEVICE,
	REDUCE_GONE,
};

/**
 * struct reduce_slots - slots and connections of a group, on one switch
 * @nr_inputs: connections that bring inputs, 1..REDUCE_MAX_RANKS; on a leaf 1 less at most
 * @nr_slots: 2 W P
 * @leaf: the sum is a part of the result. Connection @nr_inputs - 1 carries the part up,
 *	connection @nr_inputs brings the result down
 * @done: position before which all results are available
 * @poison: enum reduce_poison; does not change back until the group is joined again
 * @poison_conn: connection of the packet that poisoned the group, if a packet did
 * @held: waiting packets
 * @pending: connections on which packets may be able to leave, a bit each
 * @slot: @nr_slots of them, reduce_slot_size() bytes each
 * @conn: connections: those that bring inputs in the order of ranks, then the one that
 *	brings results
 *
 * The caller holds a lock.
 */
struct reduce_slots {
	u32 nr_inputs;
	u32 nr_slots;
	bool leaf;
	s64 done;
	u32 poison;
	u32 poison_conn;
	u64 held;
	u64 pending;
	void *slot;
	struct reduce_conn conn[REDUCE_MAX_RANKS];
};

/* Bytes of a slot with @nr_inputs inputs */
static inline size_t reduce_slot_size(u32 nr_inputs)
{
	return sizeof(struct reduce_slot) + nr_inputs * sizeof(void *);
}

static inline u32 reduce_slots_conns(const struct reduce_slots *slots)
{
	return slots->nr_inputs + slots->leaf;
}

/* Does a connection carry the part of a leaf to the root? */
static inline bool reduce_slots_goes_up(const struct reduce_slots *slots, u32 conn)
{
	return slots->leaf && conn + 1 == slots->nr_inputs;
}

/* Does a connection bring the result to a leaf? */
static inline bool reduce_slots_comes_down(const struct reduce_slots *slots, u32 conn)
{
	return slots->leaf && conn == slots->nr_inputs;
}

/* Reset the slots. @nr_inputs, @nr_slots, @leaf, @slot and @conn[].psn are set, all else is 0. */
void reduce_slots_init(struct reduce_slots *slots);

/*
 * Receive a packet of a connection, which is consumed. @why: REDUCE_ALIVE, or why the packet
 * poisons the group if its rank may be at the position. Return: whether the rank may be there, and
 * the group is not poisoned.
 */
bool reduce_slots_receive(struct reduce_slots *slots, u32 conn, u32 psn,
			  const struct reduce_shape *shape, enum reduce_poison why,
			  void *packet);

/* Let at most @budget packets leave that need not wait. @pending: there may be more. */
void reduce_slots_pump(struct reduce_slots *slots, u32 budget);

/* Poison a group, unless it is, for a packet of @conn, and drop all waiting packets. */
void reduce_slots_poison(struct reduce_slots *slots, enum reduce_poison why,
			 u32 conn);

/* Has any packet come where its rank may be? */
bool reduce_slots_any(const struct reduce_slots *slots);

/* PSN behind those that a connection has received in order */
u32 reduce_slots_used(const struct reduce_slots *slots, u32 conn);

/*
 * May a connection whose last run ended at PSN @used begin a run at @psn? A late packet of that
 * run is then beyond the window, for as long as the network can hold it.
 */
bool reduce_psn_is_apart(u32 psn, u32 used);

/* Index of the slot of a position */
u32 reduce_slots_index(const struct reduce_slots *slots, s64 position);

/* The waiting packet of a connection in a slot, or NULL */
static inline void *reduce_slots_packet(const struct reduce_slots *slots, u32 index, u32 conn)
{
	const struct reduce_slot *slot = slots->slot + index * reduce_slot_size(slots->nr_inputs);

	return slot->packet[conn];
}

/*
 * Functions that slot.c calls, with the lock of @slots held:
 *
 * reduce_slots_sum() - add up the inputs of a slot
 * reduce_slots_take() - copy the result of a slot from a packet that brought it to a leaf
 * reduce_slots_emit() - send a packet of @conn with the sum of its slot if
 *	reduce_slots_goes_up(), otherwise with the result; consumes the packet
 * reduce_slots_equal() - do two packets of a slot have the same payload?
 * reduce_slots_nudge() - make the receiver of @conn ask for what is missing: @psn is out of
 *	order; @packet is a packet of @conn, whose headers may be copied
 * reduce_slots_drop() - free a packet
 */
void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot);
void reduce_slots_take(struct reduce_slots *slots, const struct reduce_slot *slot,
		       const void *packet);
void reduce_slots_emit(struct reduce_slots *slots, u32 conn,
		       const struct reduce_slot *slot, void *packet);
bool reduce_slots_equal(const struct reduce_slots *slots, const struct reduce_slot *slot,
			const void *a, const void *b);
void reduce_slots_nudge(struct reduce_slots *slots, u32 conn, u32 psn,
			const void *packet);
void reduce_slots_drop(struct reduce_slots *slots, void *packet);

#endif /* REDUCE_SLOT_H */
