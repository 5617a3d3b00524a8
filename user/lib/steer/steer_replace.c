// SPDX-License-Identifier: GPL-2.0
/*
 * Give a job another port map while its flows go on. Packets use the ports in the entry of
 * their flow, so entries of peers and groups are changed one by one, and then flows are
 * moved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "steer_priv.h"

/* A group as it was. */
struct before {
	struct rocesteer_group_key key;
	struct rocesteer_group group;
};

/**
 * struct work - a job being replaced
 * @s: the tables
 * @spec: what it becomes
 * @groups: of struct before, by key
 * @listed: flows that it lists, of those in the table
 */
struct work {
	struct steer *s;
	const struct steer_job_spec *spec;
	struct set groups;
	size_t listed;
};

static int differs(const struct steer_job_spec *spec, const char *in, struct err *err)
{
	err_set(err, EXIT_FAILED, "other-job", "job %u is loaded with another %s", spec->id, in);
	err_hint(err, "Unload the job, and load it: its flows take their ECMP paths meanwhile.");
	return -EINVAL;
}

static int check_same(const struct steer_job_spec *spec, struct err *err,
		      const struct rocesteer_job *job)
{
	if (job->ifindex != spec->ifindex)
		return differs(spec, "device", err);
	if (job->cgroup_id != spec->cgroup_id || job->pid != spec->pid || job->all != spec->all)
		return differs(spec, "owner", err);
	if (job->actuator != spec->actuator)
		return differs(spec, "actuator", err);
	if (job->reseq != spec->reseq)
		return differs(spec, "--split or --resequence", err);
	return 0;
}

static int count_listed(const struct rocesteer_flow_key *key,
			const struct rocesteer_flow_path *path, void *arg)
{
	struct work *w = arg;

	(void)key;
	w->listed += path->job == w->spec->id && !(path->flags & ROCESTEER_FLOW_FROM_PACKET);
	return 0;
}

/* A job that lists flows has each of them in the table, unless their order is restored. */
static int check_flows(struct work *w, struct err *err)
{
	const struct steer_job_spec *spec = w->spec;
	struct rocesteer_flow_path path;
	size_t i;

	if (spec->all || spec->cgroup_id || spec->pid || spec->reseq)
		return 0;
	steer_flow_each(w->s, count_listed, w);
	for (i = 0; i < spec->nr_flows; i++)
		if (steer_flow_get(w->s, &spec->flows[i], &path) || path.job != spec->id)
			break;
	return i < spec->nr_flows || w->listed != spec->nr_flows ?
	       differs(spec, "list of flows", err) : 0;
}

/* The job is observed as before. */
static int check(struct work *w, struct steer_job_spec *over, struct err *err)
{
	struct rocesteer_job job;

	if (steer_job_get(w->s, w->spec->id, &job))
		return steer_job_missing(w->spec->id, err);
	over->observe = job.observe;
	return check_same(w->spec, err, &job) ?: check_flows(w, err) ?:
	       steer_check_paths(w->spec, err);
}

static int note_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *group, void *arg)
{
	struct work *w = arg;
	struct before *before;

	before = set_get(&w->groups, key, sizeof(*key), sizeof(*before));
	if (!before)
		return -ENOMEM;
	before->group = *group;
	return 0;
}

static bool has_peer(const struct portmap *map, const struct rocesteer_peer_key *key)
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!map->peers[i].local && !addr_compare(map->peers[i].addr, key->addr) &&
		    !addr_compare(map->peers[i].source, key->source))
			return true;
	return false;
}

static int drop_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *peer, void *arg)
{
	struct work *w = arg;

	(void)peer;
	if (!has_peer(w->spec->map, key))
		bpf_map_delete_elem(w->s->maps[MAP_PEERS], key);
	return 0;
}

static bool has_source(const struct portmap *map, const __u8 source[16])
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!map->peers[i].local && !addr_compare(map->peers[i].source, source))
			return true;
	return false;
}

static int drop_source(const struct rocesteer_source_key *key,
		       const struct rocesteer_source *source, void *arg)
{
	struct work *w = arg;

	if (key->job == w->spec->id && source->mapped && !has_source(w->spec->map, key->addr))
		bpf_map_delete_elem(w->s->maps[MAP_SOURCES], key);
	return 0;
}

static bool has_leaf(const struct portmap *map, const __u8 leaf[16])
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!map->peers[i].local && !memcmp(map->peers[i].leaf, leaf, 16))
			return true;
	return false;
}

static int drop_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *group, void *arg)
{
	struct work *w = arg;

	(void)group;
	if (!has_leaf(w->spec->map, key->leaf))
		bpf_map_delete_elem(w->s->maps[MAP_GROUPS], key);
	return 0;
}

/* The number that a path of @before has now, or -1. */
static int new_number(const struct rocesteer_group *before,
		      const struct rocesteer_group *now, __u32 path)
{
	return path < before->nr_paths ?
	       steer_group_path(now, before->router[path], before->via[path],
				before->leaf[path]) : -1;
}

/* Give pieces the new number of their path, if the port still takes it. */
static void renumber(struct work *w, const struct rocesteer_flow_key *key,
		     const struct rocesteer_flow_path *path,
		     const struct rocesteer_group *before,
		     const struct rocesteer_peer *peer)
{
	struct rocesteer_set_flow set = { .key = *key, .job = path->job,
					  .nr_pieces = path->nr_pieces, .now = 1 };
	struct rocesteer_group_key gkey = { .job = path->job,
					    .ifindex = key->ifindex };
	struct rocesteer_group now;
	bool other = false;
	__u32 i;
	int p;

	memcpy(gkey.leaf, path->leaf, 16);
	if (steer_group_get(w->s, &gkey, &now))
		return;
	for (i = 0; i < set.nr_pieces && i < ROCESTEER_MAX_PATHS; i++) {
		set.piece[i] = path->piece[i];
		p = new_number(before, &now, set.piece[i].path);
		if (p < 0 || (peer->sport[p] != set.piece[i].sport &&
			      !(path->flags & ROCESTEER_FLOW_OBSERVED)))
			return;
		other |= set.piece[i].path != p;
		set.piece[i].path = p;
	}
	if (other)
		steer_set_flow(w->s, &set);
}

static int see_to_flow(const struct rocesteer_flow_key *key,
		       const struct rocesteer_flow_path *path, void *arg)
{
	struct work *w = arg;
	struct rocesteer_group_key gkey = { .job = path->job,
					    .ifindex = key->ifindex };
	const struct before *before;
	struct rocesteer_peer peer;

	if (path->job != w->spec->id)
		return 0;
	if (steer_ports_get(w->s, path->job, key, path->source, &peer) ||
	    memcmp(peer.leaf, path->leaf, 16)) {
		steer_forget(w->s, key);
		return 0;
	}
	memcpy(gkey.leaf, path->leaf, 16);
	before = set_find(&w->groups, &gkey, sizeof(gkey));
	if (before)
		renumber(w, key, path, &before->group, &peer);
	return 0;
}

static int put_job(struct work *w)
{
	struct rocesteer_job job = steer_job_of(w->spec);

	return bpf_map_update_elem(w->s->maps[MAP_JOBS], &w->spec->id, &job,
				   BPF_EXIST) ? -errno : 0;
}

static int replace(struct work *w)
{
	__u32 id = w->spec->id;
	int ret;

	ret = steer_group_each(w->s, id, note_group, w) ?:
	      steer_peers_put(w->s, w->spec) ?: put_job(w);
	if (ret)
		return ret;
	steer_peer_each(w->s, id, drop_peer, w);
	steer_source_each(w->s, drop_source, w);
	steer_wait_programs();	/* none that saw the old peers enters a flow */
	steer_flow_each(w->s, see_to_flow, w);
	steer_qpns_forget(w->s, id, NULL);	/* paths may have other numbers */
	steer_group_each(w->s, id, drop_group, w);
	return 0;
}

int steer_job_replace(struct steer *s, const struct steer_job_spec *spec, struct err *err)
{
	struct steer_job_spec over = *spec;
	struct work w = { .s = s, .spec = &over };
	int ret;

	over.replace = true;
	ret = check(&w, &over, err);
	if (ret || spec->dry_run)
		return ret;
	ret = replace(&w);
	set_clear(&w.groups, free);
	steer_tell_watchers(s);
	return ret ? steer_fill_error(spec->id, ret, err) : 0;
}
