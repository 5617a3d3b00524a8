/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traffic of one host in a period: the file that "rocesteer report record" writes
 * (Documentation/formats.rst), and its form in memory.
 */
#ifndef ROCESTEER_LIB_REPORT_RECORDING_H
#define ROCESTEER_LIB_REPORT_RECORDING_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <rocesteer/types.h>

#include "base/base.h"

struct json_object;

#define RECORDING_FORMAT	1
#define RECORDING_BEGIN		"{\"format\":1,\"host\":"	/* with which a file begins */

/* Bounds of a file, which is untrusted input. */
#define RECORDING_MAX_SIZE	(256u << 20)
#define RECORDING_MAX_EVENTS	4096
#define RECORDING_NAME		65

/**
 * struct recording_count - what was sent in the period
 * @packets: packets
 * @bytes: their bytes, Ethernet header included
 * @rounds: rounds of go-back-N that began there
 */
struct recording_count {
	__u64 packets;
	__u64 bytes;
	__u64 rounds;
};

/**
 * struct recording_path - a path of a group
 * @router: address that tells the path from the others
 * @via: address of the agg before a core; all zero: not known
 * @behind: address of the agg behind a core; all zero: not known
 * @entry: address by which the path enters the leaf; all zero: not known
 * @up: at the end of the period
 * @sent: by all flows
 * @cnps: of flows that are on this path alone
 * @flows: with a share that sent on it
 * @probes: probes that measured @delay_ns
 * @lost: of these, without an answer
 * @delay_ns: the smallest delay of an answer from @entry; 0: not known
 */
struct recording_path {
	__u8 router[16];
	__u8 via[16];
	__u8 behind[16];
	__u8 entry[16];
	bool up;
	struct recording_count sent;
	__u64 cnps;
	__u32 flows;
	__u32 probes;
	__u32 lost;
	__u64 delay_ns;
};

/**
 * struct recording_group - the flows of a job from one device to one leaf
 * @job: number of the job
 * @name: of the job, or empty
 * @device: network device
 * @leaf: router address of the leaf
 * @via: router address of the host's own leaf; all zero: not known
 * @source: address of the host that the flows have
 * @cores: the routers of the paths are cores, of three tiers
 * @observed: the flows were observed at the end of the period, not steered
 * @flows: with a share that sent something
 * @unknown: what observed flows sent whose path was not known
 * @nr_paths: number of paths
 * @path: paths
 */
struct recording_group {
	__u32 job;
	char name[32];
	char device[IF_NAMESIZE];
	__u8 leaf[16];
	__u8 via[16];
	__u8 source[16];
	bool cores;
	bool observed;
	__u32 flows;
	struct recording_count unknown;
	__u32 nr_paths;
	struct recording_path path[ROCESTEER_MAX_PATHS];
};

/**
 * struct recording_sent - what a flow sent on a path
 * @path: number, or ROCESTEER_PATH_UNKNOWN
 * @sent: packets, bytes, rounds
 */
struct recording_sent {
	__u32 path;
	struct recording_count sent;
};

/**
 * struct recording_flow - a flow that sent in the period
 * @group: index of its group
 * @peer: destination
 * @dqpn: destination queue pair number
 * @port: UDP source port of its first piece, host order
 * @share: it sent more than acknowledgments
 * @observed: at the end of the period
 * @cnps: congestion notifications for it
 * @nr_sent: paths it sent on
 * @sent: these paths
 */
struct recording_flow {
	size_t group;
	__u8 peer[16];
	__u32 dqpn;
	__u16 port;
	bool share;
	bool observed;
	__u64 cnps;
	__u32 nr_sent;
	struct recording_sent *sent;
};

/**
 * struct recording_event - an event of the daemon
 * @ms: time since the beginning of the period
 * @name: of the event, as rocesteer-monitor(8) has it
 * @device: network device, or empty
 * @leaf: router address of the leaf, or all zero
 * @path: path, or ROCESTEER_PATH_UNKNOWN
 */
struct recording_event {
	__u64 ms;
	char name[32];
	char device[IF_NAMESIZE];
	__u8 leaf[16];
	__u32 path;
};

/**
 * struct recording - a period on one host
 * @host: name of the host
 * @version: of the command that recorded
 * @kernel: release of the kernel
 * @begin: CLOCK_REALTIME, ms
 * @ms: length of the period
 * @probed: probes measured the paths
 * @naks: negative acknowledgments that arrived
 * @cnps: congestion notifications that arrived
 * @group: groups
 * @nr_groups: number of groups
 * @flow: flows
 * @nr_flows: number of flows
 * @event: events, in order of time
 * @nr_events: number of events
 */
struct recording {
	char host[RECORDING_NAME];
	char version[RECORDING_NAME];
	char kernel[RECORDING_NAME];
	__s64 begin;
	__u64 ms;
	bool probed;
	__u64 naks;
	__u64 cnps;
	struct recording_group *group;
	size_t nr_groups;
	struct recording_flow *flow;
	size_t nr_flows;
	struct recording_event *event;
	size_t nr_events;
};

/* Put the name of an event, and its device, leaf and path where it has them. */
void recording_event_put(struct json_object *obj, const struct recording_event *event);

/* The recording as the object that a file holds. */
struct json_object *recording_to_json(const struct recording *recording);

/**
 * recording_read() - read and validate a file
 * @file: name
 * @recording: filled; to be freed by recording_free(), also on failure
 * @err: names file and field
 *
 * The file has no totals of groups: they are summed over their flows.
 *
 * Return: 0 or a negative errno.
 */
int recording_read(const char *file, struct recording *recording, struct err *err);

/* Fill the totals of groups and paths from the flows. */
void recording_sum(struct recording *recording);

void recording_free(struct recording *recording);

#endif /* ROCESTEER_LIB_REPORT_RECORDING_H */
