// SPDX-License-Identifier: GPL-2.0
#include "event_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Take the complete lines; move the rest to the front. */
static int take_lines(struct event_socket_reader *reader,
		      int (*fn)(struct json_object *event, void *arg),
		      void *arg)
{
	char *at = reader->line, *end;
	int ret = 0;

	while (!ret && (end = memchr(at, '\n', reader->line + reader->len - at))) {
		struct json_object *event;

		*end = '\0';
		event = json_tokener_parse(at);
		ret = event ? fn(event, arg) : -EBADMSG;
		at = end + 1;
	}
	reader->len -= at - reader->line;
	memmove(reader->line, at, reader->len);
	return ret;
}

int event_socket_read(struct event_socket_reader *reader,
		      int (*fn)(struct json_object *event, void *arg), void *arg)
{
	ssize_t len;
	int ret;

	for (;;) {
		if (reader->len == sizeof(reader->line))
			return -EBADMSG;
		len = recv(reader->fd, reader->line + reader->len,
			   sizeof(reader->line) - reader->len, MSG_DONTWAIT);
		if (len <= 0)
			return !len ? -EPIPE : errno == EAGAIN ? 0 : -errno;
		reader->len += len;
		ret = take_lines(reader, fn, arg);
		if (ret)
			return ret;
	}
}
