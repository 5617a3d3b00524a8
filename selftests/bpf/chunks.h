/* SPDX-License-Identifier: GPL-2.0 */
/* The frames and tables of the files chunks*.c. */
#ifndef CHUNKS_H
#define CHUNKS_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "tables.h"
#include "../checksum.h"
#include "../../include/rocesteer/chunk.h"

#define MTU		256

enum {
	SEND_MIDDLE = 1,
	FIRST = 6,
	MIDDLE,
	LAST,
	LAST_IMM,
	ONLY,
	ONLY_IMM,
	READ,
};

/* A RoCE packet with room for a RETH and a payload. */
struct roce {
	struct udphdr udp;
	struct rocesteer_bth bth;
	struct rocesteer_reth reth;
	__u8 payload[MTU];
	__u32 icrc;
} __attribute__((packed));

struct frame4 {
	struct ethhdr eth;
	struct iphdr ip;
	struct roce roce;
} __attribute__((packed));

/**
 * struct steering - how packets are sent where their flows are steered
 * @how: for the names of results
 * @begin: behind begin()
 * @send: send a frame of a queue pair; @frame is set to what has left. Return: its priority
 */
struct steering {
	const char *how;
	void (*begin)(void);
	int (*send)(struct frame4 *frame, __u32 dqpn);
};

extern struct rocesteer_bpf *skel;

/* NULL: packets are sent by BPF_PROG_TEST_RUN, to rocesteer_chunk alone. */
extern const struct steering *steering;

/* Two jobs that write to the same addresses; one has the device. */
void begin(void);

struct rocesteer_flow_key flow_key(__u32 dqpn);
__u8 class_of(__u32 job, __u32 chunk);
bool has_class(__u32 dqpn, __u8 opcode, __u32 psn, int class);

/* Send the first packet of a message of @packets. Return: whether @class was given. */
bool begins(__u32 dqpn, __u32 psn, __u32 chunk, __u32 packets, int class);

struct rocesteer_count counted(__u32 job, __u16 class, __u16 dimension);

void test_messages(void);
void test_counts(void);
void test_random(void);

/* The same with flows that rocesteer_egress steers. */
void chunks_steered(void);

#endif /* CHUNKS_H */
