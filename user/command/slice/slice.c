// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice: list and show. */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "cluster/cluster.h"
#include "slice.h"

#define MAX_DEPTH	16	/* of a slice; it needs 4 */

enum { CLUSTER, JOB };

static const struct cli_option list_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	{}
};

static const struct cli_option show_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[JOB] = { "job", "NAME", "name of the job", CLI_NEEDED | CLI_NAMES },
	{}
};

static const struct out_column cluster_columns[] = {
	{ "generation", "generation" },
	{ "gpus", "GPUs" },
	{ "usable_gpus", "free GPUs" },
	{ "usable_servers", "wholly free servers" },
	{ "links", "links" },
	{ "usable_links", "free links" },
	{}
};

static const struct out_column list_columns[] = {
	{ "job", "JOB" },
	{ "gpus", "GPUS" },
	{ "stage", "STAGE" },
	{ "degraded", "DEGRADED" },
	{ "since", "SINCE" },
	{}
};

static const struct out_column part_columns[] = {
	{ "leaves", "leaves" },
	{ "spines", "spines" },
	{ "servers", "servers" },
	{ "links", "links" },
	{}
};

static const struct out_view list_views[] = {
	{ .columns = cluster_columns },
	{ .in = "drained", .title = "drained", .columns = part_columns },
	{ .in = "failed", .title = "failed", .columns = part_columns },
	{ .rows = "jobs", .columns = list_columns, .empty = "no job has a slice" },
	{}
};

const struct out_column slice_job_columns[] = {
	{ "job", "job" },
	{ "gpus", "GPUs" },
	{ "stage", "stage" },
	{ "leaves", "leaves" },
	{ "spines", "spines" },
	{ "lane_links", "links per lane" },
	{ "objective", "objective" },
	{ "degraded", "degraded" },
	{ "since", "since" },
	{}
};

const struct out_column slice_server_columns[] = {
	{ "leaf", "LEAF" },
	{ "server", "SERVER" },
	{ "gpus", "GPUS" },
	{}
};

static const struct out_view show_views[] = {
	{ .columns = slice_job_columns },
	{ .rows = "servers", .columns = slice_server_columns },
	{}
};

/* A cluster file is the likely mistake. */
static int read_slice(const char *file, struct json_object **root, struct err *err)
{
	int ret = json_file_read(file, CLUSTER_MAX_SIZE, MAX_DEPTH, root, err);

	if (ret || !json_object_object_get_ex(*root, "gpus_per_leaf", NULL))
		return ret;
	json_object_put(*root);
	err_set(err, EXIT_BAD_INPUT, "bad-file", "%s: is a cluster file, not a slice", file);
	err_hint(err, "rocesteer slice show --cluster %s --job NAME --json prints a slice of it.",
		 file);
	return -EINVAL;
}

int slice_get(const char *file, const char *cluster, const char *id,
	      struct json_object **root, struct err *err)
{
	struct json_object *job;
	struct cluster c;
	int ret;

	if (file)
		return read_slice(file, root, err);
	ret = cluster_read(&c, cluster, err);
	if (ret)
		return ret;
	job = cluster_find_job(&c, id, err);
	if (job)
		*root = cluster_job_json(&c, id, job);
	cluster_close(&c);
	return job ? 0 : -ENOENT;
}

static void put_totals(struct json_object *root, const struct cluster *c)
{
	const struct slice_fabric *f = &c->fabric;
	size_t servers = (size_t)f->leaves * f->gpus_per_leaf /
			 f->gpus_per_server;
	size_t pairs = (size_t)f->leaves * f->spines, i;
	__u64 gpus = 0, whole = 0, links = 0;

	for (i = 0; i < servers; i++) {
		gpus += f->free_gpus[i];
		whole += f->free_gpus[i] == f->gpus_per_server;
	}
	for (i = 0; i < pairs; i++)
		links += f->free_links[i];
	pairs *= f->links_per_pair;
	if (c->ocs.oxcs) {
		links = 0;
		pairs = 0;
		for (i = 0; i < (size_t)f->leaves * c->ocs.oxcs; i++) {
			links += ocs_idle_link(&c->ocs, i);
			pairs += c->ocs.circuit[i] != OCS_DARK;
		}
	}
	out_uint(root, "generation", c->generation);
	out_uint(root, "gpus", (__u64)f->leaves * f->gpus_per_leaf);
	out_uint(root, "usable_gpus", gpus);
	out_uint(root, "usable_servers", whole);
	out_uint(root, "links", pairs);
	out_uint(root, "usable_links", links);
}

/* Put the marked parts, without empty lists, which marks leave that were taken away. */
static void put_mark(struct json_object *root, const struct cluster *c, const char *mark)
{
	struct json_object *parts = NULL, *put = NULL, *list;
	int part;

	json_object_object_get_ex(c->root, mark, &parts);
	for (part = 0; part < CLUSTER_PARTS; part++) {
		const char *key = cluster_part_names[part];

		list = json_object_object_get(parts, key);
		if (!list || !json_object_array_length(list))
			continue;
		put = put ?: out_object(root, mark);
		json_object_object_add(put, key, json_object_get(list));
	}
}

static int list(const struct cli_args *args, struct err *err)
{
	struct json_object *root, *jobs, *array;
	struct cluster c;
	int ret, mark;

	ret = cluster_read(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	root = out_root();
	put_totals(root, &c);
	for (mark = 0; mark < CLUSTER_MARKS; mark++)
		put_mark(root, &c, cluster_mark_names[mark]);
	array = out_array(root, "jobs");
	jobs = json_object_object_get(c.root, "jobs");
	json_object_object_foreach(jobs, id, job) {
		struct json_object *row = cluster_job_json(&c, id, job);

		json_object_object_del(row, "servers");
		json_object_object_del(row, "links");
		out_bool(row, "degraded", cluster_job_degraded(&c, job));
		json_object_array_add(array, row);
	}
	out_sort(array, (const char *const[]){ "job", NULL });
	ret = out_show(&args->out, root, list_views);
	cluster_close(&c);
	return ret;
}

static int show(const struct cli_args *args, struct err *err)
{
	struct json_object *root, *job;
	struct cluster c;
	int ret;

	ret = cluster_read(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	job = cluster_find_job(&c, args->value[JOB], err);
	if (job) {
		root = cluster_job_json(&c, args->value[JOB], job);
		out_bool(root, "degraded", cluster_job_degraded(&c, job));
		ret = out_show(&args->out, root, show_views);
	} else {
		ret = -ENOENT;
	}
	cluster_close(&c);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "alloc",
		.help = "Give a job servers, and links that no other job has",
		.options = slice_alloc_options,
		.example = "slice alloc train --cluster cluster.json --gpus 16",
		.run = slice_alloc,
	},
	{
		.name = "release",
		.help = "Take a job's servers and links back",
		.options = slice_release_options,
		.example = "slice release train --cluster cluster.json",
		.run = slice_release,
	},
	{
		.name = "list",
		.help = "List the jobs of a cluster, and what is free",
		.options = list_options,
		.example = "slice list --cluster cluster.json",
		.run = list,
	},
	{
		.name = "show",
		.help = "Show what a job has",
		.options = show_options,
		.example = "slice show train --cluster cluster.json",
		.run = show,
	},
	{
		.name = "mark",
		.help = "Mark parts of a cluster as drained, failed or usable",
		.options = slice_mark_options,
		.example = "slice mark --cluster cluster.json --as drained --leaves 3",
		.run = slice_mark,
	},
	{
		.name = "wire",
		.help = "Have all circuits joined as the cluster file says",
		.options = slice_wire_options,
		.example = "slice wire --cluster cluster.json --driver ./circuits",
		.run = slice_wire,
	},
	{
		.name = "check",
		.help = "Find the links that flows of a job would meet on",
		.options = slice_check_options,
		.example = "slice check train --cluster cluster.json --pattern ring",
		.run = slice_check,
	},
	{
		.name = "submit",
		.help = "Let a job wait for a place",
		.options = slice_submit_options,
		.example = "slice submit next --cluster cluster.json --gpus 16",
		.run = slice_submit,
	},
	{
		.name = "queue",
		.help = "List the jobs that wait, and start the first ones",
		.options = slice_queue_options,
		.example = "slice queue --cluster cluster.json --start",
		.run = slice_queue,
	},
	{
		.name = "replay",
		.operand = "TRACE",
		.help = "Play a trace of jobs through queue and allocator",
		.options = slice_replay_options,
		.example = "slice replay trace.csv --cluster cluster.json",
		.run = slice_replay,
	},
	{
		.name = "trace",
		.help = "Make up a trace of jobs",
		.options = slice_trace_options,
		.example = "slice trace --jobs 100 --gpus 512",
		.run = slice_trace,
	},
	{}
};

const struct cli_object cli_slice = {
	.name = "slice",
	.help = "give each job its own part of the fabric",
	.verbs = verbs,
};
