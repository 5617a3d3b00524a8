/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames over a TCP connection between two ranks. Numbers are as the machine
 * has them: one with another byte order is a stranger by its magic.
 */
#ifndef ROCESTEER_PERF_WIRE_H
#define ROCESTEER_PERF_WIRE_H

#include <stddef.h>
#include <linux/types.h>

#define WIRE_MAX_LENGTH	(128u << 20)

enum frame_type {
	FRAME_HELLO,	/* __u32 rank, then settings as text */
	FRAME_DATA,	/* one step of rendezvous_gather() */
	FRAME_ERROR,	/* struct frame_error */
	FRAME_BYE,	/* empty: the end, and all is well */
};

/**
 * struct frame - what each frame begins with
 * @magic: WIRE_MAGIC
 * @type: enum frame_type
 * @length: bytes that follow, at most WIRE_MAX_LENGTH
 */
struct frame {
	__u32 magic;
	__u32 type;
	__u32 length;
};

#define WIRE_MAGIC	0x52537031u	/* another version has another one */

#define WIRE_CODE	32

/* A struct err on its way. */
struct frame_error {
	__u32 exit_status;
	char code[WIRE_CODE];
	char message[512];
};

/**
 * struct wire - a connection
 * @fd: socket, -1: none
 * @buf: read, but not taken yet
 * @used: bytes of it
 * @room: allocated
 */
struct wire {
	int fd;
	char *buf;
	size_t used;
	size_t room;
};

/**
 * wire_open() - take over a connected socket
 * @wire: filled
 * @fd: the socket
 * @timeout: ns, in which a peer that is gone without a word is found out, and
 *	which a write waits
 */
void wire_open(struct wire *wire, int fd, __u64 timeout);

void wire_close(struct wire *wire);

/* Close it when the other end has read all. */
void wire_close_gently(struct wire *wire, __u64 until);

/* Return: 0 or a negative errno. */
int wire_send(struct wire *wire, enum frame_type type, const void *data,
	      size_t length);

/* Read what there is. Return: 0, -EPIPE at the end, or a negative errno. */
int wire_read(struct wire *wire);

/* The first frame, when it is complete, else NULL. */
const struct frame *wire_frame(const struct wire *wire);

/* The last frame that is complete, or NULL. */
const struct frame *wire_last(const struct wire *wire);

/* Forget the first frame. */
void wire_next(struct wire *wire);

#endif /* ROCESTEER_PERF_WIRE_H */
