// SPDX-License-Identifier: GPL-2.0
#include "peer_search.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "portmap/portmap.h"

/* Delay of a search, for more peers, ns */
#define SETTLE	2000000ull

/* Delay after a task could not be started, ns */
#define AGAIN	1000000000ull

/* Named peers of one search: flows to some begin while others are searched. */
#define SOME	256

/**
 * struct ahead - a job whose record may name peers
 * @job: number
 * @loaded_at: as in struct rocesteer_job
 * @begun: they were searched, or are being searched, or there are none
 */
struct ahead {
	__u32 job;
	__u64 loaded_at;
	bool begun;
};

/**
 * struct batch - peers of a job that are searched together
 * @search: of the daemon
 * @job: number
 * @ifindex: device
 * @source: our address; all zero: the kernel's choice
 * @peers: their addresses
 * @nr: number of peers
 * @found: set of addresses
 * @record: of the job, or NULL
 * @file: of the job's port map
 * @known: the port map, or empty
 * @hop: distance of the routers that tell paths apart
 * @err: filled with the last failure
 */
struct batch {
	const struct peer_search *search;
	__u32 job;
	__u32 ifindex;
	__u8 source[16];
	__u8 (*peers)[16];
	size_t nr;
	struct set found;
	struct json_object *record;
	const char *file;
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
static void begin(struct batch *batch)
{
	struct steer *steer = batch->search->groups->steer;
	struct err unread = {};

	batch->record = job_record_read(steer, batch->job);
	batch->file = json_object_get_string(json_object_object_get(batch->record, "port_map"));
	steer_peer_each(steer, batch->job, take_hop, batch);
	if (batch->file && portmap_read(batch->file, &batch->known, &unread))
		batch->known = (struct portmap) {};
	if (!batch->hop)
		batch->hop = batch->known.hop ?: PROBE_BATCH_HOP;
	if (batch->known.hop != batch->hop)
		portmap_free(&batch->known);
}

static void end(struct batch *batch)
{
	portmap_free(&batch->known);
	set_clear(&batch->found, free);
	json_object_put(batch->record);
	free(batch->peers);
}

/* Paths that one may rely on, and all of them. A peer under our own leaf has none. */
static bool is_usable(const struct portmap_peer *peer)
{
	return !peer->local && peer->nr_paths && !peer->sprays && !peer->moved &&
	       !portmap_peer_nr_cut(peer) && !discover_is_silent(peer);
}

static int put_peers(struct batch *batch, const struct portmap *found)
{
	struct steer *steer = NULL;
	size_t i;
	int ret = steer_open(&steer, 0, batch->err);

	for (i = 0; !ret && i < found->nr_peers; i++) {
		set_get(&batch->found, found->peers[i].addr, 16, 16);
		if (!is_usable(&found->peers[i]))
			continue;
		ret = steer_peer_add(steer, batch->job, batch->ifindex, batch->hop,
				     &found->peers[i]);
		if (ret == -EEXIST || ret == -ENOENT)
			ret = 0;
	}
	steer_close(steer);
	return ret;
}

/* Jobs that were loaded by --dev have what the host knows. Without that, it is found again. */
static void keep(const struct batch *batch, const char *device, struct portmap *found)
{
	char store[PATH_STORE_NAME];
	struct err err = {};

	if (found->nr_peers && batch->file && !path_store_name(device, store, &err) &&
	    !strcmp(store, batch->file) && !path_store_make())
		portmap_write(store, found, probe_source_is_own, &err);
}

/* Find some of the peers; what is found is known to the next ones. */
static int find(struct batch *batch, const __u8 (*peers)[16], size_t nr, bool quick)
{
	char device[IF_NAMESIZE];
	struct discover discover = {
		.config = { .device = device, .hop = batch->hop, .ports = PROBE_BATCH_PORTS,
			    .rate = PROBE_BATCH_RATE, .retries = PROBE_BATCH_RETRIES,
			    .timeout_ms = PROBE_BATCH_TIMEOUT,
			    .short_quotes = batch->search->short_quotes },
		.source = addr_is_none(batch->source) ? NULL : batch->source,
		.peers = peers,
		.nr_peers = nr,
		.partial = true,
		.quick = quick,
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
	keep(batch, device, &found);
	portmap_free(&batch->known);
	batch->known = found;
	return ret;
}

static int find_some(struct batch *batch, bool quick)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < batch->nr; i += SOME)
		ret = find(batch, (const __u8 (*)[16])(batch->peers + i),
			   batch->nr - i < SOME ? batch->nr - i : SOME, quick);
	return ret;
}

/* Leave the peers that were not found. */
static void keep_others(struct batch *batch)
{
	size_t i, n = 0;

	for (i = 0; i < batch->nr; i++)
		if (!set_find(&batch->found, batch->peers[i], 16))
			memcpy(batch->peers[n++], batch->peers[i], 16);
	batch->nr = n;
}

/* A peer that does not answer takes seconds: the others do not wait for those. */
static int find_all(struct batch *batch)
{
	int ret = find_some(batch, true);

	keep_others(batch);
	return ret ?: find_some(batch, false);
}

/* Take the peers with the job, the device and the source of the last one. */
static int take_alike(struct batch *batch, struct rocesteer_peer_key *wanted, size_t *nr)
{
	const struct rocesteer_peer_key like = wanted[*nr - 1];
	struct steer *steer = batch->search->groups->steer;
	struct rocesteer_peer peer;
	size_t i, left = 0;

	batch->job = like.job;
	batch->ifindex = like.ifindex;
	memcpy(batch->source, like.source, 16);
	batch->peers = calloc(*nr, sizeof(*batch->peers));
	for (i = 0; batch->peers && i < *nr; i++) {
		if (wanted[i].job != like.job || wanted[i].ifindex != like.ifindex ||
		    memcmp(wanted[i].source, like.source, 16))
			wanted[left++] = wanted[i];
		else if (steer_peer_get(steer, &wanted[i], &peer))
			memcpy(batch->peers[batch->nr++], wanted[i].addr, 16);
	}
	*nr = left;
	return batch->peers ? 0 : -ENOMEM;
}

/* Peers that flows go to */
static int search_wanted(struct peer_search *search, struct err *err)
{
	struct batch batch = { .search = search, .err = err };
	int ret = take_alike(&batch, search->wanted, &search->nr);

	if (!ret) {
		begin(&batch);
		ret = find_all(&batch);
	}
	end(&batch);
	return ret;
}

static int add_present(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		       void *arg)
{
	(void)peer;
	return set_get(arg, key->addr, 16, 16) ? 0 : -ENOMEM;
}

/* Take the peers that the record names, but for those that the job has. */
static int take_named(struct batch *batch, struct json_object *named)
{
	size_t i, nr = json_object_array_length(named);
	struct set present = {};
	int ret = steer_peer_each(batch->search->groups->steer, batch->job, add_present, &present);

	batch->peers = calloc(nr ?: 1, sizeof(*batch->peers));
	if (!batch->peers)
		ret = -ENOMEM;
	for (i = 0; !ret && i < nr; i++) {
		struct json_object *addr = json_object_array_get_idx(named, i);
		__u8 *to = batch->peers[batch->nr];

		if (!addr_parse(json_object_get_string(addr) ?: "", to) &&
		    !set_find(&present, to, 16))
			batch->nr++;
	}
	set_clear(&present, free);
	return ret;
}

static int search_named(struct peer_search *search, __u32 id, struct err *err)
{
	struct batch batch = { .search = search, .job = id, .err = err };
	struct json_object *named;
	struct rocesteer_job job;
	int ret = 0;

	if (steer_job_get(search->groups->steer, id, &job))
		return 0;
	batch.ifindex = job.ifindex;
	begin(&batch);
	named = json_object_object_get(batch.record, "peers");
	if (json_object_is_type(named, json_type_array))
		ret = take_named(&batch, named) ?: find_all(&batch);
	end(&batch);
	return ret;
}

/* In a process of its own, whose copy of the peers is used up */
static int run(void *what, struct err *err)
{
	struct peer_search *search = what;
	int ret = 0, one;
	size_t i;

	while (search->nr) {
		one = search_wanted(search, err);
		ret = one ?: ret;
	}
	for (i = 0; i < search->jobs.nr; i++) {
		const struct ahead *ahead = search->jobs.item[i];

		one = ahead->begun ? 0 : search_named(search, ahead->job, err);
		ret = one ?: ret;
	}
	return ret ?: err->code ? -EHOSTUNREACH : 0;
}

static bool has_named(const struct peer_search *search)
{
	size_t i;

	for (i = 0; i < search->jobs.nr; i++)
		if (!((const struct ahead *)search->jobs.item[i])->begun)
			return true;
	return false;
}

static void search_soon(struct peer_search *search)
{
	if (search->at == LOOP_NEVER)
		search->at = clock_ns() + SETTLE;
}

static bool names_peers(struct steer *steer, __u32 job)
{
	struct json_object *record = job_record_read(steer, job);
	bool names = json_object_object_get(record, "peers");

	json_object_put(record);
	return names;
}

/* Jobs before and after the tables were read again */
struct jobs {
	struct steer *steer;
	const struct set *before;
	struct set now;
};

static int add_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct jobs *jobs = arg;
	const struct ahead *before = set_find(jobs->before, &id, sizeof(id));
	struct ahead *ahead = set_get(&jobs->now, &id, sizeof(id), sizeof(*ahead));

	if (!ahead)
		return -ENOMEM;
	ahead->loaded_at = job->loaded_at;
	ahead->begun = before && before->loaded_at == job->loaded_at ? before->begun :
			!names_peers(jobs->steer, id);
	return 0;
}

int peer_search_read(struct peer_search *search)
{
	struct jobs jobs = { .steer = search->groups->steer, .before = &search->jobs };
	int ret = steer_job_each(jobs.steer, add_job, &jobs);

	set_clear(&search->jobs, free);
	search->jobs = jobs.now;
	if (has_named(search))
		search_soon(search);
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
	search_soon(search);
}

void peer_search_step(struct peer_search *search)
{
	size_t i;

	if (clock_ns() < peer_search_due(search))
		return;
	search->at = LOOP_NEVER;
	search->task.run = run;
	search->task.what = search;
	if (task_start(&search->task)) {
		search->at = clock_ns() + AGAIN;
		return;
	}
	search->nr = 0;
	for (i = 0; i < search->jobs.nr; i++)
		((struct ahead *)search->jobs.item[i])->begun = true;
}

__u64 peer_search_due(const struct peer_search *search)
{
	return search->task.pid || !search->groups->steer ? LOOP_NEVER : search->at;
}
