// SPDX-License-Identifier: GPL-2.0
#include "flow_search.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/roce.h>

#include "discover/discover.h"
#include "portmap/portmap.h"

/* Delay of a search, for more flows, ns. */
#define SETTLE	2000000ull

/*
 * First and longest delay until silent probes are repeated, ns. The longest is also the period of
 * all_at, which is longer by EACH for each flow.
 */
#define AGAIN	1000000000ull
#define PERIOD	30000000000ull
#define EACH	10000000ull

/* Flows of one search. */
#define MOST	16384

/**
 * struct target - a peer of observed flows
 * @key: key
 * @peer: the peer, for probes
 * @path: its paths
 */
struct target {
	struct rocesteer_peer_key key;
	struct portmap_peer peer;
	struct portmap_path path[ROCESTEER_MAX_PATHS];
};

/**
 * struct wanted - a flow whose path is wanted
 * @key: key
 * @job: its job
 * @sport: its port, network order
 * @path: its path as far as known
 * @target: its peer
 */
struct wanted {
	struct rocesteer_flow_key key;
	__u32 job;
	__be16 sport;
	__u16 path;
	const struct target *target;
};

/**
 * struct list - flows of a search
 * @search: search
 * @targets: set of struct target
 * @item: flows
 * @nr: number of flows
 */
struct list {
	const struct flow_search *search;
	struct set targets;
	struct wanted *item;
	size_t nr;
};

static bool is_unknown(const struct rocesteer_flow_path *path)
{
	return path->piece[0].path == ROCESTEER_PATH_UNKNOWN;
}

/* Its first packet has told the port. */
static bool is_observed(const struct rocesteer_flow_path *path)
{
	return path->flags & ROCESTEER_FLOW_OBSERVED && path->piece[0].sport;
}

/* The peer of a flow, or NULL where its job is being unloaded. */
static const struct target *find_target(struct list *list, const struct rocesteer_flow_key *key,
					const struct rocesteer_flow_path *path)
{
	struct rocesteer_peer_key pkey = steer_peer_key(path->job, key, path->source);
	struct rocesteer_group_key gkey = { .job = path->job, .ifindex = key->ifindex };
	const struct groups *groups = list->search->groups;
	const struct group *group;
	struct rocesteer_peer peer;
	struct target *target;

	target = set_find(&list->targets, &pkey, sizeof(pkey));
	if (target)
		return target;
	if (steer_peer_get(groups->steer, &pkey, &peer))
		return NULL;
	memcpy(gkey.leaf, peer.leaf, sizeof(gkey.leaf));
	group = groups_find(groups, &gkey);
	target = group ? set_get(&list->targets, &pkey, sizeof(pkey), sizeof(*target)) : NULL;
	if (!target)
		return NULL;
	group_describe(group, &pkey, &peer, &target->peer, target->path);
	return target;
}

static int add_wanted(const struct rocesteer_flow_key *key,
		      const struct rocesteer_flow_path *path, void *arg)
{
	struct list *list = arg;
	struct wanted *w = &list->item[list->nr];

	if (!is_observed(path) || (!list->search->all && !is_unknown(path)) || list->nr == MOST)
		return 0;
	w->target = find_target(list, key, path);
	if (!w->target)
		return 0;
	w->key = *key;
	w->job = path->job;
	w->sport = path->piece[0].sport;
	w->path = path->piece[0].path;
	list->nr++;
	return 0;
}

/* Can they be probed together: by one device? */
static bool is_alike(const struct wanted *left, const struct wanted *right)
{
	return left->key.ifindex == right->key.ifindex;
}

/* A flow that is gone, or has another port by now, is left alone. */
static int put_path(struct steer *steer, const struct wanted *w, unsigned int path)
{
	struct rocesteer_set_flow set = {
		.key = w->key,
		.job = w->job,
		.nr_pieces = 1,
		.piece[0] = { .end = 1, .path = path, .sport = w->sport },
	};
	int ret;

	if (path == ROCESTEER_MAX_PATHS || path == w->path)
		return 0;
	ret = steer_set_flow(steer, &set);
	return ret == -ENOENT || ret == -EINVAL || ret == -EPERM ? 0 : ret;
}

static int probe(const struct flow_search *search, struct wanted **some, size_t nr, struct err *err)
{
	struct discover_flow *flows = calloc(nr, sizeof(*flows));
	char device[IF_NAMESIZE];
	struct probe_batch_config config = {
		.device = device, .short_quotes = search->short_quotes, PROBE_BATCH_QUICK,
	};
	int ret = flows ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !ret && i < nr; i++) {
		flows[i].peer = &some[i]->target->peer;
		flows[i].dqpn = some[i]->key.dqpn & ROCESTEER_QPN_MASK;
		flows[i].port = ntohs(some[i]->sport);
	}
	if (!ret && !if_indextoname(some[0]->key.ifindex, device))
		ret = -errno;
	ret = ret ?: discover_flows(&config, flows, nr, err);
	for (i = 0; !ret && i < nr; i++)
		ret = put_path(search->groups->steer, some[i], flows[i].path);
	free(flows);
	return ret;
}

/* Flows that are alike in turn; @some has room for all. */
static int probe_all(struct list *list, struct wanted **some, struct err *err)
{
	size_t left = list->nr, nr, i, n;
	int ret = 0;

	while (!ret && left) {
		for (nr = n = i = 0; i < left; i++) {
			if (is_alike(&list->item[i], &list->item[0]))
				some[nr++] = &list->item[i];
		}
		ret = probe(list->search, some, nr, err);
		for (i = 1; i < left; i++) {
			if (!is_alike(&list->item[i], &list->item[0]))
				list->item[1 + n++] = list->item[i];
		}
		memmove(list->item, list->item + 1, n * sizeof(*list->item));
		left = n;
	}
	return ret;
}

static int run(void *what, struct err *err)
{
	struct list list = { .search = what };
	struct wanted **some = calloc(MOST, sizeof(struct wanted *));
	int ret;

	list.item = calloc(MOST, sizeof(*list.item));
	ret = list.item && some ?
	      steer_flow_each(list.search->groups->steer, add_wanted, &list) : -ENOMEM;
	ret = ret ?: probe_all(&list, some, err);
	free(some);
	free(list.item);
	set_clear(&list.targets, free);
	return ret;
}

void flow_search_soon(struct flow_search *search)
{
	__u64 at = clock_ns() + SETTLE;

	search->delay = AGAIN;
	if (at < search->at)
		search->at = at;
}

void flow_search_again(struct flow_search *search)
{
	search->all_at = 0;
	flow_search_soon(search);
}

/* Observed flows, and those of them whose path is unknown. */
struct count {
	size_t observed;
	size_t unknown;
};

static int count_flow(const struct rocesteer_flow_key *key,
		      const struct rocesteer_flow_path *path, void *arg)
{
	struct count *count = arg;

	(void)key;
	count->observed += is_observed(path);
	count->unknown += is_observed(path) && is_unknown(path);
	return 0;
}

int flow_search_step(struct flow_search *search)
{
	__u64 now = clock_ns();
	struct count count = {};
	int ret;

	if (search->task.pid || now < search->at)
		return 0;
	search->at = LOOP_NEVER;
	if (!search->groups->steer)
		return 0;
	ret = steer_flow_each(search->groups->steer, count_flow, &count);
	if (ret < 0)
		return ret;
	search->all = now >= search->all_at;
	if (!count.observed)
		return 0;
	if (search->all)
		search->all_at = now + PERIOD + count.observed * EACH;
	search->at = search->all_at;
	if (count.unknown && now + search->delay < search->at)
		search->at = now + search->delay;
	if (search->delay < PERIOD)
		search->delay *= 2;
	if (!search->all && !count.unknown)
		return 0;
	search->task.run = run;
	search->task.what = search;
	if (task_start(&search->task))
		search->at = now + AGAIN;
	return 0;
}

__u64 flow_search_due(const struct flow_search *search)
{
	return search->task.pid ? LOOP_NEVER : search->at;
}
