// SPDX-License-Identifier: GPL-2.0
/* rocesteer simulate --cluster: all jobs of a cluster file at one time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "simulate.h"

#define ROUNDS	3u	/* of the job that has the fewest */

/**
 * struct busy - a cluster and the jobs that communicate
 * @s: what is simulated
 * @c: cluster
 * @used: by server: GPUs of jobs so far
 * @job: jobs with several GPUs
 * @about: by job: its name, GPUs and leaves
 * @nr: number of @job
 * @line: progress
 * @policy: that is played
 */
struct busy {
	struct simulation *s;
	struct cluster c;
	__u16 *used;
	struct sim_job *job;
	struct about {
		const char *name;
		__u32 gpus;
		__u32 leaves;
	} *about;
	__u32 nr;
	struct progress line;
	struct sim_policy policy;
};

static const struct out_column total_columns[] = {
	{ "jobs", "jobs" },
	{ "pattern", "pattern" },
	{}
};

static const struct out_column policy_columns[] = {
	{ "policy", "POLICY" },
	{ "slowdown", "X BOUND" },
	{ "slowdown_worst", "WORST JOB" },
	{ "slowed", "SLOWED JOBS" },
	{}
};

static const struct out_column job_columns[] = {
	{ "job", "JOB" },
	{ "gpus", "GPUS" },
	{ "leaves", "LEAVES" },
	{ "bound_s", "BOUND S" },
	{ "policy", "POLICY" },
	{ "round_s", "ROUND S" },
	{ "slowdown", "X BOUND" },
	{ "slowdown_worst", "WORST ROUND" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "policies", .title = "A round of communication, mean over the jobs:",
	  .empty = "no job has several GPUs", .columns = policy_columns },
	{ .rows = "jobs_by_policy", .title = "Rounds of each job:", .columns = job_columns },
	{}
};

/* Take GPUs of a server. Return: the first, as a host of the fabric. */
static __u32 take_gpus(struct busy *b, struct json_object *server, __u32 *gpus)
{
	const struct slice_fabric *fabric = &b->c.fabric;
	__u32 leaf, number, first;
	struct json_object *value;

	json_object_object_get_ex(server, "leaf", &value);
	leaf = json_object_get_int(value);
	json_object_object_get_ex(server, "server", &value);
	number = json_object_get_int(value);
	json_object_object_get_ex(server, "gpus", &value);
	*gpus = json_object_get_int(value);
	number += leaf * (fabric->gpus_per_leaf / fabric->gpus_per_server);
	first = number * fabric->gpus_per_server + b->used[number];
	b->used[number] += *gpus;
	return first;
}

/* The host of each rank */
static void number_hosts(struct busy *b, struct json_object *servers, __u32 *host)
{
	size_t n = json_object_array_length(servers), i;
	__u32 rank = 0, gpus, first, g;

	for (i = 0; i < n; i++) {
		first = take_gpus(b, json_object_array_get_idx(servers, i), &gpus);
		for (g = 0; g < gpus; g++)
			host[rank++] = first + g;
	}
}

/* From ranks to hosts; a flow between leaves has the lane of its sender. */
static int place_traffic(struct sim_traffic *traffic, const struct contention_slice *slice,
			 const __u32 *host)
{
	const struct contention_layout *layout = &slice->layout;
	size_t i;

	traffic->way = calloc(traffic->nr + 1, sizeof(*traffic->way));
	if (!traffic->way)
		return -ENOMEM;
	for (i = 0; i < traffic->nr; i++) {
		struct sim_flow *flow = &traffic->flow[i];

		if (layout->leaf[flow->from] != layout->leaf[flow->to]) {
			traffic->way[traffic->nr_ways] = (struct sim_way) {
				slice->spines[flow->from % layout->lanes], 1
			};
			flow->first_way = traffic->nr_ways++;
			flow->nr_ways = 1;
		}
		flow->from = host[flow->from];
		flow->to = host[flow->to];
	}
	return 0;
}

static int make_job(struct busy *b, const char *name, struct json_object *json,
		    struct contention_slice *slice, struct err *err)
{
	struct sim_job *job = &b->job[b->nr];
	__u32 ranks = slice->layout.ranks, group = slice->layout.lanes;
	__u32 *host = calloc(ranks, sizeof(*host));
	struct json_object *servers;
	int ret;

	if (!host)
		return -ENOMEM;
	json_object_object_get_ex(json, "servers", &servers);
	number_hosts(b, servers, host);
	if (ranks < 2) {
		free(host);
		return 0;
	}
	b->about[b->nr++] = (struct about) { name, ranks, slice->layout.leaves };
	if (!group || ranks % group)
		group = ranks;
	ret = sim_traffic_make(&job->traffic, b->s->pattern, ranks, group, b->s->size,
			       b->s->seed + b->nr);
	if (ret == -E2BIG)
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--pattern: %s of %u GPUs has more than %u flows at one time",
			      sim_patterns[b->s->pattern], ranks, SIM_MAX_FLOWS);
	ret = ret ?: place_traffic(&job->traffic, slice, host);
	free(host);
	return ret;
}

static int read_job(struct busy *b, const char *name, struct json_object *obj, struct err *err)
{
	struct json_object *json = cluster_job_json(&b->c, name, obj);
	struct reader r = { .file = b->c.file, .err = err };
	struct contention_slice slice;
	int ret;

	ret = contention_read_slice(&slice, &r, json) ?: make_job(b, name, json, &slice, err);
	contention_slice_free(&slice);
	json_object_put(json);
	return ret;
}

static int read_jobs(struct busy *b, struct err *err)
{
	struct json_object *jobs;
	int ret = 0;

	json_object_object_get_ex(b->c.root, "jobs", &jobs);
	b->used = calloc((size_t)b->c.fabric.leaves * b->c.fabric.gpus_per_leaf,
			 sizeof(*b->used));
	b->job = calloc(json_object_object_length(jobs) + 1, sizeof(*b->job));
	b->about = calloc(json_object_object_length(jobs) + 1, sizeof(*b->about));
	if (!b->used || !b->job || !b->about)
		return -ENOMEM;
	json_object_object_foreach(jobs, name, obj) {
		ret = ret ?: read_job(b, name, obj, err);
	}
	return ret;
}

static int build(struct busy *b, struct err *err)
{
	const struct slice_fabric *fabric = &b->c.fabric;
	struct sim_shape *shape = &b->s->shape;

	if (fabric->links_per_pair > 1 || b->c.ocs.oxcs)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "%s: only clusters with one link between a leaf and a spine are simulated",
			       b->c.file);
	shape->pods = 1;
	shape->leaves = fabric->leaves;
	shape->aggs = fabric->spines;
	shape->hosts = fabric->gpus_per_leaf;
	return sim_fabric_init(&b->s->fabric, shape) ?:
	       simulate_break(b->s, b->s->seed, err);
}

static void put_jobs(struct json_object *root, const struct busy *b)
{
	struct json_object *policies, *rows, *row;
	double mean = 0, worst = 0;
	char name[SIM_POLICY_NAME];
	__u32 slowed = 0, i;

	json_object_object_get_ex(root, "jobs_by_policy", &rows);
	json_object_object_get_ex(root, "policies", &policies);
	sim_policy_name(&b->policy, name);
	for (i = 0; i < b->nr; i++) {
		const struct sim_job *job = &b->job[i];
		double slowdown = job->mean / job->bound;

		row = out_append_object(rows);
		out_string(row, "job", b->about[i].name);
		out_uint(row, "gpus", b->about[i].gpus);
		out_uint(row, "leaves", b->about[i].leaves);
		simulate_put_time(row, "bound_s", job->bound);
		out_string(row, "policy", name);
		simulate_put_time(row, "round_s", job->mean);
		simulate_put(row, "slowdown", slowdown);
		simulate_put(row, "slowdown_worst", job->worst / job->bound);
		mean += slowdown / b->nr;
		worst = fmax(worst, slowdown);
		slowed += slowdown > 1.01;
	}
	row = out_append_object(policies);
	out_string(row, "policy", name);
	simulate_put(row, "slowdown", mean);
	simulate_put(row, "slowdown_worst", worst);
	out_uint(row, "slowed", slowed);
}

static void show_progress(__u32 rounds, void *arg)
{
	struct busy *b = arg;
	char name[SIM_POLICY_NAME];

	progress_update(&b->line, "%s: round %u of %u of %u jobs",
			sim_policy_name(&b->policy, name), rounds, ROUNDS, b->nr);
}

static int play(struct busy *b, struct json_object *root, struct err *err)
{
	struct sim_jobs jobs = {
		.fabric = &b->s->fabric, .job = b->job, .nr = b->nr, .seed = b->s->seed,
		.rounds = ROUNDS, .progress = show_progress, .arg = b,
	};
	__u32 i;
	int ret = 0;

	for (i = 0; !ret && b->nr && i < b->s->nr; i++) {
		jobs.policy = b->s->subject[i].policy;
		b->policy = jobs.policy;
		ret = sim_play_jobs(&jobs, err);
		if (!ret)
			put_jobs(root, b);
	}
	return ret;
}

static int show(struct busy *b, const struct out *out, struct err *err)
{
	struct json_object *root = out_root();
	int ret;

	out_uint(root, "jobs", b->nr);
	out_string(root, "pattern", sim_patterns[b->s->pattern]);
	out_array(root, "policies");
	out_array(root, "jobs_by_policy");
	progress_start(&b->line);
	ret = play(b, root, err);
	progress_end(&b->line);
	if (!ret)
		return out_show(out, root, views);
	json_object_put(root);
	return ret;
}

int simulate_cluster(struct simulation *s, const char *file, const struct out *out, struct err *err)
{
	struct busy b = { .s = s };
	__u32 i;
	int ret;

	ret = cluster_read(&b.c, file, err);
	if (ret)
		return ret;
	ret = build(&b, err) ?: read_jobs(&b, err) ?: show(&b, out, err);
	for (i = 0; i < b.nr; i++)
		sim_traffic_free(&b.job[i].traffic);
	free(b.job);
	free(b.about);
	free(b.used);
	cluster_close(&b.c);
	return ret;
}
