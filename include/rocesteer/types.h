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

#include "tag.h"

/* Layout version of the maps; a pinned set of another one is refused. */
#define ROCESTEER_ABI		13

/* Equal-cost paths from one NIC to one destination leaf. */
#define ROCESTEER_MAX_PATHS	64

/* Bounds of the tables; a table that is full refuses, nothing is evicted. */
#define ROCESTEER_MAX_JOBS	1024
#define ROCESTEER_MAX_FLOWS	65536
#define ROCESTEER_MAX_PEERS	16384
#define ROCESTEER_MAX_QPNS	16384

/* IANA port of RoCE v2, and the source ports its flow labels map to. */
#define ROCESTEER_ROCE_PORT	4791
#define ROCESTEER_SPORT_MIN	0xc000
#define ROCESTEER_SPORT_MAX	0xffff

/**
 * struct rocesteer_flow_key - one direction of one queue pair
 * @ifindex: network device the packets leave by, in the map's namespace
 * @dqpn: destination queue pair number in bits 23..0, rival number in bits 31..24
 * @peer: destination address
 *
 * Any local process may connect a queue pair of its own to somebody else's peer, and this
 * host cannot know to which of these rivals the peer talks. The module numbers rivals in the
 * order in which they come, so each is steered for itself. The first has number 0, as have
 * all flows without the module.
 */
struct rocesteer_flow_key {
	__u32 ifindex;
	__u32 dqpn;
	__u8 peer[16];
};

#define ROCESTEER_RIVAL_SHIFT	24
#define ROCESTEER_MAX_RIVALS	256

/**
 * struct rocesteer_piece - a share of a flow on one path
 * @end: packet of the period behind the piece, which begins where the one
 *	before it ends, or at 0
 * @path: index into rocesteer_peer.sport
 * @sport: UDP source port that takes this path, network order
 */
struct rocesteer_piece {
	__u32 end;
	__u16 path;
	__be16 sport;
};

/**
 * struct rocesteer_sent - what a flow sent on one path
 * @packets: packets
 * @bytes: their bytes, Ethernet header included
 */
struct rocesteer_sent {
	__u64 packets;
	__u64 bytes;
};

/**
 * enum rocesteer_sequence - the PSNs that a flow has packets of
 * @ROCESTEER_REQUESTS: numbered by this end
 * @ROCESTEER_RESPONSES: numbered by the peer: acknowledgments, READ data
 */
enum rocesteer_sequence {
	ROCESTEER_REQUESTS,
	ROCESTEER_RESPONSES,
	ROCESTEER_PSNS_MAX,
};

/**
 * struct rocesteer_psns - how far a flow is in one of its two PSN sequences
 * @next: PSN behind the highest that was sent, or ROCESTEER_PSN_NONE
 * @last: PSN behind the last one that was sent; less than @next in a round of
 *	go-back-N
 */
struct rocesteer_psns {
	__u32 next;
	__u32 last;
};

/**
 * struct rocesteer_resent - the rounds of go-back-N of a flow in one of its two PSN sequences
 * @again: PSN that the last round began with, or that the peer asks for: then with
 *	ROCESTEER_PSN_ASKED
 * @rounds: how many rounds in a row began with it
 * @repeats: PSN behind the last one that a round repeats which the peer did not
 *	ask for, or ROCESTEER_PSN_NONE
 */
struct rocesteer_resent {
	__u32 again;
	__u32 rounds;
	__u32 repeats;
};

#define ROCESTEER_PSN_NONE	0xffffffff	/* a PSN has 24 bits */
#define ROCESTEER_PSN_ASKED	0x01000000

/**
 * struct rocesteer_detour - a path that a flow avoids for a while
 * @until: CLOCK_MONOTONIC nanoseconds; 0 when there is none
 * @from: path that is avoided
 * @to: path that is taken instead
 * @sport: its source port, network order
 * @reserved: zero
 */
struct rocesteer_detour {
	__u64 until;
	__u16 from;
	__u16 to;
	__be16 sport;
	__u16 reserved;
};

/**
 * struct rocesteer_repair - a round of go-back-N after a NAK which says that a path is silent
 * @from: PSN that the round goes on with; the first one is what the peer asks for
 * @end: PSN behind the last one that was sent before the NAK; as @from where there is no such round
 * @path: the silent path
 * @reserved: zero
 *
 * The peer keeps the packets that came by other paths. In this round they are not sent again. The
 * round is over when a packet is sent that does not go on with it.
 */
struct rocesteer_repair {
	__u32 from;
	__u32 end;
	__u16 path;
	__u16 reserved;
};

/**
 * struct rocesteer_flow_path - the paths of one flow, value of rs_flows
 * @flags: ROCESTEER_FLOW_*
 * @generation: random number of this flow. A new flow in the same memory has another
 *	one, so programs can tell the two apart: they check it as they change @flags
 * @sender: SO_COOKIE of the socket that sends the flow's packets, each queue pair of rxe
 *	has its own; 0 until the first one is sent. Packets of other sockets are looked at
 *	before they change anything here
 * @nr_pieces: 1 for a whole flow
 * @recent: piece of the last packet that had to be in one
 * @bth_paths: bits of the BTH's dqpn, in network order, by which its packets say of how
 *	many paths the flow is
 * @acked: PSN of the last request that the peer acknowledged, or
 *	ROCESTEER_PSN_NONE where that is not known
 * @detour: for the time a path seems to be dead
 * @psns: by enum rocesteer_sequence
 * @first: what the flow sent on its first path; rocesteer_sent_on() adds up
 * @idle: looks at the flow since it sent a packet: bpf/expire.bpf.c
 * @responded: CLOCK_MONOTONIC in units of 2^20 ns, about 1 ms, when its last
 *	response was sent
 * @first_path: path that the flow began on, or ROCESTEER_PATH_UNKNOWN
 * @job: job the flow belongs to
 * @piece: by rising @end; the last @end is the period. A packet with PSN x
 *	takes the piece that x % period falls into, an acknowledgment the first one
 * @next: piece that the whole flow moves to when nothing is in flight; @end 0: it stays
 * @resent: by enum rocesteer_sequence
 * @sent: on the other paths
 * @rounds: by path: rounds of go-back-N whose first packet has this path: the packet, or its
 *	acknowledgment, was lost. 65,535 stands for all above
 * @cnps: congestion notification packets that arrived for the flow
 * @repeated: as @responded, when the last response was sent that repeats another
 * @bursts: number of such repetitions that followed closely on other responses
 * @leaf: router address of the destination leaf, names the group
 * @source: our address that its packets have
 * @tagged: packets of @message that struct rocesteer_tags does not count yet
 * @message: the message that began last, if the flow has ROCESTEER_FLOW_TAGGED
 * @late: acknowledgments by which the peer said that the flow waits for one of its paths
 * @planned: PSN of the first packet that is sent by the present pieces, or ROCESTEER_PSN_NONE
 * @repair: round after the last NAK
 * @spared: packets that such rounds did not send again
 *
 * With many flows the memory that a packet touches is what steering costs. In the kernel the
 * value begins 16 bytes behind the beginning of a cache line, as 8 bytes of the allocator, 48 of
 * the hash table and the key come before. What most packets need is in the line that the key ends
 * in, and in the next one, up to the second piece; with chunks, also the last one. The CPU can read
 * these at once: which counters a packet of a whole flow takes need not be known before. All is in
 * one block of 2,048 bytes: of the next larger ones each has a page of its own, and that takes a
 * place in the CPU's TLB.
 */
struct rocesteer_flow_path {
	__u32 flags;
	__u32 generation;
	__u64 sender;
	__u32 nr_pieces;
	__u32 recent;
	__be32 bth_paths;
	__u32 acked;
	struct rocesteer_detour detour;
	struct rocesteer_psns psns[ROCESTEER_PSNS_MAX];
	struct rocesteer_sent first;
	__u32 idle;
	__u32 responded;
	__u32 first_path;
	__u32 job;
	struct rocesteer_piece piece[ROCESTEER_MAX_PATHS];
	struct rocesteer_piece next;
	struct rocesteer_resent resent[ROCESTEER_PSNS_MAX];
	struct rocesteer_sent sent[ROCESTEER_MAX_PATHS];
	__u16 rounds[ROCESTEER_MAX_PATHS];
	__u32 cnps;
	__u32 repeated;
	__u32 bursts;
	__u8 leaf[16];
	__u8 source[16];
	__u32 tagged;
	struct rocesteer_message message;
	__u32 late;
	__u32 planned;
	struct rocesteer_repair repair;
	__u32 spared;
};

/* The flow has a share of a path: it sent more than acknowledgments. */
#define ROCESTEER_FLOW_SHARE		1
/* The peer resequences this flow: the flow may be split. */
#define ROCESTEER_FLOW_PEER_RESEQ	2
/* Set and clear PEER_RESEQ as the peer's acknowledgments and READ requests say. */
#define ROCESTEER_FLOW_RESEQ_AUTO	4
/* This end resequences what comes back, and says so in acknowledgments. */
#define ROCESTEER_FLOW_LOCAL_RESEQ	8
/* The queue pair was connected with the port of its only piece: packets are not rewritten. */
#define ROCESTEER_FLOW_QP			16
/* The flow gave its share back, and is about to go. */
#define ROCESTEER_FLOW_GONE			32
/* The flow was entered for a packet of a local socket, not listed by its job. */
#define ROCESTEER_FLOW_FROM_PACKET	64
/* The flow has, or had, more than one piece, a piece to move to, or a detour. */
#define ROCESTEER_FLOW_VARIES		128
/*
 * The flow is observed: its packets keep the port that its queue pair gave them, which is the
 * port of its only piece. The path of the piece, and the first path of the flow, are
 * ROCESTEER_PATH_UNKNOWN until rocesteer daemon has found which one the port takes; rounds of
 * go-back-N are counted in @rounds[0] until then.
 */
#define ROCESTEER_FLOW_OBSERVED		256
/* The flow's job has chunks, and the flow an entry in rs_tags: rocesteer_egress tags packets. */
#define ROCESTEER_FLOW_TAGGED		512
/* Bits 31..16: the path that has the flow's share, counted in rocesteer_group.flows. */
#define ROCESTEER_FLOW_HOME_SHIFT	16

/* Path of an observed flow while nobody knows it; as its home it is counted in no group. */
#define ROCESTEER_PATH_UNKNOWN		0xffff

/*
 * The result of the kfunc bpf_rocesteer_flow_job(): bits 31..0 are the job. Bit 32: the module
 * resequences what the flow's queue pair receives. Bits 47..40 are the flow's rival number.
 */
#define ROCESTEER_FLOW_JOB_RESEQ	0x100000000ULL
#define ROCESTEER_FLOW_JOB_RIVAL_SHIFT	40

/**
 * struct rocesteer_peer_key - key of rs_peers
 * @job: job number
 * @ifindex: network device
 * @addr: the peer's address
 * @source: our address that the flows have: with another one a port takes another path. Zero
 *	in the keys of chunk.h
 */
struct rocesteer_peer_key {
	__u32 job;
	__u32 ifindex;
	__u8 addr[16];
	__u8 source[16];
};

/**
 * struct rocesteer_peer - a job's port map to one peer, value of rs_peers
 * @leaf: router address of the leaf that the peer is under
 * @nr_paths: paths known, 1..ROCESTEER_MAX_PATHS
 * @hop: TTL that ends at the routers that tell paths apart, for probes
 * @leaf_hop: TTL that ends at the leaf
 * @qpn_hash: not 0: switches on the way hash the destination QPN as well. @sport is for
 *	probes, whose QPN is 0; what flows take is in rs_qpns
 * @partial: not 0: few ports were asked, so that paths may be missing; rocesteer daemon goes on
 * @sport: per path the UDP source port that takes it, network order; 0 where
 *	no port was found that does
 * @flows: flows to the peer that are at home on each path, as rocesteer_group.flows;
 *	the programs count
 */
struct rocesteer_peer {
	__u8 leaf[16];
	__u32 nr_paths;
	__u8 hop;
	__u8 leaf_hop;
	__u8 qpn_hash;
	__u8 partial;
	__be16 sport[ROCESTEER_MAX_PATHS];
	__u32 flows[ROCESTEER_MAX_PATHS];
};

/**
 * struct rocesteer_source_key - key of rs_sources
 * @job: job number
 * @ifindex: network device
 * @addr: address of this host
 */
struct rocesteer_source_key {
	__u32 job;
	__u32 ifindex;
	__u8 addr[16];
};

/**
 * struct rocesteer_source - a source of a job's packets, value of rs_sources
 * @packets: that had this source, and left as they came
 * @mapped: not 0: the job has port maps of this source
 * @reserved: zero
 */
struct rocesteer_source {
	__u64 packets;
	__u32 mapped;
	__u32 reserved;
};

/**
 * struct rocesteer_qpn_key - key of rs_qpns
 * @peer: the peer, whose port map has qpn_hash
 * @dqpn: number of a queue pair there, host order
 */
struct rocesteer_qpn_key {
	struct rocesteer_peer_key peer;
	__u32 dqpn;
};

/**
 * struct rocesteer_ports - which source port takes which path, value of rs_qpns
 * @sport: as in struct rocesteer_peer; all 0 until rocesteer daemon has found them
 */
struct rocesteer_ports {
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
 * @first: path the deal starts at: shuffled per host, or the place of struct rocesteer_job
 *	modulo @nr_paths (enum rocesteer_deal)
 * @down: bit p: path p is held down and not dealt to
 * @observe: not 0: new flows of the group are observed, not steered
 * @reserved: zero
 * @flows: flows that are at home on each path: their first piece is there, or
 *	will be
 * @weight: capacity of each path, relative to the others; never 0.
 *	ROCESTEER_WEIGHT_HOME beside paths of 1: all flows take it while it is up
 * @router: address of the router that tells each path from the others
 * @leaf: address by which each path enters the leaf, where that tells paths by one
 *	router apart; else all zero
 * @via: address of the router before @router that several paths go through: in three tiers
 *	the agg of a path across pods; else all zero
 *
 * A new flow is at home on the path with the fewest flows for its weight, the
 * first such from @first on (Ethereal, algorithm 1): the fewest of the group, or by
 * place of its peer. Where it may not be split it goes there whole, else over all
 * paths, a run of packets on each in turn.
 */
struct rocesteer_group {
	__u32 nr_paths;
	__u32 first;
	__u64 down;
	__u32 observe;
	__u32 reserved;
	__u32 flows[ROCESTEER_MAX_PATHS];
	__u16 weight[ROCESTEER_MAX_PATHS];
	__u8 router[ROCESTEER_MAX_PATHS][16];
	__u8 leaf[ROCESTEER_MAX_PATHS][16];
	__u8 via[ROCESTEER_MAX_PATHS][16];
};

#define ROCESTEER_WEIGHT_HOME	0xffff	/* as if there were room for all flows */

/**
 * enum rocesteer_split - how flows are split
 * @ROCESTEER_SPLIT_NONE: not at all
 * @ROCESTEER_SPLIT_FEWEST: as few of them as there can be, into the fewest pieces
 *	(user/lib/plan/plan.h): paths carry the same bytes in the end
 * @ROCESTEER_SPLIT_ALL: all of them, over all paths: paths carry the same at each moment
 * @ROCESTEER_SPLIT_MAX: their number
 */
enum rocesteer_split {
	ROCESTEER_SPLIT_NONE,
	ROCESTEER_SPLIT_FEWEST,
	ROCESTEER_SPLIT_ALL,
	ROCESTEER_SPLIT_MAX
};

/* Most packets in a row that a flow over all paths sends on one path. */
#define ROCESTEER_RUN_MAX	16

/**
 * rocesteer_run() - packets in a row on one path of a flow that is on all paths
 * @weight: of the path, not 0
 * @most: weight of the heaviest of the flow's paths
 *
 * In proportion to the weights, rounded to a sixteenth of the heaviest: the shorter
 * the runs, the more evenly a few packets are spread.
 *
 * Return: 1..ROCESTEER_RUN_MAX
 */
static inline __u32 rocesteer_run(__u32 weight, __u32 most)
{
	__u32 run = weight;

	if (most > ROCESTEER_RUN_MAX)
		run = (weight * ROCESTEER_RUN_MAX + most / 2) / most;
	return run ? run : 1;
}

/**
 * enum rocesteer_deal - on which path a flow is at home
 * @ROCESTEER_DEAL_LEAST: where the fewest flows of its group are, for the path's weight
 * @ROCESTEER_DEAL_PLACE: where the fewest flows to its peer are, from the path on that
 *	has the number of the host's place among those under its leaf, in three tiers among
 *	those of its pod. So each host deals by itself, and hosts under one leaf, or in one pod,
 *	that send to one peer each meet on no link on the way up
 */
enum rocesteer_deal {
	ROCESTEER_DEAL_LEAST,
	ROCESTEER_DEAL_PLACE,
};

/**
 * enum rocesteer_reseq_mode - which flows the peer resequences
 * @ROCESTEER_RESEQ_NONE: none; all flows stay whole
 * @ROCESTEER_RESEQ_ALL: all flows of the job: each host has the module
 * @ROCESTEER_RESEQ_AUTO: the flows whose peer says that it resequences them
 */
enum rocesteer_reseq_mode {
	ROCESTEER_RESEQ_NONE,
	ROCESTEER_RESEQ_ALL,
	ROCESTEER_RESEQ_AUTO,
};

/**
 * enum rocesteer_actuator - by what a job steers its flows
 * @ROCESTEER_ACTUATOR_AUTO: packets where the kernel makes them, queue pairs of
 *	devices that do it themselves
 * @ROCESTEER_ACTUATOR_PACKET: packets, at TC egress
 * @ROCESTEER_ACTUATOR_QP: queue pairs, by the flow label they are connected
 *	with; needs the module
 */
enum rocesteer_actuator {
	ROCESTEER_ACTUATOR_AUTO,
	ROCESTEER_ACTUATOR_PACKET,
	ROCESTEER_ACTUATOR_QP,
};

/**
 * struct rocesteer_job - a loaded job, value of rs_jobs, key is its number
 * @cgroup_id: cgroup v2 inode that owns the job's queue pairs, or 0
 * @pid: process that owns them, or 0
 * @ifindex: network device
 * @all: all RC flows of the device that no other job claims belong to it
 * @split: enum rocesteer_split
 * @deal: enum rocesteer_deal
 * @reseq: enum rocesteer_reseq_mode
 * @actuator: enum rocesteer_actuator
 * @slice: 0: of no slice; else it keeps to one, and this is 1, or 2 + enum
 *	contention_pattern (user/lib/slice/contention.h) of its traffic; for people
 * @keep_labels: flow labels of UCX's lanes and of rdma_cm stay as they are
 * @observe: not 0: groups that the job gets from now on are observed
 * @place: place of the host, for ROCESTEER_DEAL_PLACE: groups begin there, modulo their paths
 * @reserved: zero
 * @loaded_at: CLOCK_REALTIME seconds
 * @name: name for people, NUL terminated
 * @device: name of the network device, NUL terminated: one of that name that comes
 *	is the job's again
 */
struct rocesteer_job {
	__u64 cgroup_id;
	__u32 pid;
	__u32 ifindex;
	__u8 all;
	__u8 split;
	__u8 deal;
	__u8 reseq;
	__u8 actuator;
	__u8 slice;
	__u8 keep_labels;
	__u8 observe;
	__u32 place;
	__u32 reserved;
	__u64 loaded_at;
	char name[32];
	char device[16];
};

/**
 * struct rocesteer_version - version of the programs, only entry of rs_version
 * @abi: ROCESTEER_ABI
 * @module: the programs call the module
 * @version: of the command that loaded them, NUL terminated
 */
struct rocesteer_version {
	__u32 abi;
	__u32 module;
	char version[24];
};

/**
 * enum rocesteer_event_type - what the programs tell rocesteer daemon
 * @ROCESTEER_EVENT_SHARE: a flow got a share of a path, and waits for a plan
 * @ROCESTEER_EVENT_GONE: a flow gave its share back
 * @ROCESTEER_EVENT_DETOUR: a flow avoids a path that seems to be dead
 * @ROCESTEER_EVENT_PEER_RESEQ: the peer of a flow begins to resequence the flow, or ceases to
 * @ROCESTEER_EVENT_FULL: rs_flows has no room for a flow, the first one since flows that
 *	are silent were last looked for
 * @ROCESTEER_EVENT_QPN: rs_qpns has no ports yet for the QPN of a flow, which is not
 *	entered. @path is 0
 * @ROCESTEER_EVENT_PEER: the job has a port map of the source, but not of the peer; once in
 *	ROCESTEER_PEER_AGAIN ns for each peer. @leaf is the source
 */
enum rocesteer_event_type {
	ROCESTEER_EVENT_SHARE,
	ROCESTEER_EVENT_GONE,
	ROCESTEER_EVENT_DETOUR,
	ROCESTEER_EVENT_PEER_RESEQ,
	ROCESTEER_EVENT_FULL,
	ROCESTEER_EVENT_QPN,
	ROCESTEER_EVENT_PEER,
};

/* Time after which a peer without a port map is reported again */
#define ROCESTEER_PEER_AGAIN	30000000000ull

/**
 * struct rocesteer_event - record of rs_events
 * @type: enum rocesteer_event_type
 * @job: job number
 * @key: flow
 * @leaf: its group
 * @path: home path, or the one that is avoided
 * @reserved: zero
 *
 * Events are lost where the buffer is full: the reader then reads the tables again.
 */
struct rocesteer_event {
	__u32 type;
	__u32 job;
	struct rocesteer_flow_key key;
	__u8 leaf[16];
	__u32 path;
	__u32 reserved;
};

_Static_assert(sizeof(struct rocesteer_flow_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_piece) == 8, "padding");
_Static_assert(sizeof(struct rocesteer_detour) == 16, "padding");
_Static_assert(sizeof(struct rocesteer_flow_path) ==
	       216 + ROCESTEER_MAX_PATHS * 26, "padding");
_Static_assert(sizeof(struct rocesteer_flow_path) + 80 <= 2048, "a larger block");
_Static_assert(sizeof(struct rocesteer_peer_key) == 40, "padding");
_Static_assert(sizeof(struct rocesteer_peer) ==
	       24 + ROCESTEER_MAX_PATHS * 6, "padding");
_Static_assert(sizeof(struct rocesteer_source_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_source) == 16, "padding");
_Static_assert(sizeof(struct rocesteer_group_key) == 24, "padding");
_Static_assert(sizeof(struct rocesteer_group) ==
	       24 + ROCESTEER_MAX_PATHS * 54, "padding");
_Static_assert(sizeof(struct rocesteer_job) == 88, "padding");
_Static_assert(sizeof(struct rocesteer_event) == 56, "padding");

#endif /* ROCESTEER_TYPES_H */
