// SPDX-License-Identifier: GPL-2.0
#include "rendezvous.h"

#include <errno.h>
#include <netdb.h>
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
#define STRANGERS	64u	/* that are listened to beside all ranks */

/**
 * struct peer - a connection to another rank
 * @guest: among those that have not said who they are
 * @rendezvous: it belongs to
 * @wire: connection
 * @source: of the loop
 * @name: its address
 * @rank: who it is, UNKNOWN: it has not said so
 * @gone: a negative errno: nothing more will come
 */
struct peer {
	TAILQ_ENTRY(peer) guest;
	struct rendezvous *rendezvous;
	struct wire wire;
	struct source source;
	char name[64];
	__u32 rank;
	int gone;
};

TAILQ_HEAD(guests, peer);

#define UNKNOWN	(~0u)

/**
 * struct rendezvous - rank 0 has all others as peers, the others have rank 0
 * @config: who and where
 * @loop: all connections are in
 * @listener: socket of rank 0
 * @peer: by rank; of other ranks the first only
 * @guests: while ranks meet: who have not said yet which they are, in the order
 *	in which they came
 * @nr_guests: how many
 * @room: for connections
 * @met: ranks that have come
 * @stranger: who last had another token, empty: nobody
 * @err: the first failure
 */
struct rendezvous {
	const struct rendezvous_config *config;
	struct loop *loop;
	struct source listener;
	struct peer **peer;
	struct guests guests;
	__u32 nr_guests;
	__u32 room;
	__u32 met;
	char stranger[64];
	struct err err;
};

static void peer_free(struct peer *peer)
{
	if (!peer)
		return;
	if (peer->wire.fd >= 0)
		loop_remove(peer->rendezvous->loop, &peer->source);
	wire_close(&peer->wire);
	free(peer);
}

/* The first failure is the cause. Its text may come from a peer and goes to a terminal. */
static void fail(struct rendezvous *rendezvous, int exit_status,
		 const char *code, const char *text)
{
	struct err *err = &rendezvous->err;

	if (err->code)
		return;
	err_set(err, exit_status, code, "%s", text);
	reader_quote(err->message, err->message, sizeof(err->message));
}

static void fail_peer(struct peer *peer, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "rank %u (%s) %s", peer->rank, peer->name,
		 what);
	fail(peer->rendezvous, EXIT_FAILED, "rank-gone", text);
}

/* Another rank has failed, and says why. There is one such code: the first. */
static void take_error(struct peer *peer, const struct frame *frame)
{
	static char code[WIRE_CODE];
	struct rendezvous *rendezvous = peer->rendezvous;
	struct frame_error error;

	if (rendezvous->err.code || frame->length != sizeof(error))
		return;
	memcpy(&error, frame->data, sizeof(error));
	error.code[sizeof(error.code) - 1] = '\0';
	error.message[sizeof(error.message) - 1] = '\0';
	if (error.exit_status < EXIT_FAILED || error.exit_status > EXIT_REFUSED)
		error.exit_status = EXIT_FAILED;
	reader_quote(error.code, code, sizeof(code));
	fail(rendezvous, error.exit_status, code, error.message);
}

static void compare(struct peer *peer, const char *text)
{
	char difference[320], line[512];

	if (!setting_differs(peer->rendezvous->config->settings, text,
			     difference, sizeof(difference)))
		return;
	snprintf(line, sizeof(line), "rank %u (%s) differs: %s", peer->rank,
		 peer->name, difference);
	fail(peer->rendezvous, EXIT_BAD_INPUT, "mismatch", line);
}

/* Bytes of the longest frame of a rank */
static __u32 frame_limit(const struct rendezvous_config *config)
{
	size_t most = config->largest * (config->rank ? config->ranks : 1);

	return most > sizeof(struct frame_error) ? most :
						   sizeof(struct frame_error);
}

static void send_error(struct peer *peer, const struct err *err)
{
	struct frame_error error = { .exit_status = err->exit_status };

	snprintf(error.code, sizeof(error.code), "%s", err->code);
	snprintf(error.message, sizeof(error.message), "%s", err->message);
	wire_send(&peer->wire, FRAME_ERROR, &error, sizeof(error));
}

/* The peer has the token: if it does not fit in, the run fails. */
static bool take_hello(struct peer *peer, const struct frame *frame)
{
	struct rendezvous *rendezvous = peer->rendezvous;
	const struct rendezvous_config *config = rendezvous->config;
	char text[MAX_HELLO + 1] = "", line[256];
	size_t length = frame->length;

	if (frame->type != FRAME_HELLO || length < sizeof(peer->rank))
		return false;
	memcpy(&peer->rank, frame->data, sizeof(peer->rank));
	memcpy(text, frame->data + sizeof(peer->rank),
	       length - sizeof(peer->rank));
	compare(peer, text);
	if (!peer->rank || peer->rank >= config->ranks ||
	    rendezvous->peer[peer->rank]) {
		snprintf(line, sizeof(line),
			 "%s says that it is rank %u of %u, which %s",
			 peer->name, peer->rank, config->ranks,
			 peer->rank < config->ranks ? "is here already" :
			 "there is not");
		fail(rendezvous, EXIT_BAD_INPUT, "mismatch", line);
		send_error(peer, &rendezvous->err);
		rendezvous->met++;
		return false;
	}
	rendezvous->peer[peer->rank] = peer;
	rendezvous->met++;
	wire_next(&peer->wire);
	peer->wire.limit = frame_limit(config);
	return true;
}

static void fail_gone(struct peer *peer)
{
	switch (-peer->gone) {
	case EPIPE:
	case ECONNRESET:
		/* Rank 0 does not answer a peer with another token. */
		fail_peer(peer, peer->wire.received ? "has ended" :
			  "has ended, or has another token");
		break;
	case EBADMSG:
		fail_peer(peer, "has another token");
		break;
	case EPROTO:
		fail_peer(peer, "does not follow the protocol");
		break;
	default:
		fail_peer(peer, strerror(-peer->gone));
	}
}

/* A rank that sends an error sends nothing after it; a rank that ends well says so. */
static int peer_look(struct peer *peer)
{
	struct frame last;
	bool said = wire_last(&peer->wire, &last);

	if (said && last.type == FRAME_ERROR)
		take_error(peer, &last);
	else if (peer->gone && (!said || last.type != FRAME_BYE))
		fail_gone(peer);
	return peer->rendezvous->err.code ? -ECONNABORTED : 0;
}

static int peer_ready(void *arg)
{
	struct peer *peer = arg;

	peer->gone = wire_read(&peer->wire);
	if (peer->gone)
		loop_remove(peer->rendezvous->loop, &peer->source);
	return peer_look(peer);
}

static void guest_remove(struct peer *peer)
{
	struct rendezvous *rendezvous = peer->rendezvous;

	TAILQ_REMOVE(&rendezvous->guests, peer, guest);
	rendezvous->nr_guests--;
}

static int guest_ready(void *arg)
{
	struct peer *peer = arg;
	struct rendezvous *rendezvous = peer->rendezvous;
	int ret = wire_read(&peer->wire);
	struct frame frame;
	bool said = wire_first(&peer->wire, &frame);

	if (!said && !ret)
		return 0;
	guest_remove(peer);
	peer->source.ready = peer_ready;
	if (ret == -EBADMSG)
		memcpy(rendezvous->stranger, peer->name, sizeof(peer->name));
	if (!said || !take_hello(peer, &frame)) {
		peer_free(peer);
		return 0;
	}
	return peer_look(peer);	/* more may have come with it */
}

static int peer_add(struct rendezvous *rendezvous, struct peer *peer, int fd,
		    __u32 limit, int (*ready)(void *arg))
{
	const struct rendezvous_config *config = rendezvous->config;

	peer->rendezvous = rendezvous;
	peer->source = (struct source) { fd, ready, peer };
	return wire_open(&peer->wire, fd, config->token, config->timeout,
			 limit) ?:
	       loop_add(rendezvous->loop, &peer->source);
}

static int fail_accept(struct rendezvous *rendezvous)
{
	char line[128];
	int ret = -errno;

	if (errno != EMFILE && errno != ENFILE)
		return 0;
	snprintf(line, sizeof(line),
		 "rank 0 cannot take %u connections: %s (see ulimit -n)",
		 rendezvous->config->ranks - 1, strerror(errno));
	fail(rendezvous, EXIT_FAILED, "system", line);
	return ret;
}

/*
 * Drop the connection that has been silent for longest, first one from the same address: a
 * host that connects again and again drops no other.
 */
static void make_room(struct rendezvous *rendezvous, const char *name)
{
	struct peer *peer, *first = TAILQ_FIRST(&rendezvous->guests);

	if (rendezvous->nr_guests + rendezvous->met - 1 < rendezvous->room ||
	    !first)
		return;
	TAILQ_FOREACH(peer, &rendezvous->guests, guest)
		if (!strcmp(peer->name, name))
			break;
	peer = peer ?: first;
	guest_remove(peer);
	peer_free(peer);
}

static int accept_guest(void *arg)
{
	struct rendezvous *rendezvous = arg;
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	struct peer *peer;
	int fd;

	fd = accept4(rendezvous->listener.fd, (struct sockaddr *)&addr, &len,
		     SOCK_CLOEXEC);
	if (fd < 0)
		return fail_accept(rendezvous);
	peer = calloc(1, sizeof(*peer));
	if (!peer) {
		close(fd);
		return 0;
	}
	peer->rank = UNKNOWN;
	meet_name(&addr, len, peer->name, sizeof(peer->name));
	if (peer_add(rendezvous, peer, fd, MAX_HELLO, guest_ready)) {
		peer_free(peer);
		return 0;
	}
	make_room(rendezvous, peer->name);
	TAILQ_INSERT_TAIL(&rendezvous->guests, peer, guest);
	rendezvous->nr_guests++;
	return 0;
}

static void fail_absent(struct rendezvous *rendezvous, __u64 waited)
{
	__u32 missing = rendezvous->config->ranks - rendezvous->met, rank = 1;
	char line[256], more[64] = " has", other[128] = "";

	while (rank < rendezvous->config->ranks - 1 && rendezvous->peer[rank])
		rank++;
	if (missing > 1)
		snprintf(more, sizeof(more), " and %u more have", missing - 1);
	if (rendezvous->stranger[0])
		snprintf(other, sizeof(other), "; %s has another token",
			 rendezvous->stranger);
	snprintf(line, sizeof(line), "rank %u%s not connected in %g s%s",
		 rank, more, (double)waited / SECOND, other);
	fail(rendezvous, EXIT_FAILED, "rank-absent", line);
}

static void guests_free(struct rendezvous *rendezvous)
{
	struct peer *peer;

	while ((peer = TAILQ_FIRST(&rendezvous->guests))) {
		guest_remove(peer);
		peer_free(peer);
	}
}

/* Rank 0 ends first, so that it can name the rank. */
static __u64 rank_timeout(const struct rendezvous_config *config)
{
	return config->timeout / 4 * (config->rank ? 4 : 3);
}

/* After a rank that differs, the others are still waited for, to get the error. */
static int meet_all(struct rendezvous *rendezvous)
{
	const struct rendezvous_config *config = rendezvous->config;
	__u64 until = clock_ns() + rank_timeout(config);
	int ret = 0;

	while (!ret && rendezvous->met < config->ranks &&
	       clock_ns() < until) {
		ret = loop_wait(rendezvous->loop, until);
		/* A rank is gone before all are here: the others get the error, too. */
		if (ret == -ECONNABORTED)
			ret = 0;
	}
	if (ret)
		return ret;
	if (rendezvous->met < config->ranks)
		fail_absent(rendezvous, rank_timeout(config));
	loop_remove(rendezvous->loop, &rendezvous->listener);
	close(rendezvous->listener.fd);
	rendezvous->listener.fd = -1;
	guests_free(rendezvous);
	return rendezvous->err.code ? -ECONNABORTED : 0;
}

/*
 * Connections to all ranks may be more than the default limit of descriptors. Peers without
 * a token get the rest of them, but for the one that is being accepted.
 */
static __u32 count_room(const struct rendezvous *rendezvous)
{
	__u32 ranks = rendezvous->config->ranks - 1;
	__u64 taken = rendezvous->listener.fd + 2ull;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return ranks;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= taken + ranks + STRANGERS)
		return ranks + STRANGERS;
	return limit.rlim_cur > taken + ranks ? limit.rlim_cur - taken : ranks;
}

static int open_first(struct rendezvous *rendezvous, struct err *err)
{
	const struct rendezvous_config *config = rendezvous->config;
	int ret;

	ret = meet_listen(config->listen, config->port,
			  &rendezvous->listener.fd, err);
	if (ret)
		return ret;
	rendezvous->room = count_room(rendezvous);
	rendezvous->listener.ready = accept_guest;
	rendezvous->listener.arg = rendezvous;
	rendezvous->met = 1;
	ret = loop_add(rendezvous->loop, &rendezvous->listener);
	return ret ?: meet_all(rendezvous);
}

static int say_hello(struct rendezvous *rendezvous)
{
	const struct rendezvous_config *config = rendezvous->config;
	char hello[MAX_HELLO];
	size_t length = sizeof(config->rank);
	int ret;

	memcpy(hello, &config->rank, length);
	ret = setting_print(config->settings, hello + length,
			    sizeof(hello) - length);
	if (ret < 0)
		return ret;
	length += ret;
	return wire_send(&rendezvous->peer[0]->wire, FRAME_HELLO, hello,
			 length);
}

static bool has_frame(const struct wire *wire)
{
	struct frame frame;

	return wire_first(wire, &frame);
}

/* Wait until something of a rank is there. */
static int await(struct rendezvous *rendezvous, struct peer *peer,
		 bool (*is_there)(const struct wire *wire), const char *what,
		 __u64 until)
{
	char line[128];
	int ret = 0;

	while (!ret && !is_there(&peer->wire)) {
		if (peer->gone) {
			fail_gone(peer);
			return peer->gone;
		}
		if (clock_ns() >= until) {
			snprintf(line, sizeof(line),
				 "does not answer: it has not sent its %s",
				 what);
			fail_peer(peer, line);
			peer->gone = -ETIMEDOUT;
			return peer->gone;
		}
		ret = loop_wait(rendezvous->loop, until);
	}
	return ret;
}

static int open_other(struct rendezvous *rendezvous, struct err *err)
{
	const struct rendezvous_config *config = rendezvous->config;
	struct peer *peer = calloc(1, sizeof(*peer));
	__u64 until = clock_ns() + config->timeout;
	int fd, ret;

	if (!peer)
		return -ENOMEM;
	peer->wire.fd = -1;
	peer->rendezvous = rendezvous;
	rendezvous->peer[0] = peer;
	snprintf(peer->name, sizeof(peer->name), "%s", config->host);
	ret = meet_connect(config->host, config->port, until, &fd, err);
	if (ret)
		return ret;
	return peer_add(rendezvous, peer, fd, frame_limit(config),
			peer_ready) ?:
	       await(rendezvous, peer, wire_is_greeted, "greeting", until) ?:
	       say_hello(rendezvous);
}

static int take_data(struct rendezvous *rendezvous, struct peer *peer,
		     const char *what, void *data, size_t bytes, __u64 until)
{
	struct frame frame;
	int ret;

	ret = await(rendezvous, peer, has_frame, what, until);
	if (ret)
		return ret;
	wire_first(&peer->wire, &frame);
	if (frame.type != FRAME_DATA || frame.length != bytes) {
		fail_peer(peer, "does not follow the protocol");
		return -EPROTO;
	}
	if (bytes)
		memcpy(data, frame.data, bytes);
	wire_next(&peer->wire);
	return 0;
}

static int send_data(struct peer *peer, const void *data, size_t bytes)
{
	int ret = wire_send(&peer->wire, FRAME_DATA, data, bytes);

	/* Why it is gone may be there to be read. */
	if (ret && !peer->gone && !peer_ready(peer))
		peer->gone = ret;
	if (ret)
		fail_gone(peer);
	return ret;
}

static int gather_first(struct rendezvous *rendezvous, const char *what,
			char *all, size_t bytes, __u64 until)
{
	const struct rendezvous_config *config = rendezvous->config;
	int ret = 0;
	__u32 rank;

	for (rank = 1; !ret && rank < config->ranks; rank++)
		ret = take_data(rendezvous, rendezvous->peer[rank], what,
				all + rank * bytes, bytes, until);
	for (rank = 1; !ret && rank < config->ranks; rank++)
		ret = send_data(rendezvous->peer[rank], all,
				bytes * config->ranks);
	return ret;
}

static int gather(struct rendezvous *rendezvous, const char *what, char *all,
		  size_t bytes, __u64 waited)
{
	const struct rendezvous_config *config = rendezvous->config;
	__u64 until = clock_ns() + rank_timeout(config) - waited;
	int ret;

	if (!config->rank)
		ret = gather_first(rendezvous, what, all, bytes, until);
	else
		ret = send_data(rendezvous->peer[0], all + config->rank * bytes,
				bytes) ?:
		      take_data(rendezvous, rendezvous->peer[0], what, all,
				bytes * config->ranks, until);
	/* An error may have arrived after the expected frames. */
	if (!ret && rendezvous->err.code)
		ret = -ECONNABORTED;
	return ret;
}

int rendezvous_open(struct rendezvous **rendezvous,
		    const struct rendezvous_config *config, struct loop *loop,
		    struct err *err)
{
	char nothing;	/* is sent */
	struct rendezvous *new = calloc(1, sizeof(*new));
	int ret;

	*rendezvous = new;
	if (!new)
		return -ENOMEM;
	new->config = config;
	new->loop = loop;
	new->listener.fd = -1;
	TAILQ_INIT(&new->guests);
	new->peer = calloc(config->ranks, sizeof(*new->peer));
	if (!new->peer)
		return -ENOMEM;
	ret = config->rank ? open_other(new, err) : open_first(new, err);
	/*
	 * No rank goes on before all agree. The first ranks have waited for the last one.
	 */
	ret = ret ?: gather(new, "word that all are here", &nothing, 0,
			    config->rank ? 0 : config->timeout / 2);
	if (ret && new->err.code)
		*err = new->err;
	return ret;
}

int rendezvous_gather(struct rendezvous *rendezvous, const char *what,
		      const void *mine, void *all, size_t bytes,
		      __u64 waited, struct err *err)
{
	int ret;

	if (bytes)
		memcpy((char *)all + rendezvous->config->rank * bytes, mine,
		       bytes);
	ret = gather(rendezvous, what, all, bytes, waited);
	if (ret && rendezvous->err.code)
		*err = rendezvous->err;
	return ret;
}

const struct err *rendezvous_error(const struct rendezvous *rendezvous)
{
	return rendezvous->err.code ? &rendezvous->err : NULL;
}

/* Why we go, or that all is well. */
static void tell_all(struct rendezvous *rendezvous, const struct err *err)
{
	__u32 rank;

	for (rank = 0; rank < rendezvous->config->ranks; rank++) {
		struct peer *peer = rendezvous->peer[rank];

		if (!peer || !wire_is_greeted(&peer->wire))
			continue;
		if (err->code)
			send_error(peer, err);
		else
			wire_send(&peer->wire, FRAME_BYE, NULL, 0);
	}
}

void rendezvous_close(struct rendezvous *rendezvous, const struct err *err)
{
	__u64 until = clock_ns() + SECOND;
	__u32 rank;

	if (!rendezvous)
		return;
	if (rendezvous->peer)
		tell_all(rendezvous, err);
	guests_free(rendezvous);
	for (rank = 0; rank < rendezvous->config->ranks; rank++) {
		if (!rendezvous->peer || !rendezvous->peer[rank])
			continue;
		if (err->code && !rendezvous->peer[rank]->gone &&
		    rendezvous->peer[rank]->wire.fd >= 0) {
			loop_remove(rendezvous->loop,
				    &rendezvous->peer[rank]->source);
			wire_close_gently(&rendezvous->peer[rank]->wire, until);
		}
		peer_free(rendezvous->peer[rank]);
	}
	if (rendezvous->listener.fd >= 0)
		close(rendezvous->listener.fd);
	free(rendezvous->peer);
	free(rendezvous);
}
