// SPDX-License-Identifier: GPL-2.0
#include "probe_batch.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "probe_rate.h"

#define MSEC		1000000ull
#define MAX_SOCKETS	64
#define NEVER		(~0ull)

/* Answers read in a row, so that a flood of them blocks nothing. */
#define MAX_ANSWERS	1024

enum state { FREE, ANSWERED, WAITING, TO_REPEAT };

/*
 * An outstanding probe. @due: when the answer is late (WAITING), or when the probe may be
 * repeated (TO_REPEAT). @from: sender of the answer (ANSWERED), kept until the entry is
 * reused.
 */
struct active {
	enum state state;
	__u8 from[16];
	struct batch_probe probe;
	struct probe_packet packet;
	struct probe_socket *sock;
	__u64 due;
};

struct probe_batch {
	const struct probe_batch_config *config;
	const struct probe_batch_ops *ops;
	void *client;
	struct err *err;
	struct probe_socket sockets[MAX_SOCKETS];
	unsigned int nr_sockets;
	struct active active[PROBE_BATCH_ACTIVE];
	unsigned int nr_active;
	unsigned int last;	/* place of the newest probe */
	struct probe_rate rate;
	int epoll;		/* of the sockets */
	bool exhausted;		/* no new probe before an answer */
	bool slowed;		/* by the last step */
	bool told_slow;
	bool told_short;
	bool told_twice;
};

static struct probe_socket *get_socket(struct probe_batch *s, const __u8 source[16])
{
	unsigned int i;

	for (i = 0; i < s->nr_sockets; i++)
		if (!addr_compare(s->sockets[i].source, source))
			return &s->sockets[i];
	if (i == MAX_SOCKETS) {
		err_set(s->err, EXIT_FAILED, "no-source",
			"the peers need more than %u source addresses",
			MAX_SOCKETS);
		return NULL;
	}
	if (probe_open(&s->sockets[i], s->config->device, source, s->err))
		return NULL;
	s->nr_sockets++;
	/* No flags: answers are errors, which are always reported. */
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->sockets[i].fd,
		      &(struct epoll_event){}))
		return NULL;
	return &s->sockets[i];
}

static __u64 patience(const struct probe_batch *s, unsigned int sent)
{
	return (s->config->timeout_ms * MSEC) << sent;
}

/*
 * An unreachable network may be reported by the send itself, or later by ICMP;
 * both count as no answer. Only what will not pass by itself is a failure.
 */
static int transmit(struct probe_batch *s, struct active *a, __u64 now)
{
	int ret = probe_send(a->sock, &a->packet);

	switch (ret) {
	case -EPERM:
	case -ENODEV:
	case -EINVAL:
		return err_errno(s->err, -ret,
				 ret == -EPERM ? "permission" : "no-device",
				 "cannot send a probe by %s", s->config->device);
	}
	a->state = WAITING;
	a->due = now + patience(s, a->probe.sent++);
	return 0;
}

static struct active *find_repeat(struct probe_batch *s, __u64 now)
{
	struct active *best = NULL;
	unsigned int i;

	for (i = 0; i < PROBE_BATCH_ACTIVE; i++) {
		struct active *a = &s->active[i];

		if (a->state == TO_REPEAT && a->due <= now && (!best || a->due < best->due))
			best = a;
	}
	return best;
}

static bool is_out(const struct active *a)
{
	return a->state == WAITING || a->state == TO_REPEAT;
}

/* Entries are reused in turn, so that answers are kept for long. */
static struct active *find_free(struct probe_batch *s)
{
	unsigned int i;

	for (i = 1; i <= PROBE_BATCH_ACTIVE; i++) {
		struct active *a = &s->active[(s->last + i) % PROBE_BATCH_ACTIVE];

		if (!is_out(a))
			return a;
	}
	return NULL;
}

static int start_probe(struct probe_batch *s, struct active *a)
{
	const __u8 *source, *peer;
	__u64 cookie;
	int ret;

	if (getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
		return -EIO;
	a->probe.dqpn = 0;
	ret = s->ops->next(s->client, &a->probe, &source, &peer);
	if (ret)
		return ret;
	a->sock = get_socket(s, source);
	if (!a->sock)
		return -EIO;
	a->probe.sent = 0;
	probe_build(&a->packet, a->sock, peer, a->probe.kind, a->probe.ttl,
		    a->probe.port, a->probe.dqpn, cookie);
	s->nr_active++;
	s->last = a - s->active;
	return 0;
}

static int send_due(struct probe_batch *s, __u64 now)
{
	struct active *a;
	int ret;

	for (;;) {
		a = find_repeat(s, now);
		if (!a) {
			a = s->exhausted ? NULL : find_free(s);
			if (!a || now < s->rate.next)
				return 0;
			ret = start_probe(s, a);
			if (ret == -EAGAIN) {
				s->exhausted = true;
				return 0;
			}
			if (ret)
				return ret;
			a->state = TO_REPEAT;
			a->due = now;
		}
		if (!probe_rate_take(&s->rate, now))
			return 0;
		ret = transmit(s, a, now);
		if (ret)
			return ret;
	}
}

static void finish(struct probe_batch *s, struct active *a, enum state state)
{
	a->state = state;
	s->nr_active--;
	s->exhausted = false;
}

__printf(3, 4)
static void note(struct probe_batch *s, bool *told, const char *fmt, ...)
{
	char line[256];
	va_list args;

	if (*told || !s->ops->note)
		return;
	*told = true;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	s->ops->note(s->client, line);
}

static void tell_short(struct probe_batch *s, const __u8 from[16])
{
	char text[ADDR_STRLEN];

	note(s, &s->told_short,
	     "%s quotes too little of a probe: its answer may be forged, and is ignored. If routers here quote 8 bytes only: --short-quotes.",
	     addr_format(from, text));
}

static void tell_twice(struct probe_batch *s, const __u8 one[16], const __u8 other[16])
{
	char first[ADDR_STRLEN], second[ADDR_STRLEN];

	note(s, &s->told_twice,
	     "%s and %s both answered one probe: its path has just changed, or one of the answers is forged.",
	     addr_format(one, first), addr_format(other, second));
}

static int take_answer(struct probe_batch *s, const struct probe_answer *answer)
{
	enum probe_match match = PROBE_OTHER;
	struct batch_probe probe;
	struct active *a;

	for (a = s->active; a < s->active + PROBE_BATCH_ACTIVE; a++) {
		match = a->state == FREE ? PROBE_OTHER :
					   probe_match(&a->packet, answer);
		if (match != PROBE_OTHER)
			break;
	}
	if (match == PROBE_OTHER)
		return 0;	/* not for this run */
	if (match == PROBE_SHORT && !s->config->short_quotes) {
		tell_short(s, answer->from);
		return 0;
	}
	if (a->state == ANSWERED) {
		if (addr_compare(a->from, answer->from))
			tell_twice(s, a->from, answer->from);
		return 0;
	}
	probe = a->probe;
	s->rate.answered++;
	memcpy(a->from, answer->from, sizeof(a->from));
	finish(s, a, ANSWERED);
	return s->ops->answer(s->client, &probe, answer);
}

static int receive(struct probe_batch *s)
{
	struct probe_answer answer;
	unsigned int i, n;
	int ret;

	for (i = 0; i < s->nr_sockets; i++) {
		n = 0;
		do {
			ret = probe_receive(&s->sockets[i], &answer);
			if (!ret)
				ret = take_answer(s, &answer);
			if (ret && ret != -ENOMSG && ret != -EAGAIN)
				return ret;
		} while (ret != -EAGAIN && ++n < MAX_ANSWERS);
	}
	return 0;
}

static int expire(struct probe_batch *s, __u64 now)
{
	struct batch_probe probe;
	unsigned int i;
	int ret;

	for (i = 0; i < PROBE_BATCH_ACTIVE; i++) {
		struct active *a = &s->active[i];

		if (a->state != WAITING || a->due > now)
			continue;
		s->rate.lost++;
		if (a->probe.sent <= s->config->retries) {
			a->state = TO_REPEAT;
			continue;
		}
		probe = a->probe;
		finish(s, a, FREE);
		ret = s->ops->lost(s->client, &probe);
		if (ret)
			return ret;
	}
	return 0;
}

/* When there is something to do without an answer: a deadline, or a probe. */
static __u64 next_step(const struct probe_batch *s)
{
	bool sendable = !s->exhausted && s->nr_active < PROBE_BATCH_ACTIVE;
	__u64 until = NEVER;
	unsigned int i;

	for (i = 0; i < PROBE_BATCH_ACTIVE; i++) {
		const struct active *a = &s->active[i];

		if (a->state == WAITING && a->due < until)
			until = a->due;
		if (a->state == TO_REPEAT)
			sendable = true;
	}
	return sendable && s->rate.next < until ? s->rate.next : until;
}

int probe_batch_step(struct probe_batch *s, __u64 *until, struct err *err)
{
	__u64 now = clock_ns();
	int ret;

	s->err = err;
	ret = receive(s) ?: expire(s, now) ?: send_due(s, now);
	if (ret)
		return ret;
	s->slowed = !s->config->steady && probe_rate_adapt(&s->rate, now);
	*until = next_step(s);
	return !s->nr_active && s->exhausted;
}

void probe_batch_more(struct probe_batch *s)
{
	s->exhausted = false;
}

int probe_batch_fd(const struct probe_batch *s)
{
	return s->epoll;
}

int probe_batch_start(struct probe_batch **out,
		      const struct probe_batch_config *config,
		      const struct probe_batch_ops *ops, void *client)
{
	struct probe_batch *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0) {
		free(s);
		return -errno;
	}
	s->config = config;
	s->ops = ops;
	s->client = client;
	probe_rate_start(&s->rate, config->rate, clock_ns());
	*out = s;
	return 0;
}

void probe_batch_end(struct probe_batch *s)
{
	if (!s)
		return;
	while (s->nr_sockets)
		probe_close(&s->sockets[--s->nr_sockets]);
	close(s->epoll);
	free(s);
}

/* Sleep until an answer or a time; the progress line wants to be fresh. */
static int sleep_until(struct probe_batch *s, __u64 until)
{
	__u64 now = clock_ns(), left = until > now ? until - now : 0;
	struct timespec ts;
	struct pollfd fd = { .fd = s->epoll, .events = POLLIN };

	if (left > 200 * MSEC)
		left = 200 * MSEC;
	ts = (struct timespec) { left / (1000 * MSEC), left % (1000 * MSEC) };
	return ppoll(&fd, 1, &ts, NULL) < 0 && errno != EINTR ? -errno : 0;
}

static int loop(struct probe_batch *s, struct err *err)
{
	struct progress progress;
	char line[128];
	__u64 until;
	int ret;

	progress_start(&progress);
	for (;;) {
		ret = probe_batch_step(s, &until, err);
		if (ret)
			break;
		if (s->slowed)
			note(s, &s->told_slow,
			     "Many probes get no answer, as where routers limit their ICMP: slowing down to %.0f a second.",
			     s->rate.per_second);
		s->ops->status(s->client, line, sizeof(line));
		progress_update(&progress, "%s, %.0f probes/s", line, s->rate.per_second);
		ret = sleep_until(s, until);
		if (ret)
			break;
	}
	progress_end(&progress);
	return ret == 1 ? 0 : ret;
}

int probe_batch_run(const struct probe_batch_config *config,
		    const struct probe_batch_ops *ops, void *client,
		    struct err *err)
{
	struct probe_batch *s;
	int ret;

	ret = probe_batch_start(&s, config, ops, client);
	if (ret)
		return ret;
	ret = loop(s, err);
	probe_batch_end(s);
	return ret;
}
