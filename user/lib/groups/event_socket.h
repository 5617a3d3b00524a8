/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's events, one JSON object a line, for clients of the UNIX stream socket
 * /run/rocesteer/netns-COOKIE.sock, which is root's alone.
 */
#ifndef ROCESTEER_LIB_EVENT_SOCKET_H
#define ROCESTEER_LIB_EVENT_SOCKET_H

#include <json-c/json.h>

#include "base/base.h"

#define EVENT_SOCKET_DIR	"/run/rocesteer"

struct event_socket;

/**
 * event_socket_open() - become the daemon of this network namespace
 * @server: set; to be closed by event_socket_close()
 * @loop: event loop
 * @snapshot: called for each new client, which alone gets the events sent from there
 * @arg: passed to @snapshot
 * @err: filled on failure; code "running": another daemon serves the namespace
 *
 * Clients cannot connect before event_socket_listen(). Return: 0 or a negative errno.
 */
int event_socket_open(struct event_socket **server, struct loop *loop,
		      void (*snapshot)(struct event_socket *server, void *arg),
		      void *arg, struct err *err);

/* Accept clients from now on. Return: 0 or a negative errno. */
int event_socket_listen(struct event_socket *server, struct err *err);

void event_socket_close(struct event_socket *server);

/**
 * event_socket_send() - send an event to all clients
 * @server: server
 * @event: not released here
 *
 * A client that does not read misses the event, and gets "lost" later.
 */
void event_socket_send(struct event_socket *server, struct json_object *event);

/* Connect to the daemon. Return: a file descriptor or a negative errno. */
int event_socket_connect(void);

#define EVENT_SOCKET_LINE	4096

/**
 * struct event_socket_reader - events from the daemon
 * @fd: from event_socket_connect()
 * @len: bytes of an incomplete line
 * @line: the incomplete line
 */
struct event_socket_reader {
	int fd;
	size_t len;
	char line[EVENT_SOCKET_LINE];
};

/**
 * event_socket_read() - read the events that have arrived
 * @reader: reader
 * @fn: called for each event, which it releases; nonzero ends the reading
 * @arg: passed to @fn
 *
 * Return: 0, the value of @fn, -EPIPE when the daemon has ended, -EBADMSG for a line that
 * is no event, or another negative errno.
 */
int event_socket_read(struct event_socket_reader *reader,
		      int (*fn)(struct json_object *event, void *arg), void *arg);

#endif /* ROCESTEER_LIB_EVENT_SOCKET_H */
