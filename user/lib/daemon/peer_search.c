// SPDX-License-Identifier: GPL-2.0
#include "peer_search.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "portmap/portmap.h"
#include "found_peers.h"
#include "job_map.h"

/* Delay of a search, for more peers, ns */
#define SETTLE	2000000ull

/* Delay after a task could not be started, ns */
#define AGAIN	1000000000ull

/* Delay until peers are walked again that are partial after a walk, ns */
#define WALK_AGAIN	60000000000ull

/**
 * enum mode - how ports are found
 * @LINEAR: those that follow from a linear hash; other peers are left out
 * @FEW: whatever a few ports show, which is soon; peers are partial then
 * @ALL: all paths
 * @WALK: likewise, behind the flows of partial peers
 */
enum mode { LINEAR, FEW, ALL, WALK };

/* Of each mode: most ports of a peer, probes a second, and peers that are searched together */
static const struct {
	unsigned int ports;
	unsigned int rate;
	size_t peers;
} modes[] = {
	[LINEAR] = { PROBE_BATCH_PORTS, PROBE_BATCH_RATE, 2048 },
	[FEW] = { 4, PROBE_BATCH_RATE, 32 },
	[ALL] = { PROBE_BATCH_PORTS, PROBE_BATCH_RATE, 256 },
	[WALK] = { PROBE_BATCH_PORTS, 100, 4 },
};

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
 * @known: the port map, or empty
 * @by_place: flows are dealt by place, which needs all paths
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
	struct portmap known;
	bool by_place;
	struct err *err;
};

/* The port map that the job was loaded from may have a model. */
static void begin(struct batch *batch)
{
	struct steer *steer = batch->search->groups->steer;
	struct rocesteer_job job = {};

	steer_job_get(steer, batch->job, &job);
	batch->by_place = job.deal == ROCESTEER_DEAL_PLACE;
	job_map_read(steer, batch->job, &batch->known);
}

static void end(struct batch *batch)
{
	portmap_free(&batch->known);
	set_clear(&batch->found, free);
	free(batch->peers);
}

static int put_peers(struct batch *batch, const struct portmap *found, bool partial)
{
	struct steer *steer = NULL;
	size_t i;
	int ret = steer_open(&steer, 0, batch->err);

	for (i = 0; !ret && i < found->nr_peers; i++) {
		set_get(&batch->found, found->peers[i].addr, 16, 16);
		if (!found_peer_is_usable(&found->peers[i]))
			continue;
		ret = steer_peer_add(steer, batch->job, batch->ifindex,
				     &found->peers[i], partial);
		if (ret == -EEXIST || ret == -ENOENT)
			ret = 0;
	}
	steer_close(steer);
	return ret;
}

/* A few ports do not tell links apart: answers by addresses of links may be mixed. */
static bool never(void *arg, size_t i)
{
	(void)arg;
	(void)i;
	return false;
}

/* Find some of the peers; what is found is known to the next ones. */
static int find(struct batch *batch, const __u8 (*peers)[16], size_t nr, enum mode mode)
{
	char device[IF_NAMESIZE];
	struct discover discover = {
		.config = { .device = device, .ports = modes[mode].ports,
			    .rate = modes[mode].rate, .retries = PROBE_BATCH_RETRIES,
			    .timeout_ms = PROBE_BATCH_TIMEOUT,
			    .short_quotes = batch->search->short_quotes },
		.source = addr_is_none(batch->source) ? NULL : batch->source,
		.peers = peers,
		.nr_peers = nr,
		.leave_out = true,
		.quick = mode == LINEAR,
		.split = mode == FEW ? never : NULL,
		.known = batch->known.nr_peers ? &batch->known : NULL,
	};
	struct portmap found;
	int ret;

	if (!if_indextoname(batch->ifindex, device))
		return -errno;
	ret = discover_run(&discover, &found, batch->err);
	if (ret)
		return ret;
	ret = put_peers(batch, &found, mode == FEW);
	if (mode == FEW) {
		portmap_free(&found);
		return ret;
	}
	found_peers_keep(batch->search->groups->steer, batch->job, &found);
	portmap_free(&batch->known);
	batch->known = found;
	return ret;
}

static int find_by(struct batch *batch, enum mode mode)
{
	size_t i, most = modes[mode].peers;
	int ret = 0;

	for (i = 0; !ret && i < batch->nr; i += most)
		ret = find(batch, (const __u8 (*)[16])(batch->peers + i),
			   batch->nr - i < most ? batch->nr - i : most, mode);
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

/* A port map with peers and without a model was walked through: no linear hash explained it. */
static bool may_be_linear(const struct batch *batch)
{
	size_t i;

	for (i = 0; i < batch->known.nr_peers; i++)
		if (!batch->known.peers[i].local)
			return batch->known.nr_models;
	return true;
}

/* A walk takes seconds: flows take the paths of a few ports until its end. */
static int find_all(struct batch *batch)
{
	int ret = may_be_linear(batch) ? find_by(batch, LINEAR) : 0;

	keep_others(batch);
	return ret ?: find_by(batch, batch->by_place ? ALL : FEW);
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
		else if (steer_peer_get(steer, &wanted[i], &peer) || peer.partial)
			memcpy(batch->peers[batch->nr++], wanted[i].addr, 16);
	}
	*nr = left;
	return batch->peers ? 0 : -ENOMEM;
}

/* Peers that flows go to, or with @walk partial ones */
static int search_wanted(struct peer_search *search, bool walk, struct err *err)
{
	struct batch batch = { .search = search, .err = err };
	int ret = take_alike(&batch, search->wanted, &search->nr);

	if (!ret) {
		begin(&batch);
		ret = walk ? find_by(&batch, WALK) : find_all(&batch);
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
	struct json_object *record, *named;
	struct rocesteer_job job;
	int ret = 0;

	if (steer_job_get(search->groups->steer, id, &job))
		return 0;
	batch.ifindex = job.ifindex;
	begin(&batch);
	record = job_record_read(search->groups->steer, id);
	named = json_object_object_get(record, "peers");
	if (json_object_is_type(named, json_type_array))
		ret = take_named(&batch, named) ?: find_all(&batch);
	json_object_put(record);
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
		one = search_wanted(search, false, err);
		ret = one ?: ret;
	}
	for (i = 0; i < search->jobs.nr; i++) {
		const struct ahead *ahead = search->jobs.item[i];

		one = ahead->begun ? 0 : search_named(search, ahead->job, err);
		ret = one ?: ret;
	}
	return ret ?: err->code ? -EHOSTUNREACH : 0;
}

static int add_partial(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		       void *arg)
{
	struct peer_search *search = arg;

	if (peer->partial)
		search->wanted[search->nr++] = *key;
	return search->nr == PEER_SEARCH_MOST;
}

/* In a process of its own: all paths of partial peers */
static int walk(void *what, struct err *err)
{
	struct peer_search *search = what;
	int ret = 0, one;

	search->nr = 0;
	steer_peer_each(search->groups->steer, 0, add_partial, search);
	while (search->nr) {
		one = search_wanted(search, true, err);
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

static int is_partial(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		      void *arg)
{
	(void)key;
	(void)arg;
	return peer->partial;
}

/* Walk at once, but not without end where a walk finds nothing. */
static void walk_soon(struct peer_search *search)
{
	if (steer_peer_each(search->groups->steer, 0, is_partial, NULL) <= 0) {
		search->walk_at = LOOP_NEVER;
		search->walked = 0;
	} else if (search->walk_at == LOOP_NEVER) {
		search->walk_at = search->walked ? search->walked + WALK_AGAIN : clock_ns();
	}
}

int peer_search_read(struct peer_search *search)
{
	struct jobs jobs = { .steer = search->groups->steer, .before = &search->jobs };
	int ret = steer_job_each(jobs.steer, add_job, &jobs);

	set_clear(&search->jobs, free);
	search->jobs = jobs.now;
	if (has_named(search))
		search_soon(search);
	walk_soon(search);
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

static __u64 task_due(const struct peer_search *search, const struct task *task, __u64 at)
{
	return task->pid || !search->groups->steer ? LOOP_NEVER : at;
}

static void step_search(struct peer_search *search)
{
	size_t i;

	search->task.run = run;
	search->task.what = search;
	search->at = LOOP_NEVER;
	if (task_start(&search->task)) {
		search->at = clock_ns() + AGAIN;
		return;
	}
	search->nr = 0;
	for (i = 0; i < search->jobs.nr; i++)
		((struct ahead *)search->jobs.item[i])->begun = true;
}

static void step_walk(struct peer_search *search)
{
	search->walk.run = walk;
	search->walk.what = search;
	search->walked = clock_ns();
	search->walk_at = task_start(&search->walk) ? search->walked + AGAIN : LOOP_NEVER;
}

void peer_search_step(struct peer_search *search)
{
	__u64 now = clock_ns();

	if (now >= task_due(search, &search->task, search->at))
		step_search(search);
	if (now >= task_due(search, &search->walk, search->walk_at))
		step_walk(search);
}

__u64 peer_search_due(const struct peer_search *search)
{
	__u64 due = task_due(search, &search->task, search->at);
	__u64 walk = task_due(search, &search->walk, search->walk_at);

	return walk < due ? walk : due;
}
