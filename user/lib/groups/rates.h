/* SPDX-License-Identifier: GPL-2.0 */
/* Traffic on the paths of each group, between two readings of the tables or in all. */
#ifndef ROCESTEER_LIB_RATES_H
#define ROCESTEER_LIB_RATES_H

#include <stdbool.h>
#include <rocesteer/stats.h>

#include "base/base.h"

/**
 * struct rates_path - a path since the last reading
 * @packets: packets sent
 * @bytes: bytes sent
 * @rounds: rounds of go-back-N that began on the path
 * @pieces: pieces now
 * @avoided: flows that avoid the path now
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
 * @key: key
 * @group: as in rs_groups
 * @served: the programs are attached to its device
 * @carrier: its device is up, and has a carrier
 * @ports: bit p: a peer has a port of path p
 * @observed: flows that are observed
 * @unknown: counters of observed flows without a known path; its @pieces are these flows
 * @path: its paths
 * @cnps: congestion notification packets that arrived for its flows; set by rates_total()
 * @ended: its flows that ended, likewise
 * @seen: @ended.flows when the flows had been read, likewise
 * @torn: a flow ended during the reading, likewise
 */
struct rates_group {
	struct rocesteer_group_key key;
	struct rocesteer_group group;
	bool served;
	bool carrier;
	__u64 ports;
	__u32 observed;
	struct rates_path unknown;
	struct rates_path path[ROCESTEER_MAX_PATHS];
	__u64 cnps;
	struct rocesteer_ended ended;
	__u64 seen;
	bool torn;
};

/**
 * struct rates - state
 * @groups: set of struct rates_group
 * @flows: counters at the last reading
 * @nr_flows: entries of rs_flows
 * @elapsed: time between the last two readings, ns; 0 after the first
 * @at: time of the last reading
 */
struct rates {
	struct set groups;
	struct set flows;
	size_t nr_flows;
	__u64 elapsed;
	__u64 at;
};

/**
 * rates_read() - read the tables
 * @rates: zero before the first reading
 * @err: filled on failure
 *
 * A new flow counts from 0. There are no groups if no job is loaded.
 *
 * Return: 0 or a negative errno.
 */
int rates_read(struct rates *rates, struct err *err);

struct steer;

/**
 * rates_total() - read what was sent since the jobs were loaded
 * @rates: zero
 * @steer: open
 *
 * Paths count the flows in the table, @ended of a group those that have ended. If a flow ends
 * during the reading, the tables are read again, a few times, to count it once. If flows end
 * all the time, the last reading may miss one.
 *
 * Return: 0 or a negative errno.
 */
int rates_total(struct rates *rates, struct steer *steer);

/* Are flows dealt to path @p: has a peer a port of it, and is it not held down? */
bool rates_is_dealt_to(const struct rates_group *group, __u32 p);

/**
 * rates_imbalance() - imbalance of the paths of a group since the last reading
 * @group: of struct rates
 *
 * Return: bytes of the fullest path over the mean of the paths that flows are dealt to, by
 * weight, in hundredths; 0 if nothing was sent.
 */
__u64 rates_imbalance(const struct rates_group *group);

void rates_free(struct rates *rates);

#endif /* ROCESTEER_LIB_RATES_H */
