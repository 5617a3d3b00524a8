/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch that sums, from its beginning to its end: ranks tell each other of their queue
 * pairs, rank 0 tells the switch of all of them, and in the end to forget them.
 */
#ifndef ROCESTEER_PERF_REDUCER_H
#define ROCESTEER_PERF_REDUCER_H

#include "netreduce.h"
#include "perf.h"
#include "rendezvous.h"

/**
 * struct reducer - of a rank
 * @config: of the run
 * @netreduce: connections
 * @told: the switch has been told, by this rank
 */
struct reducer {
	const struct perf_config *config;
	struct netreduce netreduce;
	bool told;
};

/**
 * reducer_open() - make a switch sum
 * @reducer: zeroed; to be closed, also after a failure
 * @config: with @reduce
 * @nic: of the one dimension, open
 * @rendezvous: of all ranks, which do the same
 * @err: says what has failed, on whichever rank
 *
 * Return: 0 or a negative errno.
 */
int reducer_open(struct reducer *reducer, const struct perf_config *config, struct nic *nic,
		 struct rendezvous *rendezvous, struct err *err);

/* The reverse. @err is filled where the switch does not forget the group. */
void reducer_close(struct reducer *reducer, struct err *err);

#endif /* ROCESTEER_PERF_REDUCER_H */
