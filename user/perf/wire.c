// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../lib/progress.h"

#define SECOND	1000000000ull
#define MSEC	1000000ull

static void option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

void wire_open(struct wire *wire, int fd, __u64 timeout)
{
	struct timeval wait = { .tv_sec = timeout / SECOND + 1 };
	int probe = timeout / SECOND / 6 + 1;

	memset(wire, 0, sizeof(*wire));
	wire->fd = fd;
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
	if (wire->fd >= 0)
		close(wire->fd);
	free(wire->buf);
	memset(wire, 0, sizeof(*wire));
	wire->fd = -1;
}

/* Closed with something unread, it would be reset, and what was sent lost. */
void wire_close_gently(struct wire *wire, __u64 until)
{
	struct pollfd poll_fd = { .fd = wire->fd, .events = POLLIN };
	__u64 now = progress_now();
	char rest[4096];

	if (wire->fd >= 0)
		shutdown(wire->fd, SHUT_WR);
	while (wire->fd >= 0 && now < until &&
	       poll(&poll_fd, 1, (until - now) / MSEC + 1) > 0 &&
	       read(wire->fd, rest, sizeof(rest)) > 0)
		now = progress_now();
	wire_close(wire);
}

int wire_send(struct wire *wire, enum frame_type type, const void *data,
	      size_t length)
{
	struct frame frame = {
		.magic = WIRE_MAGIC, .type = type, .length = length,
	};
	struct iovec iov[2] = {
		{ .iov_base = &frame, .iov_len = sizeof(frame) },
		{ .iov_base = (void *)data, .iov_len = length },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t sent;

	if (length > WIRE_MAX_LENGTH)
		return -EMSGSIZE;
	while (iov[0].iov_len || iov[1].iov_len) {
		size_t first;

		sent = sendmsg(wire->fd, &msg, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		first = (size_t)sent < iov[0].iov_len ? (size_t)sent :
							iov[0].iov_len;
		iov[0].iov_base = (char *)iov[0].iov_base + first;
		iov[0].iov_len -= first;
		iov[1].iov_base = (char *)iov[1].iov_base + (sent - first);
		iov[1].iov_len -= sent - first;
	}
	return 0;
}

/* Room for the first frame, and never less than for a few small ones. */
static int wire_room(struct wire *wire)
{
	const struct frame *frame = (const struct frame *)wire->buf;
	size_t want = 1024;
	char *buf;

	if (wire->used >= sizeof(*frame)) {
		if (frame->magic != WIRE_MAGIC ||
		    frame->length > WIRE_MAX_LENGTH)
			return -EPROTO;
		want += frame->length;
	}
	if (want <= wire->room)
		return 0;
	buf = realloc(wire->buf, want);
	if (!buf)
		return -ENOMEM;
	wire->buf = buf;
	wire->room = want;
	return 0;
}

int wire_read(struct wire *wire)
{
	ssize_t got;
	int ret;

	for (;;) {
		ret = wire_room(wire);
		if (ret)
			return ret;
		/* A frame is complete: the rest can wait. */
		if (wire->used == wire->room)
			return 0;
		got = recv(wire->fd, wire->buf + wire->used,
			   wire->room - wire->used, MSG_DONTWAIT);
		if (!got)
			return -EPIPE;
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		wire->used += got;
	}
}

static const struct frame *frame_at(const struct wire *wire, size_t at)
{
	const struct frame *frame = (const struct frame *)(wire->buf + at);

	if (wire->used - at < sizeof(*frame) ||
	    wire->used - at < sizeof(*frame) + frame->length)
		return NULL;
	return frame;
}

const struct frame *wire_frame(const struct wire *wire)
{
	return frame_at(wire, 0);
}

const struct frame *wire_last(const struct wire *wire)
{
	const struct frame *last = NULL, *frame;
	size_t at = 0;

	while ((frame = frame_at(wire, at))) {
		at += sizeof(*frame) + frame->length;
		last = frame;
	}
	return last;
}

void wire_next(struct wire *wire)
{
	const struct frame *frame = (const struct frame *)wire->buf;
	size_t length = sizeof(*frame) + frame->length;

	wire->used -= length;
	memmove(wire->buf, wire->buf + length, wire->used);
}
