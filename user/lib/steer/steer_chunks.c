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

/**
 * struct filling - the tables of a job that are being filled
 * @s: the tables
 * @job: the job
 * @table: its chunks
 * @used: by index of rs_chunk_sums: a job counts there
 * @none: tag of packets of no chunk
 * @tags: tags of the others, by dimension and class
 */
struct filling {
	struct steer *s;
	__u32 job;
	const struct chunk_table *table;
	bool used[ROCESTEER_MAX_COUNTS];
	struct rocesteer_tag none;
	struct rocesteer_tag tags[CHUNK_MAX_DIMS][ROCESTEER_MAX_CLASSES];
};

static int note_used(int fd, const void *key, const void *value, void *arg)
{
	__u32 at = *(const __u32 *)value;
	struct filling *f = arg;

	(void)fd;
	(void)key;
	if (at < ROCESTEER_MAX_COUNTS)
		f->used[at] = true;
	return 0;
}

/* Make a tag, and a counter for its packets; index 0 is nobody's. */
static int add_tag(struct filling *f, __u32 class, __u32 dimension, __u32 dscp,
		   struct rocesteer_tag *tag)
{
	struct rocesteer_count_key key = { f->job, class, dimension };
	__u32 at = 1;

	while (at < ROCESTEER_MAX_COUNTS && f->used[at])
		at++;
	if (at == ROCESTEER_MAX_COUNTS)
		return -E2BIG;
	f->used[at] = true;
	*tag = (struct rocesteer_tag) {
		.class = class, .dimension = dimension, .dscp = dscp, .count = at,
	};
	return put(f->s, MAP_CHUNK_COUNTS, &key, &at);
}

static int add_tags(struct filling *f)
{
	const struct chunk_table *table = f->table;
	__u32 class, k;
	int ret;

	ret = steer_map_each(f->s->maps[MAP_CHUNK_COUNTS], note_used, f) ?:
	      add_tag(f, 0, ROCESTEER_NO_DIMENSION, ROCESTEER_NO_DSCP, &f->none);
	for (k = 0; k < table->plan.of.dims; k++) {
		if (table->plan.of.dim[k].endpoints == 1)
			continue;
		for (class = 1; !ret && class <= table->nr_classes; class++)
			ret = add_tag(f, class, k, table->dscp[class], &f->tags[k][class]);
	}
	return ret;
}

static int add_chunks(struct filling *f)
{
	struct rocesteer_chunk_key key = { .job = f->job };
	int ret = 0;

	for (; !ret && key.chunk < f->table->plan.of.chunks; key.chunk++)
		ret = put(f->s, MAP_CHUNKS, &key, &f->table->chunks[key.chunk]);
	return ret;
}

/* A range with the tag of its chunk's stage */
static struct rocesteer_range tagged(const struct filling *f, struct rocesteer_range range)
{
	const struct rocesteer_chunk *chunk = &f->table->chunks[range.chunk];

	range.tag = f->tags[chunk->dimension[range.stage]][chunk->class[range.stage]];
	return range;
}

/* Ranges of a peer follow each other; their number makes them visible. */
static int add_ranges(struct filling *f)
{
	struct rocesteer_range_key key = { .job = f->job };
	struct rocesteer_peer_key peer = { .job = f->job };
	struct rocesteer_ranges ranges;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < f->table->nr_ranges; i++) {
		const struct chunk_range *of = &f->table->ranges[i];
		const struct rocesteer_range range = tagged(f, of->range);

		if (of->ifindex != peer.ifindex || memcmp(of->peer, peer.addr, 16)) {
			key.peer += i > 0;
			key.index = 0;
			peer.ifindex = of->ifindex;
			memcpy(peer.addr, of->peer, 16);
		}
		ret = put(f->s, MAP_RANGES, &key, &range);
		ranges = (struct rocesteer_ranges) { .peer = key.peer, .nr = ++key.index };
		if (!ret && bpf_map_update_elem(f->s->maps[MAP_RANGE_PEERS],
						&peer, &ranges, BPF_ANY))
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
static int add_job(struct filling *f)
{
	struct rocesteer_chunk_job value = {
		.hash = f->table->hash,
		.nr_chunks = f->table->plan.of.chunks,
		.nr_classes = f->table->nr_classes,
		.none = f->none,
	};

	memcpy(value.dscp, f->table->dscp, sizeof(value.dscp));
	return put(f->s, MAP_CHUNK_JOBS, &f->job, &value);
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
	struct filling f = { .s = s, .job = job, .table = table };
	int ret;

	ret = check_job(s, job, err);
	if (ret)
		return ret;
	steer_chunks_purge(s, job);	/* what a killed command began */
	ret = fill_error(job, add_tags(&f) ?: add_chunks(&f) ?: add_ranges(&f), err) ?:
	      attach_all(s, table, err) ?:
	      fill_error(job, add_job(&f), err);
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

/* Forget the messages of a flow, which is no longer tagged. */
static void untag(struct steer *s, const struct rocesteer_flow_key *flow)
{
	steer_run_program(s->progs[PROG_UNTAG], flow, sizeof(*flow));
}

/* A job, its tables, and the devices of its peers. */
struct purge {
	struct steer *s;
	__u32 job;
	struct set devices;
};

static int purge_tags(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_tags *tags = value;
	struct purge *purge = arg;

	(void)fd;
	if (tags->job == purge->job)
		untag(purge->s, key);
	return 0;
}

/* Free a counter: it is zero then. */
static int purge_count(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_count_key *of = key;
	int cpus = libbpf_num_possible_cpus();
	struct purge *purge = arg;
	struct rocesteer_count *none;

	if (of->job != purge->job || cpus < 0)
		return 0;
	none = calloc(cpus, sizeof(*none));
	if (!none)
		return -ENOMEM;
	bpf_map_update_elem(purge->s->maps[MAP_CHUNK_SUMS], value, none, BPF_ANY);
	free(none);
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
static void purge_peers(struct purge *purge)
{
	int fd = purge->s->maps[MAP_RANGE_PEERS];
	size_t i;

	steer_map_each(fd, purge_peer, purge);
	for (i = 0; i < purge->devices.nr; i++)
		if (!steer_map_each(fd, uses_device, purge->devices.item[i]))
			steer_detach_chunk(purge->s, *(__u32 *)purge->devices.item[i]);
	set_clear(&purge->devices, free);
}

/*
 * Without the job no flow is entered any more, nor tagged that was not, once no program runs that
 * saw the job. Counters are free once no program runs that saw a flow which was tagged.
 */
void steer_chunks_purge(struct steer *s, __u32 job)
{
	struct purge purge = { .s = s, .job = job };
	struct rocesteer_chunk_job chunks;
	bool had = !steer_chunks_get(s, job, &chunks);

	if (had) {
		bpf_map_delete_elem(s->maps[MAP_CHUNK_JOBS], &job);
		steer_wait_programs();
	}
	steer_map_each(s->maps[MAP_TAGS], purge_tags, &purge);
	if (had)
		steer_wait_programs();
	purge_peers(&purge);
	steer_map_each(s->maps[MAP_RANGES], purge_one, &job);
	steer_map_each(s->maps[MAP_CHUNKS], purge_one, &job);
	steer_map_each(s->maps[MAP_CHUNK_COUNTS], purge_count, &purge);
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
		untag(s, &flows[nr]);
}
