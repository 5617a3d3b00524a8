// SPDX-License-Identifier: GPL-2.0
/* Changes of jobs, by inotify on the pins, and of flows, by the ring buffer. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "base/base.h"
#include "netns.h"
#include "steer_priv.h"

/* A record takes its own size and a header of 8 bytes. */
#define RECORD		(sizeof(struct rocesteer_event) + 8)

/**
 * struct steer_events - reader of rs_events
 * @buffer: libbpf's reader
 * @ring: its only ring
 * @lost: the buffer was full
 * @fn: called for each event
 * @arg: passed to @fn
 */
struct steer_events {
	struct ring_buffer *buffer;
	struct ring *ring;
	bool lost;
	void (*fn)(const struct rocesteer_event *event, void *arg);
	void *arg;
};

void steer_tell_watchers(struct steer *s)
{
	utimensat(AT_FDCWD, s->dir, NULL, 0);
}

int steer_watch_open(struct err *err)
{
	int fd, ret;

	ret = steer_root(STEER_CREATE, err);
	if (ret < 0)
		return ret;
	close(ret);
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd >= 0 && inotify_add_watch(fd, PIN_ROOT, IN_CREATE | IN_DELETE | IN_ATTRIB) >= 0)
		return fd;
	ret = err_errno(err, errno, "watch", "cannot watch %s", PIN_ROOT);
	if (fd >= 0)
		close(fd);
	return ret;
}

int steer_watch_read(int fd)
{
	char buf[4096] __aligned(8), own[32];
	const struct inotify_event *event;
	__u64 cookie;
	ssize_t len, at;
	int changed, ret;

	ret = netns_cookie(&cookie, NULL);
	if (ret)
		return ret;
	snprintf(own, sizeof(own), PIN_DIR, cookie);
	for (changed = 0;;) {
		len = read(fd, buf, sizeof(buf));
		if (len <= 0)
			break;
		for (at = 0; at < len; at += sizeof(*event) + event->len) {
			event = (void *)(buf + at);
			if (event->mask & IN_Q_OVERFLOW ||
			    (event->len && !strcmp(event->name, own)))
				changed = 1;
		}
	}
	return len < 0 && errno != EAGAIN ? -errno : changed;
}

/*
 * The programs lose events without a word while the buffer has no room for
 * another. Our position moves between two calls only: whatever the buffer was
 * like since the last one, it is no emptier now than that less one record.
 */
static int take_event(void *ctx, void *data, size_t size)
{
	struct steer_events *events = ctx;

	if (ring__avail_data_size(events->ring) + 2 * RECORD >= ring__size(events->ring))
		events->lost = true;
	if (size >= sizeof(struct rocesteer_event))
		events->fn(data, events->arg);
	return 0;
}

struct steer_events *steer_events_open(struct steer *s, struct err *err)
{
	struct steer_events *events = calloc(1, sizeof(*events));

	if (events)
		events->buffer = ring_buffer__new(s->maps[MAP_EVENTS], take_event, events, NULL);
	if (!events || !events->buffer) {
		err_errno(err, errno, "events", "cannot read the programs' events");
		free(events);
		return NULL;
	}
	events->ring = ring_buffer__ring(events->buffer, 0);
	return events;
}

void steer_events_close(struct steer_events *events)
{
	if (!events)
		return;
	ring_buffer__free(events->buffer);
	free(events);
}

int steer_events_fd(const struct steer_events *events)
{
	return ring_buffer__epoll_fd(events->buffer);
}

int steer_events_read(struct steer_events *events,
		      void (*fn)(const struct rocesteer_event *event, void *arg),
		      void *arg)
{
	int ret;

	events->lost = false;
	events->fn = fn;
	events->arg = arg;
	ret = ring_buffer__consume(events->buffer);
	if (ret < 0)
		return ret;
	return events->lost ? -ENOBUFS : 0;
}
