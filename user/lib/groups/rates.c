// SPDX-License-Identifier: GPL-2.0
#include "rates.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "discover/discover.h"
#include "steer/steer.h"

/* Counters of a flow; @unknown: those of path 0 are of a path that was not known. */
struct counts {
	struct rocesteer_flow_key key;
	bool unknown;
	__u32 nr_paths;
	struct rocesteer_ended_path *sent;
};

/* Readings of rates_total() in which a flow may end. */
#define TOTAL_TRIES	8

/* A reading; @flows are kept for the next one, but for a reading of the @total. */
struct look {
	struct steer *steer;
	struct rates *rates;
	bool total;
	struct set flows;
};

static void free_counts(void *item)
{
	struct counts *counts = item;

	free(counts->sent);
	free(counts);
}

static int read_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *from, void *arg)
{
	struct look *look = arg;
	struct rates_group *group;
	struct rocesteer_job job;
	char name[IF_NAMESIZE];

	group = set_get(&look->rates->groups, key, sizeof(*key), sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->group = *from;
	group->served = !steer_job_get(look->steer, key->job, &job) &&
			steer_serves_job(look->steer, &job);
	group->carrier = if_indextoname(key->ifindex, name) && !carrier_is_missing(name);
	if (group->group.nr_paths > ROCESTEER_MAX_PATHS)
		group->group.nr_paths = ROCESTEER_MAX_PATHS;
	return 0;
}

static int read_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *peer, void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job,
					    .ifindex = key->ifindex };
	struct look *look = arg;
	struct rates_group *group;

	memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	group = set_find(&look->rates->groups, &gkey, sizeof(gkey));
	if (group)
		group->ports |= steer_peer_paths(peer);
	return 0;
}

static bool is_unknown(const struct rocesteer_flow_path *flow)
{
	return flow->piece[0].path == ROCESTEER_PATH_UNKNOWN;
}

/* Keep the counters of a flow, up to the last path that it used. */
static int keep(struct look *look, const struct rocesteer_flow_key *key,
		const struct rocesteer_flow_path *flow)
{
	struct counts *counts = set_get(&look->flows, key, sizeof(*key), sizeof(*counts));
	__u32 nr = ROCESTEER_MAX_PATHS;

	if (!counts)
		return -ENOMEM;
	while (nr && !rocesteer_sent_on(flow, nr - 1).packets)
		nr--;
	counts->nr_paths = nr;
	counts->unknown = is_unknown(flow);
	counts->sent = calloc(nr ?: 1, sizeof(*counts->sent));
	if (!counts->sent)
		return -ENOMEM;
	while (nr--)
		counts->sent[nr] = rocesteer_sent_on(flow, nr);
	return 0;
}

/* The counters of a flow that was forgotten begin at 0 again. */
static __u64 grown(__u64 now, __u64 before)
{
	return now >= before ? now - before : now;
}

/*
 * Traffic of a flow on a path at the last reading. When the path of an observed flow becomes
 * known, the programs add its earlier traffic to that path.
 */
static const struct rocesteer_ended_path *sent_before(const struct rocesteer_flow_path *flow,
						      const struct counts *before, __u32 p)
{
	static const struct rocesteer_ended_path nothing;

	if (before && before->unknown && !is_unknown(flow)) {
		if (p != flow->piece[0].path)
			return &nothing;
		p = 0;
	}
	return before && p < before->nr_paths ? &before->sent[p] : &nothing;
}

static void add_up(struct rates_group *group,
		   const struct rocesteer_flow_path *flow,
		   const struct counts *before)
{
	bool unknown = is_unknown(flow);
	__u32 p, i;

	group->observed += !!(flow->flags & ROCESTEER_FLOW_OBSERVED);
	group->cnps += flow->cnps;
	group->unknown.pieces += unknown && flow->flags & ROCESTEER_FLOW_SHARE;
	for (p = 0; p < group->group.nr_paths; p++) {
		const struct rocesteer_ended_path *old = sent_before(flow, before, p);
		const struct rocesteer_ended_path now = rocesteer_sent_on(flow, p);
		struct rates_path *path = unknown && !p ? &group->unknown : &group->path[p];

		path->packets += grown(now.packets, old->packets);
		path->bytes += grown(now.bytes, old->bytes);
		path->rounds += grown(now.rounds, old->rounds);
	}
	if (flow->detour.until > clock_ns() && flow->detour.from < ROCESTEER_MAX_PATHS)
		group->path[flow->detour.from].avoided++;
	if (!(flow->flags & ROCESTEER_FLOW_SHARE))
		return;
	for (i = 0; i < flow->nr_pieces && i < ROCESTEER_MAX_PATHS; i++)
		if (flow->piece[i].path < ROCESTEER_MAX_PATHS)
			group->path[flow->piece[i].path].pieces++;
}

static int read_flow(const struct rocesteer_flow_key *key,
		     const struct rocesteer_flow_path *flow, void *arg)
{
	struct rocesteer_group_key gkey = { .job = flow->job,
					    .ifindex = key->ifindex };
	struct look *look = arg;
	struct rates_group *group;

	memcpy(gkey.leaf, flow->leaf, sizeof(gkey.leaf));
	group = set_find(&look->rates->groups, &gkey, sizeof(gkey));
	look->rates->nr_flows++;
	if (look->total && flow->flags & ROCESTEER_FLOW_GONE) {
		if (group)	/* are its counts among those that ended already? */
			group->torn = true;
		return 0;
	}
	if (group)
		add_up(group, flow, set_find(&look->rates->flows, key, sizeof(*key)));
	return look->total ? 0 : keep(look, key, flow);
}

static int read_tables(struct look *look)
{
	set_clear(&look->rates->groups, free);
	look->rates->nr_flows = 0;
	return steer_group_each(look->steer, 0, read_group, look) ?:
	       steer_peer_each(look->steer, 0, read_peer, look);
}

int rates_read(struct rates *rates, struct err *err)
{
	struct look look = { .rates = rates };
	struct steer *steer = NULL;
	__u64 now;
	int ret;

	ret = steer_open(&steer, STEER_READ, err);
	now = clock_ns();
	look.steer = steer;
	if (!ret) {
		ret = read_tables(&look) ?: steer_flow_each(steer, read_flow, &look);
		steer_close(steer);
	} else if (ret == -ENOENT) {
		set_clear(&rates->groups, free);
		err->code = NULL;
		ret = 0;
	}
	set_clear(&rates->flows, free_counts);
	rates->flows = look.flows;
	rates->elapsed = rates->at ? now - rates->at : 0;
	rates->at = now;
	return ret;
}

/* The group of sums, whose device may have had another number then; or NULL. */
static struct rates_group *ended_group(struct look *look, struct rocesteer_group_key key)
{
	struct rocesteer_job job;

	if (steer_job_get(look->steer, key.job, &job))
		return NULL;
	key.ifindex = job.ifindex;
	return set_find(&look->rates->groups, &key, sizeof(key));
}

static void add_ended(struct rocesteer_ended_path *to, const struct rocesteer_ended_path *from)
{
	to->packets += from->packets;
	to->bytes += from->bytes;
	to->rounds += from->rounds;
}

static int read_ended(const struct rocesteer_group_key *key,
		      const struct rocesteer_ended *from, void *arg)
{
	struct rates_group *group = ended_group(arg, *key);
	__u32 p;

	if (!group)
		return 0;
	group->ended.flows += from->flows;
	group->ended.cnps += from->cnps;
	add_ended(&group->ended.unknown, &from->unknown);
	for (p = 0; p < ROCESTEER_MAX_PATHS; p++)
		add_ended(&group->ended.path[p], &from->path[p]);
	return 0;
}

static int see_ended(const struct rocesteer_group_key *key,
		     const struct rocesteer_ended *now, void *arg)
{
	struct rates_group *group = ended_group(arg, *key);

	if (group)
		group->seen += now->flows;
	return 0;
}

/* Did a flow end while the tables were read? */
static bool is_torn(const struct rates *rates)
{
	size_t i;

	for (i = 0; i < rates->groups.nr; i++) {
		const struct rates_group *group = rates->groups.item[i];

		if (group->torn || group->seen != group->ended.flows)
			return true;
	}
	return false;
}

int rates_total(struct rates *rates, struct steer *steer)
{
	struct look look = { .rates = rates, .steer = steer, .total = true };
	int ret, i;

	for (i = 0; i < TOTAL_TRIES; i++) {
		ret = read_tables(&look) ?:
		      steer_ended_each(steer, read_ended, &look) ?:
		      steer_flow_each(steer, read_flow, &look) ?:
		      steer_ended_each(steer, see_ended, &look);
		if (ret || !is_torn(rates))
			break;
	}
	return ret;
}

bool rates_is_dealt_to(const struct rates_group *group, __u32 p)
{
	return group->ports >> p & 1 && !(group->group.down >> p & 1);
}

__u64 rates_imbalance(const struct rates_group *group)
{
	__uint128_t bytes = 0, weights = 0, worst = 0, load;
	__u32 p;

	for (p = 0; p < group->group.nr_paths; p++) {
		if (!rates_is_dealt_to(group, p))
			continue;
		bytes += group->path[p].bytes;
		weights += group->group.weight[p];
	}
	if (!bytes)
		return 0;
	for (p = 0; p < group->group.nr_paths; p++) {
		load = rates_is_dealt_to(group, p) ? group->path[p].bytes : 0;
		load = load * 100 * weights / (group->group.weight[p] * bytes);
		worst = load > worst ? load : worst;
	}
	return worst;
}

void rates_free(struct rates *rates)
{
	set_clear(&rates->groups, free);
	set_clear(&rates->flows, free_counts);
}
