// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice alloc. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster/cluster.h"
#include "slice.h"

enum { CLUSTER, GPUS, SERVERS, NODES, JOB, OCS, DRIVER, DRY_RUN };

const struct cli_option slice_alloc_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[GPUS] = { "gpus", "N", "number of GPUs, anywhere" },
	[SERVERS] = { "servers", "L/V[,L/V..]", "all GPUs of these servers" },
	[NODES] = { "nodes", "NAME[,NAME..]",
		    "all GPUs of servers with these names in the cluster file" },
	[JOB] = { "job", "NAME", "name of the job (default: a number)", CLI_NAMES },
	[OCS] = { "ocs", NULL, "move idle optical circuits if that helps" },
	[DRIVER] = { "driver", "COMMAND", "program that moves circuits, for --ocs" },
	[DRY_RUN] = { "dry-run", NULL, "do not change the cluster file" },
	{}
};

static const struct out_column change_columns[] = {
	{ "leaf", "LEAF" },
	{ "oxc", "OXC" },
	{ "from", "FROM SPINE" },
	{ "to", "TO SPINE" },
	{}
};

static const struct out_view alloc_views[] = {
	{ .columns = slice_job_columns },
	{ .rows = "servers", .columns = slice_server_columns },
	{ .rows = "changes", .columns = change_columns },
	{}
};

const char *slice_lacks(int refusal)
{
	static const char * const names[] = {
		[SLICE_NO_GPUS] = "gpus",
		[SLICE_NO_LOCALITY] = "locality",
		[SLICE_NO_NETWORK] = "network",
	};

	return names[refusal];
}

static void count_free(const struct slice_fabric *fabric, __u32 *gpus, __u32 *whole)
{
	size_t servers = (size_t)fabric->leaves * fabric->gpus_per_leaf /
			 fabric->gpus_per_server, i;

	*gpus = 0;
	*whole = 0;
	for (i = 0; i < servers; i++) {
		*gpus += fabric->free_gpus[i];
		*whole += fabric->free_gpus[i] == fabric->gpus_per_server;
	}
}

/* Say why there is no place. */
static int explain_refusal(const struct cluster *c, int refusal,
			   const struct slice_request *request, struct err *err)
{
	const struct slice_fabric *fabric = &c->fabric;
	__u32 each = fabric->gpus_per_server, gpus = request->gpus, free, whole;

	if (request->nr)
		return slice_request_refuse(c, request, refusal, err);
	count_free(fabric, &free, &whole);
	switch (refusal) {
	case SLICE_NO_GPUS:
		return err_set(err, EXIT_REFUSED, "gpus",
			       "%s: %u GPUs are wanted, %u are free", c->file,
			       gpus, free);
	case SLICE_NO_LOCALITY:
		return err_set(err, EXIT_REFUSED, "locality",
			       "%s: %u wholly free servers are needed, there are %u",
			       c->file, gpus / each + !!(gpus % each), whole);
	}
	if (slice_check_shape(c, gpus, err))
		return -EINVAL;
	if (gpus % each)
		return err_set(err, EXIT_REFUSED, "network",
			       "%s: %u GPUs fit only under one leaf, and no leaf has enough free servers",
			       c->file, gpus);
	return err_set(err, EXIT_REFUSED, "network",
		       "%s: %u GPUs: no leaves share enough free spines",
		       c->file, gpus);
}

struct json_object *slice_decision(const char *decision, const char *id, struct json_object *more)
{
	struct json_object *line = out_root();

	out_string(line, "decision", decision);
	if (id)
		out_string(line, "job", id);
	if (!more)
		return line;
	json_object_object_foreach(more, key, value)
		if (strcmp(key, "servers") && strcmp(key, "links") && strcmp(key, "oxcs"))
			json_object_object_add(line, key, json_object_get(value));
	return line;
}

static void add_changes(struct json_object *obj, const struct cluster *c,
			const struct slice_plan *plan)
{
	if (!plan->circuit)
		return;
	json_object_object_add(obj, "changes",
			       cluster_changes_json(&c->ocs, c->ocs.circuit, plan->circuit));
}

int slice_carry_out(struct cluster *c, const char *id, __u32 gpus,
		    const struct slice_plan *plan, const char *driver,
		    struct err *err)
{
	struct json_object *line;
	struct err more = {};
	bool ran;
	int ret;

	ret = slice_plan_move(c, plan, driver, id, false, err);
	ran = !ret || ret == -EIO || ret == -ETIMEDOUT;
	if (!ret) {
		cluster_add_job(c, id, gpus, &plan->slice);
		if (plan->circuit)
			cluster_move_circuits(c, plan->circuit);
		line = slice_decision("alloc", id, cluster_job(c, id));
		json_object_object_del(line, "since");
		add_changes(line, c, plan);
		ret = cluster_commit(c, line, err);
	}
	if (ret && ran && !c->replaced && slice_plan_move(c, plan, driver, id, true, &more))
		err_hint(err, "Circuits could not be moved back (%s): see rocesteer slice wire.",
			 more.message);
	ocs_driver_done();
	return ret;
}

/* Say why there is no place; in the journal too. */
static int refuse(const struct cli_args *args, struct cluster *c,
		  int refusal, const struct slice_request *request, struct err *err)
{
	struct json_object *line;
	int ret = explain_refusal(c, refusal, request, err);

	if (args->value[DRY_RUN])
		return ret;
	line = slice_decision("refuse", args->value[JOB], NULL);
	out_uint(line, "gpus", request->gpus);
	out_string(line, "code", err->code);
	return cluster_note(c, line, err) ?: ret;
}

static int print_slice(const struct cli_args *args, const struct cluster *c,
		       const char *id, __u32 gpus,
		       const struct slice_plan *plan)
{
	struct json_object *job = cluster_slice_json(gpus, &plan->slice), *root;

	root = cluster_job_json(c, id, job);
	json_object_put(job);
	add_changes(root, c, plan);
	if (plan->shared) {
		out_uint(root, "contended_steps", plan->shared);
		out_note(&args->out,
			 "Flows of this job can meet on its own links: the leaves have no lanes for %u GPUs, see rocesteer slice check.",
			 gpus);
	}
	return out_show(&args->out, root, alloc_views);
}

static void show_progress(void *arg)
{
	progress_update(arg, "looking for a place");
}

static int place(const struct cli_args *args, struct cluster *c,
		 const char *id, const struct slice_request *request, struct err *err)
{
	__u32 gpus = request->gpus;
	struct slice_plan plan;
	struct progress line;
	int ret;

	progress_start(&line);
	c->fabric.progress = show_progress;
	c->fabric.arg = &line;
	ret = slice_plan_make(c, request, args->value[OCS], &plan);
	if (ret > 0)
		ret = refuse(args, c, ret, request, err);
	else if (!ret && !args->value[DRY_RUN])
		ret = slice_carry_out(c, id, gpus, &plan, args->value[DRIVER], err);
	progress_end(&line);
	if (!ret)
		ret = print_slice(args, c, id, gpus, &plan);
	slice_plan_free(&plan);
	return ret;
}

/* One of --gpus, --servers and --nodes; --ocs only with --gpus. */
static int check_want(const struct cli_args *args, struct err *err)
{
	static const int wants[] = { GPUS, SERVERS, NODES };
	static const struct cli_with with[] = {
		{ OCS, GPUS }, { DRIVER, OCS },
	};

	return cli_one(args, wants, ARRAY_SIZE(wants), err) ?:
	       cli_only_with(args, with, ARRAY_SIZE(with), err);
}

/* Circuits that a file has moved are to be moved. */
static int check_ocs(const struct cli_args *args, struct err *err)
{
	if (args->value[OCS] && !args->value[DRIVER] && !args->value[DRY_RUN])
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--ocs: --driver COMMAND or --dry-run is missing");
	return 0;
}

int slice_check_id(const char *id, struct err *err)
{
	if (!id || cluster_id_valid(id))
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "--job: '%s' is not 1 to %u letters, digits and ._+-", id,
		       CLUSTER_MAX_ID);
}

void slice_make_id(const struct cluster *c, char *id, size_t size)
{
	__u64 number = c->generation;

	do {
		snprintf(id, size, "%llu", ++number);
	} while (cluster_job(c, id) || cluster_queue_find(c, id));
}

/* A job that has these servers already has its slice: the command can be repeated. */
static int find_slice(const struct cli_args *args, struct cluster *c,
		      const char *id, const struct slice_request *request,
		      struct err *err)
{
	struct json_object *job = cluster_job(c, id);

	if (!slice_request_matches(request, job))
		return err_set(err, EXIT_FAILED, "exists",
			       "%s: jobs.%s: the job has a slice already",
			       c->file, id);
	cluster_unlock(c);
	return out_show(&args->out, cluster_job_json(c, id, job), alloc_views);
}

/* A job that waits gets a slice of the size that it waits for. */
static int check_waiting(const struct cluster *c, const char *id,
			 const struct slice_request *request, struct err *err)
{
	struct json_object *entry = cluster_queue_find(c, id);
	__u32 gpus = entry ? cluster_entry_wants(entry, 0).gpus : request->gpus;

	if (request->gpus == gpus)
		return 0;
	err_set(err, EXIT_FAILED, "exists",
		"%s: the job %s is in the queue with %u GPUs, not %u", c->file,
		id, gpus, request->gpus);
	err_hint(err, "To take it from the queue: rocesteer slice release --cluster %s --job %s",
		 c->file, id);
	return -EINVAL;
}

static int alloc(const struct cli_args *args, struct cluster *c,
		 const char *id, __u32 gpus, struct err *err)
{
	const char *nodes = args->value[NODES];
	struct slice_request request = { .gpus = gpus };
	int ret = 0;

	if (args->value[OCS] && !c->ocs.oxcs)
		return err_set(err, EXIT_BAD_INPUT, "no-ocs",
			       "%s: oxcs: is missing: there are no circuits",
			       c->file);
	if (!args->value[GPUS])
		ret = slice_request_read(c, nodes ?: args->value[SERVERS], nodes, &request, err);
	if (!ret && cluster_job(c, id))
		ret = find_slice(args, c, id, &request, err);
	else if (!ret)
		ret = check_waiting(c, id, &request, err) ?:
		      place(args, c, id, &request, err);
	free(request.servers);
	return ret;
}

int slice_alloc(const struct cli_args *args, struct err *err)
{
	const char *id = args->value[JOB];
	char number[CLUSTER_MAX_ID + 1];
	struct cluster c;
	__u64 gpus = 0;
	int ret;

	ret = check_want(args, err) ?:
	      cli_uint(args, GPUS, 1, SLICE_MAX_LEAVES * SLICE_MAX_GPUS, &gpus, err) ?:
	      slice_check_id(id, err) ?: check_ocs(args, err);
	if (ret)
		return ret;
	ret = args->value[DRY_RUN] ?
	      cluster_read(&c, args->value[CLUSTER], err) :
	      cluster_open(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	if (!id) {
		slice_make_id(&c, number, sizeof(number));
		id = number;
	}
	ret = alloc(args, &c, id, gpus, err);
	cluster_close(&c);
	return ret;
}
