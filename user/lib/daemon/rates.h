/* SPDX-License-Identifier: GPL-2.0 */
/* What is sent on the paths of each group from one look at the tables to the next. */
#ifndef ROCESTEER_LIB_RATES_H
#define ROCESTEER_LIB_RATES_H

#include <stdbool.h>
#include <rocesteer/types.h>

#include "base/base.h"

/**
 * struct rates_path - one path since the last look
 * @packets: sent
 * @bytes: sent
 * @rounds: rounds of go-back-N that began there
 * @pieces: now
 * @avoided: flows that avoid it now, as it seems to be dead
 */
struct rates_path {
	__u64 packets;
	__u64 bytes;
	__u64 rounds;
	__u32 pieces;
	__u32 avoided;
};

/**
 * struct rates_group - a group
 * @key: which
 * @group: as in rs_groups
 * @served: the programs are attached to its device
 * @ports: bit p: a peer has a port of path p
 * @path: its paths
 */
struct rates_group {
	struct rocesteer_group_key key;
	struct rocesteer_group group;
	bool served;
	__u64 ports;
	struct rates_path path[ROCESTEER_MAX_PATHS];
};

/**
 * struct rates - state
 * @groups: of struct rates_group
 * @flows: counts of the last look
 * @elapsed: time between the last two, ns; 0 at first
 * @at: when the last was
 */
struct rates {
	struct set groups;
	struct set flows;
	__u64 elapsed;
	__u64 at;
};

/**
 * rates_read() - look at the tables
 * @rates: zero before the first look
 * @err: filled on failure
 *
 * A flow that came since has sent all that it counts. Where no job is loaded there
 * are no groups.
 *
 * Return: 0 or a negative errno.
 */
int rates_read(struct rates *rates, struct err *err);

/**
 * rates_imbalance() - how uneven the paths of a group were since the last look
 * @group: of struct rates
 *
 * Of the paths that flows are dealt to, each by its weight.
 *
 * Return: bytes of the fullest path over the mean of the paths, in hundredths; 0 where
 * nothing was sent.
 */
__u64 rates_imbalance(const struct rates_group *group);

void rates_free(struct rates *rates);

#endif /* ROCESTEER_LIB_RATES_H */
