// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rocesteer/flow.h>
#include <rocesteer/roce.h>

#include "plan/plan.h"
#include "steer_observe.h"
#include "steer_priv.h"

/*
 * Replacing an inner map waits for an RCU grace period, after which no program uses the old
 * map (maybe_wait_bpf_programs() in the kernel). membarrier() does not wait on one CPU, and
 * fails with nohz_full.
 */
static int replace_inner_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner, outer = -1, ret = -1;
	__u32 zero = 0;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rs_wait", 4, 4, 1, NULL);
	opts.inner_map_fd = inner;
	if (inner >= 0)
		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rs_waits",
				       4, 4, 1, &opts);
	if (outer >= 0)
		ret = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return ret;
}

/* Without memory for the maps: a program runs for microseconds. */
void steer_wait_programs(void)
{
	if (replace_inner_map())
		sleep(1);
}

void steer_tell_watchers(struct steer *s)
{
	utimensat(AT_FDCWD, s->dir, NULL, 0);
}

/* Number of @path among the group's paths, which are sorted. */
static int path_index(const struct portmap_path *paths, int nr,
		      const struct portmap_path *path)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!portmap_path_compare(&paths[i], path))
			return i;
	return -1;
}

static int path_cmp(const void *a, const void *b)
{
	return portmap_path_compare(a, b);
}

/*
 * The paths that lead to @leaf, over all its peers: path p has to mean the
 * same for each of them, also where one peer lacks a port for it.
 */
static int group_paths(const struct portmap *map, const __u8 leaf[16],
		       struct portmap_path *paths)
{
	unsigned int nr = 0, p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];

		if (peer->local || memcmp(peer->leaf, leaf, 16))
			continue;
		for (p = 0; p < peer->nr_paths; p++) {
			if (path_index(paths, nr, &peer->paths[p]) >= 0)
				continue;
			if (nr == ROCESTEER_MAX_PATHS)
				return -E2BIG;
			paths[nr++] = peer->paths[p];
		}
	}
	qsort(paths, nr, sizeof(*paths), path_cmp);
	return nr;
}

/* If there is a home path, all flows take it while it is up; the others are equal. */
static __u16 path_weight(const struct steer_job_spec *spec,
			 const struct portmap_path *path)
{
	if (!spec->home)
		return path->weight;
	return path->home ? ROCESTEER_WEIGHT_HOME : 1;
}

/* Weights of the paths, and which of them are down. */
static void set_weights(const struct steer_job_spec *spec, const __u8 leaf[16],
			const struct portmap_path *paths,
			struct rocesteer_group *group)
{
	unsigned int p;
	size_t n;

	for (n = 0; n < spec->map->nr_peers; n++) {
		const struct portmap_peer *peer = &spec->map->peers[n];

		if (peer->local || memcmp(peer->leaf, leaf, 16))
			continue;
		for (p = 0; p < peer->nr_paths; p++) {
			int i = path_index(paths, group->nr_paths,
					   &peer->paths[p]);
			__u16 weight = path_weight(spec, &peer->paths[p]);

			if (group->weight[i] < weight)
				group->weight[i] = weight;
			group->down |= (__u64)peer->paths[p].unreachable << i;
		}
	}
}

/* The counts of a group that is there stay, and the paths that are down. */
static int replace_group(struct steer *s, const struct rocesteer_group_key *key,
			 const struct rocesteer_group *group)
{
	struct rocesteer_set_paths set = {
		.key = *key,
		.nr_paths = group->nr_paths,
		.first = group->first,
		.down = group->down,
	};
	struct rocesteer_group old;
	__u32 p, q;

	if (bpf_map_lookup_elem(s->maps[MAP_GROUPS], key, &old))
		return -errno;
	for (p = 0; p < group->nr_paths; p++)
		for (q = 0; q < old.nr_paths; q++)
			if (!memcmp(group->router[p], old.router[q], 16) &&
			    !memcmp(group->leaf[p], old.leaf[q], 16))
				set.down |= (old.down >> q & 1) << p;
	memcpy(set.weight, group->weight, sizeof(set.weight));
	memcpy(set.router, group->router, sizeof(set.router));
	memcpy(set.leaf, group->leaf, sizeof(set.leaf));
	return steer_set_paths(s, &set);
}

/* The group of a leaf comes before its peers. */
static int put_group(struct steer *s, const struct steer_job_spec *spec,
		     const struct rocesteer_group_key *key,
		     const struct rocesteer_group *group)
{
	if (!bpf_map_update_elem(s->maps[MAP_GROUPS], key, group, BPF_NOEXIST))
		return 0;
	if (errno != EEXIST)
		return -errno;
	return spec->replace ? replace_group(s, key, group) : 0;
}

/* Packets of this source have port maps. */
static int put_source(struct steer *s, const struct rocesteer_peer_key *key)
{
	struct rocesteer_source_key skey = { .job = key->job, .ifindex = key->ifindex };
	struct rocesteer_source source = { .mapped = 1 };

	memcpy(skey.addr, key->source, 16);
	return bpf_map_update_elem(s->maps[MAP_SOURCES], &skey, &source, BPF_ANY) ? -errno : 0;
}

static int put_peer(struct steer *s, const struct steer_job_spec *spec,
		    const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *peer)
{
	struct rocesteer_set_peer set = { .key = *key, .peer = *peer };
	int ret = put_source(s, key);

	if (ret)
		return ret;
	if (!bpf_map_update_elem(s->maps[MAP_PEERS], key, peer, BPF_NOEXIST))
		return 0;
	if (errno != EEXIST || !spec->replace)
		return -errno;
	return steer_set_peer(s, &set);
}

/**
 * struct leaf - what the peers under one leaf share
 * @addr: router address of the leaf
 * @nr: paths that lead there
 * @paths: the paths, by number
 */
struct leaf {
	__u8 addr[16];
	int nr;
	struct portmap_path paths[ROCESTEER_MAX_PATHS];
};

static int add_group(struct steer *s, const struct steer_job_spec *spec,
		     const struct leaf *leaf)
{
	struct rocesteer_group_key key = { .job = spec->id,
					   .ifindex = spec->ifindex };
	unsigned int order[ROCESTEER_MAX_PATHS];
	struct rocesteer_group group = { .nr_paths = leaf->nr, .observe = spec->observe };
	int i;

	memcpy(key.leaf, leaf->addr, 16);
	random_order(spec->seed ^ key.leaf[15], leaf->nr, order);
	group.first = spec->deal == ROCESTEER_DEAL_PLACE ? spec->place % leaf->nr :
							   order[0];
	for (i = 0; i < leaf->nr; i++) {
		memcpy(group.router[i], leaf->paths[i].router, 16);
		memcpy(group.leaf[i], leaf->paths[i].leaf, 16);
	}
	set_weights(spec, leaf->addr, leaf->paths, &group);
	return put_group(s, spec, &key, &group);
}

/* Peers of one leaf follow each other in most port maps: its paths are found once. */
static int see_leaf(struct steer *s, const struct steer_job_spec *spec,
		    struct leaf *leaf, const __u8 addr[16])
{
	if (leaf->nr && !memcmp(leaf->addr, addr, 16))
		return 0;
	memcpy(leaf->addr, addr, 16);
	leaf->nr = group_paths(spec->map, addr, leaf->paths);
	if (leaf->nr <= 0)
		return leaf->nr ?: -ENOENT;
	return add_group(s, spec, leaf);
}

static int add_peer(struct steer *s, const struct steer_job_spec *spec,
		    const struct leaf *leaf, const struct portmap_peer *from)
{
	struct rocesteer_peer_key key = { .job = spec->id,
					  .ifindex = spec->ifindex };
	struct rocesteer_peer peer = { .nr_paths = leaf->nr,
				       .hop = spec->map->hop,
				       .qpn_hash = from->qpn_hash };
	unsigned int p;

	memcpy(key.addr, from->addr, 16);
	memcpy(peer.leaf, from->leaf, 16);
	memcpy(key.source, from->source, 16);
	for (p = 0; p < from->nr_paths; p++)
		peer.sport[path_index(leaf->paths, leaf->nr, &from->paths[p])] =
			htons(from->paths[p].ports[0]);
	return put_peer(s, spec, &key, &peer);
}

/* The source of the port map to a peer of a listed flow: the map has one */
static const __u8 *source_of(const struct portmap *map, const __u8 addr[16])
{
	size_t i;

	for (i = 0; i + 1 < map->nr_peers; i++)
		if (!addr_compare(map->peers[i].addr, addr))
			break;
	return map->peers[i].source;
}

/*
 * Deal an explicit flow, as the egress program would. The program does it itself if the job
 * resequences, because only the module knows whether this host does so for the flow, and if
 * the ports for the queue pair are not known yet.
 */
static int add_flow(struct steer *s, const struct steer_job_spec *spec,
		    const struct rocesteer_flow_key *flow)
{
	const __u8 *source = source_of(spec->map, flow->peer);
	struct rocesteer_peer_key key = steer_peer_key(spec->id, flow, source);
	struct rocesteer_group_key gkey = { .job = spec->id,
					    .ifindex = flow->ifindex };
	struct rocesteer_flow_path path = rocesteer_flow_init;
	struct rocesteer_group group;
	struct rocesteer_peer peer;
	bool queue_pair = spec->actuator == ROCESTEER_ACTUATOR_QP;
	__u32 by = rocesteer_deal_by(spec->deal, queue_pair), p;
	__u64 load[ROCESTEER_MAX_PATHS];
	__u32 weight[ROCESTEER_MAX_PATHS];
	int best;

	if (spec->reseq)
		return 0;
	if (spec->observe)
		return steer_flow_enter(s, spec->id, flow, source, true);
	if (bpf_map_lookup_elem(s->maps[MAP_PEERS], &key, &peer))
		return -errno;
	if (peer.qpn_hash)
		return 0;
	memcpy(gkey.leaf, peer.leaf, 16);
	if (bpf_map_lookup_elem(s->maps[MAP_GROUPS], &gkey, &group))
		return -errno;
	for (p = 0; p < group.nr_paths; p++) {
		load[p] = rocesteer_path_load(&group, &peer, p, by);
		weight[p] = peer.sport[p] && !(group.down >> p & 1) ? group.weight[p] : 0;
	}
	best = plan_least_loaded(load, weight, group.nr_paths, group.first);
	if (best < 0)
		return -ENOENT;
	path.job = spec->id;
	path.flags = ROCESTEER_FLOW_SHARE | best << ROCESTEER_FLOW_HOME_SHIFT;
	if (queue_pair)
		path.flags |= ROCESTEER_FLOW_QP;
	path.nr_pieces = 1;
	path.piece[0].end = 1;
	path.piece[0].path = best;
	path.piece[0].sport = peer.sport[best];
	memcpy(path.leaf, peer.leaf, 16);
	memcpy(path.source, source, 16);
	group.flows[best]++;
	peer.flows[best]++;
	/* No program deals in this group yet: the job's flows are not tagged. */
	if (bpf_map_update_elem(s->maps[MAP_GROUPS], &gkey, &group, BPF_EXIST) ||
	    bpf_map_update_elem(s->maps[MAP_PEERS], &key, &peer, BPF_EXIST) ||
	    bpf_map_update_elem(s->maps[MAP_FLOWS], flow, &path, BPF_NOEXIST))
		return -errno;
	return 0;
}

struct rocesteer_job steer_job_of(const struct steer_job_spec *spec)
{
	struct rocesteer_job job = {
		.cgroup_id = spec->cgroup_id,
		.pid = spec->pid,
		.ifindex = spec->ifindex,
		.all = spec->all,
		.split = spec->split,
		.deal = spec->deal,
		.reseq = spec->reseq,
		.actuator = spec->actuator,
		.keep_labels = spec->keep_labels,
		.slice = spec->slice,
		.observe = spec->observe,
		.loaded_at = time(NULL),
	};

	memcpy(job.device, spec->map->device, sizeof(job.device));
	job.device[sizeof(job.device) - 1] = '\0';
	if (spec->name)
		snprintf(job.name, sizeof(job.name), "%s", spec->name);
	return job;
}

/* The last step makes the job visible, and its device's flows its own. */
static int add_job(struct steer *s, const struct steer_job_spec *spec)
{
	struct rocesteer_job job = steer_job_of(spec);

	if (bpf_map_update_elem(s->maps[MAP_JOBS], &spec->id, &job,
				BPF_NOEXIST))
		return -errno;
	if (spec->all && bpf_map_update_elem(s->maps[MAP_DEVICES],
					     &spec->ifindex, &spec->id,
					     BPF_NOEXIST))
		return -errno;
	return 0;
}

int steer_peers_put(struct steer *s, const struct steer_job_spec *spec)
{
	const struct portmap *map = spec->map;
	struct leaf leaf = {};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < map->nr_peers; i++)
		if (!map->peers[i].local)
			ret = see_leaf(s, spec, &leaf, map->peers[i].leaf) ?:
			      add_peer(s, spec, &leaf, &map->peers[i]);
	return ret;
}

static int fill(struct steer *s, const struct steer_job_spec *spec)
{
	int ret = steer_peers_put(s, spec);
	size_t i;

	for (i = 0; !ret && i < spec->nr_flows; i++)
		ret = add_flow(s, spec, &spec->flows[i]);
	ret = ret ?: add_job(s, spec);
	return ret ?: steer_run_program(s->progs[PROG_CHANGED], NULL, 0);
}

/**
 * struct purge - what to delete
 * @job: entries of this job; 0: those of jobs that are not there
 * @map: from this map
 * @jobs: jobs that are there
 */
struct purge {
	__u32 job;
	enum steer_map map;
	int jobs;
};

static bool is_purged(const struct purge *purge, __u32 job)
{
	struct rocesteer_job there;

	if (purge->job)
		return job == purge->job;
	return job && bpf_map_lookup_elem(purge->jobs, &job, &there);
}

/* Delete the entry if it is to be. */
static int purge_one(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_flow_path *path = value;
	const struct purge *purge = arg;
	__u32 job;

	switch (purge->map) {
	case MAP_FLOWS:
		job = path->job;
		break;
	case MAP_DEVICES:
		memcpy(&job, value, sizeof(job));
		break;
	default:	/* the key begins with the job */
		memcpy(&job, key, sizeof(job));
	}
	if (is_purged(purge, job))
		bpf_map_delete_elem(fd, key);
	return 0;
}

/*
 * Peers first: without them nothing is dealt any more, and once no program
 * runs that still saw them, no flow can appear behind our back. The job itself
 * stays, and with it the way to get rid of all, in case this is killed.
 */
static void purge(struct steer *s, __u32 job)
{
	static const enum steer_map order[] = {
		MAP_DEVICES, MAP_PEERS, MAP_SOURCES, MAP_QPNS, MAP_FLOWS, MAP_GROUPS,
		MAP_ENDED,
	};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct purge p = { .job = job, .map = order[i],
				   .jobs = s->maps[MAP_JOBS] };

		if (order[i] == MAP_FLOWS)
			steer_wait_programs();
		steer_map_each(s->maps[order[i]], purge_one, &p);
	}
}

/* A device, and a job that does not count. */
struct use {
	__u32 ifindex;
	__u32 but;
};

/* Does it need programs on the device? */
static int uses_device(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_job *job = value;
	const struct use *use = arg;

	(void)fd;
	return *(const __u32 *)key != use->but && job->ifindex == use->ifindex &&
	       job->actuator != ROCESTEER_ACTUATOR_QP;
}

static void remove_job(struct steer *s, __u32 id, __u32 ifindex)
{
	struct use use = { .ifindex = ifindex, .but = id };

	steer_chunks_purge(s, id);
	purge(s, id);
	if (!steer_map_each(s->maps[MAP_JOBS], uses_device, &use))
		steer_detach(s, ifindex);
	bpf_map_delete_elem(s->maps[MAP_JOBS], &id);
}

/* Packets of split flows announce the number of paths. */
int steer_check_paths(const struct steer_job_spec *spec, struct err *err)
{
	struct portmap_path paths[ROCESTEER_MAX_PATHS];
	char leaf[ADDR_STRLEN];
	__u32 bits, most;
	size_t i;
	int ret;

	if (!spec->split || !spec->reseq)
		return 0;
	ret = steer_module_param("bth_paths", &bits, err);
	if (ret)
		return ret;
	most = rocesteer_bth_paths_most(bits) + 1;
	for (i = 0; i < spec->map->nr_peers; i++) {
		const struct portmap_peer *peer = &spec->map->peers[i];

		if (peer->local ||
		    group_paths(spec->map, peer->leaf, paths) <= (int)most)
			continue;
		err_set(err, EXIT_REFUSED, "few-bits",
			"bth_paths=%#x of the module tells of %u paths at most, there are more to leaf %s",
			bits, most, addr_format(peer->leaf, leaf));
		err_hint(err,
			 "Load the module with more bits in bth_paths, at all hosts, or the job with --split none");
		return -ERANGE;
	}
	return 0;
}

static int check_job(struct steer *s, const struct steer_job_spec *spec,
		     struct err *err)
{
	struct rocesteer_job job;
	__u32 other;

	if (!bpf_map_lookup_elem(s->maps[MAP_JOBS], &spec->id, &job)) {
		err_set(err, EXIT_FAILED, "exists", "job %u is loaded already",
			spec->id);
		err_hint(err, "See: rocesteer job show %u. To replace: rocesteer job replace %u",
			 spec->id, spec->id);
		return -EEXIST;
	}
	if (spec->all && !bpf_map_lookup_elem(s->maps[MAP_DEVICES],
					      &spec->ifindex, &other)) {
		err_set(err, EXIT_FAILED, "device-taken",
			"job %u has all flows of %s already", other,
			spec->map->device);
		err_hint(err, "See: rocesteer job show %u. To change: rocesteer job replace %u",
			 other, other);
		return -EBUSY;
	}
	return steer_check_paths(spec, err);
}

int steer_fill_error(__u32 id, int ret, struct err *err)
{
	switch (ret) {
	case -E2BIG:
		return err_set(err, EXIT_REFUSED, "full",
			       "job %u: the tables are full", id);
	case -EEXIST:
		return err_set(err, EXIT_FAILED, "flow-taken",
			       "job %u: another job has one of its flows", id);
	default:
		return err_errno(err, -ret, "tables",
				 "cannot fill the tables of job %u", id);
	}
}

/* As fill() finds out, once what killed commands left is gone. */
static int check_flows(struct steer *s, const struct steer_job_spec *spec, struct err *err)
{
	struct rocesteer_flow_path path;
	struct rocesteer_job job;
	size_t i;

	for (i = 0; !spec->reseq && i < spec->nr_flows; i++)
		if (!steer_flow_get(s, &spec->flows[i], &path) &&
		    !steer_job_get(s, path.job, &job))
			return steer_fill_error(spec->id, -EEXIST, err);
	return 0;
}

int steer_job_add(struct steer *s, const struct steer_job_spec *spec,
		  struct err *err)
{
	int ret;

	ret = check_job(s, spec, err);
	if (!ret && spec->dry_run)
		return check_flows(s, spec, err) ?: steer_check_device(spec->ifindex, err);
	if (ret)
		return ret;
	purge(s, 0);	/* what killed commands began */
	ret = fill(s, spec);
	if (ret) {
		ret = steer_fill_error(spec->id, ret, err);
		goto err_remove;
	}
	ret = steer_attach(s, spec->ifindex, spec->actuator, err);
	if (ret)
		goto err_remove;
	steer_chunks_forget(s, spec->flows, spec->nr_flows);
	steer_tell_watchers(s);
	return 0;

err_remove:
	remove_job(s, spec->id, spec->ifindex);
	return ret;
}

int steer_job_del(struct steer *s, __u32 id, struct err *err)
{
	struct rocesteer_job job;

	if (bpf_map_lookup_elem(s->maps[MAP_JOBS], &id, &job)) {
		purge(s, 0);	/* what killed commands began */
		return steer_job_missing(id, err);
	}
	remove_job(s, id, job.ifindex);
	steer_tell_watchers(s);
	return 0;
}

int steer_job_missing(__u32 id, struct err *err)
{
	err_set(err, EXIT_FAILED, "no-job", "no job %u is loaded", id);
	err_hint(err, "See: rocesteer job list");
	return -ENOENT;
}

int steer_job_get(struct steer *s, __u32 id, struct rocesteer_job *job)
{
	return bpf_map_lookup_elem(s->maps[MAP_JOBS], &id, job) ? -ENOENT : 0;
}

__u64 steer_peer_paths(const struct rocesteer_peer *peer)
{
	__u64 paths = 0;
	__u32 p;

	for (p = 0; p < peer->nr_paths && p < ROCESTEER_MAX_PATHS; p++)
		if (peer->sport[p])
			paths |= 1ull << p;
	return paths;
}

int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path)
{
	return bpf_map_lookup_elem(s->maps[MAP_FLOWS], key, path) ? -errno : 0;
}

int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer)
{
	return bpf_map_lookup_elem(s->maps[MAP_PEERS], key, peer) ? -errno : 0;
}

int steer_source_get(struct steer *s, const struct rocesteer_source_key *key,
		     struct rocesteer_source *source)
{
	return bpf_map_lookup_elem(s->maps[MAP_SOURCES], key, source) ? -errno : 0;
}

int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer)
{
	struct rocesteer_qpn_key qkey = { .peer = steer_peer_key(job, flow, source),
					  .dqpn = flow->dqpn & ROCESTEER_QPN_MASK };
	struct rocesteer_ports ports = {};
	int ret;

	ret = steer_peer_get(s, &qkey.peer, peer);
	if (ret || !peer->qpn_hash)
		return ret;
	bpf_map_lookup_elem(s->maps[MAP_QPNS], &qkey, &ports);
	memcpy(peer->sport, ports.sport, sizeof(peer->sport));
	return 0;
}

int steer_qpn_put(struct steer *s, const struct rocesteer_qpn_key *key,
		  const struct rocesteer_ports *ports)
{
	return bpf_map_update_elem(s->maps[MAP_QPNS], key, ports, BPF_EXIST) ? -errno : 0;
}

struct forget {
	struct steer *s;
	const struct rocesteer_peer_key *peer;
};

static int forget_ports(const struct rocesteer_qpn_key *key,
			const struct rocesteer_ports *ports, void *arg)
{
	static const struct rocesteer_ports none;
	const struct forget *forget = arg;
	int ret = 0;

	(void)ports;
	if (!forget->peer || !memcmp(forget->peer, &key->peer, sizeof(key->peer)))
		ret = steer_qpn_put(forget->s, key, &none);
	return ret == -ENOENT ? 0 : ret;
}

int steer_qpns_forget(struct steer *s, __u32 job, const struct rocesteer_peer_key *peer)
{
	struct forget forget = { s, peer };

	return steer_qpn_each(s, job, forget_ports, &forget);
}

int steer_group_get(struct steer *s, const struct rocesteer_group_key *key,
		    struct rocesteer_group *group)
{
	return bpf_map_lookup_elem(s->maps[MAP_GROUPS], key, group) ? -errno : 0;
}

int steer_sum_cpus(const __u64 *values, __u32 nr, __u64 *sums)
{
	int cpus = libbpf_num_possible_cpus(), i;

	if (cpus < 0)
		return cpus;
	memset(sums, 0, nr * sizeof(*sums));
	for (i = 0; i < cpus * (int)nr; i++)
		sums[i % nr] += values[i];
	return 0;
}

/* Read the counters in the only entry of a map. */
static int read_counters(int fd, __u32 nr, __u64 *sums)
{
	int cpus = libbpf_num_possible_cpus(), ret;
	__u32 zero = 0;
	__u64 *values;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus * nr, sizeof(*values));
	if (!values)
		return -ENOMEM;
	ret = bpf_map_lookup_elem(fd, &zero, values) ?
	      -errno : steer_sum_cpus(values, nr, sums);
	free(values);
	return ret;
}

int steer_counters(struct steer *s, __u64 verdicts[ROCESTEER_VERDICT_MAX],
		   __u64 observed[ROCESTEER_OBSERVED_MAX])
{
	return read_counters(s->maps[MAP_VERDICTS], ROCESTEER_VERDICT_MAX,
			     verdicts) ?:
	       read_counters(s->maps[MAP_OBSERVED], ROCESTEER_OBSERVED_MAX,
			     observed);
}
