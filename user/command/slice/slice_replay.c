// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice replay and trace. */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"
#include "replay/replay.h"
#include "slice.h"

enum { CLUSTER, POLICY, ORDER, SEED };

const struct cli_option slice_replay_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file: what jobs may have", CLI_NEEDED },
	[POLICY] = { "policy", "POLICY[,POLICY..]",
		     "policies to play (default: all)" },
	[ORDER] = { "order", "ORDER", "the next of the jobs that wait (default: fifo)",
		    .words = queue_order_names },
	[SEED] = { "seed", "N", "seed of random choices (default: 1)" },
	{}
};

enum { T_JOBS, T_GPUS, T_LIKE, T_LOAD, T_SEED };

const struct cli_option slice_trace_options[] = {
	[T_JOBS] = { "jobs", "N", "number of jobs", CLI_NEEDED },
	[T_GPUS] = { "gpus", "N", "number of GPUs of the cluster", CLI_NEEDED },
	[T_LIKE] = { "like", "KIND", "sizes of the jobs (default: powers-of-two)",
		     .words = trace_like_names },
	[T_LOAD] = { "load", "SHARE",
		     "share of the GPUs that jobs want (default: 0.9)" },
	[T_SEED] = { "seed", "N", "seed of random choices (default: 1)" },
	{}
};

static const struct out_column total_columns[] = {
	{ "jobs", "jobs" },
	{ "gpus", "free GPUs" },
	{ "order", "order" },
	{}
};

static const struct out_column policy_columns[] = {
	{ "policy", "POLICY" },
	{ "jrt_s", "JRT" },
	{ "jwt_s", "JWT" },
	{ "jct_s", "JCT" },
	{ "jct_p99_s", "JCT P99" },
	{ "jct_to_ideal", "TO IDEAL" },
	{ "fragmentation", "FRAGMENTATION" },
	{ "slowed", "SLOWED" },
	{ "refused", "REFUSED" },
	{ "moved", "MOVED" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "policies", .title = "Mean times in s:",
	  .columns = policy_columns },
	{}
};

struct play {
	struct replay_spec spec;
	struct cluster c;
	struct ocs ocs;		/* where the file has none */
	bool wanted[REPLAY_POLICIES];
	enum replay_policy policy;	/* the one that runs */
	struct replay_result result[REPLAY_POLICIES];
	struct progress line;
};

static int want(const char *item, void *arg)
{
	struct play *play = arg;
	int i = words_find(replay_policy_names, item);

	if (i < 0)
		return -EINVAL;
	play->wanted[i] = true;
	return 0;
}

static int read_options(const struct cli_args *args, struct play *play, struct err *err)
{
	const char *list = args->value[POLICY];
	int order = QUEUE_FIFO, i;
	char all[128];
	__u64 seed = 1;

	for (i = 0; !list && i < REPLAY_POLICIES; i++)
		play->wanted[i] = true;
	if (list && cli_each("policy", list, want, play, err))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--policy: '%s' is not a list of policies from %s",
			       list, words_list(replay_policy_names, all, sizeof(all)));
	if (cli_word(args, ORDER, &order, err) || cli_uint(args, SEED, 0, UINT32_MAX, &seed, err))
		return -EINVAL;
	play->spec.order = order;
	play->spec.seed = seed;
	return 0;
}

/*
 * The circuits that make the cables of a cluster without OXCs: as many OXCs as
 * a leaf has links; links that are not for jobs are fixed, and shut if their pair is.
 */
static int make_ocs(const struct slice_fabric *fabric, struct ocs *ocs)
{
	__u32 leaf, oxc;

	*ocs = (struct ocs) {
		.leaves = fabric->leaves, .spines = fabric->spines,
		.oxcs = fabric->spines * fabric->links_per_pair,
		.spine_ports = (fabric->leaves + fabric->spines - 1) /
			       fabric->spines,
	};
	if (ocs_init(ocs))
		return -ENOMEM;
	ocs_wire_default(ocs);
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);
			size_t pair = ocs_pair(ocs, leaf, ocs->circuit[port]);

			ocs->fixed[port] = oxc / ocs->spines >=
					   fabric->free_links[pair];
			ocs->shut[pair] = !fabric->free_links[pair];
		}
	}
	return 0;
}

static void show_progress(__u32 done, void *arg)
{
	struct play *play = arg;

	progress_update(&play->line, "%s: %u of %u jobs",
			replay_policy_names[play->policy], done,
			play->spec.jobs);
}

static int run(struct play *play)
{
	int i, ret = 0;

	progress_start(&play->line);
	play->spec.progress = show_progress;
	play->spec.arg = play;
	for (i = 0; !ret && i < REPLAY_POLICIES; i++) {
		play->policy = i;
		if (play->wanted[i])
			ret = replay_run(&play->spec, i, &play->result[i]);
	}
	progress_end(&play->line);
	return ret;
}

static __u64 ratio(__u64 part, __u64 whole)
{
	return whole ? (__uint128_t)part * 10000 / whole : 10000;
}

/* A mean in milliseconds, for three decimals. */
static void put_mean(struct json_object *row, const char *key, __u64 sum, __u32 jobs)
{
	out_decimal(row, key, jobs ? sum / jobs / 1000 : 0, 3);
}

static void put_policy(struct json_object *rows, const struct play *play, enum replay_policy policy)
{
	const struct replay_result *ideal = &play->result[REPLAY_IDEAL];
	const struct replay_result *r = &play->result[policy];
	struct json_object *row = out_append_object(rows);

	out_string(row, "policy", replay_policy_names[policy]);
	put_mean(row, "jrt_s", r->jrt, r->placed);
	put_mean(row, "jwt_s", r->jwt, r->placed);
	put_mean(row, "jct_s", r->jrt + r->jwt, r->placed);
	put_mean(row, "jct_p99_s", r->jct_p99, 1);
	if (play->wanted[REPLAY_IDEAL] && ideal->placed == r->placed)
		out_decimal(row, "jct_to_ideal",
			    ratio(r->jrt + r->jwt, ideal->jrt + ideal->jwt), 4);
	put_mean(row, "makespan_s", r->makespan, 1);
	/* Refused jobs neither use nor wait for GPUs: the share would be too good. */
	if (!r->refused)
		out_decimal(row, "fragmentation", ratio(r->used, r->usable), 4);
	out_uint(row, "slowed", r->slowed);
	out_uint(row, "refused", r->refused);
	out_uint(row, "moved", r->moved);
}

static int show(const struct cli_args *args, const struct play *play)
{
	struct json_object *root = out_root(), *rows;
	size_t servers = (size_t)play->c.fabric.leaves *
			 play->c.fabric.gpus_per_leaf /
			 play->c.fabric.gpus_per_server, i;
	bool refused = false;
	__u64 gpus = 0;

	for (i = 0; i < servers; i++)
		gpus += play->c.fabric.free_gpus[i];
	out_uint(root, "jobs", play->spec.jobs);
	out_uint(root, "gpus", gpus);
	out_string(root, "order", queue_order_names[play->spec.order]);
	rows = out_array(root, "policies");
	for (i = 0; i < REPLAY_POLICIES; i++) {
		if (play->wanted[i])
			put_policy(rows, play, i);
		refused |= play->result[i].refused;
	}
	if (refused)
		out_note(&args->out, "Times leave out the jobs that were refused.");
	return out_show(&args->out, root, views);
}

static int play_trace(const struct cli_args *args, struct play *play, struct err *err)
{
	const struct slice_fabric *fabric = &play->c.fabric;
	struct trace_job *jobs;
	int ret;

	ret = trace_read(args->operand, fabric->leaves * fabric->gpus_per_leaf,
			 &jobs, &play->spec.jobs, err);
	if (ret)
		return ret;
	play->spec.fabric = fabric;
	play->spec.job = jobs;
	play->spec.ocs = &play->c.ocs;
	if (!play->c.ocs.oxcs) {
		ret = make_ocs(fabric, &play->ocs);
		play->spec.ocs = &play->ocs;
	}
	ret = ret ?: run(play) ?: show(args, play);
	ocs_free(&play->ocs);
	free(jobs);
	return ret;
}

int slice_replay(const struct cli_args *args, struct err *err)
{
	struct play play = {};
	int ret;

	ret = read_options(args, &play, err) ?:
	      cluster_read(&play.c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	ret = play_trace(args, &play, err);
	cluster_close(&play.c);
	return ret;
}

static int print_trace(const struct cli_args *args,
		       const struct trace_job *jobs, __u32 nr, struct err *err)
{
	struct json_object *root, *rows, *row;
	__u32 i;

	if (!args->out.json) {
		trace_write(stdout, jobs, nr);
		if (!fflush(stdout) && !ferror(stdout))
			return 0;
		return err_errno(err, errno, "write", "standard output");
	}
	root = out_root();
	rows = out_array(root, "jobs");
	for (i = 0; i < nr; i++) {
		row = out_append_object(rows);
		out_decimal(row, "arrival", jobs[i].arrival, DECIMAL_PLACES);
		out_uint(row, "gpus", jobs[i].gpus);
		out_decimal(row, "duration", jobs[i].duration, DECIMAL_PLACES);
		out_decimal(row, "communication", jobs[i].communication, DECIMAL_PLACES);
		out_string(row, "pattern", contention_pattern_names[jobs[i].pattern]);
	}
	return out_show(&args->out, root, NULL);
}

static int read_trace_options(const struct cli_args *args, struct trace_spec *spec, struct err *err)
{
	__u64 jobs = 0, gpus = 0, load = 900000, seed = 1;
	const char *share = args->value[T_LOAD];
	int like = TRACE_POWERS, ret;

	ret = cli_uint(args, T_JOBS, 1, TRACE_MAX_JOBS, &jobs, err) ?:
	      cli_uint(args, T_GPUS, 1, SLICE_MAX_LEAVES * SLICE_MAX_GPUS, &gpus, err) ?:
	      cli_word(args, T_LIKE, &like, err) ?:
	      cli_uint(args, T_SEED, 0, UINT32_MAX, &seed, err);
	if (ret)
		return ret;
	if (like == TRACE_PAPER && gpus < TRACE_PAPER_GPUS)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--gpus: %llu are too few for --like paper: it has jobs of %u",
			       gpus, TRACE_PAPER_GPUS);
	if (share && decimal_read(share, 1000, 100 * TRACE_SHARE, &load))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--load: '%s' is not a number from 0.001 to 100",
			       share);
	*spec = (struct trace_spec) { like, jobs, gpus, load, seed };
	return 0;
}

int slice_trace(const struct cli_args *args, struct err *err)
{
	struct trace_spec spec;
	struct trace_job *job;
	int ret;

	ret = read_trace_options(args, &spec, err);
	if (ret)
		return ret;
	job = calloc(spec.jobs, sizeof(*job));
	if (!job)
		return -ENOMEM;
	trace_make(&spec, job);
	if (job[spec.jobs - 1].arrival > TRACE_MAX_TIME)
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--jobs: arrivals span more than %llu s: take fewer jobs, or a higher --load",
			      TRACE_MAX_TIME / TRACE_SECOND);
	else
		ret = print_trace(args, job, spec.jobs, err);
	free(job);
	return ret;
}
