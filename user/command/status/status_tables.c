// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: jobs in the tables. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rocesteer/roce.h>

#include "discover/discover.h"
#include "status.h"

#define SAMPLE	VERIFY_SAMPLE_PEERS

static int read_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct status *st = arg;
	struct status_job *item = set_get(&st->jobs, &id, sizeof(id), sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->job = *job;
	if_indextoname(job->ifindex, item->device);
	snprintf(item->sample.device, sizeof(item->sample.device), "%s", item->device);
	item->record = job_record_read(st->steer, id);
	return 0;
}

static __u32 bits(__u64 paths)
{
	return __builtin_popcountll(paths);
}

static void read_group(struct status *st, const struct rates_group *group)
{
	struct status_job *item = set_find(&st->jobs, &group->key.job, sizeof(group->key.job));
	__u32 nr = group->group.nr_paths, p;
	__u64 imbalance = rates_imbalance(group), all;

	if (!item || !nr)
		return;
	all = ~0ull >> (64 - nr);
	item->no_port += bits(all & ~group->ports);
	item->down += bits(all & group->group.down);
	item->observed += !!group->group.observe;
	item->unknown += group->unknown.pieces;
	if (imbalance > item->imbalance)
		item->imbalance = imbalance;
	for (p = 0; p < nr; p++)
		item->retransmissions += group->path[p].rounds;
}

/* The first reading of rates counts from the beginning of each flow. */
static int read_groups(struct status *st, struct err *err)
{
	struct rates rates = {};
	int ret = rates_read(&rates, err);
	size_t i;

	for (i = 0; !ret && i < rates.groups.nr; i++)
		read_group(st, rates.groups.item[i]);
	rates_free(&rates);
	return ret;
}

/* Does it stay whole? One that may be split is, until its peer says whether it may. */
static bool is_whole(const struct status_job *item, const struct rocesteer_flow_path *path)
{
	return path->nr_pieces == 1 &&
	       (!item->job.split || path->flags & ROCESTEER_FLOW_QP ||
		(!(path->flags & ROCESTEER_FLOW_PEER_RESEQ) &&
		 path->acked != ROCESTEER_PSN_NONE));
}

static int read_flow(const struct rocesteer_flow_key *key,
		     const struct rocesteer_flow_path *path, void *arg)
{
	struct status *st = arg;
	struct status_job *item = set_find(&st->jobs, &path->job, sizeof(path->job));

	if (!item)
		return 0;
	item->flows++;
	if (path->flags & ROCESTEER_FLOW_SHARE && (key->dqpn & ROCESTEER_QPN_MASK) <
	    ROCESTEER_QPN_REDUCE) {
		item->whole += is_whole(item, path);
		item->divided += path->nr_pieces > 1;
	}
	status_nic_sample(st, item, key, path);
	return 0;
}

/* A place in the sample, at random for each peer alike; NULL: this one is left out. */
static struct portmap_peer *sample_place(struct status_job *item)
{
	struct portmap *map = &item->sample;
	size_t at = item->met++;

	if (!map->peers)
		map->peers = calloc(SAMPLE, sizeof(*map->peers));
	if (!map->peers)
		return NULL;
	if (at < SAMPLE)
		return &map->peers[map->nr_peers++];
	at = random() % item->met;
	if (at >= SAMPLE)
		return NULL;
	portmap_peer_free(&map->peers[at]);
	memset(&map->peers[at], 0, sizeof(map->peers[at]));
	return &map->peers[at];
}

/* Ports in use, without those of dead paths. */
static int sample_ports(struct portmap_peer *to, const struct rocesteer_peer *peer,
			const struct rocesteer_group *group)
{
	int ret = 0;
	__u32 p;

	for (p = 0; ret >= 0 && p < peer->nr_paths && p < ROCESTEER_MAX_PATHS; p++) {
		struct hash_router router;

		memcpy(router.addr, group->router[p], 16);
		memcpy(router.via, group->via[p], 16);
		if (peer->sport[p] && !(group->down >> p & 1))
			ret = portmap_peer_add_port(to, &router, group->leaf[p],
						    ntohs(peer->sport[p]));
	}
	return ret < 0 ? ret : 0;
}

static void check_source(struct status *st, struct status_job *item, const __u8 source[16])
{
	struct err err = {};

	if (!item->device[0] || !addr_compare(item->source, source))
		return;
	memcpy(item->source, source, 16);
	if (!probe_source_check(item->device, source, &err))
		return;
	status_advise(status_find(st, STATUS_ERROR, "foreign-map", item->id, "%s",
				  err.message),
		      "Give %s the address back, or find the ports again: rocesteer path discover, then rocesteer job replace.",
		      item->device);
}

/* Paths that are held down come back: as long as there are others, they count. */
static void read_paths(struct status_job *item, const struct rocesteer_peer *peer,
		       const struct rocesteer_group *group)
{
	__u32 weight[ROCESTEER_MAX_PATHS], nr = 0, p;
	__u64 paths = steer_peer_paths(peer), seen = 0;

	if (peer->partial || bits(paths & ~group->down) < 2)
		return;
	for (p = 0; p < group->nr_paths && p < ROCESTEER_MAX_PATHS; p++) {
		seen += peer->flows[p];
		if (group->weight[p] == ROCESTEER_WEIGHT_HOME)
			return;
		if (paths >> p & 1)
			weight[nr++] = group->weight[p];
	}
	whole_add(&item->alike, weight, nr, seen);
}

static int read_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *peer, void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job, .ifindex = key->ifindex };
	struct status *st = arg;
	struct status_job *item = set_find(&st->jobs, &key->job, sizeof(key->job));
	struct rocesteer_group group;
	struct portmap_peer *to;

	memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	if (!item || steer_group_get(st->steer, &gkey, &group))
		return 0;
	check_source(st, item, key->source);
	item->ports += bits(steer_peer_paths(peer) & ~group.down);
	read_paths(item, peer, &group);
	to = sample_place(item);
	if (!to)
		return item->sample.peers ? 0 : -ENOMEM;
	to->hop = peer->hop;
	to->leaf_hop = peer->leaf_hop;
	memcpy(to->addr, key->addr, 16);
	memcpy(to->source, key->source, 16);
	return sample_ports(to, peer, &group);
}

/* An address that may have port maps of any job */
struct address {
	const __u8 *addr;
	bool mapped;
};

static int find_address(const struct rocesteer_source_key *key,
			const struct rocesteer_source *source, void *arg)
{
	struct address *address = arg;

	address->mapped |= source->mapped && !addr_compare(key->addr, address->addr);
	return 0;
}

/*
 * Packets that passed a device above this one, a VLAN or a macvlan, have a source of that
 * device's job, and were steered there.
 */
static int read_source(const struct rocesteer_source_key *key,
		       const struct rocesteer_source *source, void *arg)
{
	struct address address = { .addr = key->addr };
	struct status *st = arg;
	const struct status_job *item = set_find(&st->jobs, &key->job, sizeof(key->job));
	char text[ADDR_STRLEN];
	int ret;

	if (!item || !source->packets)
		return 0;
	ret = steer_source_each(st->steer, find_address, &address);
	if (ret || address.mapped)
		return ret;
	addr_format(key->addr, text);
	status_advise(status_find(st, STATUS_ERROR, "other-source", key->job,
				  "%llu packets from %s are not steered: the port map is of another source",
				  source->packets, text),
		      "Add this source to the port map: rocesteer path discover --dev %s --source %s --peer ADDR --out FILE, then rocesteer job replace. If a device above %s has it, as a VLAN, load a job there.",
		      item->device, text, item->device);
	return 0;
}

int status_jobs_read(struct status *st, struct err *err)
{
	if (!st->steer)
		return 0;
	srandom(time(NULL));
	snprintf(st->pins, sizeof(st->pins), "%s", steer_pin_dir(st->steer));
	return steer_job_each(st->steer, read_job, st) ?: read_groups(st, err) ?:
	       steer_flow_each(st->steer, read_flow, st) ?:
	       steer_peer_each(st->steer, 0, read_peer, st) ?:
	       steer_source_each(st->steer, read_source, st);
}

static void free_job(void *item)
{
	struct status_job *job = item;

	json_object_put(job->record);
	portmap_free(&job->sample);
	free(job);
}

void status_jobs_free(struct status *st)
{
	set_clear(&st->jobs, free_job);
}
