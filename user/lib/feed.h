/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's events: JSON, one object a line, to everybody who connects to
 * the UNIX stream socket /run/rocesteer/netns-COOKIE.sock, root only.
 */
#ifndef ROCESTEER_FEED_H
#define ROCESTEER_FEED_H

#include <json-c/json.h>

#include "err.h"
#include "loop.h"

#define FEED_DIR	"/run/rocesteer"

struct feed;

/**
 * feed_open() - be the daemon of this network namespace
 * @feed: set; to be closed by feed_close()
 * @loop: clients are waited for there
 * @greet: called for each new client: what it should know first
 * @arg: passed to @greet
 * @err: filled on failure; code "running": there is one
 *
 * Return: 0 or a negative errno.
 */
int feed_open(struct feed **feed, struct loop *loop,
	      void (*greet)(struct feed *feed, void *arg), void *arg,
	      struct err *err);

void feed_close(struct feed *feed);

/**
 * feed_tell() - tell all clients, or while one is greeted that one
 * @feed: feed
 * @event: not released here
 *
 * Nobody is waited for: a client that does not read is told "lost" later.
 */
void feed_tell(struct feed *feed, struct json_object *event);

/* Is there any client? */
bool feed_is_heard(const struct feed *feed);

/* Connect to the daemon. Return: a file descriptor or a negative errno. */
int feed_connect(void);

#define FEED_LINE	4096

/**
 * struct feed_reader - what came from the daemon
 * @fd: of feed_connect()
 * @len: bytes of a line that is not complete
 * @line: these
 */
struct feed_reader {
	int fd;
	size_t len;
	char line[FEED_LINE];
};

/**
 * feed_read() - take the events that have come
 * @reader: reader
 * @fn: called for each, which it releases; nonzero ends it
 * @arg: passed to @fn
 *
 * Return: 0, what @fn returned, -EPIPE when the daemon has ended, -EBADMSG when
 * it is none, or another negative errno.
 */
int feed_read(struct feed_reader *reader,
	      int (*fn)(struct json_object *event, void *arg), void *arg);

#endif /* ROCESTEER_FEED_H */
