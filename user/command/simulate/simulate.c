// SPDX-License-Identifier: GPL-2.0
/* rocesteer simulate: what a policy would bring on a fabric. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"

enum {
	LEAVES, SPINES, HOSTS, PODS, CORES, CLUSTER, RATE, HOST_RATE, PATTERN, SIZE, FLOWS, STEP,
	ALGORITHM, RECORDING, POLICY, DEAD, SLOW, SEEDS, SEED, SVG,
};

/* Of chunk_algs, those that hosts run by themselves */
static const char * const algorithms[] = { "ring", "halving", "direct", "tree", NULL };

static const struct cli_option options[] = {
	[LEAVES] = { "leaves", "N", "leaves, with --pods those of a pod" },
	[SPINES] = { "spines", "N", "spines, with --pods aggs of a pod" },
	[HOSTS] = { "hosts", "N", "hosts below each leaf" },
	[PODS] = { "pods", "N", "pods of a fabric of three tiers" },
	[CORES] = { "cores", "N", "cores above each agg" },
	[CLUSTER] = { "cluster", "FILE",
		      "the fabric of a cluster file of slice, and all its jobs at one time" },
	[RATE] = { "rate", "GBPS", "rate of links between switches, Gbit/s", CLI_NEEDED },
	[HOST_RATE] = { "host-rate", "GBPS", "rate of links of hosts (default: --rate)" },
	[PATTERN] = { "pattern", "NAME", "traffic of hosts with a buffer of --size", 0,
		      sim_patterns },
	[SIZE] = { "size", "BYTES", "bytes of a buffer, also as 64K, 100M, 1G (default 64M)" },
	[FLOWS] = { "flows", "FILE", "traffic from a list of flows" },
	[STEP] = { "step", "NAME|FILE",
		   "a training step, as of chunk train; its ranks are the hosts, in order" },
	[ALGORITHM] = { "algorithm", "NAME", "of the step's collectives (default ring)", 0,
			algorithms },
	[RECORDING] = { "recording", "FILE[,..]",
			"fabric, and bytes that hosts sent in a period, as if all began at once" },
	[POLICY] = { "policy", "POLICY[,POLICY..]",
		     "policies beside ecmp, such as all, label-4qp (default all; of jobs slice)" },
	[DEAD] = { "dead", "N", "links between switches that are dead, at random" },
	[SLOW] = { "slow", "N", "links between switches at half of their rate, at random" },
	[SEEDS] = { "seeds", "N", "repeat with so many seeds (default 1)" },
	[SEED] = { "seed", "N", "the first of these (default 1)" },
	[SVG] = { "svg", "FILE", "draw completion, and the loads of the links" },
	{}
};

static const struct out_column total_columns[] = {
	{ "hosts", "hosts" },
	{ "links", "links between switches" },
	{ "pattern", "pattern" },
	{ "step", "training step" },
	{ "algorithm", "algorithm" },
	{ "compute_s", "computation in s" },
	{ "steps", "steps" },
	{ "of_steps", "of steps" },
	{ "seeds", "seeds" },
	{ "bound_s", "bound in s" },
	{}
};

static const struct out_column policy_columns[] = {
	{ "policy", "POLICY" },
	{ "completion_s", "COMPLETION S" },
	{ "step_s", "STEP S" },
	{ "speedup", "SPEEDUP" },
	{ "over_bound", "X BOUND" },
	{ "over_bound_worst", "WORST" },
	{ "worst_step", "WORST STEP" },
	{ "max_link_over_ideal", "FULLEST LINK" },
	{ "max_link_over_ideal_worst", "WORST" },
	{}
};

static const struct out_column class_columns[] = {
	{ "policy", "POLICY" },
	{ "class", "LINKS" },
	{ "over_ideal", "FULLEST" },
	{ "over_ideal_worst", "WORST" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "policies",
	  .title = "Completion, and load of the fullest link over that of an ideal network:",
	  .columns = policy_columns },
	{ .rows = "policies.classes", .title = "The fullest link of each class:",
	  .columns = class_columns },
	{}
};

/* Rates: decimal_read() has millionths of Gbit/s. */
#define MAX_RATE	1000000000000ull
#define MAX_SIZE	(1024ull << 40)
#define MAX_SEEDS	10000

static int read_rate(const struct cli_args *args, int option, double *rate, struct err *err)
{
	const char *text = args->value[option];
	__u64 value;

	if (!text)
		return 0;
	if (decimal_read(text, 1, MAX_RATE, &value))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--%s: '%s' is not a number of Gbit/s from 0.000001 to 1000000",
			       options[option].name, text);
	*rate = value * 1e3 / 8;
	return 0;
}

/* Options that mean nothing where a file has the fabric */
static int check_without(const struct cli_args *args, int file, const int *others, size_t n,
			 struct err *err)
{
	size_t i;

	for (i = 0; args->value[file] && i < n; i++)
		if (args->value[others[i]])
			return err_set(err, EXIT_BAD_INPUT, "usage", "--%s: not with --%s",
				       options[others[i]].name, options[file].name);
	return 0;
}

/* The fabric is described by numbers, or by files. */
static int read_source(const struct cli_args *args, struct err *err)
{
	static const int either[] = { LEAVES, CLUSTER, RECORDING };
	static const int shape[] = { LEAVES, SPINES, HOSTS };
	static const int recorded[] = { SPINES, HOSTS, PODS };
	static const int described[] = { SPINES, HOSTS, PODS, FLOWS, STEP, SEEDS, SVG };
	size_t i;
	int ret = cli_one(args, either, ARRAY_SIZE(either), err);

	for (i = 0; !ret && args->value[LEAVES] && i < ARRAY_SIZE(shape); i++)
		ret = cli_need(args, shape[i], err);
	return ret ?:
	       check_without(args, CLUSTER, described, ARRAY_SIZE(described), err) ?:
	       check_without(args, RECORDING, recorded, ARRAY_SIZE(recorded), err);
}

static int read_shape(const struct cli_args *args, struct sim_shape *shape, struct err *err)
{
	static const struct cli_with both[] = { { PODS, CORES }, { CORES, PODS } };
	__u64 leaves = 0, spines = 0, hosts = 0, pods = 1, cores = 0;
	int ret;

	ret = read_source(args, err) ?:
	      cli_uint(args, LEAVES, 1, SIM_MAX_HOSTS, &leaves, err) ?:
	      cli_uint(args, SPINES, 1, SIM_MAX_HOSTS, &spines, err) ?:
	      cli_uint(args, HOSTS, 1, SIM_MAX_HOSTS, &hosts, err) ?:
	      cli_uint(args, PODS, 2, SIM_MAX_HOSTS, &pods, err) ?:
	      cli_uint(args, CORES, 1, SIM_MAX_HOSTS, &cores, err) ?:
	      cli_only_with(args, both, ARRAY_SIZE(both), err) ?:
	      read_rate(args, RATE, &shape->rate, err);
	if (ret)
		return ret;
	*shape = (struct sim_shape) {
		.leaves = leaves, .aggs = spines, .hosts = hosts, .pods = pods, .cores = cores,
		.rate = shape->rate, .host_rate = shape->rate,
	};
	return read_rate(args, HOST_RATE, &shape->host_rate, err);
}

static int want(const char *name, void *arg)
{
	struct simulation *s = arg;
	struct sim_policy policy;
	__u32 i;

	if (sim_policy_read(&policy, name))
		return -EINVAL;
	for (i = 0; i < s->nr; i++)
		if (!memcmp(&s->subject[i].policy, &policy, sizeof(policy)))
			return 0;
	if (s->nr == SIMULATE_POLICIES)
		return -EINVAL;
	s->subject[s->nr++].policy = policy;
	return 0;
}

/* ECMP is beside whatever is asked. */
static int read_policies(const struct cli_args *args, struct simulation *s, struct err *err)
{
	const char *list = args->value[POLICY] ?: args->value[CLUSTER] ? "slice" : "all";
	char all[128];

	if (cli_each("policy", list, want, s, err) || want("ecmp", s))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--policy: '%s' is not a list of up to %u policies from %s; ecmp, place and label with a number of queue pairs as in label-4qp",
			       list, SIMULATE_POLICIES - 1,
			       words_list(sim_kinds, all, sizeof(all)));
	return 0;
}

static int read_traffic(const struct cli_args *args, struct simulation *s, struct err *err)
{
	static const int traffics[] = { PATTERN, FLOWS, STEP, RECORDING };
	static const struct cli_with pairs[] = { { SIZE, PATTERN }, { ALGORITHM, STEP } };
	int algorithm = 0, ret;
	__u64 size = 64 << 20;

	s->pattern = -1;
	ret = cli_one(args, traffics, ARRAY_SIZE(traffics), err) ?:
	      cli_only_with(args, pairs, ARRAY_SIZE(pairs), err) ?:
	      cli_word(args, PATTERN, &s->pattern, err) ?:
	      (args->value[SIZE] ? cli_bytes(args, SIZE, MAX_SIZE, &size, err) : 0) ?:
	      cli_word(args, ALGORITHM, &algorithm, err) ?:
	      (args->value[STEP] ? chunk_step_read(&s->step, args->value[STEP], err) : 0);
	s->flows = args->value[FLOWS];
	s->size = size;
	s->alg = words_find(chunk_algs, algorithms[algorithm]);
	return ret;
}

static int read_options(const struct cli_args *args, struct simulation *s, struct err *err)
{
	__u64 dead = 0, slow = 0, seeds = 1, seed = 1;
	int ret;

	ret = read_shape(args, &s->shape, err) ?:
	      read_traffic(args, s, err) ?:
	      read_policies(args, s, err) ?:
	      cli_uint(args, DEAD, 0, SIM_MAX_LINKS, &dead, err) ?:
	      cli_uint(args, SLOW, 0, SIM_MAX_LINKS, &slow, err) ?:
	      cli_uint(args, SEEDS, 1, MAX_SEEDS, &seeds, err) ?:
	      cli_uint(args, SEED, 0, UINT32_MAX - MAX_SEEDS, &seed, err);
	s->svg = args->value[SVG];
	s->dead = dead;
	s->slow = slow;
	s->seeds = seeds;
	s->seed = seed;
	return ret;
}

void simulate_put(struct json_object *obj, const char *key, double value)
{
	out_decimal(obj, key, llround(value * 1e6), 6);
}

void simulate_put_time(struct json_object *obj, const char *key, double seconds)
{
	out_decimal(obj, key, llround(seconds * 1e9), 9);
}

static double step_seconds(const struct simulation *s, const struct subject *subject)
{
	return s->step.compute / 1e12 + subject->mean.completion;
}

/* A step computes, and waits for its collectives. */
static void put_step(struct json_object *obj, const struct simulation *s,
		     const struct subject *subject)
{
	double seconds = step_seconds(s, subject);
	const struct subject *ecmp = s->subject;

	while (ecmp->policy.kind != SIM_ECMP || ecmp->policy.qps > 1)
		ecmp++;
	simulate_put_time(obj, "step_s", seconds);
	simulate_put(obj, "speedup", step_seconds(s, ecmp) / seconds);
}

static void put_subject(struct json_object *obj, const struct simulation *s,
			const struct subject *subject)
{
	struct json_object *classes, *row;
	enum sim_class class;

	simulate_put_time(obj, "completion_s", subject->mean.completion);
	if (s->step.nr)
		put_step(obj, s, subject);
	simulate_put(obj, "over_bound", subject->over_bound);
	simulate_put(obj, "over_bound_worst", subject->worst_over_bound);
	simulate_put(obj, "worst_step", subject->worst.worst_step);
	simulate_put(obj, "max_link_over_ideal", subject->mean.over_ideal);
	simulate_put(obj, "max_link_over_ideal_worst", subject->worst.over_ideal);
	classes = out_array(obj, "classes");
	for (class = SIM_LEAF_UP; class <= SIM_LEAF_DOWN; class++) {
		if (!s->shape.cores && (class == SIM_AGG_UP || class == SIM_AGG_DOWN))
			continue;
		row = out_append_object(classes);
		out_string(row, "class", sim_class_name(&s->fabric, class));
		simulate_put(row, "over_ideal", subject->mean.class_over_ideal[class]);
		simulate_put(row, "over_ideal_worst", subject->worst.class_over_ideal[class]);
	}
}

static void put_shape(struct json_object *root, const struct sim_shape *shape)
{
	struct json_object *obj = out_object(root, "fabric");

	if (shape->cores)
		out_uint(obj, "pods", shape->pods);
	out_uint(obj, "leaves", shape->leaves);
	out_uint(obj, shape->cores ? "aggs" : "spines", shape->aggs);
	if (shape->cores)
		out_uint(obj, "cores", shape->cores);
	out_uint(obj, "hosts", shape->hosts);
	simulate_put(obj, "rate", shape->rate * 8 / 1e9);
	simulate_put(obj, "host_rate", shape->host_rate * 8 / 1e9);
}

const char *simulate_traffic(const struct simulation *s)
{
	return s->step.nr ? "step" : s->flows ? "flows" :
	       s->pattern < 0 ? "recording" : sim_patterns[s->pattern];
}

static void put_pattern(struct json_object *root, const struct simulation *s)
{
	out_string(root, "pattern", simulate_traffic(s));
	if (!s->step.nr)
		return;
	out_string(root, "step", s->step.name);
	out_string(root, "algorithm", chunk_algs[s->alg]);
	simulate_put_time(root, "compute_s", s->step.compute / 1e12);
}

/* The first policy is the one that is asked for: the root has what came of it, too. */
static int show(const struct out *out, const struct simulation *s)
{
	struct json_object *root = out_root(), *rows, *row;
	char name[SIM_POLICY_NAME];
	__u32 i;

	put_shape(root, &s->shape);
	out_uint(root, "hosts", sim_hosts(&s->shape));
	out_uint(root, "links", s->fabric.first[SIM_HOST_DOWN] - s->fabric.first[SIM_LEAF_UP]);
	put_pattern(root, s);
	out_uint(root, "steps", s->steps);
	if (s->all_steps > s->steps)
		out_uint(root, "of_steps", s->all_steps);
	out_uint(root, "seeds", s->seeds);
	simulate_put_time(root, "bound_s", s->subject[0].mean.bound);
	put_subject(root, s, &s->subject[0]);
	rows = out_array(root, "policies");
	for (i = 0; i < s->nr; i++) {
		row = out_append_object(rows);
		out_string(row, "policy", sim_policy_name(&s->subject[i].policy, name));
		put_subject(row, s, &s->subject[i]);
	}
	return out_show(out, root, views);
}

static int run(const struct cli_args *args, struct err *err)
{
	struct simulation s = {};
	__u32 i;
	int ret;

	ret = read_options(args, &s, err);
	if (!ret && s.svg)
		ret = file_check(s.svg, SIMULATE_SVG_BEGIN, "picture", err);
	if (!ret && args->value[CLUSTER])
		ret = simulate_cluster(&s, args->value[CLUSTER], &args->out, err);
	else if (!ret && args->value[RECORDING])
		ret = simulate_recording(&s, args->value[RECORDING], err);
	if (!ret && !args->value[CLUSTER])
		ret = simulate(&s, err) ?: (s.svg ? simulate_svg(&s, err) : 0) ?:
		      show(&args->out, &s);
	for (i = 0; i < s.nr; i++)
		free(s.subject[i].load);
	sim_traffic_free(&s.traffic);
	sim_fabric_free(&s.fabric);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Predict what a policy brings on a fabric that need not be there",
		.options = options,
		.example = "simulate --leaves 8 --spines 8 --hosts 8 --rate 400 --step dlrm",
		.run = run,
	},
	{}
};

const struct cli_object cli_simulate = {
	.name = "simulate",
	.help = "predict what a policy brings on a fabric",
	.verbs = verbs,
};
