// SPDX-License-Identifier: GPL-2.0
/* A job gets into the tables, and out of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include <rocesteer/flow.h>

#include "plan/plan.h"
#include "steer_observe.h"
#include "steer_priv.h"

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
	path.first_path = best;
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
		.place = spec->place,
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

	if (bpf_map_update_elem(s->maps[MAP_JOBS], &spec->id, &job, BPF_NOEXIST))
		return -errno;
	if (spec->all && bpf_map_update_elem(s->maps[MAP_DEVICES],
					     &spec->ifindex, &spec->id,
					     BPF_NOEXIST))
		return -errno;
	return 0;
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

/* Delete the entry if the purge covers it. */
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

static int check_job(struct steer *s, const struct steer_job_spec *spec, struct err *err)
{
	struct rocesteer_job job;
	__u32 other;

	if (!bpf_map_lookup_elem(s->maps[MAP_JOBS], &spec->id, &job)) {
		err_set(err, EXIT_FAILED, "exists", "job %u is loaded already", spec->id);
		err_hint(err, "See: rocesteer job show %u. To replace: rocesteer job replace %u",
			 spec->id, spec->id);
		return -EEXIST;
	}
	if (spec->all && !bpf_map_lookup_elem(s->maps[MAP_DEVICES], &spec->ifindex, &other)) {
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
		return err_set(err, EXIT_REFUSED, "full", "job %u: the tables are full", id);
	case -EEXIST:
		return err_set(err, EXIT_FAILED, "flow-taken",
			       "job %u: another job has one of its flows", id);
	default:
		return err_errno(err, -ret, "tables", "cannot fill the tables of job %u", id);
	}
}

/* Check for what fill() would refuse, leftovers of killed commands aside. */
static int check_flows(struct steer *s, const struct steer_job_spec *spec, struct err *err)
{
	struct rocesteer_flow_path path;
	struct rocesteer_job job;
	size_t i;

	for (i = 0; !spec->reseq && i < spec->nr_flows; i++)
		if (!steer_flow_get(s, &spec->flows[i], &path) && !steer_job_get(s, path.job, &job))
			return steer_fill_error(spec->id, -EEXIST, err);
	return 0;
}

int steer_job_add(struct steer *s, const struct steer_job_spec *spec, struct err *err)
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
