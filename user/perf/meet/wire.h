/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames over a TCP connection between two ranks. Numbers are in host order; a peer with
 * another byte order, or of another version, fails by its magic.
 */
#ifndef ROCESTEER_PERF_WIRE_H
#define ROCESTEER_PERF_WIRE_H

#include <stddef.h>
#include <linux/types.h>

enum frame_type {
	FRAME_HELLO,	/* __u32 rank, then settings as text */
	FRAME_DATA,	/* one step of rendezvous_gather() */
	FRAME_ERROR,	/* struct frame_error: the end */
	FRAME_BYE,	/* empty: the end, and all is well */
};

#define WIRE_MAGIC	0x7266706572663033ull	/* of this version alone */

/**
 * struct frame_head - begin of a frame
 * @magic: WIRE_MAGIC
 * @type: enum frame_type
 * @length: bytes that follow
 */
struct frame_head {
	__u64 magic;
	__u32 type;
	__u32 length;
};

/**
 * struct frame - a received frame
 * @type: enum frame_type
 * @length: bytes of @data
 * @data: to be freed; a NUL follows
 */
struct frame {
	__u32 type;
	__u32 length;
	char *data;
};

#define WIRE_CODE	32

/* A struct err in a frame. */
struct frame_error {
	__u32 exit_status;
	char code[WIRE_CODE];
	char message[512];
};

/**
 * struct wire - a connection
 * @fd: socket
 * @timeout: limit for a write, ns
 * @limit: bytes of the longest frame that is accepted; may be changed
 * @head: head of the frame that arrives
 * @data: its data; NULL: the head is not complete
 * @got: bytes of both that are here
 */
struct wire {
	int fd;
	__u64 timeout;
	__u32 limit;
	struct frame_head head;
	char *data;
	size_t got;
};

/**
 * wire_open() - take over a connected socket
 * @wire: filled
 * @fd: socket
 * @timeout: ns after which a peer that is gone is detected, and limit for a write
 * @limit: bytes of the longest frame that is accepted
 */
void wire_open(struct wire *wire, int fd, __u64 timeout, __u32 limit);

void wire_close(struct wire *wire);

/* Send no more, and wait until the other end has read all and closes. */
void wire_drain(const struct wire *wire, __u64 until);

/* Return: 0 or a negative errno. */
int wire_send(const struct wire *wire, enum frame_type type, const void *data, __u32 length);

/**
 * wire_read() - read what has arrived, up to the end of a frame
 * @wire: connection
 * @frame: filled with the frame
 *
 * Return: 1, 0 if no frame is complete, -EPIPE at the end, -EPROTO for what is no frame or
 * a longer one, or another negative errno.
 */
int wire_read(struct wire *wire, struct frame *frame);

#endif /* ROCESTEER_PERF_WIRE_H */
