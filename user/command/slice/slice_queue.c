// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice submit and queue. */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "slice.h"

enum { S_CLUSTER, S_GPUS, S_JOB, S_DURATION };

const struct cli_option slice_submit_options[] = {
	[S_CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[S_GPUS] = { "gpus", "N", "number of GPUs", CLI_NEEDED },
	[S_JOB] = { "job", "NAME", "name of the job (default: a number)", CLI_NAMES },
	[S_DURATION] = { "duration", "SECONDS", "time that the job will run" },
	{}
};

enum { CLUSTER, ORDER, START, OCS, DRIVER };

const struct cli_option slice_queue_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[ORDER] = { "order", "ORDER", "the next of the jobs that wait (default: fifo)",
		    .words = queue_order_names },
	[START] = { "start", NULL, "start the next jobs that have a place" },
	[OCS] = { "ocs", NULL, "move idle optical circuits if that helps" },
	[DRIVER] = { "driver", "COMMAND", "program that moves circuits, for --ocs" },
	{}
};

static const struct out_column submit_columns[] = {
	{ "job", "job" },
	{ "gpus", "GPUs" },
	{ "waiting", "jobs that wait" },
	{}
};

static const struct out_view submit_views[] = {
	{ .columns = submit_columns },
	{}
};

static const struct out_column started_columns[] = {
	{ "job", "STARTED" },
	{ "gpus", "GPUS" },
	{ "stage", "STAGE" },
	{ "jwt_s", "WAITED" },
	{}
};

static const struct out_column waiting_columns[] = {
	{ "job", "WAITING" },
	{ "gpus", "GPUS" },
	{ "duration", "DURATION" },
	{ "waited_s", "FOR" },
	{ "lacks", "LACKS" },
	{}
};

static const struct out_view started_views[] = {
	{ .rows = "started", .columns = started_columns },
	{}
};

static const struct out_view queue_views[] = {
	{ .rows = "started", .columns = started_columns },
	{ .rows = "waiting", .columns = waiting_columns,
	  .empty = "no job waits" },
	{}
};

static int submit(const struct cli_args *args, struct cluster *c, __u32 gpus,
		  __u64 duration, struct err *err)
{
	const char *id = args->value[S_JOB];
	char number[CLUSTER_MAX_ID + 1];
	__u32 all = c->fabric.leaves * c->fabric.gpus_per_leaf;
	struct json_object *root, *line;
	int ret;

	if (!id) {
		slice_make_id(c, number, sizeof(number));
		id = number;
	}
	if (cluster_job(c, id) || cluster_queue_find(c, id))
		return err_set(err, EXIT_FAILED, "exists",
			       "%s: the job %s is in the file already", c->file, id);
	if (gpus > all)
		return err_set(err, EXIT_REFUSED, "gpus",
			       "%s: %u GPUs are wanted, there are %u", c->file,
			       gpus, all);
	if (slice_check_shape(c, gpus, err))
		return -EINVAL;
	cluster_queue_add(c, id, gpus, duration);
	line = slice_decision("submit", id, NULL);
	out_uint(line, "gpus", gpus);
	ret = cluster_commit(c, line, err);
	if (ret)
		return ret;
	root = out_root();
	out_string(root, "job", id);
	out_uint(root, "gpus", gpus);
	out_uint(root, "waiting", cluster_queue_length(c));
	return out_show(&args->out, root, submit_views);
}

int slice_submit(const struct cli_args *args, struct err *err)
{
	__u64 gpus = 0, duration = 0;
	struct cluster c;
	int ret;

	ret = cli_uint(args, S_GPUS, 1, SLICE_MAX_LEAVES * SLICE_MAX_GPUS, &gpus, err) ?:
	      cli_uint(args, S_DURATION, 1, INT64_MAX, &duration, err) ?:
	      slice_check_id(args->value[S_JOB], err) ?:
	      cluster_open(&c, args->value[S_CLUSTER], err);
	if (ret)
		return ret;
	ret = submit(args, &c, gpus, duration, err);
	cluster_close(&c);
	return ret;
}

/* The queue of a file, in an order. Return: 0 or -ENOMEM; free in any case. */
static int make_queue(const struct cluster *c, enum queue_order order, struct queue *queue)
{
	size_t n = cluster_queue_length(c), i;
	int ret = queue_init(queue, order, n);

	for (i = 0; !ret && i < n; i++) {
		struct queue_job job;

		job = cluster_entry_wants(cluster_queue_entry(c, i), i);
		queue_add(queue, &job);
	}
	return ret;
}

/* A run over the queue, and its result. */
struct queue_run {
	const struct cli_args *args;
	enum queue_order order;
	struct json_object *started;
	struct json_object *waiting;
};

static void put_started(struct queue_run *run, struct json_object *entry,
			__u32 gpus, const struct slice_plan *plan)
{
	struct json_object *row = out_append_object(run->started);

	out_string(row, "job", cluster_entry_job(entry));
	out_uint(row, "gpus", gpus);
	out_string(row, "stage", cluster_stage_name(&plan->slice));
	out_uint(row, "jwt_s", cluster_seconds_since(entry, "submitted"));
}

/* Start a job if it has a place. Return: 1 when it has started, or 0. */
static int start(struct queue_run *run, struct cluster *c,
		 struct json_object *entry, __u32 gpus, const char **lacks,
		 struct err *err)
{
	struct slice_request request = { .gpus = gpus };
	const char *id = cluster_entry_job(entry);
	struct slice_plan plan;
	struct err shape = {};
	int ret;

	json_object_get(entry);
	ret = slice_plan_make(c, &request, run->args->value[OCS], &plan);
	*lacks = ret > 0 ? slice_lacks(ret) : NULL;
	if (ret == SLICE_NO_NETWORK && slice_check_shape(c, gpus, &shape))
		*lacks = shape.code;
	if (!ret && run->args->value[START]) {
		ret = slice_carry_out(c, id, gpus, &plan, run->args->value[DRIVER], err);
		if (!ret)
			ret = 1;
		if (c->replaced)
			put_started(run, entry, gpus, &plan);
	}
	slice_plan_free(&plan);
	json_object_put(entry);
	return *lacks ? 0 : ret;
}

/* The resource that an earlier job of the same size lacked, or NULL. */
static const char *known(const struct queue *queue, const char **lacks, __u32 i)
{
	__u32 k;

	for (k = 0; k < i; k++)
		if (queue_job(queue, k)->gpus == queue_job(queue, i)->gpus)
			return lacks[k];
	return NULL;
}

/* Start the first job that has a place. Return: as start(). */
static int start_one(struct queue_run *run, struct cluster *c,
		     const struct queue *queue, const char **lacks,
		     struct err *err)
{
	__u32 n = queue_tries(queue), i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		const struct queue_job *job = queue_job(queue, i);

		lacks[i] = known(queue, lacks, i);
		if (lacks[i])
			continue;
		ret = start(run, c, cluster_queue_entry(c, job->number), job->gpus, &lacks[i], err);
		if (!lacks[i])
			break;
	}
	return ret;
}

static void list(struct queue_run *run, const struct cluster *c,
		 const struct queue *queue, const char **lacks)
{
	__u32 i;

	for (i = 0; i < queue->nr; i++) {
		struct json_object *row = out_append_object(run->waiting);
		struct json_object *entry;

		entry = cluster_queue_entry(c, queue_job(queue, i)->number);
		json_object_object_foreach(entry, key, value)
			json_object_object_add(row, key, json_object_get(value));
		out_uint(row, "waited_s", cluster_seconds_since(entry, "submitted"));
		json_object_object_del(row, "lacks");	/* ours to say */
		if (lacks[i])
			out_string(row, "lacks", lacks[i]);
	}
}

/* Read the file, and start a job or list all. Return: as start(). */
static int step(struct queue_run *run, struct err *err)
{
	const char *file = run->args->value[CLUSTER], **lacks = NULL;
	struct queue queue = {};
	struct cluster c;
	int ret;

	ret = run->args->value[START] ? cluster_open(&c, file, err) :
					cluster_read(&c, file, err);
	if (ret)
		return ret;
	if (run->args->value[OCS] && !c.ocs.oxcs)
		ret = err_set(err, EXIT_BAD_INPUT, "no-ocs",
			      "%s: oxcs: is missing: there are no circuits",
			      c.file);
	ret = ret ?: make_queue(&c, run->order, &queue);
	if (!ret) {
		lacks = calloc(queue.nr + 1, sizeof(*lacks));
		ret = lacks ? start_one(run, &c, &queue, lacks, err) : -ENOMEM;
	}
	if (!ret)
		list(run, &c, &queue, lacks);
	free(lacks);
	queue_free(&queue);
	cluster_close(&c);
	return ret;
}

static int check_options(const struct cli_args *args, struct queue_run *run, struct err *err)
{
	static const struct cli_with with[] = {
		{ DRIVER, OCS }, { DRIVER, START },
	};
	int order = QUEUE_FIFO, ret;

	ret = cli_word(args, ORDER, &order, err) ?:
	      cli_only_with(args, with, ARRAY_SIZE(with), err);
	if (ret)
		return ret;
	run->order = order;
	if (args->value[OCS] && args->value[START] && !args->value[DRIVER])
		return err_set(err, EXIT_BAD_INPUT, "usage", "--ocs: --driver COMMAND is missing");
	return 0;
}

int slice_queue(const struct cli_args *args, struct err *err)
{
	struct queue_run run = { .args = args };
	struct json_object *root;
	int ret;

	ret = check_options(args, &run, err);
	if (ret)
		return ret;
	root = out_root();
	run.started = out_array(root, "started");
	run.waiting = out_array(root, "waiting");
	do {
		ret = step(&run, err);
	} while (ret == 1);
	if (!ret)
		return out_show(&args->out, root, queue_views);
	if (json_object_array_length(run.started)) {
		json_object_object_del(root, "waiting");
		return cli_fail(&args->out, root, started_views, ret, err);
	}
	json_object_put(root);
	return ret;
}
