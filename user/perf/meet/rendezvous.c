// SPDX-License-Identifier: GPL-2.0
#include "rendezvous.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "meet.h"
#include "setting.h"
#include "wire.h"

#define SECOND	1000000000ull
#define MAX_HELLO	4096u
#define STRANGERS	64u	/* connections that are read beside those of all ranks */

/**
 * struct peer - a connection to another rank
 * @entry: entry of a list of peers
 * @rendezvous: rendezvous of the peer
 * @wire: connection
 * @source: source of the event loop
 * @name: its address
 * @known: the peer has said its @rank
 * @rank: rank of the peer
 * @frame: frame that has come and waits; without data: none
 * @gone: a negative errno: nothing more will come; -ESHUTDOWN: the peer has said so
 */
struct peer {
	TAILQ_ENTRY(peer) entry;
	struct rendezvous *rendezvous;
	struct wire wire;
	struct source source;
	char name[64];
	bool known;
	__u32 rank;
	struct frame frame;
	int gone;
};

TAILQ_HEAD(peers, peer);

/**
 * struct rendezvous - rank 0 has all others as peers, the others have rank 0
 * @config: ranks and addresses
 * @loop: event loop of all connections
 * @listener: socket of rank 0
 * @peers: ordered by rank
 * @guests: peers that have not said their rank, in the order in which they came
 * @connections: to peers and guests
 * @met: ranks that have come
 * @patience: ns after which another rank is taken for gone
 * @stranger: the last guest that said something else; empty: there was none
 * @err: the first failure
 */
struct rendezvous {
	const struct rendezvous_config *config;
	struct loop *loop;
	struct source listener;
	struct peers peers;
	struct peers guests;
	__u32 connections;
	__u32 met;
	__u64 patience;
	char stranger[64];
	struct err err;
};

/* The first failure is the cause. Its text may come from a peer and goes to a terminal. */
static void __printf(4, 5) fail(struct rendezvous *rendezvous, int exit_status,
				const char *code, const char *fmt, ...)
{
	struct err *err = &rendezvous->err;
	char text[sizeof(err->message)];
	va_list args;

	if (err->code)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	err_set(err, exit_status, code, "%s", reader_quote(text, text, sizeof(text)));
}

static void fail_gone(struct peer *peer)
{
	bool ended = peer->gone == -EPIPE || peer->gone == -ECONNRESET ||
		     peer->gone == -ESHUTDOWN;

	fail(peer->rendezvous, EXIT_FAILED, "rank-gone", "rank %u (%s) %s", peer->rank, peer->name,
	     ended ? "has ended" :
	     peer->gone == -EPROTO ? "does not follow the protocol" : strerror(-peer->gone));
}

static void peers_remove(struct peers *peers, struct peer *peer)
{
	TAILQ_REMOVE(peers, peer, entry);
	loop_remove(peer->rendezvous->loop, &peer->source);
	wire_close(&peer->wire);
	free(peer->frame.data);
	free(peer);
}

static void peers_free(struct peers *peers)
{
	while (!TAILQ_EMPTY(peers))
		peers_remove(peers, TAILQ_FIRST(peers));
}

static void guest_remove(struct peer *guest)
{
	guest->rendezvous->connections--;
	peers_remove(&guest->rendezvous->guests, guest);
}

/* Nothing more will come. A rank that has not said so has failed. */
static void peer_end(struct peer *peer, int gone)
{
	struct rendezvous *rendezvous = peer->rendezvous;

	if (!peer->known) {
		if (gone == -EPROTO)
			memcpy(rendezvous->stranger, peer->name, sizeof(peer->name));
		guest_remove(peer);
		return;
	}
	peer->gone = gone;
	loop_remove(rendezvous->loop, &peer->source);
	if (gone != -ESHUTDOWN)
		fail_gone(peer);
}

/* Bytes of the longest frame of a rank */
static __u32 frame_limit(const struct rendezvous_config *config)
{
	size_t most = config->largest * (config->rank ? config->ranks : 1);

	return most > sizeof(struct frame_error) ? most : sizeof(struct frame_error);
}

/* Move a guest to its place among the ranks. */
static void peer_enter(struct peer *peer)
{
	struct rendezvous *rendezvous = peer->rendezvous;
	struct peer *next;

	peer->known = true;
	peer->wire.limit = frame_limit(rendezvous->config);
	TAILQ_REMOVE(&rendezvous->guests, peer, entry);
	rendezvous->met++;
	TAILQ_FOREACH(next, &rendezvous->peers, entry)
		if (next->rank >= peer->rank)
			break;
	if (next)
		TAILQ_INSERT_BEFORE(next, peer, entry);
	else
		TAILQ_INSERT_TAIL(&rendezvous->peers, peer, entry);
}

/* If a rank does not fit in, the run fails, and this rank is told as well. */
static int take_hello(struct peer *peer, const struct frame *frame)
{
	struct rendezvous *rendezvous = peer->rendezvous;
	const struct rendezvous_config *config = rendezvous->config;
	char difference[320];
	struct peer *next;

	if (peer->known || frame->length < sizeof(peer->rank))
		return -EPROTO;
	memcpy(&peer->rank, frame->data, sizeof(peer->rank));
	peer_enter(peer);
	if (setting_differs(config->settings, frame->data + sizeof(peer->rank),
			    difference, sizeof(difference)))
		fail(rendezvous, EXIT_BAD_INPUT, "mismatch", "rank %u (%s) differs: %s",
		     peer->rank, peer->name, difference);
	next = TAILQ_NEXT(peer, entry);
	if (!peer->rank || peer->rank >= config->ranks || (next && next->rank == peer->rank))
		fail(rendezvous, EXIT_BAD_INPUT, "mismatch",
		     "%s says that it is rank %u of %u, which %s", peer->name, peer->rank,
		     config->ranks,
		     peer->rank < config->ranks ? "is here already" : "there is not");
	return 0;
}

/* Another rank has failed, and says why. There is one such code: the first. */
static int take_error(struct peer *peer, const struct frame *frame)
{
	static char code[WIRE_CODE];
	struct frame_error error;

	if (frame->length != sizeof(error))
		return -EPROTO;
	memcpy(&error, frame->data, sizeof(error));
	error.code[sizeof(error.code) - 1] = '\0';
	error.message[sizeof(error.message) - 1] = '\0';
	if (error.exit_status < EXIT_FAILED || error.exit_status > EXIT_REFUSED)
		error.exit_status = EXIT_FAILED;
	if (!peer->rendezvous->err.code)
		reader_quote(error.code, code, sizeof(code));
	fail(peer->rendezvous, error.exit_status, code, "%s", error.message);
	return -ESHUTDOWN;
}

/*
 * A rank sends nothing before the answer to its last frame, unless it ends. Return: 0 or a
 * negative errno, after which nothing more is read.
 */
static int take_frame(struct peer *peer, struct frame *frame)
{
	if (!peer->known && frame->type != FRAME_HELLO)
		return -EPROTO;
	switch (frame->type) {
	case FRAME_HELLO:
		return take_hello(peer, frame);
	case FRAME_ERROR:
		return take_error(peer, frame);
	case FRAME_BYE:
		return -ESHUTDOWN;
	case FRAME_DATA:
		if (peer->frame.data)
			return -EPROTO;
		peer->frame = *frame;
		frame->data = NULL;
		return 0;
	default:
		return -EPROTO;
	}
}

static int peer_ready(void *arg)
{
	struct peer *peer = arg;
	struct rendezvous *rendezvous = peer->rendezvous;
	struct frame frame;
	int ret;

	while ((ret = wire_read(&peer->wire, &frame)) == 1) {
		ret = take_frame(peer, &frame);
		free(frame.data);
		if (ret)
			break;
	}
	if (ret)
		peer_end(peer, ret);
	return rendezvous->err.code ? -ECONNABORTED : 0;
}

/* Rank 0 does not know yet who has connected; the others have connected to rank 0. */
static int peer_add(struct rendezvous *rendezvous, int fd, const char *name)
{
	const struct rendezvous_config *config = rendezvous->config;
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer) {
		close(fd);
		return -ENOMEM;
	}
	peer->rendezvous = rendezvous;
	peer->source = (struct source) { fd, peer_ready, peer };
	peer->known = config->rank;
	snprintf(peer->name, sizeof(peer->name), "%s", name);
	wire_open(&peer->wire, fd, config->timeout, peer->known ? frame_limit(config) : MAX_HELLO);
	TAILQ_INSERT_TAIL(peer->known ? &rendezvous->peers : &rendezvous->guests, peer, entry);
	return loop_add(rendezvous->loop, &peer->source);
}

/* If there are too many connections, the oldest one without a rank is closed. */
static int accept_guest(void *arg)
{
	struct rendezvous *rendezvous = arg;
	const struct rendezvous_config *config = rendezvous->config;
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char name[64];
	int fd;

	fd = accept4(rendezvous->listener.fd, (struct sockaddr *)&addr, &len, SOCK_CLOEXEC);
	if (fd < 0 && errno != EMFILE && errno != ENFILE)
		return 0;
	if (fd < 0) {
		fail(rendezvous, EXIT_FAILED, "system",
		     "rank 0 cannot take %u connections: %s (see ulimit -n)",
		     config->ranks - 1, strerror(errno));
		return -EMFILE;
	}
	if (rendezvous->connections++ == config->ranks + STRANGERS)
		guest_remove(TAILQ_FIRST(&rendezvous->guests));
	meet_name(&addr, len, name, sizeof(name));
	return peer_add(rendezvous, fd, name);
}

static void fail_absent(struct rendezvous *rendezvous)
{
	__u32 missing = rendezvous->config->ranks - rendezvous->met, rank = 1;
	char more[64] = " has", other[128] = "", here[64];
	struct peer *peer;

	if (rendezvous->err.code)
		return;
	TAILQ_FOREACH(peer, &rendezvous->peers, entry)
		rank += peer->rank == rank;
	if (missing > 1)
		snprintf(more, sizeof(more), " and %u more have", missing - 1);
	if (rendezvous->stranger[0])
		snprintf(other, sizeof(other), "; %s does not follow the protocol",
			 rendezvous->stranger);
	fail(rendezvous, EXIT_FAILED, "rank-absent", "rank %u%s not connected in %g s%s", rank,
	     more, (double)rendezvous->patience / SECOND, other);
	meet_here(rendezvous->listener.fd, here, sizeof(here));
	err_hint(&rendezvous->err,
		 "Rank 0 listens on %s port %s, which the others have to reach: see --listen.",
		 here, rendezvous->config->port);
}

static void stop_listening(struct rendezvous *rendezvous)
{
	if (rendezvous->listener.fd >= 0)
		close(rendezvous->listener.fd);
	rendezvous->listener.fd = -1;
	peers_free(&rendezvous->guests);
}

/* After a rank that differs, or is gone, the others are still waited for, to get the error. */
static int meet_all(struct rendezvous *rendezvous)
{
	const struct rendezvous_config *config = rendezvous->config;
	__u64 until = clock_ns() + rendezvous->patience;
	int ret;

	while (rendezvous->met < config->ranks && clock_ns() < until) {
		ret = loop_wait(rendezvous->loop, until);
		if (ret && ret != -ECONNABORTED)
			return ret;
	}
	if (rendezvous->met < config->ranks)
		fail_absent(rendezvous);
	stop_listening(rendezvous);
	return rendezvous->err.code ? -ECONNABORTED : 0;
}

/* Connections to all ranks may be more than the default limit of descriptors. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_first(struct rendezvous *rendezvous, struct err *err)
{
	const struct rendezvous_config *config = rendezvous->config;
	int ret = meet_listen(config->listen, config->port, &rendezvous->listener.fd, err);

	if (ret)
		return ret;
	allow_files();
	rendezvous->listener.ready = accept_guest;
	rendezvous->listener.arg = rendezvous;
	rendezvous->met = 1;
	return loop_add(rendezvous->loop, &rendezvous->listener) ?: meet_all(rendezvous);
}

static int peer_send(struct peer *peer, enum frame_type type, const void *data, size_t length)
{
	int ret = wire_send(&peer->wire, type, data, length);

	/* The reason may be there to be read. */
	if (ret && (peer->gone || !peer_ready(peer)))
		peer_end(peer, ret);
	return ret;
}

static int open_other(struct rendezvous *rendezvous, struct err *err)
{
	const struct rendezvous_config *config = rendezvous->config;
	char hello[MAX_HELLO];
	size_t length = sizeof(config->rank);
	int fd, ret;

	memcpy(hello, &config->rank, length);
	ret = setting_print(config->settings, hello + length, sizeof(hello) - length);
	if (ret < 0)
		return ret;
	length += ret;
	ret = meet_connect(config->host, config->port, clock_ns() + config->timeout, &fd, err) ?:
	      peer_add(rendezvous, fd, config->host);
	return ret ?: peer_send(TAILQ_FIRST(&rendezvous->peers), FRAME_HELLO, hello, length);
}

static void fail_silent(struct peer *peer, const char *what)
{
	fail(peer->rendezvous, EXIT_FAILED, "rank-gone",
	     "rank %u (%s) does not answer: it has not sent its %s", peer->rank, peer->name, what);
	peer->gone = -ETIMEDOUT;
}

static int take_data(struct peer *peer, const char *what, void *data, size_t bytes, __u64 until)
{
	struct rendezvous *rendezvous = peer->rendezvous;
	int ret = 0;

	while (!ret && !peer->frame.data && !peer->gone && clock_ns() < until)
		ret = loop_wait(rendezvous->loop, until);
	if (ret)
		return ret;
	if (peer->frame.data && peer->frame.length != bytes)
		peer_end(peer, -EPROTO);
	else if (!peer->frame.data && peer->gone)
		fail_gone(peer);
	else if (!peer->frame.data)
		fail_silent(peer, what);
	if (rendezvous->err.code)
		return -ECONNABORTED;
	if (bytes)
		memcpy(data, peer->frame.data, bytes);
	free(peer->frame.data);
	peer->frame.data = NULL;
	return 0;
}

int rendezvous_gather(struct rendezvous *rendezvous, const char *what, const void *mine,
		      void *all, size_t bytes, __u64 waited, struct err *err)
{
	__u64 until = clock_ns() + rendezvous->patience - waited;
	__u32 rank = rendezvous->config->rank;
	size_t sum = bytes * rendezvous->config->ranks;
	struct peer *peer;
	int ret = 0;

	if (!rank && bytes)
		memcpy(all, mine, bytes);
	TAILQ_FOREACH(peer, &rendezvous->peers, entry)
		ret = ret ?:
		      rank ? peer_send(peer, FRAME_DATA, mine, bytes) :
		      take_data(peer, what, (char *)all + peer->rank * bytes, bytes, until);
	TAILQ_FOREACH(peer, &rendezvous->peers, entry)
		ret = ret ?:
		      rank ? take_data(peer, what, all, sum, until) :
		      peer_send(peer, FRAME_DATA, all, sum);
	/* An error may have arrived after the expected frames. */
	ret = ret ?: rendezvous->err.code ? -ECONNABORTED : 0;
	if (ret && rendezvous->err.code)
		*err = rendezvous->err;
	return ret;
}

int rendezvous_open(struct rendezvous **rendezvous, const struct rendezvous_config *config,
		    struct loop *loop, struct err *err)
{
	struct rendezvous *new = calloc(1, sizeof(*new));
	char nothing;	/* is sent */
	int ret;

	*rendezvous = new;
	if (!new)
		return -ENOMEM;
	new->config = config;
	new->loop = loop;
	new->listener.fd = -1;
	TAILQ_INIT(&new->peers);
	TAILQ_INIT(&new->guests);
	/* Rank 0 ends first, so that it can name the rank. */
	new->patience = config->timeout / 4 * (config->rank ? 4 : 3);
	ret = config->rank ? open_other(new, err) : open_first(new, err);
	/* No rank goes on before all agree. The first ranks have waited for the last one. */
	if (!ret)
		return rendezvous_gather(new, "word that all are here", &nothing, &nothing, 0,
					 config->rank ? 0 : config->timeout / 2, err);
	if (new->err.code)
		*err = new->err;
	return ret;
}

const struct err *rendezvous_error(const struct rendezvous *rendezvous)
{
	return rendezvous->err.code ? &rendezvous->err : NULL;
}

/* The reason for which this rank ends, or the word that all is well */
static void say_bye(const struct peer *peer, const struct err *err)
{
	struct frame_error error = { .exit_status = err->exit_status };

	if (!err->code) {
		wire_send(&peer->wire, FRAME_BYE, NULL, 0);
		return;
	}
	snprintf(error.code, sizeof(error.code), "%s", err->code);
	snprintf(error.message, sizeof(error.message), "%s", err->message);
	wire_send(&peer->wire, FRAME_ERROR, &error, sizeof(error));
}

void rendezvous_close(struct rendezvous *rendezvous, const struct err *err)
{
	__u64 until = clock_ns() + SECOND;
	struct peer *peer;

	if (!rendezvous)
		return;
	stop_listening(rendezvous);
	TAILQ_FOREACH(peer, &rendezvous->peers, entry)
		say_bye(peer, err);
	TAILQ_FOREACH(peer, &rendezvous->peers, entry)
		if (err->code && !peer->gone)
			wire_drain(&peer->wire, until);
	peers_free(&rendezvous->peers);
	free(rendezvous);
}
