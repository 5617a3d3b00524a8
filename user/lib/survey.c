// SPDX-License-Identifier: GPL-2.0
#include "survey.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "addr.h"
#include "pace.h"

#define MSEC		1000000ull
#define MAX_SOCKETS	64
#define NEVER		(~0ull)

enum state { FREE, WAITING, TO_REPEAT };

/*
 * One probe that is out. @due: when the answer is late (WAITING), or when it
 * may be repeated (TO_REPEAT).
 */
struct active {
	enum state state;
	struct survey_probe probe;
	struct probe_packet packet;
	struct probe_socket *sock;
	unsigned int tries;
	__u64 due;
};

struct survey {
	const struct survey_config *config;
	const struct survey_ops *ops;
	void *client;
	struct err *err;
	struct probe_socket sockets[MAX_SOCKETS];
	unsigned int nr_sockets;
	struct active active[SURVEY_ACTIVE];
	unsigned int nr_active;
	struct pace pace;
	__u32 cookie;
	bool exhausted;		/* no new probe before an answer */
	bool told;		/* that it is slow */
};

static struct probe_socket *get_socket(struct survey *s, const __u8 source[16])
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
	return &s->sockets[i];
}

static __u64 patience(const struct survey *s, unsigned int tries)
{
	return (s->config->timeout_ms * MSEC) << tries;
}

/*
 * An unreachable network may be reported by the send itself, or later by ICMP;
 * both count as no answer. Only what will not pass by itself is a failure.
 */
static int transmit(struct survey *s, struct active *a, __u64 now)
{
	int ret = probe_send(a->sock, &a->packet);

	switch (ret) {
	case -EPERM:
	case -ENODEV:
	case -EINVAL:
		err_set(s->err, EXIT_FAILED,
			ret == -EPERM ? "permission" : "no-device",
			"cannot send a probe by %s: %s", s->config->device,
			strerror(-ret));
		return ret;
	}
	a->state = WAITING;
	a->due = now + patience(s, a->tries);
	return 0;
}

static struct active *find_repeat(struct survey *s, __u64 now)
{
	struct active *best = NULL;
	unsigned int i;

	for (i = 0; i < SURVEY_ACTIVE; i++) {
		struct active *a = &s->active[i];

		if (a->state == TO_REPEAT && a->due <= now &&
		    (!best || a->due < best->due))
			best = a;
	}
	return best;
}

static struct active *find_free(struct survey *s)
{
	unsigned int i;

	for (i = 0; i < SURVEY_ACTIVE; i++)
		if (s->active[i].state == FREE)
			return &s->active[i];
	return NULL;
}

static int start_probe(struct survey *s, struct active *a)
{
	const __u8 *source, *peer;
	int ret;

	ret = s->ops->next(s->client, &a->probe, &source, &peer);
	if (ret)
		return ret;
	a->sock = get_socket(s, source);
	if (!a->sock)
		return -EIO;
	a->tries = 0;
	probe_build(&a->packet, a->sock, peer, a->probe.kind, s->config->hop,
		    a->probe.port, s->cookie);
	s->nr_active++;
	return 0;
}

static int send_due(struct survey *s, __u64 now)
{
	struct active *a;
	int ret;

	for (;;) {
		a = find_repeat(s, now);
		if (!a) {
			a = s->exhausted ? NULL : find_free(s);
			if (!a || now < s->pace.next)
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
		if (!pace_take(&s->pace, now))
			return 0;
		ret = transmit(s, a, now);
		if (ret)
			return ret;
	}
}

static void finish(struct survey *s, struct active *a)
{
	a->state = FREE;
	s->nr_active--;
	s->exhausted = false;
}

static int take_answer(struct survey *s, const struct probe_answer *answer)
{
	struct survey_probe probe;
	unsigned int i;

	for (i = 0; i < SURVEY_ACTIVE; i++) {
		struct active *a = &s->active[i];

		if (a->state == FREE ||
		    addr_compare(a->packet.peer, answer->peer) ||
		    memcmp(a->packet.data, answer->udp, sizeof(answer->udp)))
			continue;
		probe = a->probe;
		s->pace.answered++;
		finish(s, a);
		return s->ops->answer(s->client, &probe, answer);
	}
	return 0;	/* a duplicate, or not for this run */
}

static int receive(struct survey *s)
{
	struct probe_answer answer;
	unsigned int i;
	int ret;

	for (i = 0; i < s->nr_sockets; i++) {
		do {
			ret = probe_receive(&s->sockets[i], &answer);
			if (!ret)
				ret = take_answer(s, &answer);
			if (ret && ret != -ENOMSG && ret != -EAGAIN)
				return ret;
		} while (ret != -EAGAIN);
	}
	return 0;
}

static int expire(struct survey *s, __u64 now)
{
	struct survey_probe probe;
	unsigned int i;
	int ret;

	for (i = 0; i < SURVEY_ACTIVE; i++) {
		struct active *a = &s->active[i];

		if (a->state != WAITING || a->due > now)
			continue;
		s->pace.lost++;
		if (a->tries++ < s->config->retries) {
			a->state = TO_REPEAT;
			continue;
		}
		probe = a->probe;
		finish(s, a);
		ret = s->ops->lost(s->client, &probe);
		if (ret)
			return ret;
	}
	return 0;
}

/* Sleep until an answer, a deadline, or the next probe may be sent. */
static int wait_for_event(struct survey *s, __u64 now)
{
	struct pollfd fds[MAX_SOCKETS];
	__u64 until = NEVER, left;
	struct timespec ts;
	bool sendable = !s->exhausted && s->nr_active < SURVEY_ACTIVE;
	unsigned int i;

	for (i = 0; i < SURVEY_ACTIVE; i++) {
		const struct active *a = &s->active[i];

		if (a->state == WAITING && a->due < until)
			until = a->due;
		if (a->state == TO_REPEAT)
			sendable = true;
	}
	if (sendable && s->pace.next < until)
		until = s->pace.next;
	left = until > now ? until - now : 0;
	if (left > 200 * MSEC)	/* the progress line wants to be fresh */
		left = 200 * MSEC;
	ts = (struct timespec) { left / (1000 * MSEC), left % (1000 * MSEC) };
	for (i = 0; i < s->nr_sockets; i++)
		fds[i] = (struct pollfd) { .fd = s->sockets[i].fd };
	if (ppoll(fds, s->nr_sockets, &ts, NULL) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

static void tell_slow(struct survey *s)
{
	char line[128];

	s->told = true;
	snprintf(line, sizeof(line),
		 "Many probes get no answer, as where routers limit their ICMP: slowing down to %.0f a second.",
		 s->pace.rate);
	s->ops->slow(s->client, line);
}

static int step(struct survey *s)
{
	__u64 now = progress_now();
	int ret;

	ret = receive(s) ?: expire(s, now) ?: send_due(s, now);
	if (ret)
		return ret;
	if (pace_adapt(&s->pace, now) && !s->told)
		tell_slow(s);
	return 0;
}

static int loop(struct survey *s)
{
	struct progress progress;
	char line[128];
	int ret;

	progress_start(&progress);
	pace_start(&s->pace, s->config->rate, progress_now());
	for (;;) {
		ret = step(s);
		if (ret || (!s->nr_active && s->exhausted))
			break;
		s->ops->status(s->client, line, sizeof(line));
		progress_update(&progress, "%s, %.0f probes/s", line,
				s->pace.rate);
		ret = wait_for_event(s, progress_now());
		if (ret)
			break;
	}
	progress_end(&progress);
	return ret;
}

int survey_run(const struct survey_config *config,
	       const struct survey_ops *ops, void *client, struct err *err)
{
	struct survey *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->config = config;
	s->ops = ops;
	s->client = client;
	s->err = err;
	if (getrandom(&s->cookie, sizeof(s->cookie), 0) < 0)
		s->cookie = progress_now();
	ret = loop(s);
	while (s->nr_sockets)
		probe_close(&s->sockets[--s->nr_sockets]);
	free(s);
	return ret;
}
