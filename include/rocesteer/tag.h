/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What packets get of the chunk that they are of, in the tables of chunk.h and in the entries of
 * flows.
 */
#ifndef ROCESTEER_TAG_H
#define ROCESTEER_TAG_H

#include <linux/types.h>

/**
 * struct rocesteer_tag - what a packet gets
 * @class: of its chunk's stage; 0: its address is not in the table
 * @dimension: or ROCESTEER_NO_DIMENSION
 * @dscp: 0..63, or ROCESTEER_NO_DSCP
 * @reserved: zero
 * @count: where the packet is counted, index of rs_chunk_sums
 */
struct rocesteer_tag {
	__u8 class;
	__u8 dimension;
	__u8 dscp;
	__u8 reserved;
	__u32 count;
};

#define ROCESTEER_NO_DIMENSION	0xff
#define ROCESTEER_NO_DSCP	0x40	/* the packet keeps its own */

/**
 * struct rocesteer_message - PSNs of a message
 * @psn: the first
 * @packets: how many; 0: none
 * @tag: of all of them
 */
struct rocesteer_message {
	__u32 psn;
	__u32 packets;
	struct rocesteer_tag tag;
};

_Static_assert(sizeof(struct rocesteer_message) == 16, "padding");

#endif /* ROCESTEER_TAG_H */
