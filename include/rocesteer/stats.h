/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics that the BPF programs keep, values of pinned maps. */
#ifndef ROCESTEER_STATS_H
#define ROCESTEER_STATS_H

#include "types.h"

/**
 * struct rocesteer_ended_path - what a flow, or flows that ended, have sent on one path
 * @packets: as in struct rocesteer_sent
 * @bytes: likewise
 * @rounds: as in struct rocesteer_flow_path
 */
struct rocesteer_ended_path {
	__u64 packets;
	__u64 bytes;
	__u64 rounds;
};

/**
 * rocesteer_sent_on() - what a flow has sent on a path
 * @flow: the flow
 * @p: path; 0 has what an observed flow sent on a path that is not known yet
 */
static inline struct rocesteer_ended_path rocesteer_sent_on(const struct rocesteer_flow_path *flow,
							    __u32 p)
{
	__u32 first = flow->first_path == ROCESTEER_PATH_UNKNOWN ? 0 : flow->first_path;

	return (struct rocesteer_ended_path) {
		.packets = flow->sent[p].packets + (p == first ? flow->first.packets : 0),
		.bytes = flow->sent[p].bytes + (p == first ? flow->first.bytes : 0),
		.rounds = flow->rounds[p],
	};
}

/**
 * struct rocesteer_ended - flows of a group that ended, value of rs_ended
 * @flows: how many; written after the sums
 * @cnps: congestion notification packets that arrived for them
 * @unknown: of observed flows whose path was never known
 * @path: by path
 *
 * The counters of a flow go with the flow. With these sums the counters of a group never fall.
 */
struct rocesteer_ended {
	__u64 flows;
	__u64 cnps;
	struct rocesteer_ended_path unknown;
	struct rocesteer_ended_path path[ROCESTEER_MAX_PATHS];
};

/**
 * enum rocesteer_verdict - what became of a packet at TC egress
 *
 * Order of struct rocesteer_verdicts. Every packet of an attached device is
 * counted under exactly one. Numbers are never reused. Only STEERED packets are changed, and only
 * SPARED packets do not leave.
 *
 * @ROCESTEER_VERDICT_STEERED: left on the planned path
 * @ROCESTEER_VERDICT_FOREIGN: not RoCE v2
 * @ROCESTEER_VERDICT_FRAGMENT: fragment of a UDP datagram, its ports may be elsewhere
 * @ROCESTEER_VERDICT_MALFORMED: to the RoCE port, but lengths or headers are wrong
 * @ROCESTEER_VERDICT_GSO: to the RoCE port, but not yet segmented
 * @ROCESTEER_VERDICT_NOT_RC: RoCE v2 of another transport service than RC
 * @ROCESTEER_VERDICT_UNTAGGED: RC, but the queue pair belongs to no job
 * @ROCESTEER_VERDICT_NO_PEER: the job has no port map to this peer
 * @ROCESTEER_VERDICT_NO_PATH: the port map has no usable path, or its group is gone, or the
 *	ports of the queue pair are not known yet where switches hash its number
 * @ROCESTEER_VERDICT_UNASSIGNED: the flow ended at this moment
 * @ROCESTEER_VERDICT_TABLE_FULL: rs_flows has no room for the flow
 * @ROCESTEER_VERDICT_REWRITE_FAILED: the kernel could not make the packet writable
 * @ROCESTEER_VERDICT_ON_PLAN: of a queue pair that is steered, and has the planned port
 * @ROCESTEER_VERDICT_OFF_PLAN: of such a queue pair, and has another port
 * @ROCESTEER_VERDICT_UNPLANNED: of a job that steers queue pairs, but of one that it
 *	could not: connected before the job came, or labelled by the application
 * @ROCESTEER_VERDICT_USER: RC, but not of the flow's queue pair, or of no known flow: a
 *	process made it up, and sends it through a UDP socket
 * @ROCESTEER_VERDICT_FORWARDED: likewise, but sent by no socket of this network namespace.
 *	Only flows that were listed one by one are steered all the same
 * @ROCESTEER_VERDICT_OBSERVED: of an observed flow: left as it came
 * @ROCESTEER_VERDICT_OTHER_SOURCE: the job has no port map of the packet's source
 * @ROCESTEER_VERDICT_SPARED: sent again, although the peer has the packet: struct rocesteer_repair
 */
enum rocesteer_verdict {
	ROCESTEER_VERDICT_STEERED,
	ROCESTEER_VERDICT_FOREIGN,
	ROCESTEER_VERDICT_FRAGMENT,
	ROCESTEER_VERDICT_MALFORMED,
	ROCESTEER_VERDICT_GSO,
	ROCESTEER_VERDICT_NOT_RC,
	ROCESTEER_VERDICT_UNTAGGED,
	ROCESTEER_VERDICT_NO_PEER,
	ROCESTEER_VERDICT_NO_PATH,
	ROCESTEER_VERDICT_UNASSIGNED,
	ROCESTEER_VERDICT_TABLE_FULL,
	ROCESTEER_VERDICT_REWRITE_FAILED,
	ROCESTEER_VERDICT_ON_PLAN,
	ROCESTEER_VERDICT_OFF_PLAN,
	ROCESTEER_VERDICT_UNPLANNED,
	ROCESTEER_VERDICT_USER,
	ROCESTEER_VERDICT_FORWARDED,
	ROCESTEER_VERDICT_OBSERVED,
	ROCESTEER_VERDICT_OTHER_SOURCE,
	ROCESTEER_VERDICT_SPARED,
	ROCESTEER_VERDICT_MAX,
};

/**
 * struct rocesteer_verdicts - packets by verdict, per CPU, value of rs_verdicts
 *
 * The counters of enum rocesteer_verdict, named for bpftool.
 */
struct rocesteer_verdicts {
	__u64 steered;
	__u64 foreign;
	__u64 fragment;
	__u64 malformed;
	__u64 gso;
	__u64 not_rc;
	__u64 untagged;
	__u64 no_peer;
	__u64 no_path;
	__u64 unassigned;
	__u64 table_full;
	__u64 rewrite_failed;
	__u64 on_plan;
	__u64 off_plan;
	__u64 unplanned;
	__u64 user;
	__u64 forwarded;
	__u64 observed;
	__u64 other_source;
	__u64 spared;
};

/**
 * enum rocesteer_observed - what arrived at TC ingress
 *
 * Order of struct rocesteer_observations. AETH syndromes: IB spec 9.7.5.2.1; CNP: annex A17.9.3.
 *
 * @ROCESTEER_SAW_OTHER: RoCE v2, none of the below
 * @ROCESTEER_SAW_ACK: positive acknowledgment
 * @ROCESTEER_SAW_RNR: RNR NAK, receiver not ready
 * @ROCESTEER_SAW_NAK_SEQUENCE: NAK, PSN sequence error
 * @ROCESTEER_SAW_NAK_OTHER: NAK for another reason
 * @ROCESTEER_SAW_CNP: congestion notification packet
 */
enum rocesteer_observed {
	ROCESTEER_SAW_OTHER,
	ROCESTEER_SAW_ACK,
	ROCESTEER_SAW_RNR,
	ROCESTEER_SAW_NAK_SEQUENCE,
	ROCESTEER_SAW_NAK_OTHER,
	ROCESTEER_SAW_CNP,
	ROCESTEER_OBSERVED_MAX,
};

/**
 * struct rocesteer_observations - RoCE v2 packets received, per CPU, value of
 * rs_observed
 *
 * The counters of enum rocesteer_observed, named for bpftool.
 */
struct rocesteer_observations {
	__u64 other;
	__u64 ack;
	__u64 rnr;
	__u64 nak_sequence;
	__u64 nak_other;
	__u64 cnp;
};

_Static_assert(sizeof(struct rocesteer_ended) ==
	       40 + ROCESTEER_MAX_PATHS * 24, "padding");

_Static_assert(sizeof(struct rocesteer_verdicts) ==
	       ROCESTEER_VERDICT_MAX * sizeof(__u64), "a verdict has no name");
_Static_assert(sizeof(struct rocesteer_observations) ==
	       ROCESTEER_OBSERVED_MAX * sizeof(__u64), "one has no name");

#endif /* ROCESTEER_STATS_H */
