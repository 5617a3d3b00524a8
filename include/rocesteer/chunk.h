/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types of the pinned maps that say which chunk of a collective a message
 * belongs to; user/lib/chunk/chunk_plan.h has what chunks, stages and dimensions are. As in
 * types.h: addresses are 16 bytes, all else is in host order.
 */
#ifndef ROCESTEER_CHUNK_TABLE_H
#define ROCESTEER_CHUNK_TABLE_H

#include "types.h"

/* Bounds of the tables, over all jobs; a table that is full refuses. */
#define ROCESTEER_MAX_CHUNKS	65536
#define ROCESTEER_MAX_RANGES	1048576
#define ROCESTEER_MAX_COUNTS	2048

#define ROCESTEER_MAX_STAGES	16	/* of a chunk */
#define ROCESTEER_MAX_CLASSES	8	/* the first is 0: none */

/* Messages of more than one packet that a flow has in flight, at most. */
#define ROCESTEER_MAX_MESSAGES	64

/**
 * struct rocesteer_chunk_job - a job that has chunks, value of rs_chunk_jobs, key
 * is its number
 * @hash: of its plan, as rocesteer chunk plan prints it
 * @nr_chunks: of the plan
 * @nr_classes: highest class
 * @dscp: by class, DSCP that packets get, 0..63; of class 0 it is not used
 * @none: tag of packets of no chunk
 */
struct rocesteer_chunk_job {
	__u64 hash;
	__u32 nr_chunks;
	__u32 nr_classes;
	__u8 dscp[ROCESTEER_MAX_CLASSES];
	struct rocesteer_tag none;
};

/* Key of rs_chunks. */
struct rocesteer_chunk_key {
	__u32 job;
	__u32 chunk;
};

/**
 * struct rocesteer_chunk - a chunk, value of rs_chunks
 * @offset: in the buffer, bytes
 * @bytes: of it
 * @nr_stages: that it goes through
 * @reserved: zero
 * @dimension: by stage
 * @class: by stage, 1..nr_classes; the higher, the sooner it shall go
 */
struct rocesteer_chunk {
	__u64 offset;
	__u64 bytes;
	__u32 nr_stages;
	__u32 reserved;
	__u8 dimension[ROCESTEER_MAX_STAGES];
	__u8 class[ROCESTEER_MAX_STAGES];
};

/**
 * struct rocesteer_range_key - key of rs_ranges
 * @job: job that writes to it
 * @peer: whose memory it is: @peer of struct rocesteer_ranges
 * @index: 0.. by rising address
 */
struct rocesteer_range_key {
	__u32 job;
	__u32 peer;
	__u32 index;
};

/**
 * struct rocesteer_range - part of a peer's memory, value of rs_ranges
 * @start: address, as in the RETH of a WRITE
 * @length: bytes
 * @chunk: that is written there
 * @stage: of the chunk
 * @tag: of that stage: the programs look for no chunk
 */
struct rocesteer_range {
	__u64 start;
	__u64 length;
	__u32 chunk;
	__u32 stage;
	struct rocesteer_tag tag;
};

/**
 * struct rocesteer_ranges - the ranges of a peer's memory, value of rs_range_peers, key is
 * struct rocesteer_peer_key
 * @peer: number of the peer among those of its job, in the keys of rs_ranges, which are short
 * @nr: entries of rs_ranges
 */
struct rocesteer_ranges {
	__u32 peer;
	__u32 nr;
};

/**
 * struct rocesteer_tags - messages that a flow sent last, value of rs_tags, key is
 * struct rocesteer_flow_key
 * @job: job the flow belongs to
 * @next: where the next message is noted, modulo ROCESTEER_MAX_MESSAGES
 * @recent: where the last packet's is
 * @ranges: of the peer's memory
 * @at: key of the range that was found last
 * @sender: SO_COOKIE of the socket that its packets have, as in struct
 *	rocesteer_flow_path
 * @none: tag of packets of no chunk
 * @near: the range that was found last; of length 0 before the first
 * @message: ring of recent messages of several packets; the newest is before @next. If
 *	two contain a PSN, the newer one wins
 * @packets: requests by class; those of the flow's message are added when the next begins
 */
struct rocesteer_tags {
	__u32 job;
	__u32 next;
	__u32 recent;
	struct rocesteer_ranges ranges;
	struct rocesteer_range_key at;
	__u64 sender;
	struct rocesteer_tag none;
	struct rocesteer_range near;
	struct rocesteer_message message[ROCESTEER_MAX_MESSAGES];
	__u64 packets[ROCESTEER_MAX_CLASSES];
};

/*
 * Key of rs_chunk_counts, whose value is an index of rs_chunk_sums; there is one for class 0
 * and no dimension.
 */
struct rocesteer_count_key {
	__u32 job;
	__u16 class;
	__u16 dimension;
};

/**
 * struct rocesteer_count - what a job sent of a class in a dimension, per CPU, value
 * of rs_chunk_sums; index 0 is nobody's
 * @messages: WRITEs whose first packet was sent, again or not
 * @packets: request packets
 * @bytes: of their frames
 */
struct rocesteer_count {
	__u64 messages;
	__u64 packets;
	__u64 bytes;
};

_Static_assert(sizeof(struct rocesteer_chunk_job) == 32, "padding");
_Static_assert(sizeof(struct rocesteer_chunk) == 56, "padding");
_Static_assert(sizeof(struct rocesteer_range_key) == 12, "padding");
_Static_assert(sizeof(struct rocesteer_range) == 32, "padding");
_Static_assert(sizeof(struct rocesteer_tags) ==
	       80 + ROCESTEER_MAX_MESSAGES * 16 + ROCESTEER_MAX_CLASSES * 8,
	       "padding");
_Static_assert(sizeof(struct rocesteer_count_key) == 8, "padding");

#endif /* ROCESTEER_CHUNK_TABLE_H */
