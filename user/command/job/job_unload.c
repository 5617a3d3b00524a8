// SPDX-License-Identifier: GPL-2.0
/* rocesteer job unload: from the module first, so that it tags no more flows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steer.h"
#include "../interrupt.h"
#include "job.h"
#include "../module.h"

enum { JOB, ALL };

const struct cli_option job_unload_options[] = {
	[JOB] = { "job", "ID", "number of the job", CLI_NAMES },
	[ALL] = { "all", NULL, "every job of this network namespace" },
	{}
};

/* The jobs to unload. */
struct ids {
	__u32 *id;
	size_t n;
};

#define MANY	16	/* more numbers than people read */

static const struct out_column columns[] = {
	{ "unloaded", "unloaded" },
	{}
};

static const struct out_column many_columns[] = {
	{ "jobs", "jobs unloaded" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

static const struct out_view many_views[] = {
	{ .columns = many_columns },
	{}
};

static int add_id(struct ids *ids, __u32 id)
{
	__u32 *bigger;
	size_t i;

	for (i = 0; i < ids->n; i++)
		if (ids->id[i] == id)
			return 0;
	bigger = reallocarray(ids->id, ids->n + 1, sizeof(id));
	if (!bigger)
		return -ENOMEM;
	ids->id = bigger;
	ids->id[ids->n++] = id;
	return 0;
}

static int compare(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

static int take_loaded(__u32 id, const struct rocesteer_job *job, void *arg)
{
	(void)job;
	return add_id(arg, id);
}

static int take_registered(const struct genl_job *job, void *arg)
{
	return add_id(arg, job->id);
}

static int collect(const struct cli_args *args, struct steer *steer,
		   struct genl *genl, struct ids *ids, struct err *err)
{
	__u64 id = 0;
	int ret = 0;

	if (args->value[JOB]) {
		ret = cli_uint(args, JOB, 1, 0xffffffff, &id, err);
		return ret ?: add_id(ids, id);
	}
	if (steer)
		ret = steer_job_each(steer, take_loaded, ids);
	if (!ret && genl)
		ret = genl_job_each(genl, take_registered, ids, err);
	if (ids->n)
		qsort(ids->id, ids->n, sizeof(*ids->id), compare);
	return ret;
}

/* The record may be of a job that another BPF file system pins. */
static int drop_tables(struct steer *steer, __u32 id, struct err *err)
{
	struct json_object *record = job_record_read(steer, id);
	int ret = steer_job_del(steer, id, err);

	if (!ret && record)
		job_record_remove(steer, id);
	json_object_put(record);
	return ret;
}

static int unload(struct steer *steer, struct genl *genl, __u32 id, struct err *err)
{
	int module = -ENOENT, tables = -ENOENT;

	if (genl)
		module = genl_job_del(genl, id, err);
	if (module && module != -ENOENT)
		return module;
	if (steer)
		tables = drop_tables(steer, id, err);
	if (tables && tables != -ENOENT)
		return tables;
	if (!module || !tables) {
		err->code = NULL;
		return 0;
	}
	return steer_job_missing(id, err);
}

static int unload_each(const struct cli_args *args, struct steer *steer,
		       struct genl *genl, struct json_object *array,
		       struct err *err)
{
	struct ids ids = {};
	size_t i;
	int ret;

	ret = collect(args, steer, genl, &ids, err);
	for (i = 0; !ret && i < ids.n; i++) {
		ret = unload(steer, genl, ids.id[i], err);
		if (!ret)
			out_append_uint(array, ids.id[i]);
	}
	free(ids.id);
	return ret;
}

int job_drop(__u32 id, struct err *err)
{
	struct steer *steer = NULL;
	struct genl *genl = NULL;
	int ret;

	ret = steer_open(&steer, 0, err);
	if (ret)
		return ret;
	module_open(&genl, MODULE_AUTO, err);
	interrupt_hold();
	ret = unload(steer, genl, id, err);
	genl_close(genl);
	steer_close(steer);
	interrupt_release();
	return ret;
}

int job_unload(const struct cli_args *args, struct err *err)
{
	static const int which[] = { JOB, ALL };
	struct json_object *root, *unloaded;
	struct steer *steer = NULL;
	struct genl *genl = NULL;
	__u64 id = 0;
	size_t jobs;
	int ret;

	ret = cli_one(args, which, ARRAY_SIZE(which), err) ?:
	      cli_uint(args, JOB, 1, 0xffffffff, &id, err);
	if (ret)
		return ret;
	ret = steer_open(&steer, 0, err);
	if (ret && ret != -ENOENT)
		return ret;
	/* An unusable module keeps no job loaded. */
	if (module_open(&genl, MODULE_AUTO, err))
		out_note(&args->out, "%s", err->message);
	err->code = NULL;
	root = out_root();
	unloaded = out_array(root, "unloaded");
	interrupt_hold();
	ret = unload_each(args, steer, genl, unloaded, err);
	genl_close(genl);
	steer_close(steer);
	interrupt_release();
	if (!ret && !args->out.json && !json_object_array_length(unloaded)) {
		json_object_put(root);
		out_note(&args->out, "no job is loaded");
		return 0;
	}
	jobs = json_object_array_length(unloaded);
	out_uint(root, "jobs", jobs);
	if (!ret)
		return out_show(&args->out, root, jobs > MANY ? many_views : views);
	json_object_put(root);
	return ret;
}
