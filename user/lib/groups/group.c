// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A job, as in rs_jobs. */
struct job {
	__u32 id;
	struct rocesteer_job job;
};

static void free_flow(void *item)
{
	struct flow *flow = item;

	free(flow->piece);
	free(flow);
}

static void free_group(void *item)
{
	struct group *group = item;

	set_clear(&group->flows, free_flow);
	free(group->health);
	free(group);
}

struct group *groups_find(const struct groups *groups, const struct rocesteer_group_key *key)
{
	return set_find(&groups->group, key, sizeof(*key));
}

/* Flows that are observed are not planned. */
static bool is_planned(const struct rocesteer_flow_path *path)
{
	return path->flags & ROCESTEER_FLOW_SHARE && !(path->flags & ROCESTEER_FLOW_OBSERVED);
}

static int add_flow(struct group *group, const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path)
{
	bool moving = path->next.end;
	const struct rocesteer_piece *from = moving ? &path->next : path->piece;
	__u32 nr = moving ? 1 : path->nr_pieces;
	struct rocesteer_piece *piece;
	struct flow *flow;

	if (!nr || nr > ROCESTEER_MAX_PATHS)
		return 0;
	flow = set_get(&group->flows, key, sizeof(*key), sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	piece = reallocarray(flow->piece, nr, sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	memcpy(piece, from, nr * sizeof(*piece));
	flow->piece = piece;
	memcpy(flow->source, path->source, sizeof(flow->source));
	flow->nr_pieces = nr;
	flow->moving = moving;
	flow->peer_reseq = path->flags & ROCESTEER_FLOW_PEER_RESEQ;
	flow->stays = path->flags & ROCESTEER_FLOW_QP;
	return 0;
}

static void remove_flow(struct group *group, const struct rocesteer_flow_key *key)
{
	struct flow *flow = set_find(&group->flows, key, sizeof(*key));

	if (!flow)
		return;
	set_remove(&group->flows, key, sizeof(*key));
	free_flow(flow);
}

void group_sweep(struct group *group)
{
	size_t i;

	for (i = group->flows.nr; i--;) {
		struct flow *flow = group->flows.item[i];

		if (!flow->nr_pieces)
			remove_flow(group, &flow->key);
	}
}

static bool is_in_group(const struct group *group, const struct rocesteer_flow_path *path)
{
	return path->job == group->key.job &&
	       !memcmp(path->leaf, group->key.leaf, sizeof(path->leaf));
}

int group_update(struct groups *groups, struct group *group, const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow_path path;

	group->changed = true;
	if (!steer_flow_get(groups->steer, key, &path) &&
	    is_planned(&path) && is_in_group(group, &path))
		return add_flow(group, key, &path);
	remove_flow(group, key);
	return 0;
}

static int read_job(__u32 id, const struct rocesteer_job *from, void *arg)
{
	struct groups *groups = arg;
	struct job *job = set_get(&groups->jobs, &id, sizeof(id), sizeof(*job));

	if (!job)
		return -ENOMEM;
	job->job = *from;
	return 0;
}

bool groups_know(const struct groups *groups, __u32 ifindex, const char *name)
{
	size_t i;

	for (i = 0; i < groups->jobs.nr; i++) {
		const struct rocesteer_job *job =
			&((const struct job *)groups->jobs.item[i])->job;
		bool here = job->ifindex == ifindex;

		if (here != (name && !strcmp(job->device, name)))
			return false;
	}
	return true;
}

/**
 * struct reading - groups that are being read
 * @groups: the groups
 * @gone: as for groups_read()
 * @arg: passed to @gone
 */
struct reading {
	struct groups *groups;
	void (*gone)(struct group *group, void *arg);
	void *arg;
};

static bool is_across(const struct rocesteer_group *from)
{
	__u32 p;

	for (p = 0; p < from->nr_paths; p++)
		if (!addr_is_none(from->via[p]))
			return true;
	return false;
}

static bool has_paths_of(const struct group *group, const struct rocesteer_group *from)
{
	return group->nr_paths == from->nr_paths &&
	       !memcmp(group->router, from->router, sizeof(group->router)) &&
	       !memcmp(group->leaf, from->leaf, sizeof(group->leaf)) &&
	       !memcmp(group->via, from->via, sizeof(group->via));
}

static int read_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *from, void *arg)
{
	const struct reading *reading = arg;
	struct groups *groups = reading->groups;
	const struct job *job = set_find(&groups->jobs, &key->job, sizeof(key->job));
	struct group *group;

	if (!job || from->nr_paths > ROCESTEER_MAX_PATHS)
		return 0;
	group = set_get(&groups->group, key, sizeof(*key), sizeof(*group));
	if (!group)
		return -ENOMEM;
	if (group->nr_paths && !has_paths_of(group, from))
		reading->gone(group, reading->arg);
	group->split = job->job.split;
	group->deal = job->job.deal;
	group->nr_paths = from->nr_paths;
	group->down = from->down;
	group->first = from->first;
	memcpy(group->weight, from->weight, sizeof(group->weight));
	memcpy(group->router, from->router, sizeof(group->router));
	memcpy(group->leaf, from->leaf, sizeof(group->leaf));
	memcpy(group->via, from->via, sizeof(group->via));
	group->across = is_across(from);
	group->changed = true;
	group->seen = true;
	return 0;
}

static int read_flow(const struct rocesteer_flow_key *key,
		     const struct rocesteer_flow_path *path, void *arg)
{
	struct rocesteer_group_key gkey = { .job = path->job,
					    .ifindex = key->ifindex };
	struct groups *groups = arg;
	struct group *group;

	memcpy(gkey.leaf, path->leaf, sizeof(gkey.leaf));
	group = groups_find(groups, &gkey);
	if (!group || !is_planned(path))
		return 0;
	return add_flow(group, key, path);
}

int groups_read(struct groups *groups, void (*gone)(struct group *group, void *arg), void *arg)
{
	struct reading reading = { groups, gone, arg };
	struct set *all = &groups->group;
	struct group *group;
	size_t i;
	int ret;

	for (i = 0; i < all->nr; i++) {
		group = all->item[i];
		group->seen = false;
		set_clear(&group->flows, free_flow);
	}
	set_clear(&groups->jobs, free);
	ret = steer_job_each(groups->steer, read_job, groups) ?:
	      steer_group_each(groups->steer, 0, read_group, &reading) ?:
	      steer_flow_each(groups->steer, read_flow, groups);
	for (i = all->nr; i--;) {
		group = all->item[i];
		if (group->seen)
			continue;
		set_remove(all, &group->key, sizeof(group->key));
		gone(group, arg);
		free_group(group);
	}
	return ret;
}

void group_traffic(struct groups *groups, const struct group *group, struct traffic *traffic)
{
	struct rocesteer_flow_path path;
	size_t i;
	__u32 p;

	memset(traffic, 0, sizeof(*traffic));
	for (i = 0; i < group->flows.nr; i++) {
		const struct flow *flow = group->flows.item[i];

		if (steer_flow_get(groups->steer, &flow->key, &path))
			continue;
		for (p = 0; p < group->nr_paths; p++) {
			traffic->packets[p] += rocesteer_sent_on(&path, p).packets;
			traffic->rounds[p] += path.rounds[p];
		}
	}
}

/* Acknowledgments may take any path; spread them. */
static int move_ack(const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, void *arg)
{
	struct rocesteer_group_key gkey = { .job = path->job,
					    .ifindex = key->ifindex };
	struct rocesteer_set_flow set = { .key = *key, .job = path->job,
					  .nr_pieces = 1, .now = 1,
					  .piece[0].end = 1 };
	struct groups *groups = arg;
	const struct group *group;
	struct rocesteer_peer peer;
	__u32 i, p;
	int ret;

	memcpy(gkey.leaf, path->leaf, sizeof(gkey.leaf));
	group = groups_find(groups, &gkey);
	p = path->piece[0].path;
	if (path->flags & (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_OBSERVED) || !group ||
	    p >= ROCESTEER_MAX_PATHS ||
	    steer_ports_get(groups->steer, path->job, key, path->source, &peer) ||
	    (!(group->down >> p & 1) && path->piece[0].sport == peer.sport[p]))
		return 0;
	for (i = 0; i < group->nr_paths; i++) {
		p = (key->dqpn + i) % group->nr_paths;
		if (group->down >> p & 1 || !peer.sport[p])
			continue;
		set.piece[0].path = p;
		set.piece[0].sport = peer.sport[p];
		ret = steer_set_flow(groups->steer, &set);
		if (ret == -EINVAL)	/* not the peer's port any more */
			groups->stale = true;
		/* The flow is gone, or its queue pair cannot change its port. */
		return ret == -ENOENT || ret == -EBUSY || ret == -EINVAL ?
		       0 : ret;
	}
	return 0;
}

int groups_move_acks(struct groups *groups)
{
	return steer_flow_each(groups->steer, move_ack, groups);
}

void group_describe(const struct group *group, const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *from, struct portmap_peer *peer,
		    struct portmap_path paths[ROCESTEER_MAX_PATHS])
{
	__u32 p;

	memcpy(peer->addr, key->addr, 16);
	memcpy(peer->source, key->source, 16);
	memcpy(peer->leaf, from->leaf, 16);
	peer->hop = from->hop;
	peer->leaf_hop = from->leaf_hop;
	for (p = 0; p < group->nr_paths; p++) {
		memcpy(paths[p].router, group->router[p], 16);
		memcpy(paths[p].leaf, group->leaf[p], 16);
		memcpy(paths[p].via, group->via[p], 16);
	}
	peer->paths = paths;
	peer->nr_paths = group->nr_paths;
}

void groups_clear(struct groups *groups)
{
	set_clear(&groups->jobs, free);
	set_clear(&groups->group, free_group);
}
