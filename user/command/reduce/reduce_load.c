// SPDX-License-Identifier: GPL-2.0
/* rocesteer reduce: plan, load, join and unload. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "reduce.h"

enum { LEAF, SPINE, CLUSTER, JOB, MTU };

#define SWITCH_OPTIONS \
	[LEAF] = { "leaf", "NUMBER", "the switch is this leaf" }, \
	[SPINE] = { "spine", "NUMBER", "the switch is this spine, the root of groups" }

#define JOB_OPTIONS \
	[CLUSTER] = { "cluster", "FILE", "the groups of a job: cluster file" }, \
	[JOB] = { "job", "NAME", "name of the job in the cluster file" }, \
	[MTU] = { "mtu", "BYTES", "MTU of the job's queue pairs (default: 4096)" }

const struct cli_option reduce_join_options[] = { SWITCH_OPTIONS, {} };
const struct cli_option reduce_load_options[] = { SWITCH_OPTIONS, JOB_OPTIONS, {} };

/* The same indices, of which the first two are not for the plan. */
enum { PLAN_CLUSTER, PLAN_JOB, PLAN_MTU };

const struct cli_option reduce_plan_options[] = {
	[PLAN_CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[PLAN_JOB] = { "job", "NAME",
		"name of the job in the cluster file", CLI_NEEDED | CLI_NAMES },
	[PLAN_MTU] = { "mtu", "BYTES", "MTU of the job's queue pairs (default: 4096)" },
	{}
};

static const struct out_view no_views[] = { {} };

static const struct out_column plan_columns[] = {
	{ "group", "GROUP" },
	{ "root", "ROOT" },
	{ "size", "RANKS" },
	{ "leaves", "LEAVES" },
	{ "mtu", "MTU" },
	{ "packets", "PACKETS" },
	{ "window", "WINDOW" },
	{}
};

static const struct out_view plan_views[] = {
	{ .rows = "groups", .columns = plan_columns },
	{}
};

/* @cluster, @job, @mtu: indices of options. */
static int make_plan(const struct cli_args *args, int cluster, int job, int mtu,
		     struct reduce_plan *plan, struct err *err)
{
	struct json_object *slice = NULL, *found;
	const char *id = args->value[job];
	__u64 bytes = 4096;
	struct cluster c;
	int ret;

	*plan = (struct reduce_plan) {};
	ret = cli_need(args, cluster, err) ?: cli_need(args, job, err) ?:
	      cli_uint(args, mtu, 256, 4096, &bytes, err);
	if (!ret && bytes & (bytes - 1))
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--mtu: %llu is not one of 256, 512, 1024, 2048, 4096", bytes);
	ret = ret ?: cluster_read(&c, args->value[cluster], err);
	if (ret)
		return ret;
	found = cluster_find_job(&c, id, err);
	if (found)
		slice = cluster_job_json(&c, id, found);
	ret = slice ? reduce_plan_make(plan, &c, slice, bytes, err) : -ENOENT;
	json_object_put(slice);
	cluster_close(&c);
	return ret;
}

static void put_group(struct json_object *obj, const struct reduce_config *config)
{
	__u32 i, leaves = 1;

	for (i = 1; i < config->nr_ranks; i++)
		leaves += config->rank[i].leaf != config->rank[i - 1].leaf;
	reduce_config_put(obj, config);
	out_uint(obj, "size", config->nr_ranks);
	out_uint(obj, "leaves", leaves);
}

int reduce_plan(const struct cli_args *args, struct err *err)
{
	struct json_object *root, *groups;
	struct reduce_plan plan;
	__u32 i;
	int ret;

	ret = make_plan(args, PLAN_CLUSTER, PLAN_JOB, PLAN_MTU, &plan, err);
	if (!ret) {
		root = out_root();
		out_uint(root, "format", 1);
		out_string(root, "job", args->value[PLAN_JOB]);
		groups = out_array(root, "groups");
		for (i = 0; i < plan.nr; i++)
			put_group(out_append_object(groups), &plan.group[i]);
		ret = out_show(&args->out, root, plan_views);
	}
	reduce_plan_free(&plan);
	return ret;
}

static int read_switch(const struct cli_args *args, struct reduce_switch *self, struct err *err)
{
	*self = (struct reduce_switch) {
		.is_leaf = args->value[LEAF],
		.is_spine = args->value[SPINE],
	};
	if (self->is_leaf && self->is_spine)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--leaf and --spine exclude each other");
	return cli_uint(args, LEAF, 0, ~0U, &self->number, err) ?:
	       cli_uint(args, SPINE, 0, ~0U, &self->number, err);
}

static int change_file(const struct cli_args *args, struct err *err,
		       int (*make)(struct reduce *reduce, const struct reduce_config *config,
				   struct err *err))
{
	struct reduce_config config;
	struct reduce_switch self;
	struct reduce *reduce;
	int ret;

	ret = read_switch(args, &self, err) ?:
	      reduce_file_read(&config, args->operand, err) ?:
	      reduce_config_role(&config, &self, err) ?:
	      reduce_open(&reduce, err);
	if (ret)
		return ret;
	ret = reduce_hint(make(reduce, &config, err), err);
	reduce_close(reduce);
	return ret ?: out_show(&args->out, out_root(), no_views);
}

int reduce_join_file(const struct cli_args *args, struct err *err)
{
	return change_file(args, err, reduce_join);
}

/* Either the operand says which groups, or the options do. */
static int check_which(const struct cli_args *args, const char *operand, struct err *err)
{
	bool job = args->value[CLUSTER] || args->value[JOB];

	if (args->operand && (job || args->value[MTU]))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "%s and --cluster, --job or --mtu exclude each other", operand);
	if (!args->operand && !job)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "%s, or --cluster and --job, is missing", operand);
	if (job && !args->value[LEAF] && !args->value[SPINE])
		return err_set(err, EXIT_BAD_INPUT, "usage", "--leaf or --spine is missing");
	return 0;
}

/* Leave in a plan the groups that the switch sums for, with its role. */
static int restrict_plan(struct reduce_plan *plan, const struct reduce_switch *self,
			 const char *job, struct err *err)
{
	__u32 i, n = 0;

	for (i = 0; i < plan->nr; i++)
		if (!reduce_config_role(&plan->group[i], self, NULL))
			plan->group[n++] = plan->group[i];
	plan->nr = n;
	if (n)
		return 0;
	err_set(err, EXIT_FAILED, "no-groups", "job %s has no group on %s %llu", job,
		self->is_leaf ? "leaf" : "spine", self->number);
	err_hint(err, "See: rocesteer reduce plan");
	return -ENOENT;
}

/* A switch that has no room for one of the groups gets none. */
static int load_plan(struct reduce *reduce, const struct reduce_plan *plan, struct err *err)
{
	int ret = 0;
	__u32 i;

	for (i = 0; !ret && i < plan->nr; i++)
		ret = reduce_add(reduce, &plan->group[i], err);
	if (!ret)
		return 0;
	for (i--; i; i--)
		reduce_del(reduce, plan->group[i - 1].id, NULL);
	if (ret == -ENOMEM && err->code) {
		err->code = "no-room";
		err->exit_status = EXIT_REFUSED;
	}
	return ret;
}

/* Unload all groups. It is an error if none is loaded. */
static int unload_plan(struct reduce *reduce, const struct reduce_plan *plan, struct err *err)
{
	struct err missing = {}, said;
	int ret = 0, one;
	__u32 i, gone = 0;

	for (i = 0; i < plan->nr; i++) {
		said = (struct err) {};
		one = reduce_del(reduce, plan->group[i].id, &said);
		gone += !one;
		if (one == -ENOENT) {
			missing = said;
		} else if (one) {
			*err = said;
			ret = one;
		}
	}
	if (ret || gone)
		return ret;
	*err = missing;
	return -ENOENT;
}

static int change_job(const struct cli_args *args, struct err *err,
		      int (*change)(struct reduce *reduce, const struct reduce_plan *plan,
				    struct err *err))
{
	struct reduce_switch self;
	struct reduce_plan plan;
	struct reduce *reduce;
	int ret;

	ret = read_switch(args, &self, err);
	if (ret)
		return ret;
	ret = make_plan(args, CLUSTER, JOB, MTU, &plan, err) ?:
	      restrict_plan(&plan, &self, args->value[JOB], err) ?:
	      reduce_open(&reduce, err);
	if (!ret) {
		ret = reduce_hint(change(reduce, &plan, err), err);
		reduce_close(reduce);
	}
	reduce_plan_free(&plan);
	return ret ?: out_show(&args->out, out_root(), no_views);
}

int reduce_load(const struct cli_args *args, struct err *err)
{
	return check_which(args, "FILE", err) ?:
	       (args->operand ? change_file(args, err, reduce_add) :
				change_job(args, err, load_plan));
}

static int unload_one(const struct cli_args *args, struct err *err)
{
	struct reduce *reduce;
	__u32 id;
	int ret;

	ret = reduce_read_id(args->operand, &id, err) ?: reduce_open(&reduce, err);
	if (ret)
		return ret;
	ret = reduce_hint(reduce_del(reduce, id, err), err);
	reduce_close(reduce);
	return ret ?: out_show(&args->out, out_root(), no_views);
}

int reduce_unload(const struct cli_args *args, struct err *err)
{
	return check_which(args, "GROUP", err) ?:
	       (args->operand ? unload_one(args, err) : change_job(args, err, unload_plan));
}
