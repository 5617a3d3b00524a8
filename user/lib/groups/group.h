/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A copy of the groups and flows in the tables. An event names an entry, which is then read
 * from the tables, so events may come twice, or late.
 */
#ifndef ROCESTEER_LIB_GROUP_H
#define ROCESTEER_LIB_GROUP_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

#include "base/base.h"
#include "portmap/portmap.h"
#include "steer/steer.h"

struct path_health;

/**
 * struct flow - a flow that has a share
 * @key: key
 * @source: our address that its packets have
 * @peer_reseq: the peer resequences, so the flow may be split
 * @stays: the queue pair cannot change its port
 * @moving: a whole flow that changes to @piece as soon as it is idle
 * @nr_pieces: number of pieces
 * @piece: pieces
 */
struct flow {
	struct rocesteer_flow_key key;
	__u8 source[16];
	bool peer_reseq;
	bool stays;
	bool moving;
	__u32 nr_pieces;
	struct rocesteer_piece *piece;
};

/**
 * struct traffic - traffic of a group's flows on each path
 * @packets: packets
 * @rounds: rounds of go-back-N
 */
struct traffic {
	__u64 packets[ROCESTEER_MAX_PATHS];
	__u64 rounds[ROCESTEER_MAX_PATHS];
};

/**
 * struct group - the flows of a job from one device to one destination leaf
 * @key: key
 * @split: how the job splits flows
 * @deal: how the job deals whole flows
 * @nr_paths: number of paths
 * @down: bit p: path p is down
 * @first: path that the deal starts at
 * @weight: weight of each path
 * @router: router that tells each path from the others
 * @leaf: address by which each path enters the leaf, or all zero
 * @via: as in struct rocesteer_group
 * @flows: set of struct flow
 * @changed: the group has to be planned
 * @across: its paths have a router before: it is of another pod, behind aggs and cores, or behind a
 *	bond of the host, where no group is in a pod
 * @leveled: its flows are split by group_level()
 * @seen: groups_read() has found the group
 * @health: state of the paths; NULL as long as no path was suspected
 */
struct group {
	struct rocesteer_group_key key;
	enum rocesteer_split split;
	enum rocesteer_deal deal;
	__u32 nr_paths;
	__u64 down;
	__u32 first;
	__u16 weight[ROCESTEER_MAX_PATHS];
	__u8 router[ROCESTEER_MAX_PATHS][16];
	__u8 leaf[ROCESTEER_MAX_PATHS][16];
	__u8 via[ROCESTEER_MAX_PATHS][16];
	struct set flows;
	bool changed;
	bool across;
	bool leveled;
	bool seen;
	struct path_health *health;
};

/**
 * struct groups - the groups of this network namespace
 * @steer: tables
 * @jobs: jobs, by number
 * @group: set of struct group
 * @stale: a flow could not be written because ports have changed: read the tables again
 */
struct groups {
	struct steer *steer;
	struct set jobs;
	struct set group;
	bool stale;
};

/**
 * groups_read() - read the tables
 * @groups: @steer is set; a group that is still in the tables keeps its memory
 * @gone: called for a group that is freed next, or has other paths now
 * @arg: passed to @gone
 *
 * All groups are marked as changed. Return: 0 or -ENOMEM.
 */
int groups_read(struct groups *groups, void (*gone)(struct group *group, void *arg), void *arg);

/**
 * groups_know() - check that the jobs have the present name of a device
 * @groups: groups
 * @ifindex: number
 * @name: name; NULL: the device is gone
 *
 * Return: false if a job has the number with another name, or the name with another number.
 */
bool groups_know(const struct groups *groups, __u32 ifindex, const char *name);

/**
 * group_describe() - describe a peer of a group for probes
 * @group: group
 * @key: of the peer in the tables
 * @from: its entry there
 * @peer: filled, without ports
 * @paths: filled: the paths of @peer
 */
void group_describe(const struct group *group, const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *from, struct portmap_peer *peer,
		    struct portmap_path paths[ROCESTEER_MAX_PATHS]);

void groups_clear(struct groups *groups);

struct group *groups_find(const struct groups *groups, const struct rocesteer_group_key *key);

/**
 * group_update() - read a flow from the tables
 * @groups: groups
 * @group: its group
 * @key: key
 *
 * The group is marked as changed. Return: 0 or -ENOMEM.
 */
int group_update(struct groups *groups, struct group *group, const struct rocesteer_flow_key *key);

/* Remove flows without a piece, which are no longer in the tables. */
void group_sweep(struct group *group);

/**
 * struct group_plan - result of planning a group
 * @flows: flows of the group
 * @pieces: their pieces
 * @written: flows whose pieces have changed
 * @moved: pieces on a path that their flow did not use before
 */
struct group_plan {
	size_t flows;
	size_t pieces;
	size_t written;
	size_t moved;
};

/**
 * group_plan() - plan a group and write what has changed
 * @groups: groups
 * @group: one of them; loses flows that are no longer in the tables
 * @plan: filled
 *
 * A path is not used while it is down, or if a peer of the group has no port to it. If no
 * path is left, nothing changes.
 *
 * Return: 0 or a negative errno.
 */
int group_plan(struct groups *groups, struct group *group, struct group_plan *plan);

/**
 * group_level() - find weights that make the load of this host's links level
 * @groups: groups
 * @group: one of them
 * @weight: weight of each path, 0: the path cannot be used; changed
 *
 * In three tiers, while a path of the job is down: flows across pods, which are even over their
 * paths, load some aggs less. The weights of a group in the pod make up for that.
 *
 * Return: whether weights were found; else @weight is as it was.
 */
bool group_level(const struct groups *groups, const struct group *group, __u32 *weight);

/* Mark groups whose level changes with that of a group that has changed. To be called first. */
void groups_level(struct groups *groups);

/* Counters of the group's flows. */
void group_traffic(struct groups *groups, const struct group *group, struct traffic *traffic);

/**
 * groups_move_acks() - move flows without a share off paths that are down, and off ports
 * that take another path
 * @groups: groups
 *
 * These flows carry acknowledgments and are not planned; this walks the table for them.
 *
 * Return: 0 or a negative errno.
 */
int groups_move_acks(struct groups *groups);

#endif /* ROCESTEER_LIB_GROUP_H */
