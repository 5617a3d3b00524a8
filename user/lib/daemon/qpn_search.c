// SPDX-License-Identifier: GPL-2.0
#include "qpn_search.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "portmap/portmap.h"
#include "job_map.h"

/* Delay of a search, for more queue pairs, ns. */
#define SETTLE	2000000ull

/* Delay after a task could not be started, ns. */
#define AGAIN		1000000000ull

/* Queue pairs of one search. */
#define MOST	1024

/**
 * struct waiting - a queue pair without ports
 * @key: key
 * @peer: its peer, with paths that need ports
 * @path: the paths
 * @port: a port of each path to queue pair 0, host order, or 0
 */
struct waiting {
	struct rocesteer_qpn_key key;
	struct portmap_peer peer;
	struct portmap_path path[ROCESTEER_MAX_PATHS];
	__u16 port[ROCESTEER_MAX_PATHS];
};

/* The port map of a job, which may have models */
struct map {
	__u32 job;
	bool read;
	struct portmap portmap;
};

/* Queue pairs that wait; @maps: set of struct map */
struct list {
	const struct groups *groups;
	struct waiting *item;
	size_t nr;
	struct set maps;
};

static bool is_waiting(const struct rocesteer_ports *ports)
{
	static const struct rocesteer_ports none;

	return !memcmp(ports, &none, sizeof(none));
}

static int add_waiting(const struct rocesteer_qpn_key *key,
		       const struct rocesteer_ports *ports, void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->peer.job,
					    .ifindex = key->peer.ifindex };
	struct list *list = arg;
	const struct group *group;
	struct rocesteer_peer peer;
	struct waiting *w;
	__u32 p;

	if (!is_waiting(ports) || list->nr == MOST ||
	    steer_peer_get(list->groups->steer, &key->peer, &peer))
		return 0;
	memcpy(gkey.leaf, peer.leaf, 16);
	group = groups_find(list->groups, &gkey);
	if (!group)
		return 0;
	w = &list->item[list->nr++];
	w->key = *key;
	group_describe(group, &key->peer, &peer, &w->peer, w->path);
	for (p = 0; p < group->nr_paths; p++) {
		w->port[p] = ntohs(peer.sport[p]);
		w->path[p].ports = &w->port[p];
		w->path[p].nr_ports = !!peer.sport[p];
	}
	return 0;
}

/* Can they be probed together: by one device? */
static bool is_alike(const struct waiting *left, const struct waiting *right)
{
	return left->key.peer.ifindex == right->key.peer.ifindex;
}

/* Another job may have got the number: check that the paths are the same. */
static bool has_paths(struct steer *steer, const struct waiting *w)
{
	struct rocesteer_group_key key = { .job = w->key.peer.job,
					   .ifindex = w->key.peer.ifindex };
	struct rocesteer_group group;
	unsigned int p;

	memcpy(key.leaf, w->peer.leaf, 16);
	if (steer_group_get(steer, &key, &group) || group.nr_paths != w->peer.nr_paths)
		return false;
	for (p = 0; p < w->peer.nr_paths; p++)
		if (memcmp(group.router[p], w->path[p].router, 16) ||
		    memcmp(group.leaf[p], w->path[p].leaf, 16) ||
		    memcmp(group.via[p], w->path[p].via, 16))
			return false;
	return true;
}

static int put_ports(struct steer *steer, const struct waiting *w, const struct discover_qpn *found)
{
	struct rocesteer_ports ports = {};
	unsigned int p;
	int ret;

	if (!has_paths(steer, w))
		return 0;
	for (p = 0; p < w->peer.nr_paths; p++)
		ports.sport[p] = htons(found->port[p]);
	ret = steer_qpn_put(steer, &w->key, &ports);
	return ret == -ENOENT ? 0 : ret;	/* it was unloaded */
}

static const struct hash_model *find_model(struct list *list, const struct waiting *w)
{
	const __u32 job = w->key.peer.job;
	struct map *map = set_get(&list->maps, &job, sizeof(job), sizeof(*map));
	const struct portmap_model *model;

	if (!map)
		return NULL;
	if (!map->read)
		job_map_read(list->groups->steer, job, &map->portmap);
	map->read = true;
	model = portmap_find_model(&map->portmap, w->key.peer.source, w->peer.hop);
	return model ? &model->hash : NULL;
}

static void free_map(void *item)
{
	struct map *map = item;

	portmap_free(&map->portmap);
	free(map);
}

static int find(const struct qpn_search *search, struct list *list, struct waiting **some,
		size_t nr, struct err *err)
{
	struct discover_qpn *what = calloc(nr, sizeof(*what));
	char device[IF_NAMESIZE];
	struct probe_batch_config config = {
		.device = device, .ports = PROBE_BATCH_PORTS,
		.short_quotes = search->short_quotes, PROBE_BATCH_QUICK,
	};
	int ret = what ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !ret && i < nr; i++) {
		what[i].peer = &some[i]->peer;
		what[i].model = find_model(list, some[i]);
		what[i].dqpn = some[i]->key.dqpn;
	}
	if (!ret && !if_indextoname(some[0]->key.peer.ifindex, device))
		ret = -errno;
	ret = ret ?: discover_qpn(&config, what, nr, err);
	for (i = 0; !ret && i < nr; i++)
		ret = put_ports(search->groups->steer, some[i], &what[i]);
	free(what);
	return ret;
}

static int search_all(const struct qpn_search *search, struct list *list,
		      struct waiting **some, struct err *err)
{
	bool done[MOST] = {};
	size_t i, k, nr;
	int ret = 0;

	for (i = 0; !ret && i < list->nr; i++) {
		for (nr = 0, k = i; k < list->nr; k++) {
			if (done[k] || !is_alike(&list->item[i], &list->item[k]))
				continue;
			done[k] = true;
			some[nr++] = &list->item[k];
		}
		ret = nr ? find(search, list, some, nr, err) : 0;
	}
	return ret;
}

static int run(void *what, struct err *err)
{
	const struct qpn_search *search = what;
	struct list list = { .groups = search->groups };
	struct waiting **some = calloc(MOST, sizeof(struct waiting *));
	int ret;

	list.item = calloc(MOST, sizeof(*list.item));
	ret = list.item && some ?
	      steer_qpn_each(search->groups->steer, 0, add_waiting, &list) : -ENOMEM;
	ret = ret ?: search_all(search, &list, some, err);
	set_clear(&list.maps, free_map);
	free(some);
	free(list.item);
	return ret;
}

void qpn_search_soon(struct qpn_search *search)
{
	if (search->at == LOOP_NEVER)
		search->at = clock_ns() + SETTLE;
}

static int note_waiting(const struct rocesteer_qpn_key *key,
			const struct rocesteer_ports *ports, void *arg)
{
	(void)key;
	(void)arg;
	return is_waiting(ports);
}

int qpn_search_step(struct qpn_search *search)
{
	int ret;

	if (search->task.pid || clock_ns() < search->at)
		return 0;
	search->at = LOOP_NEVER;
	if (!search->groups->steer)
		return 0;
	ret = steer_qpn_each(search->groups->steer, 0, note_waiting, NULL);
	if (ret <= 0)
		return ret;
	search->task.run = run;
	search->task.what = search;
	if (task_start(&search->task))
		search->at = clock_ns() + AGAIN;
	return 0;
}

__u64 qpn_search_due(const struct qpn_search *search)
{
	return search->task.pid ? LOOP_NEVER : search->at;
}
