// SPDX-License-Identifier: GPL-2.0
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"

#define MSEC	1000000ull

int loop_open(struct loop *loop)
{
	loop->fd = epoll_create1(EPOLL_CLOEXEC);
	return loop->fd < 0 ? -errno : 0;
}

void loop_close(struct loop *loop)
{
	if (loop->fd >= 0)
		close(loop->fd);
	loop->fd = -1;
}

int loop_add(struct loop *loop, struct source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(loop->fd, EPOLL_CTL_ADD, source->fd, &event) ?
	       -errno : 0;
}

void loop_remove(struct loop *loop, const struct source *source)
{
	epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
}

/* Rounded up: a wait that ends early would only be repeated. */
static int milliseconds(__u64 until)
{
	__u64 now = clock_ns();

	if (until == LOOP_NEVER)
		return -1;
	return until > now ? (until - now + MSEC - 1) / MSEC : 0;
}

/* One at a time: its callback may free the others. */
int loop_wait(struct loop *loop, __u64 until)
{
	struct epoll_event event;
	struct source *source;
	int n;

	n = epoll_wait(loop->fd, &event, 1, milliseconds(until));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return 0;
	source = event.data.ptr;
	return source->ready(source->arg);
}
