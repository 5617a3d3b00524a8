// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "token.h"

#define SECOND	1000000000ull
#define MSEC	1000000ull
#define TAG	8		/* bytes */
#define MORE	1024u		/* bytes of small frames behind the first one */

static void option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

/* All of it. Return: 0 or a negative errno. */
static int send_all(struct wire *wire, struct iovec *iov, size_t n)
{
	__u64 until = clock_ns() + wire->timeout;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n };
	ssize_t sent;

	while (msg.msg_iovlen) {
		/* A peer that reads slowly does not keep us. */
		if (clock_ns() > until)
			return -ETIMEDOUT;
		sent = sendmsg(wire->fd, &msg, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		while (msg.msg_iovlen &&
		       (size_t)sent >= msg.msg_iov->iov_len) {
			sent -= msg.msg_iov->iov_len;
			msg.msg_iov++;
			msg.msg_iovlen--;
		}
		if (msg.msg_iovlen) {
			msg.msg_iov->iov_base =
				(char *)msg.msg_iov->iov_base + sent;
			msg.msg_iov->iov_len -= sent;
		}
	}
	return 0;
}

int wire_open(struct wire *wire, int fd, const struct token *token,
	      __u64 timeout, __u32 limit)
{
	struct timeval wait = { .tv_sec = timeout / SECOND + 1 };
	struct iovec iov = { &wire->mine, sizeof(wire->mine) };
	int probe = timeout / SECOND / 6 + 1;

	*wire = (struct wire) {
		.fd = fd,
		.token = token,
		.timeout = timeout,
		.limit = limit,
		.mine.magic = WIRE_MAGIC,
	};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, timeout / MSEC / 2);
	option(fd, IPPROTO_TCP, TCP_KEEPIDLE, probe);
	option(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe);
	option(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
	option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (getrandom(wire->mine.nonce, WIRE_NONCE, 0) != WIRE_NONCE)
		return -errno;
	return send_all(wire, &iov, 1);
}

void wire_close(struct wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	free(wire->buf);
	memset(wire, 0, sizeof(*wire));
	wire->fd = -1;
}

/* Closing a socket with unread bytes resets it, and sent bytes are lost. */
void wire_close_gently(struct wire *wire, __u64 until)
{
	struct pollfd poll_fd = { .fd = wire->fd, .events = POLLIN };
	__u64 now = clock_ns();
	char rest[4096];

	if (wire->fd >= 0)
		shutdown(wire->fd, SHUT_WR);
	while (wire->fd >= 0 && now < until &&
	       poll(&poll_fd, 1, (until - now) / MSEC + 1) > 0 &&
	       read(wire->fd, rest, sizeof(rest)) > 0)
		now = clock_ns();
	wire_close(wire);
}

bool wire_is_greeted(const struct wire *wire)
{
	return wire->theirs.magic;
}

/* Tag of frame @number from the sender of greeting @from. */
static __u64 tag(const struct wire *wire, const struct greeting *from,
		 const struct greeting *to, __u64 number,
		 const struct frame_head *head, const void *data)
{
	struct mac mac;

	mac_begin(&mac, wire->token->key);
	mac_add(&mac, from->nonce, sizeof(from->nonce));
	mac_add(&mac, to->nonce, sizeof(to->nonce));
	mac_add(&mac, &number, sizeof(number));
	mac_add(&mac, head, sizeof(*head));
	return mac_end(&mac, data, head->length);
}

int wire_send(struct wire *wire, enum frame_type type, const void *data,
	      size_t length)
{
	struct frame_head head = { .type = type, .length = length };
	__u64 mine;
	struct iovec iov[] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)data, .iov_len = length },
		{ .iov_base = &mine, .iov_len = sizeof(mine) },
	};

	if (length > ~0u)
		return -EMSGSIZE;
	if (!wire_is_greeted(wire))
		return -ENOTCONN;
	mine = tag(wire, &wire->mine, &wire->theirs, wire->sent++, &head,
		   data ?: "");
	return send_all(wire, iov, ARRAY_SIZE(iov));
}

/* Our own greeting comes from a peer that repeats what we send. */
static int take_greeting(struct wire *wire)
{
	if (wire_is_greeted(wire) || wire->used < sizeof(wire->theirs))
		return 0;
	memcpy(&wire->theirs, wire->buf, sizeof(wire->theirs));
	if (wire->theirs.magic != WIRE_MAGIC ||
	    !memcmp(&wire->theirs, &wire->mine, sizeof(wire->mine)))
		return -EPROTO;
	wire->used -= sizeof(wire->theirs);
	memmove(wire->buf, wire->buf + sizeof(wire->theirs), wire->used);
	return 0;
}

static size_t frame_size(const struct frame_head *head)
{
	return sizeof(*head) + head->length + TAG;
}

/* Return: 1 when the head of a frame is there, 0, or a negative errno. */
static int head_at(const struct wire *wire, size_t at, struct frame_head *head)
{
	if (!wire_is_greeted(wire) || wire->used - at < sizeof(*head))
		return 0;
	memcpy(head, wire->buf + at, sizeof(*head));
	return head->length > wire->limit ? -EPROTO : 1;
}

/* Compare tags in constant time. */
static int check_tag(struct wire *wire, const struct frame_head *head)
{
	const char *data = wire->buf + wire->checked + sizeof(*head);
	__u64 theirs;

	memcpy(&theirs, data + head->length, sizeof(theirs));
	return theirs ^ tag(wire, &wire->theirs, &wire->mine, wire->received,
			    head, data) ? -EBADMSG : 0;
}

static int check_frames(struct wire *wire)
{
	struct frame_head head;
	int ret;

	while ((ret = head_at(wire, wire->checked, &head)) == 1 &&
	       wire->used - wire->checked >= frame_size(&head)) {
		ret = check_tag(wire, &head);
		if (ret)
			return ret;
		wire->received++;
		wire->last = wire->checked;
		wire->checked += frame_size(&head);
	}
	return ret < 0 ? ret : 0;
}

/* Make space for the first frame and bytes after it. */
static int make_room(struct wire *wire)
{
	struct frame_head head;
	size_t want = MORE;
	char *buf;

	if (head_at(wire, 0, &head) == 1)
		want += frame_size(&head);
	if (want <= wire->room)
		return wire->used == wire->room ? -EPROTO : 0;
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
		ret = make_room(wire);
		if (ret)
			return ret;
		got = recv(wire->fd, wire->buf + wire->used,
			   wire->room - wire->used, MSG_DONTWAIT);
		if (!got)
			return -EPIPE;
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		wire->used += got;
		ret = take_greeting(wire) ?: check_frames(wire);
		if (ret)
			return ret;
	}
}

static bool frame_at(const struct wire *wire, size_t at, struct frame *frame)
{
	struct frame_head head;

	if (!wire->checked)
		return false;
	memcpy(&head, wire->buf + at, sizeof(head));
	*frame = (struct frame) {
		.type = head.type,
		.length = head.length,
		.data = wire->buf + at + sizeof(head),
	};
	return true;
}

bool wire_first(const struct wire *wire, struct frame *frame)
{
	return frame_at(wire, 0, frame);
}

bool wire_last(const struct wire *wire, struct frame *frame)
{
	return frame_at(wire, wire->last, frame);
}

void wire_next(struct wire *wire)
{
	struct frame_head head;
	size_t size;

	memcpy(&head, wire->buf, sizeof(head));
	size = frame_size(&head);
	wire->used -= size;
	wire->checked -= size;
	wire->last -= wire->checked ? size : 0;
	memmove(wire->buf, wire->buf + size, wire->used);
}
