// SPDX-License-Identifier: GPL-2.0
#include "report_tables.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/roce.h>

#include "steer/steer.h"
#include "../job/job.h"

/**
 * struct seen_key - a flow, or one in its place with another job or leaf
 * @key: as in rs_flows
 * @group: its group
 */
struct seen_key {
	struct rocesteer_flow_key key;
	struct rocesteer_group_key group;
};

/**
 * struct seen - a flow in the period
 * @key: which
 * @port: of its first piece, host order
 * @share: it sent more than acknowledgments
 * @observed: now
 * @unknown: what it sent on path 0 is of an unknown path
 * @last_cnps: at the last reading
 * @cnps: in the period
 * @nr: counters in use
 * @last: at the last reading, by path
 * @unknown_sent: in the period, by a path that is not known
 * @sent: in the period, by path
 */
struct seen {
	struct seen_key key;
	__u16 port;
	bool share;
	bool observed;
	bool unknown;
	__u32 last_cnps;
	__u64 cnps;
	__u32 nr;
	struct recording_count *last;
	struct recording_count unknown_sent;
	struct recording_count *sent;
};

/**
 * struct seen_group - a group
 * @key: key
 * @group: as in rs_groups
 * @name: of its job
 * @source: address of this host that its flows have
 * @hop: distance of the routers that tell paths apart
 * @port: by path, a port that takes the path, host order, or 0
 * @peer: by path, the peer to which the port does
 * @target: by path, 1 + index of the target that measures it, or 0
 */
struct seen_group {
	struct rocesteer_group_key key;
	struct rocesteer_group group;
	char name[32];
	__u8 source[16];
	unsigned int hop;
	unsigned int leaf_hop;
	__u16 port[ROCESTEER_MAX_PATHS];
	__u8 peer[ROCESTEER_MAX_PATHS][16];
	size_t target[ROCESTEER_MAX_PATHS];
};

static int see_group(const struct rocesteer_group_key *key, const struct rocesteer_group *from,
		     void *arg)
{
	struct report_tables *tables = arg;
	struct seen_group *group;

	group = set_get(&tables->groups, key, sizeof(*key), sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->group = *from;
	if (group->group.nr_paths > ROCESTEER_MAX_PATHS)
		group->group.nr_paths = ROCESTEER_MAX_PATHS;
	return 0;
}

static int see_peer(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		    void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job, .ifindex = key->ifindex };
	struct report_tables *tables = arg;
	struct seen_group *group;
	__u32 p;

	memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	group = set_find(&tables->groups, &gkey, sizeof(gkey));
	if (!group || (group->hop && memcmp(group->source, key->source, 16)))
		return 0;	/* probes have one source */
	group->hop = peer->hop;
	group->leaf_hop = peer->leaf_hop;
	memcpy(group->source, key->source, sizeof(group->source));
	for (p = 0; p < group->group.nr_paths; p++) {
		if (!peer->sport[p] || group->port[p])
			continue;
		group->port[p] = ntohs(peer->sport[p]);
		memcpy(group->peer[p], key->addr, sizeof(group->peer[p]));
	}
	return 0;
}

static int see_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct report_tables *tables = arg;
	size_t i;

	for (i = 0; i < tables->groups.nr; i++) {
		struct seen_group *group = tables->groups.item[i];

		if (group->key.job == id)
			snprintf(group->name, sizeof(group->name), "%.31s", job->name);
	}
	return 0;
}

/* Room for the counters of paths up to the last that the flow used. */
static int make_room(struct seen *flow, const struct rocesteer_flow_path *path)
{
	struct recording_count *last, *sent;
	__u32 nr = ROCESTEER_MAX_PATHS;

	while (nr && !rocesteer_sent_on(path, nr - 1).packets)
		nr--;
	if (nr <= flow->nr)
		return 0;
	last = reallocarray(flow->last, nr, sizeof(*last));
	if (last)
		flow->last = last;
	sent = reallocarray(flow->sent, nr, sizeof(*sent));
	if (sent)
		flow->sent = sent;
	if (!last || !sent)
		return -ENOMEM;
	memset(last + flow->nr, 0, (nr - flow->nr) * sizeof(*last));
	memset(sent + flow->nr, 0, (nr - flow->nr) * sizeof(*sent));
	flow->nr = nr;
	return 0;
}

/* A counter that falls is one of a flow that was entered anew. */
static __u64 grown(__u64 now, __u64 before)
{
	return now >= before ? now - before : now;
}

static void add_grown(struct recording_count *sum, struct rocesteer_ended_path now,
		      struct recording_count *last)
{
	sum->packets += grown(now.packets, last->packets);
	sum->bytes += grown(now.bytes, last->bytes);
	sum->rounds += grown(now.rounds, last->rounds);
	*last = (struct recording_count) { now.packets, now.bytes, now.rounds };
}

/* The path became known: the programs count there what was sent before. */
static void settle(struct seen *flow, __u32 p)
{
	struct recording_count *to;

	flow->unknown = false;
	if (p >= flow->nr || !flow->nr)
		return;
	to = &flow->sent[p];
	to->packets += flow->unknown_sent.packets;
	to->bytes += flow->unknown_sent.bytes;
	to->rounds += flow->unknown_sent.rounds;
	memset(&flow->unknown_sent, 0, sizeof(flow->unknown_sent));
	if (!p)
		return;
	flow->last[p] = flow->last[0];
	memset(&flow->last[0], 0, sizeof(flow->last[0]));
}

static int see_flow(const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, void *arg)
{
	struct report_tables *tables = arg;
	struct seen_key skey = { .key = *key, .group = { .job = path->job,
							  .ifindex = key->ifindex } };
	bool unknown = path->piece[0].path == ROCESTEER_PATH_UNKNOWN;
	struct seen *flow;
	__u32 p;

	memcpy(skey.group.leaf, path->leaf, sizeof(skey.group.leaf));
	if ((tables->job && path->job != tables->job) ||
	    !set_find(&tables->groups, &skey.group, sizeof(skey.group)))
		return 0;
	flow = set_get(&tables->flows, &skey, sizeof(skey), sizeof(*flow));
	if (!flow || make_room(flow, path))
		return -ENOMEM;
	flow->port = ntohs(path->piece[0].sport);
	flow->share = path->flags & ROCESTEER_FLOW_SHARE;
	flow->observed = path->flags & ROCESTEER_FLOW_OBSERVED;
	if (flow->unknown && !unknown)
		settle(flow, path->piece[0].path);
	for (p = 0; p < flow->nr; p++)
		add_grown(unknown && !p ? &flow->unknown_sent : &flow->sent[p],
			  rocesteer_sent_on(path, p), &flow->last[p]);
	flow->unknown = unknown;
	flow->cnps += grown(path->cnps, flow->last_cnps);
	flow->last_cnps = path->cnps;
	return 0;
}

/* Forget the traffic before the period. */
static void begin_period(struct report_tables *tables)
{
	size_t i;

	for (i = 0; i < tables->flows.nr; i++) {
		struct seen *flow = tables->flows.item[i];

		memset(flow->sent, 0, flow->nr * sizeof(*flow->sent));
		memset(&flow->unknown_sent, 0, sizeof(flow->unknown_sent));
		flow->cnps = 0;
	}
	memcpy(tables->before, tables->now, sizeof(tables->before));
}

/* NAKs and CNPs that have arrived. */
static int read_counters(struct steer *steer, __u64 counters[2])
{
	__u64 verdicts[ROCESTEER_VERDICT_MAX], observed[ROCESTEER_OBSERVED_MAX];
	int ret = steer_counters(steer, verdicts, observed);

	counters[0] = observed[ROCESTEER_SAW_NAK_SEQUENCE] + observed[ROCESTEER_SAW_NAK_OTHER];
	counters[1] = observed[ROCESTEER_SAW_CNP];
	return ret;
}

int report_tables_read(struct report_tables *tables, bool begin, struct err *err)
{
	struct rocesteer_job job;
	struct steer *steer;
	int ret;

	ret = steer_open(&steer, STEER_READ, err);
	if (ret)
		return ret;
	if (begin && tables->job && steer_job_get(steer, tables->job, &job))
		ret = steer_job_missing(tables->job, err);
	ret = ret ?: steer_group_each(steer, tables->job, see_group, tables) ?:
	      steer_peer_each(steer, tables->job, see_peer, tables) ?:
	      steer_job_each(steer, see_job, tables) ?:
	      steer_flow_each(steer, see_flow, tables) ?:
	      read_counters(steer, tables->now);
	steer_close(steer);
	if (begin)
		begin_period(tables);
	return ret;
}

int report_tables_targets(struct report_tables *tables)
{
	size_t i, nr = 0;
	__u32 p;

	for (i = 0; i < tables->groups.nr; i++)
		nr += ((struct seen_group *)tables->groups.item[i])->group.nr_paths;
	tables->target = calloc(nr ?: 1, sizeof(*tables->target));
	if (!tables->target)
		return -ENOMEM;
	for (i = 0; i < tables->groups.nr; i++) {
		struct seen_group *group = tables->groups.item[i];

		for (p = 0; p < group->group.nr_paths; p++) {
			struct report_target *target = &tables->target[tables->nr_targets];

			if (!group->port[p])
				continue;
			target->ifindex = group->key.ifindex;
			target->hop = group->hop;
			target->leaf_hop = group->leaf_hop;
			target->port = group->port[p];
			memcpy(target->source, group->source, 16);
			memcpy(target->peer, group->peer[p], 16);
			group->target[p] = ++tables->nr_targets;
		}
	}
	return 0;
}

static void fill_path(struct recording_group *group, __u32 p, const struct report_target *target)
{
	struct recording_path *path = &group->path[p];

	memcpy(group->via, target->via, 16);
	memcpy(path->behind, target->behind, 16);
	if (!addr_is_none(target->entry))
		memcpy(path->entry, target->entry, 16);
	path->probes = target->sent;
	path->lost = target->lost;
	path->delay_ns = target->delay_ns;
}

static void fill_group(const struct report_tables *tables, struct recording_group *to,
		       const struct seen_group *from)
{
	__u32 p;

	to->job = from->key.job;
	memcpy(to->name, from->name, sizeof(to->name));
	out_device_name(from->key.ifindex, to->device);
	memcpy(to->leaf, from->key.leaf, 16);
	memcpy(to->source, from->source, 16);
	to->cores = from->leaf_hop > from->hop + 1;
	to->observed = from->group.observe;
	to->nr_paths = from->group.nr_paths;
	for (p = 0; p < to->nr_paths; p++) {
		memcpy(to->path[p].router, from->group.router[p], 16);
		memcpy(to->path[p].via, from->group.via[p], 16);
		memcpy(to->path[p].entry, from->group.leaf[p], 16);
		to->path[p].up = !(from->group.down >> p & 1);
		if (from->target[p])
			fill_path(to, p, &tables->target[from->target[p] - 1]);
	}
}

static int fill_flow(struct recording_flow *to, const struct seen *from, size_t group)
{
	__u32 p;

	to->group = group;
	memcpy(to->peer, from->key.key.peer, 16);
	to->dqpn = from->key.key.dqpn & ROCESTEER_QPN_MASK;
	to->port = from->port;
	to->share = from->share;
	to->observed = from->observed;
	to->cnps = from->cnps;
	to->sent = calloc(from->nr + 1, sizeof(*to->sent));
	if (!to->sent)
		return -ENOMEM;
	for (p = 0; p < from->nr; p++)
		if (from->sent[p].packets)
			to->sent[to->nr_sent++] = (struct recording_sent) { p, from->sent[p] };
	if (from->unknown_sent.packets)
		to->sent[to->nr_sent++] = (struct recording_sent) {
			ROCESTEER_PATH_UNKNOWN, from->unknown_sent,
		};
	return 0;
}

static size_t group_index(const struct report_tables *tables, const struct rocesteer_group_key *key)
{
	size_t i = 0;

	while (memcmp(key, tables->groups.item[i], sizeof(*key)))
		i++;
	return i;
}

int report_tables_fill(const struct report_tables *tables, struct recording *recording)
{
	size_t i;
	int ret = 0;

	recording->naks = grown(tables->now[0], tables->before[0]);
	recording->cnps = grown(tables->now[1], tables->before[1]);
	recording->group = calloc(tables->groups.nr ?: 1, sizeof(*recording->group));
	recording->flow = calloc(tables->flows.nr ?: 1, sizeof(*recording->flow));
	if (!recording->group || !recording->flow)
		return -ENOMEM;
	for (i = 0; i < tables->groups.nr; i++)
		fill_group(tables, &recording->group[recording->nr_groups++],
			   tables->groups.item[i]);
	for (i = 0; !ret && i < tables->flows.nr; i++) {
		const struct seen *flow = tables->flows.item[i];
		struct recording_flow *to = &recording->flow[recording->nr_flows];

		ret = fill_flow(to, flow, group_index(tables, &flow->key.group));
		if (to->nr_sent)
			recording->nr_flows++;
		else
			free(to->sent);
	}
	recording_sum(recording);
	return ret;
}

static void free_seen(void *item)
{
	struct seen *flow = item;

	free(flow->last);
	free(flow->sent);
	free(flow);
}

void report_tables_free(struct report_tables *tables)
{
	set_clear(&tables->flows, free_seen);
	set_clear(&tables->groups, free);
	free(tables->target);
}
