/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of a group: which packets wait, which sum is complete, and when a result may
 * leave on which connection. Pure: compiled into the module and into a model checker,
 * selftests/host/test_slot.c. Who compiles slot.c defines the functions reduce_slots_*
 * at the end of this file.
 *
 * Rank r sends its input to rank r + 1, which receives the sum of all ranks in its place,
 * in the packets of rank r. The position of a packet is its PSN less the first PSN of its
 * connection. Packets of all connections at one position are one slot; positions that differ
 * by the number of slots share memory. Documentation/reduce.rst says why 2 W P slots are
 * enough and W P are not, where each of W messages in flight has at most P packets.
 *
 * A leaf has the inputs of its own ranks only. Their sum is a part of the result. The
 * connection of the leaf's last rank carries the part to the root, which sums the parts of
 * all leaves. The connection that enters the leaf, from the last rank of another leaf to the
 * first rank of this one, brings the result. A part never leaves to a host.
 */
#ifndef REDUCE_SLOT_H
#define REDUCE_SLOT_H

#include <linux/types.h>

#define REDUCE_MAX_RANKS	64

/* Positions behind no packet, and before the first one. */
#define REDUCE_NO_POSITION	(-1)

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
 * @inputs: connections whose input has come, a bit each
 * @summed: all inputs have been added up
 * @done: the result is there. It is the sum, or has come down to a leaf
 * @shape: of all its packets
 * @packet: by connection: a packet that waits, for others or for its turn, or NULL. What a
 *	packet is only the functions at the end of this file know
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
 * @next: first position whose input has not come. Of the connection that brings results:
 *	position behind all that have come
 * @nudged: value of @next for which the receiver was nudged last
 * @last: position that came last; a packet at or before it shows that the sender has gone
 *	back
 * @out: position of the next packet to leave
 * @out_most: position behind all packets that have left
 * @inputs: packets that became part of a sum, or have brought a result
 * @duplicates: packets whose input was part of an incomplete sum already, dropped
 * @replays: packets that came again for a sum that is complete, which they carry
 * @stale: packets from before what the slots remember, or whose result has left since
 *	the sender went back, dropped
 * @gaps: times that an input was missing
 * @restarts: times that the sender went back
 * @results: packets that left with the result, or with a part of it
 */
struct reduce_conn {
	u32 psn;
	s64 next;
	s64 nudged;
	s64 last;
	s64 out;
	s64 out_most;
	u64 inputs;
	u64 duplicates;
	u64 replays;
	u64 stale;
	u64 gaps;
	u64 restarts;
	u64 results;
};

/**
 * enum reduce_poison - why nothing is summed for a group any more
 * @REDUCE_ALIVE: it is
 * @REDUCE_DISAGREE: packets at one position have different shapes
 * @REDUCE_EMPTY: a packet has no payload
 * @REDUCE_BEYOND: a packet is further ahead than a rank can be, or a result has come before
 *	the inputs
 * @REDUCE_ROUTE: packets of a rank come by another way than those before
 * @REDUCE_DEVICE: a device goes down for which packets waited
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
 * @done: position before which all results are there
 * @poison: enum reduce_poison; a group that is poisoned remains so
 * @poison_conn: whose packet did it, where a packet did
 * @held: packets that wait now
 * @slot: @nr_slots of them, reduce_slot_size() bytes each
 * @conn: connections: those that bring inputs in the order of ranks, then the one that
 *	brings results
 *
 * The lock is the caller's care.
 */
struct reduce_slots {
	u32 nr_inputs;
	u32 nr_slots;
	bool leaf;
	s64 done;
	u32 poison;
	u32 poison_conn;
	u64 held;
	void *slot;
	struct reduce_conn conn[REDUCE_MAX_RANKS];
};

/* Bytes of a slot of so many inputs. */
static inline size_t reduce_slot_size(u32 nr_inputs)
{
	return sizeof(struct reduce_slot) + nr_inputs * sizeof(void *);
}

static inline u32 reduce_slots_conns(const struct reduce_slots *slots)
{
	return slots->nr_inputs + slots->leaf;
}

/* A connection carries the part of a leaf to the root. */
static inline bool reduce_slots_goes_up(const struct reduce_slots *slots, u32 conn)
{
	return slots->leaf && conn + 1 == slots->nr_inputs;
}

/* A connection brings the result to a leaf. */
static inline bool reduce_slots_comes_down(const struct reduce_slots *slots, u32 conn)
{
	return slots->leaf && conn == slots->nr_inputs;
}

/**
 * reduce_slots_init() - no packet has come yet
 * @slots: with @nr_inputs, @nr_slots, @leaf, @slot and @conn[].psn set, otherwise zeroed
 */
void reduce_slots_init(struct reduce_slots *slots);

/**
 * reduce_slots_receive() - a packet of a connection has come
 * @slots: slots
 * @conn: its number, below reduce_slots_conns()
 * @psn: 24 bits
 * @shape: of the packet
 * @packet: it is taken: it waits, leaves or is dropped
 *
 * Context: Holds the lock of @slots.
 */
void reduce_slots_receive(struct reduce_slots *slots, u32 conn, u32 psn,
			  const struct reduce_shape *shape, void *packet);

/**
 * reduce_slots_poison() - from now on nothing is summed and nothing leaves
 * @slots: slots
 * @why: reason, where there was none before
 * @conn: whose packet did it
 *
 * All packets that wait are dropped. Context: Holds the lock of @slots.
 */
void reduce_slots_poison(struct reduce_slots *slots, enum reduce_poison why,
			 u32 conn);

/* Index of a slot, by position. */
u32 reduce_slots_index(const struct reduce_slots *slots, s64 position);

/* The packet of an input's connection that waits in a slot, or NULL. */
static inline void *reduce_slots_packet(const struct reduce_slots *slots, u32 index, u32 conn)
{
	const struct reduce_slot *slot = slots->slot + index * reduce_slot_size(slots->nr_inputs);

	return slot->packet[conn];
}

/*
 * What slot.c needs. All are called with the lock of @slots held.
 *
 * reduce_slots_sum() - all inputs of a slot are in its packets: add them up
 * reduce_slots_take() - a packet has brought the result of a slot to a leaf: keep a copy
 * reduce_slots_emit() - let a packet of @conn leave: with the sum of its slot, where
 *	reduce_slots_goes_up(), and otherwise with the result; takes it
 * reduce_slots_nudge() - the receiver of @conn shall ask for what is missing; @psn cannot be
 *	next; @packet is one of @conn's, whose headers may be copied
 * reduce_slots_drop() - free a packet
 */
void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot);
void reduce_slots_take(struct reduce_slots *slots, const struct reduce_slot *slot,
		       const void *packet);
void reduce_slots_emit(struct reduce_slots *slots, u32 conn,
		       const struct reduce_slot *slot, void *packet);
void reduce_slots_nudge(struct reduce_slots *slots, u32 conn, u32 psn,
			const void *packet);
void reduce_slots_drop(struct reduce_slots *slots, void *packet);

#endif /* REDUCE_SLOT_H */
