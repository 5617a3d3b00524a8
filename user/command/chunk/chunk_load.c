// SPDX-License-Identifier: GPL-2.0
/* rocesteer chunk load and unload: the chunks of a job that is loaded. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "steer/steer.h"
#include "chunk.h"
#include "chunk_load.h"
#include "../interrupt.h"

enum { JOB, CHUNK_PLAN, RANGES, DSCP };

const struct cli_option chunk_load_options[] = {
	[JOB] = { "job", "ID", "number of the job", CLI_NEEDED | CLI_NAMES },
	[CHUNK_PLAN] = { "chunk-plan", "FILE",
			 "plan, from rocesteer chunk plan --json", CLI_NEEDED },
	[RANGES] = { "ranges", "FILE", "memory of its peers that the host writes", CLI_NEEDED },
	[DSCP] = { "dscp", "D1,..", CHUNK_DSCP_HELP },
	{}
};

enum { U_JOB };

const struct cli_option chunk_unload_options[] = {
	[U_JOB] = { "job", "ID", "number of the job", CLI_NEEDED | CLI_NAMES },
	{}
};

static const struct out_column load_columns[] = {
	{ "job", "job" },
	{ "hash", "hash" },
	{ "chunks", "chunks" },
	{ "ranges", "ranges" },
	{ "dscp", "DSCP of classes" },
	{}
};

static const struct out_view load_views[] = {
	{ .columns = load_columns },
	{}
};

static const struct out_column unload_columns[] = {
	{ "job", "job" },
	{ "unloaded", "chunks unloaded" },
	{}
};

static const struct out_view unload_views[] = {
	{ .columns = unload_columns },
	{}
};

static int add_dscp(const char *item, void *arg)
{
	struct chunk_table *table = arg;
	__u64 dscp;

	if (table->nr_classes + 1 == ROCESTEER_MAX_CLASSES || cli_number(item, 0, 63, &dscp))
		return -EINVAL;
	table->dscp[++table->nr_classes] = dscp;
	return 0;
}

int chunk_load_read(struct chunk_table *table, const char *plan,
		    const char *ranges, const char *dscp, struct err *err)
{
	*table = (struct chunk_table) {};
	if (cli_each("dscp", dscp ?: CHUNK_DSCP, add_dscp, table, err))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--dscp: '%s' is not 1 to %u numbers up to 63",
			       dscp, ROCESTEER_MAX_CLASSES - 1);
	return chunk_table_read(table, plan, ranges, err);
}

void chunk_load_put(struct json_object *root, const struct chunk_table *table)
{
	struct json_object *dscp;
	char hash[17];
	__u32 i;

	snprintf(hash, sizeof(hash), "%016llx", table->hash);
	out_string(root, "hash", hash);
	out_uint(root, "chunks", table->plan.of.chunks);
	out_uint(root, "ranges", table->nr_ranges);
	dscp = out_array(root, "dscp");
	for (i = 1; i <= table->nr_classes; i++)
		out_append_uint(dscp, table->dscp[i]);
}

static int load(const struct cli_args *args, __u32 job,
		const struct chunk_table *table, struct err *err)
{
	struct json_object *root;
	struct steer *steer;
	int ret;

	ret = steer_open(&steer, 0, err);
	if (ret)
		return ret;
	interrupt_hold();
	ret = steer_chunks_add(steer, job, table, err);
	steer_close(steer);
	interrupt_release();
	if (ret)
		return ret;
	root = out_root();
	out_uint(root, "job", job);
	chunk_load_put(root, table);
	return out_show(&args->out, root, load_views);
}

int chunk_load_run(const struct cli_args *args, struct err *err)
{
	struct chunk_table table = {};
	__u64 job;
	int ret;

	ret = cli_uint(args, JOB, 1, 0xffffffff, &job, err) ?:
	      chunk_load_read(&table, args->value[CHUNK_PLAN], args->value[RANGES],
			      args->value[DSCP], err) ?:
	      load(args, job, &table, err);
	chunk_table_free(&table);
	return ret;
}

int chunk_unload_run(const struct cli_args *args, struct err *err)
{
	struct rocesteer_chunk_job chunks = {};
	struct json_object *root;
	struct steer *steer;
	__u64 job;
	int ret;

	ret = cli_uint(args, U_JOB, 1, 0xffffffff, &job, err) ?:
	      steer_open(&steer, 0, err);
	if (ret)
		return ret;
	interrupt_hold();
	steer_chunks_get(steer, job, &chunks);
	ret = steer_chunks_del(steer, job, err);
	steer_close(steer);
	interrupt_release();
	if (ret)
		return ret;
	root = out_root();
	out_uint(root, "job", job);
	out_uint(root, "unloaded", chunks.nr_chunks);
	return out_show(&args->out, root, unload_views);
}
