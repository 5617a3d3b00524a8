/* SPDX-License-Identifier: GPL-2.0 */
/* Who we are and where the others are, as mpirun, srun or torchrun say. */
#ifndef ROCESTEER_PERF_LAUNCH_H
#define ROCESTEER_PERF_LAUNCH_H

#include <linux/types.h>

#include "base/base.h"

#define LAUNCH_PORT	"18615"

/**
 * struct launch - of this process
 * @rank: which one it is
 * @host: name or address of rank 0, which itself may not know it
 * @port: there
 */
struct launch {
	__u32 rank;
	char host[256];
	char port[16];
};

/**
 * launch_read() - find out
 * @launch: filled
 * @rank: as the user says, or NULL
 * @rendezvous: HOST, HOST:PORT, [HOST]:PORT as the user says, or NULL
 * @ranks: that there are to be
 * @err: names the option, or the variable of the environment
 *
 * Return: 0 or -EINVAL.
 */
int launch_read(struct launch *launch, const char *rank,
		const char *rendezvous, __u32 ranks, struct err *err);

#endif /* ROCESTEER_PERF_LAUNCH_H */
