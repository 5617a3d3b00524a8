/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of the switch, and packets of their ranks, for the files packets*.c. */
#ifndef PACKETS_LIFE_H
#define PACKETS_LIFE_H

#define PACKET_ROOM	4608
#include "../../packets.h"

#define VIRTUAL		0xc00000u
#define REAL		0x128000u	/* differs from that in two bytes */
#define GROUPS		128		/* numbers that are used one after the other */
#define LIVES		4		/* groups at a time */
#define RANKS		4
#define POSITIONS	48
#define OTHERS		4		/* inputs of a rank at one position, that are remembered */
#define MTU_MOST	4096
#define TIME_SCALE	20000		/* packets within which an undisturbed group ends */

/* A payload that a rank has sent for a position */
struct input {
	__u32 len;
	__u8 *data;
};

/**
 * struct life - a group from when it is loaded to when it is unloaded
 * @group: its number
 * @serial: no other life has it
 * @v6: family
 * @forged: mutated packets may have the right ICRC
 * @ranks: 2..RANKS
 * @mtu: bytes
 * @packets: of a message
 * @window: messages
 * @positions: in all
 * @sent: packets, mutated ones too
 * @psn: by rank: first one
 * @next: by rank: position
 * @seen: by rank of the sender: results that left, a bit each
 * @inputs: by rank and position: how many
 * @input: the first OTHERS of them
 */
struct life {
	__u32 group;
	__u32 serial;
	bool v6;
	bool forged;
	__u32 ranks;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	__u32 positions;
	__u32 sent;
	__u32 psn[RANKS];
	__u32 next[RANKS];
	__u64 seen[RANKS];
	__u32 inputs[RANKS][POSITIONS];
	struct input input[RANKS][POSITIONS][OTHERS];
};

/**
 * struct view - a packet as a receiver sees it
 * @qpn: destination, if it is one of RC
 * @psn: 24 bits
 * @opcode: of the BTH
 * @payload: begin
 * @len: bytes of payload
 */
struct view {
	__u32 qpn;
	__u32 psn;
	__u8 opcode;
	const __u8 *payload;
	size_t len;
};

extern struct life lives[LIVES];
extern struct count {
	unsigned long sent, valid, mutated, forged, gso, lives, ended;
	unsigned long left, results, nudges, strangers, unsure;
} count;

static inline __u32 mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x >> 32;
}

/* The same for all ranks of a life at a position, or for the words of an input. */
static inline __u32 chance(const struct life *life, __u32 what, __u32 position, __u32 word)
{
	return mix((__u64)life->serial << 40 ^ (__u64)what << 32 ^ (__u64)position << 16 ^ word);
}

/* Groups */
void address(char *text, const struct life *life, __u32 rank);
__u64 memory(const struct life *life, __u32 rank);

/* Packets as their rank has to send them, and mutated */
void make(struct packet *p, const struct life *life, __u32 rank, __u32 position);
void make_mutated(struct packet *p, const struct life *life, __u32 rank, __u32 position,
		  bool empty, bool right);

/* Packets as a receiver sees them, and whether they may leave */
__u32 extension(__u8 opcode);
bool look(const struct packet *p, int tags, struct view *view);
bool is_virtual(const struct view *view);
void know(const struct view *view);
void note_input(const struct packet *p, const struct view *view);
void check_packet(const struct packet *p);

#endif /* PACKETS_LIFE_H */
