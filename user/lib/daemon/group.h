/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups and their flows as user space plans them: a copy of the tables
 * that events keep true. What an event says is looked up, so that events may
 * come twice, or late.
 */
#ifndef ROCESTEER_LIB_GROUP_H
#define ROCESTEER_LIB_GROUP_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

#include "base/base.h"
#include "steer/steer.h"
#include "path_health.h"

/**
 * struct flow - a flow that has a share
 * @key: which
 * @peer_reseq: the peer restores the order of its packets: it may be split
 * @stays: its queue pair has the port of its path for good
 * @moving: a whole flow that goes there as soon as it is idle
 * @nr_pieces: how many
 * @piece: its pieces
 */
struct flow {
	struct rocesteer_flow_key key;
	bool peer_reseq;
	bool stays;
	bool moving;
	__u32 nr_pieces;
	struct rocesteer_piece *piece;
};

/**
 * struct group - the flows of a job from one device to one destination leaf
 * @key: which
 * @split: how its job splits flows
 * @deal: on which paths it has whole ones
 * @nr_paths: number of paths
 * @down: bit p: path p is held down
 * @first: path that the deal starts at
 * @weight: of each path
 * @router: that tells each path from the others
 * @leaf: by which each path enters the leaf, or all zero
 * @flows: of struct flow
 * @changed: it is to be planned
 * @seen: by the last groups_read()
 * @health: of its paths; NULL as long as nothing was wrong with any
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
	struct set flows;
	bool changed;
	bool seen;
	struct path_health *health;
};

/**
 * struct groups - all of this network namespace
 * @steer: the tables
 * @jobs: by number
 * @group: of struct group
 * @stale: set where a flow could not be written, as the ports are others now: read
 *	the tables again
 */
struct groups {
	struct steer *steer;
	struct set jobs;
	struct set group;
	bool stale;
};

/**
 * groups_read() - take everything from the tables
 * @groups: their @steer is set; a group that is still there stays where it is
 * @gone: called for a group that is freed next, or has other paths now
 * @arg: passed to @gone
 *
 * All groups are marked as changed. Return: 0 or -ENOMEM.
 */
int groups_read(struct groups *groups,
		void (*gone)(struct group *group, void *arg), void *arg);

/**
 * groups_know() - is a device as the jobs have it?
 * @groups: groups
 * @ifindex: its number
 * @name: its name, NULL: it is gone
 *
 * Return: false where a job has the number with another name, or the name with another
 * number.
 */
bool groups_know(const struct groups *groups, __u32 ifindex, const char *name);

/* Free all. */
void groups_clear(struct groups *groups);

struct group *groups_find(const struct groups *groups,
			  const struct rocesteer_group_key *key);

/**
 * group_update() - look a flow up again
 * @groups: groups
 * @group: its group
 * @key: the flow
 *
 * The group is marked as changed where it is. Return: 0 or -ENOMEM.
 */
int group_update(struct groups *groups, struct group *group,
		 const struct rocesteer_flow_key *key);

/* Take flows without a piece out: they are gone. */
void group_sweep(struct group *group);

/**
 * struct group_plan - what planning a group did
 * @flows: of the group
 * @pieces: they have now
 * @written: flows whose pieces are others now
 * @moved: pieces on a path that their flow was not on before
 */
struct group_plan {
	size_t flows;
	size_t pieces;
	size_t written;
	size_t moved;
};

/**
 * group_plan() - plan a group and write what is new
 * @groups: groups
 * @group: one of them; a flow that turns out to be gone leaves it
 * @plan: filled
 *
 * Paths that are down are not used, nor those to which one of the group's
 * peers has no port. Where no path is left nothing changes.
 *
 * Return: 0 or a negative errno.
 */
int group_plan(struct groups *groups, struct group *group,
	       struct group_plan *plan);

/* What the group's flows have sent. */
void group_traffic(struct groups *groups, const struct group *group,
		   struct traffic *traffic);

/**
 * groups_move_acks() - take flows without a share off paths that are down, and
 * off ports that take another one
 * @groups: groups
 *
 * Acknowledgments are lost on a dead path, too. Their flows are not planned: the
 * table is walked for them. Return: 0 or a negative errno.
 */
int groups_move_acks(struct groups *groups);

#endif /* ROCESTEER_LIB_GROUP_H */
