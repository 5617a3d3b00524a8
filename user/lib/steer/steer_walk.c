// SPDX-License-Identifier: GPL-2.0
/* Walks through the tables: a system call reads many entries. */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>

#include "steer_chunks.h"
#include "steer_priv.h"

/* Entries: many more than any bucket of a table has, few enough for a CPU's cache */
#define BATCH	128

int steer_map_each(int fd, int (*fn)(int fd, const void *key, const void *value,
				     void *arg), void *arg)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), room, nr, i, bucket = 0;
	void *keys = NULL, *values = NULL;
	bool more = true, first = true;
	int ret = 0;

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return -errno;
	room = info.max_entries < BATCH ? info.max_entries : BATCH;
	keys = reallocarray(NULL, room, info.key_size);
	values = reallocarray(NULL, room, info.value_size);
	if (!keys || !values)
		ret = -ENOMEM;
	while (!ret && more) {
		nr = room;
		more = !bpf_map_lookup_batch(fd, first ? NULL : &bucket, &bucket,
					     keys, values, &nr, NULL);
		if (!more && errno != ENOENT)
			ret = -errno;
		for (i = 0; !ret && i < nr; i++)
			ret = fn(fd, keys + i * info.key_size, values + i * info.value_size, arg);
		first = false;
	}
	free(keys);
	free(values);
	return ret;
}

/* The callback, by the map. */
union walk_fn {
	int (*job)(__u32 id, const struct rocesteer_job *job, void *arg);
	int (*peer)(const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *peer, void *arg);
	int (*source)(const struct rocesteer_source_key *key,
		      const struct rocesteer_source *source, void *arg);
	int (*qpn)(const struct rocesteer_qpn_key *key,
		   const struct rocesteer_ports *ports, void *arg);
	int (*group)(const struct rocesteer_group_key *key,
		     const struct rocesteer_group *group, void *arg);
	int (*ended)(const struct rocesteer_group_key *key,
		     const struct rocesteer_ended *ended, void *arg);
	int (*flow)(const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, void *arg);
	int (*tags)(const struct rocesteer_flow_key *key,
		    const struct rocesteer_tags *tags, void *arg);
	int (*count)(const struct rocesteer_count_key *key,
		     const struct rocesteer_count *count, void *arg);
};

struct walk {
	struct steer *s;
	__u32 job;
	union walk_fn fn;
	void *arg;
};

static int job_one(int fd, const void *key, const void *value, void *arg)
{
	const struct walk *w = arg;

	(void)fd;
	return w->fn.job(*(const __u32 *)key, value, w->arg);
}

int steer_job_each(struct steer *s,
		   int (*fn)(__u32 id, const struct rocesteer_job *job, void *arg), void *arg)
{
	struct walk w = { .fn.job = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_JOBS], job_one, &w);
}

static int peer_one(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_peer_key *peer = key;
	const struct walk *w = arg;

	(void)fd;
	return w->job && peer->job != w->job ? 0 :
	       w->fn.peer(peer, value, w->arg);
}

int steer_peer_each(struct steer *s, __u32 job,
		    int (*fn)(const struct rocesteer_peer_key *key,
			      const struct rocesteer_peer *peer, void *arg),
		    void *arg)
{
	struct walk w = { .job = job, .fn.peer = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_PEERS], peer_one, &w);
}

static int source_one(int fd, const void *key, const void *value, void *arg)
{
	const struct walk *w = arg;

	(void)fd;
	return w->fn.source(key, value, w->arg);
}

int steer_source_each(struct steer *s,
		      int (*fn)(const struct rocesteer_source_key *key,
				const struct rocesteer_source *source, void *arg),
		      void *arg)
{
	struct walk w = { .fn.source = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_SOURCES], source_one, &w);
}

static int qpn_one(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_qpn_key *qpn = key;
	const struct walk *w = arg;

	(void)fd;
	return w->job && qpn->peer.job != w->job ? 0 :
	       w->fn.qpn(qpn, value, w->arg);
}

int steer_qpn_each(struct steer *s, __u32 job,
		   int (*fn)(const struct rocesteer_qpn_key *key,
			     const struct rocesteer_ports *ports, void *arg),
		   void *arg)
{
	struct walk w = { .job = job, .fn.qpn = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_QPNS], qpn_one, &w);
}

static int group_one(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_group_key *group = key;
	const struct walk *w = arg;

	(void)fd;
	return w->job && group->job != w->job ? 0 :
	       w->fn.group(group, value, w->arg);
}

int steer_group_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_group *group, void *arg),
		     void *arg)
{
	struct walk w = { .job = job, .fn.group = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_GROUPS], group_one, &w);
}

static int ended_one(int fd, const void *key, const void *value, void *arg)
{
	const struct walk *w = arg;

	(void)fd;
	return w->fn.ended(key, value, w->arg);
}

int steer_ended_each(struct steer *s,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_ended *ended, void *arg),
		     void *arg)
{
	struct walk w = { .fn.ended = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_ENDED], ended_one, &w);
}

static int flow_one(int fd, const void *key, const void *value, void *arg)
{
	const struct walk *w = arg;

	(void)fd;
	return w->fn.flow(key, value, w->arg);
}

int steer_flow_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_flow_path *path,
			      void *arg), void *arg)
{
	struct walk w = { .fn.flow = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_FLOWS], flow_one, &w);
}

static int tags_one(int fd, const void *key, const void *value, void *arg)
{
	const struct walk *w = arg;

	(void)fd;
	return w->fn.tags(key, value, w->arg);
}

int steer_tags_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_tags *tags, void *arg),
		    void *arg)
{
	struct walk w = { .fn.tags = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_TAGS], tags_one, &w);
}

static int count_one(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_count_key *of = key;
	const struct walk *w = arg;
	struct rocesteer_count count;

	(void)fd;
	if (w->job && of->job != w->job)
		return 0;
	return steer_sum_cpus(w->s->maps[MAP_CHUNK_SUMS], *(const __u32 *)value,
			      sizeof(count) / sizeof(__u64), (__u64 *)&count) ?:
	       w->fn.count(of, &count, w->arg);
}

int steer_count_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_count_key *key,
			       const struct rocesteer_count *count, void *arg),
		     void *arg)
{
	struct walk w = { .s = s, .job = job, .fn.count = fn, .arg = arg };

	return steer_map_each(s->maps[MAP_CHUNK_COUNTS], count_one, &w);
}
