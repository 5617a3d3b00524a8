/* SPDX-License-Identifier: GPL-2.0 */
/* The network of the options, or those of the paper of Themis. */
#ifndef ROCESTEER_CLI_CHUNK_NETWORKS_H
#define ROCESTEER_CLI_CHUNK_NETWORKS_H

#include "chunk.h"

#define CHUNK_NETWORKS	6u

/* A network by its options. */
struct chunk_network {
	const char *dims;
	const char *bandwidth;
	const char *algorithm;
	const char *latency;
};

/**
 * struct chunk_networks - networks
 * @of: the collective of the options over each network
 * @name: the networks as given
 * @nr: number of these: CHUNK_NETWORKS, or the one of the options
 */
struct chunk_networks {
	struct chunk_collective of[CHUNK_NETWORKS];
	struct chunk_network name[CHUNK_NETWORKS];
	__u32 nr;
};

/**
 * chunk_networks_read() - read the shared options
 * @args: arguments; without --size 1 GiB
 * @networks: zeroed; filled; to be freed by chunk_networks_free(), also after a failure
 * @err: names option and item
 *
 * Return: 0 or -EINVAL.
 */
int chunk_networks_read(const struct cli_args *args, struct chunk_networks *networks,
			struct err *err);

void chunk_networks_free(struct chunk_networks *networks);

#endif /* ROCESTEER_CLI_CHUNK_NETWORKS_H */
