/* SPDX-License-Identifier: GPL-2.0 */
/* The number of this rank and the address of rank 0, from mpirun, srun or torchrun. */
#ifndef ROCESTEER_PERF_LAUNCH_H
#define ROCESTEER_PERF_LAUNCH_H

#include <linux/types.h>

#include "base/base.h"

#define LAUNCH_PORT	"18615"

/**
 * struct launch - this rank, and rank 0
 * @rank: number of this rank
 * @host: name or address of rank 0
 * @port: port of rank 0
 */
struct launch {
	__u32 rank;
	char host[256];
	char port[16];
};

/**
 * launch_read() - read options, or the environment
 * @launch: filled
 * @rank: option, or NULL
 * @rendezvous: option HOST, HOST:PORT or [HOST]:PORT, or NULL
 * @ranks: number of ranks
 * @err: names the option, or the variable of the environment
 *
 * Return: 0 or -EINVAL.
 */
int launch_read(struct launch *launch, const char *rank,
		const char *rendezvous, __u32 ranks, struct err *err);

#endif /* ROCESTEER_PERF_LAUNCH_H */
