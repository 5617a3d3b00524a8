/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group of hosts, a switch that runs kmod/reduce/slot.c, and links between them. The
 * hosts have RC connections that go back N. Each step is checked.
 *
 * A payload is a symbol: whose inputs are in the sum, and of which position. A packet
 * that the switch holds is a number, from which rank, position and input can be read.
 */
#ifndef SLOT_MODEL_H
#define SLOT_MODEL_H

#include "kernel_types.h"
#include "../../kmod/reduce/slot.h"

#define MODEL_RANKS	8
#define MODEL_POSITIONS	32
#define MODEL_QUEUE	16
#define MODEL_SLOTS	32

/**
 * struct model_group - what does not change during a run
 * @ranks: 2..MODEL_RANKS
 * @window: messages in flight, at most
 * @packets: packets of a message, at most
 * @messages: of the run
 * @start: by message: position of its first packet; [messages]: positions in all
 * @complete: by position that comes next: messages before it that are complete
 * @psn: by rank: first PSN
 * @ack_ends: only the last packet of a message is acknowledged, and what comes again
 * @liar: a rank that may send what it should not, or a negative number
 */
struct model_group {
	u32 ranks;
	u32 window;
	u32 packets;
	u32 messages;
	u8 start[MODEL_POSITIONS + 1];
	u8 complete[MODEL_POSITIONS + 1];
	u32 psn[MODEL_RANKS];
	bool ack_ends;
	int liar;
};

/**
 * struct model_frame - a packet on a link
 * @psn: 24 bits
 * @input: position of the input, or of the inputs that were added up
 * @ranks: whose inputs are part of the payload, a bit each
 * @nak: an acknowledgment is a NAK; @psn is the next one that is expected
 * @length: 0: a packet without payload
 */
struct model_frame {
	u32 psn;
	u8 input;
	u8 ranks;
	u8 nak;
	u8 length;
};

/* A link: first in, first out. What is not used is zero, for the sake of the hash. */
struct model_link {
	u64 nr;
	struct model_frame frame[MODEL_QUEUE];
};

enum model_hop {
	MODEL_UP,	/* sender to switch */
	MODEL_DOWN,	/* switch to receiver */
	MODEL_BACK,	/* receiver to sender: acknowledgments */
	MODEL_HOPS
};

/**
 * struct model_conn - connection from a rank to the next one; positions
 * @acked: all before are acknowledged
 * @next: to be sent
 * @expected: by the receiver
 * @arrived: last one that came to the switch, or -1
 * @naked: the receiver has sent a NAK for @expected
 * @asked: first position that had not come when the switch nudged the receiver, or -1
 * @came: positions that have come to the switch, a bit each
 * @link: by hop
 */
struct model_conn {
	u8 acked;
	u8 next;
	u8 expected;
	s8 arrived;
	s8 asked;
	bool naked;
	u64 came;
	struct model_link link[MODEL_HOPS];
};

/**
 * struct model_world - what changes, but for the machine's own memory
 * @conn: by rank of the sender
 * @sum: by index of slot: inputs that were added up
 * @live: by rank and position: packets that the machine has, a bit each
 * @nr_live: bits of @live
 * @nr_nudges: that the machine asked for in this step
 * @lost: a packet was lost
 */
struct model_world {
	struct model_conn conn[MODEL_RANKS];
	struct {
		u8 input;
		u8 ranks;
	} sum[MODEL_SLOTS];
	u8 live[MODEL_RANKS][MODEL_POSITIONS];
	u32 nr_live;
	u32 nr_nudges;
	u64 lost;
};

extern struct model_group model_group;
extern struct model_world model_world;
extern struct reduce_slots model_slots;
extern u64 model_slot_memory[];
extern const char *model_fault;		/* the first one, or NULL */
extern bool model_trace;		/* print each step */

/* Nothing was sent yet. @lengths: packets of each message; the rest of the group is set. */
void model_begin(const u8 *lengths);
bool model_finished(void);
void model_end(void);

/* Steps. can: whether it is one now. @again: the packet will come once more. */
bool model_can_send(u32 rank);
void model_send(u32 rank);
void model_lie(u32 rank, u32 lie);
bool model_can_deliver(u32 rank, enum model_hop hop);
void model_deliver(u32 rank, enum model_hop hop, bool again);
void model_lose(u32 rank, enum model_hop hop);
bool model_can_time_out(u32 rank);
void model_time_out(u32 rank);

/* Nothing is under way: the timers of all that wait fire. Return: there were some. */
bool model_time_out_all(void);

#endif /* SLOT_MODEL_H */
