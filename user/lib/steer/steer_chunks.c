// SPDX-License-Identifier: GPL-2.0
#include "steer_chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "steer_priv.h"

static int put(struct steer *s, enum steer_map map, const void *key, const void *value)
{
	return bpf_map_update_elem(s->maps[map], key, value, BPF_NOEXIST) ?
	       -errno : 0;
}

/* Make a counter: the program only finds counters. */
static int add_count(struct steer *s, __u32 job, __u32 class, __u32 dimension)
{
	struct rocesteer_count_key key = { job, class, dimension };
	int cpus = libbpf_num_possible_cpus(), ret;
	struct rocesteer_count *none;

	if (cpus < 0)
		return cpus;
	none = calloc(cpus, sizeof(*none));
	if (!none)
		return -ENOMEM;
	ret = put(s, MAP_CHUNK_COUNTS, &key, none);
	free(none);
	return ret;
}

static int add_counts(struct steer *s, __u32 job, const struct chunk_table *table)
{
	__u32 class, k;
	int ret;

	ret = add_count(s, job, 0, ROCESTEER_NO_DIMENSION);
	for (k = 0; k < table->plan.of.dims; k++) {
		if (table->plan.of.dim[k].endpoints == 1)
			continue;
		for (class = 1; !ret && class <= table->nr_classes; class++)
			ret = add_count(s, job, class, k);
	}
	return ret;
}

static int add_chunks(struct steer *s, __u32 job, const struct chunk_table *table)
{
	struct rocesteer_chunk_key key = { .job = job };
	int ret = 0;

	for (; !ret && key.chunk < table->plan.of.chunks; key.chunk++)
		ret = put(s, MAP_CHUNKS, &key, &table->chunks[key.chunk]);
	return ret;
}

/* Ranges of a peer follow each other; their number makes them visible. */
static int add_ranges(struct steer *s, __u32 job, const struct chunk_table *table)
{
	struct rocesteer_range_key key = { .peer.job = job };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < table->nr_ranges; i++) {
		const struct chunk_range *range = &table->ranges[i];
		struct rocesteer_ranges ranges;

		if (range->ifindex != key.peer.ifindex || memcmp(range->peer, key.peer.addr, 16)) {
			key.index = 0;
			key.peer.ifindex = range->ifindex;
			memcpy(key.peer.addr, range->peer, 16);
		}
		ret = put(s, MAP_RANGES, &key, &range->range);
		ranges.nr = ++key.index;
		if (!ret && bpf_map_update_elem(s->maps[MAP_RANGE_PEERS],
						&key.peer, &ranges, BPF_ANY))
			ret = -errno;
	}
	return ret;
}

static int attach_all(struct steer *s, const struct chunk_table *table, struct err *err)
{
	__u32 last = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < table->nr_ranges; i++) {
		if (table->ranges[i].ifindex == last)
			continue;
		last = table->ranges[i].ifindex;
		ret = steer_attach_chunk(s, last, err);
	}
	return ret;
}

/* The last step: from here on the job has chunks. */
static int add_job(struct steer *s, __u32 job, const struct chunk_table *table)
{
	struct rocesteer_chunk_job value = {
		.hash = table->hash,
		.nr_chunks = table->plan.of.chunks,
		.nr_classes = table->nr_classes,
	};

	memcpy(value.dscp, table->dscp, sizeof(value.dscp));
	return put(s, MAP_CHUNK_JOBS, &job, &value);
}

static int check_job(struct steer *s, __u32 job, struct err *err)
{
	struct rocesteer_chunk_job chunks;
	struct rocesteer_job loaded;

	if (steer_job_get(s, job, &loaded))
		return steer_job_missing(job, err);
	if (!steer_chunks_get(s, job, &chunks)) {
		err_set(err, EXIT_FAILED, "exists", "job %u has chunks already", job);
		err_hint(err, "To replace them: rocesteer chunk unload --job %u", job);
		return -EEXIST;
	}
	return 0;
}

static int fill(struct steer *s, __u32 job, const struct chunk_table *table)
{
	return add_counts(s, job, table) ?: add_chunks(s, job, table) ?:
	       add_ranges(s, job, table);
}

/* Fill the error for @ret, if it is a failure. */
static int fill_error(__u32 job, int ret, struct err *err)
{
	if (!ret)
		return 0;
	if (ret == -E2BIG)
		return err_set(err, EXIT_REFUSED, "full",
			       "job %u: the tables of chunks are full", job);
	return err_errno(err, -ret, "tables", "cannot fill the tables of chunks of job %u", job);
}

int steer_chunks_add(struct steer *s, __u32 job, const struct chunk_table *table, struct err *err)
{
	int ret;

	ret = check_job(s, job, err);
	if (ret)
		return ret;
	steer_chunks_purge(s, job);	/* what a killed command began */
	ret = fill_error(job, fill(s, job, table), err) ?:
	      attach_all(s, table, err) ?:
	      fill_error(job, add_job(s, job, table), err);
	if (ret)
		steer_chunks_purge(s, job);
	return ret;
}

int steer_chunks_get(struct steer *s, __u32 job, struct rocesteer_chunk_job *chunks)
{
	return bpf_map_lookup_elem(s->maps[MAP_CHUNK_JOBS], &job, chunks) ?
	       -ENOENT : 0;
}

/* All keys but those of MAP_TAGS begin with the job. */
static int purge_one(int fd, const void *key, const void *value, void *arg)
{
	(void)value;
	if (!memcmp(key, arg, sizeof(__u32)))
		bpf_map_delete_elem(fd, key);
	return 0;
}

static int purge_tags(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_tags *tags = value;

	if (tags->job == *(__u32 *)arg)
		bpf_map_delete_elem(fd, key);
	return 0;
}

static int uses_device(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_peer_key *peer = key;

	(void)fd;
	(void)value;
	return peer->ifindex == *(__u32 *)arg;
}

/* A job, and the devices of its peers. */
struct purge {
	__u32 job;
	struct set devices;
};

static int purge_peer(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_peer_key *peer = key;
	struct purge *purge = arg;

	(void)value;
	if (peer->job != purge->job)
		return 0;
	bpf_map_delete_elem(fd, key);
	set_get(&purge->devices, &peer->ifindex, sizeof(peer->ifindex), sizeof(peer->ifindex));
	return 0;
}

/* Detach the program from a device without peers. */
static void purge_peers(struct steer *s, __u32 job)
{
	struct purge purge = { .job = job };
	int fd = s->maps[MAP_RANGE_PEERS];
	size_t i;

	steer_map_each(fd, purge_peer, &purge);
	for (i = 0; i < purge.devices.nr; i++)
		if (!steer_map_each(fd, uses_device, purge.devices.item[i]))
			steer_detach_chunk(s, *(__u32 *)purge.devices.item[i]);
	set_clear(&purge.devices, free);
}

/* Without the job no flow is entered any more, once no program runs that saw it. */
void steer_chunks_purge(struct steer *s, __u32 job)
{
	struct rocesteer_chunk_job chunks;

	if (!steer_chunks_get(s, job, &chunks)) {
		bpf_map_delete_elem(s->maps[MAP_CHUNK_JOBS], &job);
		steer_wait_programs();
	}
	steer_map_each(s->maps[MAP_TAGS], purge_tags, &job);
	purge_peers(s, job);
	steer_map_each(s->maps[MAP_RANGES], purge_one, &job);
	steer_map_each(s->maps[MAP_CHUNKS], purge_one, &job);
	steer_map_each(s->maps[MAP_CHUNK_COUNTS], purge_one, &job);
}

int steer_chunks_del(struct steer *s, __u32 job, struct err *err)
{
	struct rocesteer_chunk_job chunks;
	int ret = steer_chunks_get(s, job, &chunks);

	steer_chunks_purge(s, job);	/* also what a killed command began */
	if (ret)
		err_set(err, EXIT_FAILED, "no-chunks", "job %u has no chunks", job);
	return ret;
}

void steer_chunks_forget(struct steer *s, const struct rocesteer_flow_key *flows, size_t nr)
{
	if (nr)
		steer_wait_programs();
	while (nr--)
		bpf_map_delete_elem(s->maps[MAP_TAGS], &flows[nr]);
}
