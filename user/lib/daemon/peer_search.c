// SPDX-License-Identifier: GPL-2.0
#include "peer_search.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "portmap/portmap.h"
#include "found_peers.h"

/* Delay of a search, for more peers, ns */
#define SETTLE	2000000ull

/* Delay after a task could not be started, ns */
#define AGAIN	1000000000ull

/**
 * struct batch - peers of a job that are searched together
 * @search: of the daemon
 * @job: number
 * @ifindex: device
 * @source: our address
 * @peers: their addresses
 * @nr: number of peers
 * @known: the job's port map, or empty
 * @hop: distance of the routers that tell paths apart
 * @err: filled with the last failure
 */
struct batch {
	const struct peer_search *search;
	__u32 job;
	__u32 ifindex;
	__u8 source[16];
	__u8 peers[PEER_SEARCH_MOST][16];
	size_t nr;
	struct portmap known;
	unsigned int hop;
	struct err *err;
};

static int take_hop(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		    void *arg)
{
	struct batch *batch = arg;

	(void)key;
	batch->hop = peer->hop;
	return 1;
}

/* The port map that the job was loaded from may have a model. */
static void read_known(struct batch *batch)
{
	struct steer *steer = batch->search->groups->steer;
	struct json_object *record = job_record_read(steer, batch->job);
	const char *file = json_object_get_string(json_object_object_get(record, "port_map"));
	struct err unread = {};

	steer_peer_each(steer, batch->job, take_hop, batch);
	if (file && portmap_read(file, &batch->known, &unread))
		batch->known = (struct portmap) {};
	if (!batch->hop)
		batch->hop = batch->known.hop ?: PROBE_BATCH_HOP;
	if (batch->known.hop != batch->hop)
		portmap_free(&batch->known);
	json_object_put(record);
}

static int put_peers(const struct batch *batch, const struct portmap *found)
{
	struct steer *steer = NULL;
	size_t i;
	int ret = steer_open(&steer, 0, batch->err);

	for (i = 0; !ret && i < found->nr_peers; i++) {
		if (!found_peer_is_usable(&found->peers[i]))
			continue;
		ret = steer_peer_add(steer, batch->job, batch->ifindex, batch->hop,
				     &found->peers[i]);
		if (ret == -EEXIST || ret == -ENOENT)
			ret = 0;
	}
	steer_close(steer);
	return ret;
}

static int find(const struct batch *batch, const __u8 (*peers)[16], size_t nr)
{
	char device[IF_NAMESIZE];
	struct discover discover = {
		.config = { .device = device, .hop = batch->hop, .ports = PROBE_BATCH_PORTS,
			    .rate = PROBE_BATCH_RATE, .retries = PROBE_BATCH_RETRIES,
			    .timeout_ms = PROBE_BATCH_TIMEOUT,
			    .short_quotes = batch->search->short_quotes },
		.source = batch->source,
		.peers = peers,
		.nr_peers = nr,
		.known = batch->known.nr_peers ? &batch->known : NULL,
	};
	struct portmap found;
	int ret;

	if (!if_indextoname(batch->ifindex, device))
		return -errno;
	ret = discover_run(&discover, &found, batch->err);
	if (ret)
		return ret;
	ret = put_peers(batch, &found);
	found_peers_keep(batch->search->groups->steer, batch->job, &found);
	portmap_free(&found);
	return ret;
}

/* A peer without an answer fails the search for all: each is searched alone then. */
static int find_all(struct batch *batch)
{
	int ret, one;
	size_t i;

	read_known(batch);
	ret = find(batch, batch->peers, batch->nr);
	if (ret && batch->nr > 1)
		for (i = 0, ret = 0; i < batch->nr; i++) {
			one = find(batch, &batch->peers[i], 1);
			ret = one ?: ret;
		}
	portmap_free(&batch->known);
	return ret;
}

/* Take the peers with the job, the device and the source of the last one. */
static void take_alike(struct batch *batch, struct rocesteer_peer_key *wanted, size_t *nr)
{
	const struct rocesteer_peer_key like = wanted[*nr - 1];
	size_t i, left = 0;

	batch->job = like.job;
	batch->ifindex = like.ifindex;
	memcpy(batch->source, like.source, 16);
	for (i = 0; i < *nr; i++) {
		if (wanted[i].job == like.job && wanted[i].ifindex == like.ifindex &&
		    !memcmp(wanted[i].source, like.source, 16))
			memcpy(batch->peers[batch->nr++], wanted[i].addr, 16);
		else
			wanted[left++] = wanted[i];
	}
	*nr = left;
}

/* In a process of its own, whose copy of the peers is used up */
static int run(void *what, struct err *err)
{
	struct peer_search *search = what;
	int ret = 0, one;

	while (search->nr) {
		struct batch batch = { .search = search, .err = err };

		take_alike(&batch, search->wanted, &search->nr);
		one = find_all(&batch);
		ret = one ?: ret;
	}
	return ret;
}

void peer_search_want(struct peer_search *search, const struct rocesteer_event *event)
{
	struct rocesteer_peer_key *key = &search->wanted[search->nr];
	struct rocesteer_job job;
	size_t i;

	/* The peers of a slice are those of its plan. */
	if (search->nr == PEER_SEARCH_MOST ||
	    steer_job_get(search->groups->steer, event->job, &job) || job.slice)
		return;
	*key = (struct rocesteer_peer_key) { .job = event->job, .ifindex = event->key.ifindex };
	memcpy(key->addr, event->key.peer, 16);
	memcpy(key->source, event->leaf, 16);
	for (i = 0; i < search->nr; i++)
		if (!memcmp(&search->wanted[i], key, sizeof(*key)))
			return;
	search->nr++;
	if (search->at == LOOP_NEVER)
		search->at = clock_ns() + SETTLE;
}

void peer_search_step(struct peer_search *search)
{
	if (clock_ns() < peer_search_due(search))
		return;
	search->at = LOOP_NEVER;
	search->task.run = run;
	search->task.what = search;
	if (task_start(&search->task))
		search->at = clock_ns() + AGAIN;
	else
		search->nr = 0;
}

__u64 peer_search_due(const struct peer_search *search)
{
	return search->task.pid || !search->nr || !search->groups->steer ? LOOP_NEVER : search->at;
}
