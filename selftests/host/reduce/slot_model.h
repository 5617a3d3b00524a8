/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group of hosts, switches that run kmod/reduce/slot.c, and links between them. The
 * hosts have RC connections that go back N. Each step is checked.
 *
 * There is one switch, or a tree: leaves with the same number of ranks each, in the order of
 * ranks, and a root. Rank r sends to rank r + 1, and the last to rank 0. The connection of the
 * last rank of a leaf crosses from leaf to leaf through the root. All others stay at their
 * leaf.
 *
 * A payload is symbolic: the ranks whose inputs are in the sum, and the position. A packet
 * that a switch holds is a number, which encodes connection, position and payload.
 */
#ifndef SLOT_MODEL_H
#define SLOT_MODEL_H

#include "kernel_types.h"
#include "../../../kmod/reduce/slot.h"

#define MODEL_RANKS	8
#define MODEL_LEAVES	4
#define MODEL_SWITCHES	(MODEL_LEAVES + 1)
#define MODEL_POSITIONS	32
#define MODEL_QUEUE	16
#define MODEL_SLOTS	32

/**
 * struct model_group - constants of a run
 * @ranks: 2..MODEL_RANKS
 * @leaves: of a tree, 2..MODEL_LEAVES, or 0: there is one switch
 * @window: messages in flight, at most
 * @packets: packets of a message, at most
 * @messages: of the run
 * @start: by message: position of its first packet; [messages]: positions in all
 * @complete: by position that comes next: messages before it that are complete
 * @psn: by rank: first PSN
 * @old_psn: by rank: first PSN of an earlier run
 * @ack_ends: only the last packet of a message is acknowledged, and what comes again
 * @liar: a rank that may send what it should not, or a negative number
 */
struct model_group {
	u32 ranks;
	u32 leaves;
	u32 window;
	u32 packets;
	u32 messages;
	u8 start[MODEL_POSITIONS + 1];
	u8 complete[MODEL_POSITIONS + 1];
	u32 psn[MODEL_RANKS];
	u32 old_psn[MODEL_RANKS];
	bool ack_ends;
	int liar;
};

/**
 * enum model_kind - kind of a packet, by its queue pair number
 * @MODEL_REAL: the number of the receiver's queue pair: no switch touches the packet
 * @MODEL_INPUT: of one rank, as its host sends it
 * @MODEL_PART: of the result: the sum of a leaf's ranks, on the way up
 * @MODEL_RESULT: on the way down to a leaf
 * @MODEL_ACK: it is an acknowledgment
 * @MODEL_NAK: the acknowledgment is a NAK; its PSN is the next one that is expected
 */
enum model_kind {
	MODEL_REAL,
	MODEL_INPUT,
	MODEL_PART,
	MODEL_RESULT,
	MODEL_ACK,
	MODEL_NAK,
};

#define MODEL_OLD	0x80	/* of an input: it is not of this run */
#define MODEL_CHANGED	0x40	/* of an input: its rank has the result, and has changed it */
#define MODEL_FLAGS	(MODEL_OLD | MODEL_CHANGED)

/**
 * struct model_payload - a sum of inputs
 * @input: position of the inputs that were added up, and MODEL_FLAGS
 * @ranks: whose inputs these are, a bit each; 0: there is no payload
 */
struct model_payload {
	u8 input;
	u8 ranks;
};

/**
 * struct model_frame - a packet on a link
 * @psn: 24 bits
 * @payload: of the packet
 * @kind: enum model_kind
 */
struct model_frame {
	u32 psn;
	struct model_payload payload;
	u16 kind;
};

/* A link: first in, first out. */
struct model_link {
	u64 nr;
	struct model_frame frame[MODEL_QUEUE];
};

enum model_hop {
	MODEL_UP,	/* sender to its switch */
	MODEL_DOWN,	/* switch to receiver */
	MODEL_BACK,	/* receiver to sender: acknowledgments */
	MODEL_TO_ROOT,	/* leaf to root: only where the connection crosses */
	MODEL_TO_LEAF,	/* root to the receiver's leaf */
	MODEL_HOPS
};

/**
 * struct model_conn - connection from a rank to the next one; positions
 * @acked: all before are acknowledged
 * @next: to be sent
 * @expected: by the receiver
 * @naked: the receiver has sent a NAK for @expected
 * @copied: a packet was copied: two late ones in a row look like a sender that goes back
 * @late_hop: hop of @late
 * @late: a copy of a packet that the network still has; its kind is MODEL_REAL: there is none
 * @link: by hop
 */
struct model_conn {
	u8 acked;
	u8 next;
	u8 expected;
	bool naked;
	bool copied;
	u8 late_hop;
	struct model_frame late;
	struct model_link link[MODEL_HOPS];
};

/**
 * struct model_world - state of a run, without the switches
 * @lost: a packet was lost
 * @broken: a switch was without its module: the run need not end
 * @conn: by rank of the sender
 */
struct model_world {
	bool lost;
	bool broken;
	struct model_conn conn[MODEL_RANKS];
};

/**
 * struct model_way - a connection, as a switch sees it
 * @came: positions that have come to the switch, a bit each
 * @arrived: position that the sender has come to, or -1
 * @back: position that came last, if the sender has been there before, or -1
 * @asked: first position that had not come when the switch nudged the receiver, or -1
 */
struct model_way {
	u32 came;
	s32 arrived;
	s32 back;
	s32 asked;
};

/**
 * struct model_switch - a switch, and its state of the group
 * @slots: the machine
 * @gone: the switch is without its module: it forwards all packets as they come
 * @nr_live: bits of @live
 * @nr_nudges: that the machine asked for in this step
 * @nr_left: packets that left in this step
 * @slow: what may leave waits for model_pump()
 * @sum: by index of slot: inputs that were added up
 * @result: by index of slot, of a leaf: what has come down
 * @way: by connection
 * @live: by connection and position: packets that the machine has, a bit each
 * @arrivals: by connection: packets that the machine got
 * @left: by connection: packets that left with a sum
 * @memory: of the slots
 */
struct model_switch {
	struct reduce_slots slots;
	bool gone;
	u32 nr_live;
	u32 nr_nudges;
	u32 nr_left;
	bool slow;
	struct model_payload sum[MODEL_SLOTS];
	struct model_payload result[MODEL_SLOTS];
	struct model_way way[MODEL_RANKS];
	u8 live[MODEL_RANKS][MODEL_POSITIONS];
	u64 arrivals[MODEL_RANKS];
	u64 left[MODEL_RANKS];
	u64 memory[MODEL_SLOTS * (sizeof(struct reduce_slot) / 8 + MODEL_RANKS)];
};

extern struct model_group model_group;
extern struct model_world model_world;
extern struct model_switch model_switch[];	/* leaves in their order, then the root */
extern const char *model_fault;		/* the first one, or NULL */
extern bool model_trace;		/* print each step */

static inline u32 model_switches(void)
{
	return model_group.leaves + 1;
}

/* Hops that a connection may have. */
static inline u32 model_hops(void)
{
	return model_group.leaves ? MODEL_HOPS : MODEL_TO_ROOT;
}

/* Nothing was sent yet. @lengths: packets of each message; the rest of the group is set. */
void model_begin(const u8 *lengths);
bool model_finished(void);
void model_end(void);

/* All switches are poisoned, or one of them. */
bool model_all_poisoned(void);
bool model_one_poisoned(void);

/* Steps. can: whether it is one now. @again: the packet will come once more. */
bool model_can_send(u32 rank);
void model_send(u32 rank);
void model_lie(u32 rank, u32 lie);
void model_deliver(u32 rank, enum model_hop hop, bool again);
void model_lose(u32 rank, enum model_hop hop);
bool model_can_copy(u32 rank, enum model_hop hop);	/* the copy will come late */
void model_copy(u32 rank, enum model_hop hop);
bool model_can_deliver_late(u32 rank);
void model_deliver_late(u32 rank);
void model_deliver_old(u32 rank, u32 position);	/* an input of an earlier run */
void model_pump(u32 index, u32 budget);	/* some of what may leave a switch leaves */
bool model_can_time_out(u32 rank);
void model_time_out(u32 rank);
void model_unload(u32 index);	/* the module of a switch: with all that it holds */
void model_load(u32 index);	/* the module again, and the group */

static inline bool model_can_deliver(u32 rank, enum model_hop hop)
{
	return model_world.conn[rank].link[hop].nr;
}

/* Nothing is under way: the timers of all that wait fire. Return: there were some. */
bool model_time_out_all(void);

/* Functions that slot_model.c, slot_switch.c and slot_kind.c share. */

void model_check(bool ok, const char *what);
void model_push(u32 rank, enum model_hop hop, struct model_frame frame);
u32 model_positions(void);
u32 model_psn(u32 rank, u32 position);
s32 model_position(u32 rank, u32 psn);
u8 model_everybody(void);

void model_switch_begin(struct model_switch *sw);
void model_switch_end(struct model_switch *sw);
void model_switch_count(const struct model_switch *sw);
void model_switch_receive(u32 rank, enum model_hop hop, struct model_frame frame);

/*
 * By the numbers of queue pairs: which packets a switch takes on a connection, how a packet
 * leaves the switch, and which packets a host takes. Who takes none drops them.
 */
bool model_switch_takes(const struct model_switch *sw, u32 conn, enum model_kind kind);
enum model_kind model_switch_sends(const struct model_switch *sw, u32 conn);
bool model_host_takes(enum model_kind kind);

static inline bool model_is_root(const struct model_switch *sw)
{
	return model_group.leaves && sw == &model_switch[model_group.leaves];
}

#endif /* SLOT_MODEL_H */
