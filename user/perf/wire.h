/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames over a TCP connection between two ranks. Numbers are in host order; a peer with
 * another byte order fails by its magic.
 *
 * Each end begins with a greeting, which has a nonce. Each frame ends with a tag over both
 * nonces, the number of the frame and the frame. The tag needs the token, so a frame is
 * complete, and comes from a rank of this run and over this connection. Nothing is kept
 * secret from a host that reads the connection.
 */
#ifndef ROCESTEER_PERF_WIRE_H
#define ROCESTEER_PERF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum frame_type {
	FRAME_HELLO,	/* __u32 rank, then settings as text */
	FRAME_DATA,	/* one step of rendezvous_gather() */
	FRAME_ERROR,	/* struct frame_error */
	FRAME_BYE,	/* empty: the end, and all is well */
};

#define WIRE_NONCE	16

/* The first message of each end. */
struct greeting {
	__u64 magic;		/* WIRE_MAGIC */
	__u8 nonce[WIRE_NONCE];
};

#define WIRE_MAGIC	0x7266706572663032ull	/* of this version alone */

/**
 * struct frame_head - begin of a frame
 * @type: enum frame_type
 * @length: bytes that follow, without 8 of the tag
 */
struct frame_head {
	__u32 type;
	__u32 length;
};

/**
 * struct frame - a received frame
 * @type: enum frame_type
 * @length: bytes of @data
 * @data: unaligned; valid until the next wire_read()
 */
struct frame {
	__u32 type;
	__u32 length;
	const char *data;
};

#define WIRE_CODE	32

/* A struct err in a frame. */
struct frame_error {
	__u32 exit_status;
	char code[WIRE_CODE];
	char message[512];
};

struct token;

/**
 * struct wire - a connection
 * @fd: socket, or -1
 * @token: token of the run
 * @timeout: limit for a write, ns
 * @limit: bytes of the longest frame that is accepted; may be changed
 * @mine: sent greeting
 * @theirs: received greeting; without magic before
 * @sent: number of frames sent
 * @received: number of frames received
 * @buf: received bytes
 * @used: bytes in @buf
 * @checked: bytes in @buf that are complete frames with right tags
 * @last: offset of the last of these frames
 * @room: size of @buf
 */
struct wire {
	int fd;
	const struct token *token;
	__u64 timeout;
	__u32 limit;
	struct greeting mine;
	struct greeting theirs;
	__u64 sent;
	__u64 received;
	char *buf;
	size_t used;
	size_t checked;
	size_t last;
	size_t room;
};

/**
 * wire_open() - take over a connected socket, and send the greeting
 * @wire: filled
 * @fd: socket; taken over on failure, too
 * @token: token of the run
 * @timeout: ns after which a peer that is gone is detected, and limit for a write
 * @limit: bytes of the longest frame that is accepted
 *
 * Return: 0 or a negative errno.
 */
int wire_open(struct wire *wire, int fd, const struct token *token,
	      __u64 timeout, __u32 limit);

void wire_close(struct wire *wire);

/* Close the connection after the other end has read all. */
void wire_close_gently(struct wire *wire, __u64 until);

/* Has the greeting arrived? Before, frames cannot be sent. */
bool wire_is_greeted(const struct wire *wire);

/* Return: 0 or a negative errno. */
int wire_send(struct wire *wire, enum frame_type type, const void *data,
	      size_t length);

/**
 * wire_read() - read what has arrived
 * @wire: connection
 *
 * A rank sends no frame before the answer to the last one, unless it fails. A peer that sends
 * more is refused.
 *
 * Return: 0, -EPIPE at the end, -EBADMSG for a wrong tag, -EPROTO for anything else that is
 * wrong, or another negative errno.
 */
int wire_read(struct wire *wire);

/* Get the first frame, or the last one. Return: false if there is none. */
bool wire_first(const struct wire *wire, struct frame *frame);
bool wire_last(const struct wire *wire, struct frame *frame);

/* Remove the first frame. */
void wire_next(struct wire *wire);

#endif /* ROCESTEER_PERF_WIRE_H */
