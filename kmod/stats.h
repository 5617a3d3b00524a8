/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_STATS_H
#define ROCESTEER_STATS_H

#include <linux/types.h>

/**
 * enum rocesteer_counter - counters of a network namespace
 *
 * Each is a netlink attribute of the same name; what they mean is said in
 * Documentation/netlink/specs/rocesteer.yaml.
 *
 * @ROCESTEER_COUNT_LEARNT: queue pairs registered
 * @ROCESTEER_COUNT_UNTAGGED: of these, belonging to no job
 * @ROCESTEER_COUNT_REMOVED: flows removed with their queue pair or device
 * @ROCESTEER_COUNT_DUPLICATE: queue pairs whose key another process has, too, or not
 *	resequenced since another device has their number
 * @ROCESTEER_COUNT_FULL: queue pairs not registered, max_flows reached, or half of it
 *	by one user
 * @ROCESTEER_COUNT_NO_MEMORY: queue pairs not registered, no memory
 * @ROCESTEER_COUNT_RESEQ_HELD: packets that had to wait
 * @ROCESTEER_COUNT_RESEQ_FILLED: missing packets that came
 * @ROCESTEER_COUNT_RESEQ_LOST: missing packets given up, all paths are beyond
 * @ROCESTEER_COUNT_RESEQ_TIMEOUT: missing packets given up by the timer
 * @ROCESTEER_COUNT_RESEQ_NAK: sequence and RNR NAKs, and READ requests that are
 *	repeated, seen to be sent
 * @ROCESTEER_COUNT_RESEQ_BEHIND: packets passed, a later one had been
 * @ROCESTEER_COUNT_RESEQ_RESYNC: of these, too far behind
 * @ROCESTEER_COUNT_RESEQ_OUT_OF_WINDOW: packets passed, too far ahead
 * @ROCESTEER_COUNT_RESEQ_NO_MEMORY: packets passed, no memory; READ requests
 *	that were not remembered
 * @ROCESTEER_COUNT_RESEQ_DROPPED: waiting packets freed
 * @ROCESTEER_COUNT_RESEQ_FOREIGN: packets from another than the peer, or to another
 *	address than the queue pair's
 * @ROCESTEER_COUNT_QP_STEERED: queue pairs given a port by the policy
 * @ROCESTEER_COUNT_QP_OWN_LABEL: queue pairs that had a flow label already
 * @ROCESTEER_COUNT_RESEQ_GSO: aggregates passed, GRO had made them
 * @ROCESTEER_COUNT_MAX: number of counters
 */
enum rocesteer_counter {
	ROCESTEER_COUNT_LEARNT,
	ROCESTEER_COUNT_UNTAGGED,
	ROCESTEER_COUNT_REMOVED,
	ROCESTEER_COUNT_DUPLICATE,
	ROCESTEER_COUNT_FULL,
	ROCESTEER_COUNT_NO_MEMORY,
	ROCESTEER_COUNT_RESEQ_HELD,
	ROCESTEER_COUNT_RESEQ_FILLED,
	ROCESTEER_COUNT_RESEQ_LOST,
	ROCESTEER_COUNT_RESEQ_TIMEOUT,
	ROCESTEER_COUNT_RESEQ_NAK,
	ROCESTEER_COUNT_RESEQ_BEHIND,
	ROCESTEER_COUNT_RESEQ_RESYNC,
	ROCESTEER_COUNT_RESEQ_OUT_OF_WINDOW,
	ROCESTEER_COUNT_RESEQ_NO_MEMORY,
	ROCESTEER_COUNT_RESEQ_DROPPED,
	ROCESTEER_COUNT_RESEQ_FOREIGN,
	ROCESTEER_COUNT_QP_STEERED,
	ROCESTEER_COUNT_QP_OWN_LABEL,
	ROCESTEER_COUNT_RESEQ_GSO,
	ROCESTEER_COUNT_MAX,
};

/**
 * struct rocesteer_stats - one CPU's counters
 * @count: indexed by enum rocesteer_counter
 */
struct rocesteer_stats {
	u64 count[ROCESTEER_COUNT_MAX];
};

#endif /* ROCESTEER_STATS_H */
