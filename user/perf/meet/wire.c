// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"

#define SECOND	1000000000ull
#define MSEC	1000000ull

static void option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

void wire_open(struct wire *wire, int fd, __u64 timeout, __u32 limit)
{
	struct timeval wait = { .tv_sec = timeout / SECOND + 1 };
	int probe = timeout / SECOND / 6 + 1;

	*wire = (struct wire) { .fd = fd, .timeout = timeout, .limit = limit };
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, timeout / MSEC / 2);
	option(fd, IPPROTO_TCP, TCP_KEEPIDLE, probe);
	option(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe);
	option(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
	option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

void wire_close(struct wire *wire)
{
	close(wire->fd);
	free(wire->data);
}

/* Closing a socket with unread bytes resets it, and sent bytes are lost. */
void wire_drain(const struct wire *wire, __u64 until)
{
	struct pollfd poll_fd = { .fd = wire->fd, .events = POLLIN };
	__u64 now = clock_ns();
	char rest[4096];

	shutdown(wire->fd, SHUT_WR);
	while (now < until && poll(&poll_fd, 1, (until - now) / MSEC + 1) > 0 &&
	       read(wire->fd, rest, sizeof(rest)) > 0)
		now = clock_ns();
}

/* Send all bytes. A peer that reads slowly does not keep this rank. */
static int send_all(const struct wire *wire, const char *data, size_t length, int flags)
{
	__u64 until = clock_ns() + wire->timeout;
	ssize_t sent;

	while (length) {
		if (clock_ns() > until)
			return -ETIMEDOUT;
		sent = send(wire->fd, data, length, MSG_NOSIGNAL | flags);
		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0) {
			data += sent;
			length -= sent;
		}
	}
	return 0;
}

int wire_send(const struct wire *wire, enum frame_type type, const void *data, __u32 length)
{
	struct frame_head head = {
		.magic = WIRE_MAGIC,
		.type = type,
		.length = length,
	};

	return send_all(wire, (char *)&head, sizeof(head), length ? MSG_MORE : 0) ?:
	       send_all(wire, data, length, 0);
}

/*
 * Receive the part of a frame that has @size bytes after @skip others. Return: 1 when all of
 * it is here, 0, or a negative errno.
 */
static int receive(struct wire *wire, void *part, size_t skip, size_t size)
{
	ssize_t got;

	while (wire->got < skip + size) {
		got = recv(wire->fd, (char *)part + wire->got - skip,
			   skip + size - wire->got, MSG_DONTWAIT);
		if (!got)
			return -EPIPE;
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		wire->got += got;
	}
	return 1;
}

static int take_head(struct wire *wire)
{
	if (wire->head.magic != WIRE_MAGIC || wire->head.length > wire->limit)
		return -EPROTO;
	wire->data = calloc(1, wire->head.length + 1ull);
	return wire->data ? 1 : -ENOMEM;
}

int wire_read(struct wire *wire, struct frame *frame)
{
	struct frame_head *head = &wire->head;
	int ret = receive(wire, head, 0, sizeof(*head));

	if (ret == 1 && !wire->data)
		ret = take_head(wire);
	if (ret == 1)
		ret = receive(wire, wire->data, sizeof(*head), head->length);
	if (ret != 1)
		return ret;
	*frame = (struct frame) { head->type, head->length, wire->data };
	wire->data = NULL;
	wire->got = 0;
	return 1;
}
