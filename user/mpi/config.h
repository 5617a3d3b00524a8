/* SPDX-License-Identifier: GPL-2.0 */
/* Settings by environment. Rank 0 reads them for all ranks, except the name of the device. */
#ifndef ROCESTEER_MPI_CONFIG_H
#define ROCESTEER_MPI_CONFIG_H

#include "base/base.h"

#define CONFIG_COMMAND	1024	/* of a command */

/**
 * struct config - settings, of plain bytes: rank 0 sends it to all ranks
 * @on: Allreduces may be taken
 * @first: least number of a group
 * @groups: count of numbers
 * @packets: packets of a message
 * @min: bytes from which on a call is taken
 * @timeout: ns without a result after which a group has failed
 * @box: address of a box beside the switches, which sums, or all zero
 * @command: command that reaches rocesteer on the switch, or on the box
 */
struct config {
	__u32 on;
	__u32 first;
	__u32 groups;
	__u32 packets;
	__u64 min;
	__u64 timeout;
	__u8 box[16];
	char command[CONFIG_COMMAND];
};

/**
 * config_read() - read the environment
 * @config: filled; off if there is no switch, or a value is wrong
 * @err: names the variable
 *
 * Return: 0 or a negative errno.
 */
int config_read(struct config *config, struct err *err);

/* The RDMA device of this rank; NULL: the first that will do. */
const char *config_device(void);

/* Where counters are printed: "text", "json", or a file; NULL: nowhere. */
const char *config_counters(void);

#endif /* ROCESTEER_MPI_CONFIG_H */
