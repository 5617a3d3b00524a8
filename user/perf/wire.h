/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames over a TCP connection between two ranks. Numbers are as the machine
 * has them: one with another byte order is a stranger by its magic.
 *
 * Each end begins with a greeting, which holds a nonce. Each frame ends with a
 * tag that only who has the token can make, over both nonces, the number of the
 * frame and the frame: what is read is from a rank of this run, said on this
 * connection, and whole. Nothing is kept secret from who reads the wire.
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

/* What each end says first. */
struct greeting {
	__u64 magic;		/* WIRE_MAGIC */
	__u8 nonce[WIRE_NONCE];
};

#define WIRE_MAGIC	0x7266706572663032ull	/* of this version alone */

/**
 * struct frame_head - what each frame begins with
 * @type: enum frame_type
 * @length: bytes that follow, and then 8 of the tag
 */
struct frame_head {
	__u32 type;
	__u32 length;
};

/**
 * struct frame - a frame that was read
 * @type: enum frame_type
 * @length: of @data
 * @data: at any address, valid until more is read
 */
struct frame {
	__u32 type;
	__u32 length;
	const char *data;
};

#define WIRE_CODE	32

/* A struct err on its way. */
struct frame_error {
	__u32 exit_status;
	char code[WIRE_CODE];
	char message[512];
};

struct token;

/**
 * struct wire - a connection
 * @fd: socket, -1: none
 * @token: of the run
 * @timeout: ns, for a write
 * @limit: bytes of the longest frame that is taken; may be changed
 * @mine: greeting that was sent
 * @theirs: greeting that was read, without magic before
 * @sent: frames
 * @received: frames
 * @buf: read, but not taken yet
 * @used: bytes of it
 * @checked: bytes of it that are frames, complete and with their tags
 * @last: where the last of these begins
 * @room: allocated
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
 * wire_open() - take over a connected socket, and greet
 * @wire: filled
 * @fd: the socket
 * @token: of the run
 * @timeout: ns, in which a peer that is gone without a word is found out, and
 *	which a write waits
 * @limit: bytes of the longest frame that is taken
 *
 * Return: 0 or a negative errno; the socket is taken over anyway.
 */
int wire_open(struct wire *wire, int fd, const struct token *token,
	      __u64 timeout, __u32 limit);

void wire_close(struct wire *wire);

/* Close it when the other end has read all. */
void wire_close_gently(struct wire *wire, __u64 until);

/* The other end has greeted: before that nothing can be sent. */
bool wire_is_greeted(const struct wire *wire);

/* Return: 0 or a negative errno. */
int wire_send(struct wire *wire, enum frame_type type, const void *data,
	      size_t length);

/**
 * wire_read() - read what there is
 * @wire: connection
 *
 * A rank waits for an answer to each frame, and may only fail in between: who
 * sends more than that is not waited for.
 *
 * Return: 0, -EPIPE at the end, -EBADMSG for a frame without the token's tag,
 * -EPROTO for what is none of ours, or a negative errno.
 */
int wire_read(struct wire *wire);

/* The first frame, or the last one. Return: false where there is none. */
bool wire_first(const struct wire *wire, struct frame *frame);
bool wire_last(const struct wire *wire, struct frame *frame);

/* Forget the first frame. */
void wire_next(struct wire *wire);

#endif /* ROCESTEER_PERF_WIRE_H */
