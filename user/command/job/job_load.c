// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer job load and replace: validate everything, then the tables, then the module.
 * If a step of a load fails, the steps before are undone in reverse order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groups/groups.h"
#include "steer/steer.h"
#include "../chunk/chunk_load.h"
#include "../interrupt.h"
#include "job_load.h"

static const struct out_column columns[] = {
	{ "job", "job" },
	{ "name", "name" },
	{ "device", "device" },
	{ "peers", "peers" },
	{ "steered", "peers to steer" },
	{ "spines", "spines" },
	{ "spine", "spine" },
	{ "hash", "hash of chunks" },
	{ "chunks", "chunks" },
	{ "ranges", "ranges" },
	{ "dscp", "DSCP of classes" },
	{ "steering", "steering" },
	{ "actuator", "actuator" },
	{ "split", "split" },
	{ "deal", "deal" },
	{ "module", "module" },
	{ "pins", "pins" },
	{ "moved", "flows moved" },
	{ "dry_run", "dry run" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

/* The option that needs the module, or NULL. */
static const char *needs_module(const struct load *l)
{
	if (l->spec.cgroup_id || l->spec.pid)
		return "tagging by --cgroup or --pid";
	if (l->needs_order)
		return "restoring the order of split flows";
	if (l->spec.actuator == ROCESTEER_ACTUATOR_QP)
		return "--actuator qp";
	return NULL;
}

/* Flows that may be whole are whole where packets cannot tell of all paths. */
static int check_paths(struct load *l)
{
	int ret = steer_check_paths(&l->spec, l->err);

	if (ret != -ERANGE)
		return ret;
	out_note(&l->args->out, "Flows are not split: %s.", l->err->message);
	*l->err = (struct err){};
	job_load_unsplit(l);
	return 0;
}

static int open_module(struct load *l)
{
	const char *what = needs_module(l);
	int ret;

	if (what && l->use == MODULE_NO)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--module no: %s needs the module", what);
	ret = module_open(&l->genl, what ? MODULE_YES : l->use, l->err);
	if (!l->may_split)
		return ret;
	if (!l->genl)
		job_load_unsplit(l);
	return ret ?: check_paths(l);
}

/* Add a hint how to do without the module. */
static int explain(struct load *l, int ret)
{
	const char *instead = "steer packets by --flow or --all, which works without it";

	if (l->spec.actuator == ROCESTEER_ACTUATOR_QP)
		instead = "leave out --actuator qp";
	else if (l->needs_order && !l->spec.cgroup_id && !l->spec.pid)
		instead = "leave out --split and --resequence";
	if (ret == -ENOENT && needs_module(l)) {
		err_set(l->err, EXIT_FAILED, "module-not-loaded",
			"the module rocesteer is not loaded: %s needs it",
			needs_module(l));
		err_hint(l->err, "modprobe rocesteer, or %s.", instead);
	}
	return ret;
}

static int check_programs(struct load *l)
{
	if (!l->genl || steer_has_module(l->steer))
		return 0;
	if (l->may_split)
		job_load_unsplit(l);
	if (!needs_module(l) && l->use != MODULE_YES)
		return 0;
	err_set(l->err, EXIT_FAILED, "module-not-used",
		"the programs were loaded before the module and do not call it");
	err_hint(l->err, "Have them call it: rocesteer prog load");
	return -EBUSY;
}

/* Flow @i is of job @job. */
static int is_taken(struct load *l, size_t i, __u32 job)
{
	char peer[ADDR_STRLEN];

	return err_set(l->err, EXIT_FAILED, "flow-taken",
		       "job %u: --flow: %s/%u belongs to job %u", l->spec.id,
		       addr_format(l->flows[i].peer, peer), l->flows[i].dqpn,
		       job);
}

/* A flow in the module, and its job there. */
struct owned {
	const struct rocesteer_flow_key *key;
	__u32 job;
};

static int find_owner(const struct genl_flow *flow, void *arg)
{
	struct owned *owned = arg;

	if (!memcmp(&flow->key, owned->key, sizeof(flow->key)))
		owned->job = flow->job;
	return owned->job != 0;
}

/* The module knows flows that have sent nothing yet: the tables do not. */
static int register_flow(struct load *l, size_t i)
{
	struct owned owned = { .key = &l->flows[i] };
	int ret;

	ret = genl_flow_add(l->genl, owned.key, l->spec.id, l->err);
	if (ret == -EEXIST && genl_flow_each(l->genl, find_owner, &owned, NULL) > 0)
		return is_taken(l, i, owned.job);
	return ret;
}

static int register_job(struct load *l)
{
	struct genl_job job = {
		.id = l->spec.id,
		.cgroup_id = l->spec.cgroup_id,
		.pid = l->spec.pid,
		.resequence = l->spec.reseq && !l->spec.observe ?
				ROCESTEER_RESEQUENCE_ON : ROCESTEER_RESEQUENCE_OFF,
	};
	size_t i;
	int ret;

	if (!l->genl)
		return 0;
	if (qps_adopt(l->genl, l->err) < 0) {	/* later ones are seen */
		out_note(&l->args->out, "%s", l->err->message);
		l->err->code = NULL;
	}
	snprintf(job.name, sizeof(job.name), "%s", l->spec.name);
	ret = genl_job_add(l->genl, &job, l->err);
	for (i = 0; !ret && i < l->spec.nr_flows; i++) {
		ret = register_flow(l, i);
		if (ret)	/* its flows go with it */
			genl_job_del(l->genl, job.id, NULL);
	}
	return ret;
}

/* The spines of the slice, and the spine that all flows take, if there is one. */
static void put_spines(struct json_object *root, const struct load *l)
{
	const struct contention_slice *slice = &l->slice.slice;
	struct json_object *array = out_array(root, "spines");
	__u32 i;

	for (i = 0; i < slice->nr_spines; i++)
		out_append_uint(array, slice->spines[i]);
	if (l->spec.home)
		out_uint(root, "spine", slice->spines[l->rank % slice->nr_spines]);
}

static struct json_object *to_json(const struct load *l)
{
	struct json_object *root = out_root();

	out_uint(root, "job", l->spec.id);
	if (l->spec.name[0])
		out_string(root, "name", l->spec.name);
	out_string(root, "device", l->map.device);
	out_uint(root, "peers", l->map.nr_peers);
	out_uint(root, "steered", job_load_steered(l));
	if (l->slice.slice.nr_spines)
		put_spines(root, l);
	if (l->chunks.nr_ranges)
		chunk_load_put(root, &l->chunks);
	if (!l->spec.dry_run)
		out_string(root, "steering", job_steering(l->steer, l->spec.id));
	out_string(root, "actuator", actuator_name(l->spec.actuator));
	out_string(root, "split", split_name(l->spec.split));
	out_string(root, "deal", deal_name(l->spec.deal));
	out_bool(root, "module", l->genl);
	if (l->spec.dry_run)
		out_bool(root, "dry_run", true);
	else
		out_string(root, "pins", steer_pin_dir(l->steer));
	return root;
}

static bool hashes_qpns(const struct portmap *map)
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (map->peers[i].qpn_hash)
			return true;
	return false;
}

/*
 * BPF puts flows on all paths: only the daemon can split a few instead, and find ports of peers,
 * and those of queue pairs where switches hash their numbers.
 */
static void note_daemon(const struct load *l)
{
	bool finds = l->by_dev || l->peers.nr || hashes_qpns(&l->map);
	int fd;

	if (!split_kind(l->spec.split)->is_planned && !finds && !l->spec.observe)
		return;
	fd = event_socket_connect();
	if (fd >= 0)
		close(fd);
	else
		out_note(&l->args->out,
			 "%s until the daemon runs: systemctl start rocesteer, or rocesteer daemon.",
			 l->spec.observe ? "The paths of flows are not known" :
			 finds ? "Flows are not steered" : "Flows are not planned");
}

/* Name the job that a flow belongs to. */
static void name_taken(struct load *l)
{
	struct rocesteer_flow_path path;
	size_t i;

	if (strcmp(l->err->code ?: "", "flow-taken"))
		return;
	for (i = 0; i < l->spec.nr_flows; i++) {
		if (steer_flow_get(l->steer, &l->flows[i], &path))
			continue;
		is_taken(l, i, path.job);
		return;
	}
}

static int load(struct load *l, struct json_object **root)
{
	int ret;

	ret = steer_owns(l->spec.ifindex, l->err) ?: explain(l, open_module(l));
	if (ret)
		return ret;
	ret = steer_open(&l->steer, STEER_CREATE |
			 (l->use == MODULE_NO ? STEER_NO_MODULE : 0), l->err);
	if (ret)
		goto out_module;
	interrupt_hold();
	ret = check_programs(l) ?: steer_job_add(l->steer, &l->spec, l->err);
	if (ret) {
		name_taken(l);
		goto out_steer;
	}
	if (l->chunks.nr_ranges)
		ret = steer_chunks_add(l->steer, l->spec.id, &l->chunks, l->err);
	ret = ret ?: register_job(l);
	/* An interrupted job is not wanted. */
	if (!ret && interrupt_pending()) {
		if (l->genl)
			genl_job_del(l->genl, l->spec.id, NULL);
		ret = err_set(l->err, EXIT_FAILED, "interrupted",
			      "job %u is not loaded: interrupted", l->spec.id);
	}
	if (ret) {
		steer_job_del(l->steer, l->spec.id, NULL);
	} else {
		job_load_remember(l);
		*root = to_json(l);
	}
out_steer:
	steer_close(l->steer);
	interrupt_release();
out_module:
	genl_close(l->genl);
	return ret;
}

static void ignore_group(struct group *group, void *arg)
{
	(void)group;
	(void)arg;
}

/* Put the flows of the job where they belong now, as the daemon would plan them. */
static int plan_job(struct load *l, struct groups *groups)
{
	struct group_plan plan;
	size_t i;
	int ret;

	ret = groups_read(groups, ignore_group, NULL);
	for (i = 0; !ret && i < groups->group.nr; i++) {
		struct group *group = groups->group.item[i];

		while (!ret && group->changed && group->key.job == l->spec.id) {
			ret = group_plan(groups, group, &plan);
			l->moved += plan.written;
		}
	}
	return ret ?: groups_move_acks(groups);
}

static int replace(struct load *l, struct json_object **root)
{
	struct groups groups = {};
	int ret;

	ret = explain(l, open_module(l)) ?: steer_open(&l->steer, 0, l->err);
	if (ret)
		goto out_module;
	interrupt_hold();
	ret = check_programs(l) ?: steer_job_replace(l->steer, &l->spec, l->err);
	groups.steer = l->steer;
	if (!ret)
		ret = plan_job(l, &groups);
	groups_clear(&groups);
	if (!ret) {
		job_load_remember(l);
		*root = to_json(l);
		out_uint(*root, "moved", l->moved);
	}
	steer_close(l->steer);
	interrupt_release();
out_module:
	genl_close(l->genl);
	return ret;
}

/* Without tables nothing speaks against a load. */
static int check_tables(struct load *l)
{
	int ret = steer_open(&l->steer, STEER_READ, l->err);

	if (ret == -ENOENT && !l->over) {
		l->err->code = NULL;
		return 0;
	}
	if (ret)
		return ret == -ENOENT ? steer_job_missing(l->spec.id, l->err) : ret;
	ret = check_programs(l) ?: l->over ? steer_job_replace(l->steer, &l->spec, l->err) :
					  steer_job_add(l->steer, &l->spec, l->err);
	if (ret)
		name_taken(l);
	steer_close(l->steer);
	return ret;
}

static int rehearse(struct load *l, struct json_object **root)
{
	int ret = l->over ? 0 : steer_owns(l->spec.ifindex, l->err);

	ret = ret ?: explain(l, open_module(l)) ?: check_tables(l);
	if (!ret)
		*root = to_json(l);
	genl_close(l->genl);
	return ret;
}

int job_put(const struct cli_args *args, enum job_put how, struct json_object **root,
	    struct err *err)
{
	struct load l = {
		.args = args, .err = err, .how = how, .spec.dry_run = how == JOB_CHECK,
	};
	int ret;

	ret = permission_load(err) ?: job_options(&l) ?: job_load_verify(&l);
	if (!ret)
		ret = l.spec.dry_run ? rehearse(&l, root) :
		      l.over ? replace(&l, root) : load(&l, root);
	if (!ret && !l.spec.dry_run)
		note_daemon(&l);
	if (!ret && !l.over)
		job_load_whole(&l, *root);
	free(l.flows);
	peer_list_free(&l.peers);
	free(l.sources);
	job_slice_free(&l.slice);
	chunk_table_free(&l.chunks);
	portmap_free(&l.map);
	return ret;
}

static int run(const struct cli_args *args, enum job_put how, struct err *err)
{
	struct json_object *root;

	return job_put(args, how, &root, err) ?: out_show(&args->out, root, views);
}

int job_load(const struct cli_args *args, struct err *err)
{
	return run(args, JOB_LOAD, err);
}

int job_replace(const struct cli_args *args, struct err *err)
{
	return run(args, JOB_REPLACE, err);
}
