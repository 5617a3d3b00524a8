/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rank 0 listens, and the other ranks connect over TCP and stay connected. Rank 0 compares
 * settings, distributes addresses, keeps the ranks in step, and if a rank fails or is gone,
 * ends all of them with the same message.
 *
 * Any process that reaches the port can be a rank. A connection that does not name its rank costs
 * at most a file descriptor and 5 KiB, until all ranks have connected; then rank 0 stops to
 * listen.
 *
 * A rank that is gone without a word is found by rank 0 after three quarters of the
 * timeout. The others wait for rank 0 for all of it.
 */
#ifndef ROCESTEER_PERF_RENDEZVOUS_H
#define ROCESTEER_PERF_RENDEZVOUS_H

#include <stddef.h>

#include "base/base.h"

struct rendezvous;
struct setting;

/**
 * struct rendezvous_config - ranks that meet, and where
 * @rank: this rank
 * @ranks: number of ranks
 * @host: name or address of rank 0
 * @port: port of rank 0
 * @listen: name or address of this host that rank 0 listens on
 * @largest: bytes of a rank in any rendezvous_gather()
 * @timeout: ns
 * @settings: ended by one without name; the first that differs is reported
 */
struct rendezvous_config {
	__u32 rank;
	__u32 ranks;
	const char *host;
	const char *port;
	const char *listen;
	size_t largest;
	__u64 timeout;
	const struct setting *settings;
};

/**
 * rendezvous_open() - meet
 * @rendezvous: set; to be closed
 * @config: ranks and addresses; stays valid
 * @loop: watched for the others from now on: loop_wait() fails when a rank
 *	fails or is gone, and rendezvous_error() says so
 * @err: names the rank that is absent, or differs, and in what; ranks other
 *	than 0 learn that later
 *
 * Return: 0 or a negative errno.
 */
int rendezvous_open(struct rendezvous **rendezvous,
		    const struct rendezvous_config *config, struct loop *loop,
		    struct err *err);

/**
 * rendezvous_gather() - all ranks learn the data of all ranks
 * @rendezvous: rendezvous
 * @what: name of the data, for messages
 * @mine: data of this rank
 * @all: set to the data of all ranks, @bytes of each
 * @bytes: size, equal on all ranks; 0: ranks only wait for each other
 * @waited: ns of the timeout that have gone by before
 * @err: names the rank
 *
 * Return: 0 or a negative errno.
 */
int rendezvous_gather(struct rendezvous *rendezvous, const char *what,
		      const void *mine, void *all, size_t bytes,
		      __u64 waited, struct err *err);

/* The error of another rank, or NULL. */
const struct err *rendezvous_error(const struct rendezvous *rendezvous);

/**
 * rendezvous_close() - go
 * @rendezvous: freed; may be NULL
 * @err: the reason, for the other ranks; without code: all is well
 */
void rendezvous_close(struct rendezvous *rendezvous, const struct err *err);

#endif /* ROCESTEER_PERF_RENDEZVOUS_H */
