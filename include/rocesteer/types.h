/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types that the module, the BPF programs and the user-space helper share.
 * They are the keys and values of the pinned maps: a change of layout is a
 * change of ROCESTEER_ABI.
 *
 * Addresses are 16 bytes in network order, IPv4 as ::ffff:a.b.c.d, the form
 * of a RoCE v2 GID (IB spec, annex A17). Everything else is in host order
 * unless its type is __be*.
 */
#ifndef ROCESTEER_TYPES_H
#define ROCESTEER_TYPES_H

#include <linux/types.h>

/* Layout version of the maps below; a pinned set of another one is refused. */
#define ROCESTEER_ABI		1

/* Equal-cost paths from one NIC to one destination leaf. */
#define ROCESTEER_MAX_PATHS	64

/* Bounds of the tables; a table that is full refuses, nothing is evicted. */
#define ROCESTEER_MAX_JOBS	1024
#define ROCESTEER_MAX_FLOWS	65536
#define ROCESTEER_MAX_PEERS	16384

/* IANA port of RoCE v2, and the source ports its flow labels map to. */
#define ROCESTEER_ROCE_PORT	4791
#define ROCESTEER_SPORT_MIN	0xc000
#define ROCESTEER_SPORT_MAX	0xffff

/**
 * struct rocesteer_flow_key - one direction of one queue pair
 * @ifindex: network device the packets leave by, in the map's namespace
 * @dqpn: destination queue pair number, 24 bits
 * @peer: destination address
 */
struct rocesteer_flow_key {
	__u32 ifindex;
	__u32 dqpn;
	__u8 peer[16];
};

/**
 * struct rocesteer_flow_path - the path of one flow, value of rs_flows
 * @icrc_cache: ICRC change of the last packet: the XOR word in bits 63..32,
 *	the UDP length in 31..16, old port ^ new port in 15..0. One word, so
 *	that a torn read is impossible.
 * @packets: packets steered
 * @bytes: their bytes, Ethernet header included
 * @job: job the flow belongs to
 * @path: index into rocesteer_peer.sport
 * @sport: UDP source port that takes this path, network order
 * @leaf: router address of the destination leaf, names the group
 */
struct rocesteer_flow_path {
	__u64 icrc_cache;
	__u64 packets;
	__u64 bytes;
	__u32 job;
	__u16 path;
	__be16 sport;
	__u8 leaf[16];
};

/**
 * struct rocesteer_peer_key - key of rs_peers
 * @job: job number
 * @ifindex: network device
 * @addr: the peer's address
 */
struct rocesteer_peer_key {
	__u32 job;
	__u32 ifindex;
	__u8 addr[16];
};

/**
 * struct rocesteer_peer - a job's port map to one peer, value of rs_peers
 * @leaf: router address of the leaf that the peer is under
 * @nr_paths: paths known, 1..ROCESTEER_MAX_PATHS
 * @reserved: zero
 * @sport: per path the UDP source port that takes it, network order; 0 where
 *	no port was found that does
 */
struct rocesteer_peer {
	__u8 leaf[16];
	__u32 nr_paths;
	__u32 reserved;
	__be16 sport[ROCESTEER_MAX_PATHS];
};

/**
 * struct rocesteer_group_key - key of rs_groups
 * @job: job number
 * @ifindex: network device
 * @leaf: router address of the destination leaf
 */
struct rocesteer_group_key {
	__u32 job;
	__u32 ifindex;
	__u8 leaf[16];
};

/**
 * struct rocesteer_group - how a group's flows are dealt, value of rs_groups
 * @nr_paths: paths to deal to, 1..ROCESTEER_MAX_PATHS
 * @first: path the deal starts at, shuffled per host
 * @flows: flows that each path carries now
 *
 * A new flow goes to the path with the fewest flows, the first such from
 * @first on: whole flows, dealt round robin (Ethereal, algorithm 1).
 */
struct rocesteer_group {
	__u32 nr_paths;
	__u32 first;
	__u32 flows[ROCESTEER_MAX_PATHS];
};

/**
 * struct rocesteer_job - a loaded job, value of rs_jobs, key is its number
 * @cgroup_id: cgroup v2 inode that owns the job's queue pairs, or 0
 * @pid: process that owns them, or 0
 * @ifindex: network device
 * @all: all RC flows of the device that no other job claims belong to it
 * @loaded_at: CLOCK_REALTIME seconds
 * @name: name for people, NUL terminated
 */
struct rocesteer_job {
	__u64 cgroup_id;
	__u32 pid;
	__u32 ifindex;
	__u32 all;
	__u32 reserved;
	__u64 loaded_at;
	char name[32];
};

/**
 * enum rocesteer_verdict - what became of a packet at TC egress
 *
 * Order of struct rocesteer_verdicts. Every packet of an attached device is
 * counted under exactly one. Numbers are never reused. Only STEERED packets are changed.
 *
 * @ROCESTEER_STEERED: left on the planned path
 * @ROCESTEER_FOREIGN: not RoCE v2
 * @ROCESTEER_FRAGMENT: fragment of a UDP datagram, its ports may be elsewhere
 * @ROCESTEER_MALFORMED: to the RoCE port, but lengths or headers are wrong
 * @ROCESTEER_GSO: to the RoCE port, but not yet segmented
 * @ROCESTEER_NOT_RC: RoCE v2 of another transport service than RC
 * @ROCESTEER_UNTAGGED: RC, but the flow belongs to no job
 * @ROCESTEER_NO_PEER: the job has no port map to this peer
 * @ROCESTEER_NO_PATH: the port map has no usable path, or its group is gone
 * @ROCESTEER_UNASSIGNED: acknowledgment of a flow that sends no requests and
 *	therefore takes no share of a path
 * @ROCESTEER_TABLE_FULL: rs_flows has no room for the flow
 * @ROCESTEER_REWRITE_FAILED: the kernel could not make the packet writable
 */
enum rocesteer_verdict {
	ROCESTEER_STEERED,
	ROCESTEER_FOREIGN,
	ROCESTEER_FRAGMENT,
	ROCESTEER_MALFORMED,
	ROCESTEER_GSO,
	ROCESTEER_NOT_RC,
	ROCESTEER_UNTAGGED,
	ROCESTEER_NO_PEER,
	ROCESTEER_NO_PATH,
	ROCESTEER_UNASSIGNED,
	ROCESTEER_TABLE_FULL,
	ROCESTEER_REWRITE_FAILED,
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

_Static_assert(sizeof(struct rocesteer_flow_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_flow_path) == 48, "padding");
_Static_assert(sizeof(struct rocesteer_peer_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_peer) == 152, "padding");
_Static_assert(sizeof(struct rocesteer_group_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_group) == 264, "padding");
_Static_assert(sizeof(struct rocesteer_job) == 64, "padding");

_Static_assert(sizeof(struct rocesteer_verdicts) ==
	       ROCESTEER_VERDICT_MAX * sizeof(__u64), "a verdict has no name");
_Static_assert(sizeof(struct rocesteer_observations) ==
	       ROCESTEER_OBSERVED_MAX * sizeof(__u64), "one has no name");

#endif /* ROCESTEER_TYPES_H */
