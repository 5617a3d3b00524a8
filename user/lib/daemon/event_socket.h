/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's events: JSON, one object a line, to everybody who connects to
 * the UNIX stream socket /run/rocesteer/netns-COOKIE.sock, root only.
 */
#ifndef ROCESTEER_LIB_EVENT_SOCKET_H
#define ROCESTEER_LIB_EVENT_SOCKET_H

#include <json-c/json.h>

#include "base/base.h"

#define EVENT_SOCKET_DIR	"/run/rocesteer"

struct event_socket;

/**
 * event_socket_open() - be the daemon of this network namespace; nobody can connect yet
 * @server: set; to be closed by event_socket_close()
 * @loop: clients are waited for there
 * @greet: called for each new client: what it should know first
 * @arg: passed to @greet
 * @err: filled on failure; code "running": there is one
 *
 * Return: 0 or a negative errno.
 */
int event_socket_open(struct event_socket **server, struct loop *loop,
		      void (*greet)(struct event_socket *server, void *arg),
		      void *arg, struct err *err);

/**
 * event_socket_listen() - take clients from now on
 * @server: of event_socket_open()
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int event_socket_listen(struct event_socket *server, struct err *err);

void event_socket_close(struct event_socket *server);

/**
 * event_socket_tell() - tell all clients, or while one is greeted that one
 * @server: server
 * @event: not released here
 *
 * Nobody is waited for: a client that does not read is told "lost" later.
 */
void event_socket_tell(struct event_socket *server, struct json_object *event);

/* Connect to the daemon. Return: a file descriptor or a negative errno. */
int event_socket_connect(void);

#define EVENT_SOCKET_LINE	4096

/**
 * struct event_socket_reader - what came from the daemon
 * @fd: of event_socket_connect()
 * @len: bytes of a line that is not complete
 * @line: these
 */
struct event_socket_reader {
	int fd;
	size_t len;
	char line[EVENT_SOCKET_LINE];
};

/**
 * event_socket_read() - take the events that have come
 * @reader: reader
 * @fn: called for each, which it releases; nonzero ends it
 * @arg: passed to @fn
 *
 * Return: 0, what @fn returned, -EPIPE when the daemon has ended, -EBADMSG when
 * it is none, or another negative errno.
 */
int event_socket_read(struct event_socket_reader *reader,
		      int (*fn)(struct json_object *event, void *arg), void *arg);

#endif /* ROCESTEER_LIB_EVENT_SOCKET_H */
