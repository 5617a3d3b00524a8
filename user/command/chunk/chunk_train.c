// SPDX-License-Identifier: GPL-2.0
/* rocesteer chunk train: steps of a training job under each policy. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "chunk_networks.h"

enum { STEP = CHUNK_OPTIONS, };

const struct cli_option chunk_train_options[] = {
	CHUNK_SHARED_OPTIONS(),
	[STEP] = { "step", "NAME|FILE",
		"resnet-152, gnmt, dlrm, transformer-1t (default: all), or a file" },
	{}
};

static const struct out_column step_columns[] = {
	{ "step", "STEP" },
	{ "speedup", "SPEEDUP" },
	{ "most", "MOST" },
	{ "best_speedup", "BEST" },
	{ "ideal_speedup", "IDEAL" },
	{ "paper_speedup", "PAPER" },
	{ "paper_most", "PAPER MOST" },
	{ "paper_ideal", "PAPER IDEAL" },
	{}
};

static const struct out_column network_columns[] = {
	{ "step", "STEP" },
	{ "dims", "DIMENSIONS" },
	{ "bandwidth", "GIB/S" },
	{ "compute_us", "COMPUTE" },
	{ "baseline_us", "BASELINE" },
	{ "scf_us", "THEMIS SCF" },
	{ "best_us", "BEST" },
	{ "ideal_us", "IDEAL" },
	{ "speedup", "SPEEDUP" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "steps",
	  .title = "Speed-up of a step by themis scf (best and ideal beside it), and the paper's:",
	  .columns = step_columns },
	{ .rows = "networks",
	  .title = "Computation, and communication that the step waits for, in us:",
	  .columns = network_columns },
	{}
};

enum { BASELINE, SCF, BEST, IDEAL, SUBJECTS };

/**
 * struct training - what is played
 * @args: the options
 * @networks: the networks
 * @progress: shown while plans are searched
 * @root: the output
 * @err: names what is wrong
 */
struct training {
	const struct cli_args *args;
	struct chunk_networks networks;
	struct progress progress;
	struct json_object *root;
	struct err *err;
};

/* Adds the times of a collective, ps. Return: also -ERANGE, if it takes more than a day. */
static int add_times(const struct chunk_collective *of, __u32 count, __u64 times[SUBJECTS])
{
	static const struct {
		int policy;
		int queue;
	} how[] = {
		[BASELINE] = { CHUNK_POLICY_BASELINE, CHUNK_FIFO },
		[SCF] = { CHUNK_POLICY_THEMIS, CHUNK_SCF },
		[BEST] = { CHUNK_POLICY_BEST, CHUNK_QUEUE_ANY },
	};
	__u64 time, ideal = chunk_model_ideal(of);
	__u32 i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		ret = chunk_predict(of, how[i].policy, how[i].queue, &time);
		if (ret)
			return ret;
		if (time > CHUNK_MAX_TIME / count)
			return -ERANGE;
		times[i] += count * time;
		if (time < ideal)	/* by roundings of stages */
			ideal = time;
	}
	times[IDEAL] += count * ideal;
	return 0;
}

/* Why a collective has no times */
static int refuse(const struct training *training, const struct chunk_step *step, __u32 i,
		  const struct chunk_collective *of, const char *dims, int ret)
{
	if (of->size < of->chunks)
		return err_set(training->err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: size: %llu bytes are too few for %u chunks",
			       step->name, i, of->size, of->chunks);
	if (ret == -ERANGE)
		return err_set(training->err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: %u of %s with %llu bytes take more than a day on %s",
			       step->name, i, step->collective[i].count, chunk_kinds[of->kind],
			       of->size, dims);
	return err_set(training->err, EXIT_BAD_INPUT, "step",
		       "%s: collective %u: %s cannot be planned on %s: a stage has steps of more than a second",
		       step->name, i, chunk_kinds[of->kind], dims);
}

/* The collectives of a step on a network. */
static int play(struct training *training, const struct chunk_step *step, __u32 n,
		__u64 times[SUBJECTS])
{
	const char *dims = training->networks.name[n].dims;
	int ret = 0;
	__u32 i;

	for (i = 0; !ret && i < step->nr; i++) {
		const struct chunk_step_collective *collective = &step->collective[i];
		struct chunk_collective of = training->networks.of[n];

		progress_update(&training->progress, "planning %s on %s", step->name, dims);
		of.kind = collective->kind;
		of.size = collective->size;
		if (chunk_step_group(&of, collective->group, step->model))
			return err_set(training->err, EXIT_BAD_INPUT, "step",
				       "%s: collective %u: a model-parallel group of %u ranks does not fill dimensions of %s, or leaves no data-parallel group",
				       step->name, i, step->model, dims);
		chunk_plan_fit(&of);
		ret = add_times(&of, collective->count, times);
		if (ret == -EINVAL || ret == -ERANGE)
			ret = refuse(training, step, i, &of, dims, ret);
	}
	return ret;
}

/* Thousandths, rounded to the nearest */
static __u64 speedup(const struct chunk_step *step, const __u64 times[SUBJECTS], int subject)
{
	__u64 time = step->compute + times[subject] ?: 1;

	return ((__uint128_t)(step->compute + times[BASELINE]) * 1000 + time / 2) / time;
}

static void add_network(const struct training *training, const struct chunk_step *step, __u32 n,
			const __u64 times[SUBJECTS])
{
	struct json_object *array, *obj;

	json_object_object_get_ex(training->root, "networks", &array);
	obj = out_append_object(array);
	out_string(obj, "step", step->name);
	out_string(obj, "dims", training->networks.name[n].dims);
	out_string(obj, "bandwidth", training->networks.name[n].bandwidth);
	chunk_add_us(obj, "compute_us", step->compute);
	chunk_add_us(obj, "baseline_us", times[BASELINE]);
	chunk_add_us(obj, "scf_us", times[SCF]);
	chunk_add_us(obj, "best_us", times[BEST]);
	chunk_add_us(obj, "ideal_us", times[IDEAL]);
	out_decimal(obj, "speedup", speedup(step, times, SCF), 3);
}

/* Means over the networks; @known: what the paper has, or NULL */
static int add_step(struct training *training, const struct chunk_step *step,
		    const struct chunk_known *known)
{
	__u64 sum[SUBJECTS] = {}, most = 0;
	__u32 nr = training->networks.nr, n;
	struct json_object *array, *obj;
	int ret = 0, i;

	for (n = 0; n < nr; n++) {
		__u64 times[SUBJECTS] = {};

		ret = play(training, step, n, times);
		if (ret)
			return ret;
		add_network(training, step, n, times);
		for (i = SCF; i < SUBJECTS; i++)
			sum[i] += speedup(step, times, i);
		if (speedup(step, times, SCF) > most)
			most = speedup(step, times, SCF);
	}
	json_object_object_get_ex(training->root, "steps", &array);
	obj = out_append_object(array);
	out_string(obj, "step", step->name);
	out_decimal(obj, "speedup", sum[SCF] / nr, 3);
	out_decimal(obj, "most", most, 3);
	out_decimal(obj, "best_speedup", sum[BEST] / nr, 3);
	out_decimal(obj, "ideal_speedup", sum[IDEAL] / nr, 3);
	if (known && nr == CHUNK_NETWORKS) {
		out_decimal(obj, "paper_speedup", known->speedup, 2);
		out_decimal(obj, "paper_most", known->most, 2);
		out_decimal(obj, "paper_ideal", known->ideal, 2);
	}
	return 0;
}

static int train(struct training *training)
{
	const char *name = training->args->value[STEP];
	struct chunk_step step;
	bool any = false;
	int ret = 0;
	__u32 i;

	out_array(training->root, "steps");
	out_array(training->root, "networks");
	for (i = 0; !ret && i < CHUNK_KNOWN; i++) {
		if (name && strcmp(name, chunk_known[i].step.name))
			continue;
		any = true;
		ret = add_step(training, &chunk_known[i].step, &chunk_known[i]);
	}
	if (ret || any)
		return ret;
	return chunk_step_read(&step, name, training->err) ?: add_step(training, &step, NULL);
}

/* A step from a file has its own sizes and collectives. */
static int check(const struct cli_args *args, struct err *err)
{
	if (!args->value[CHUNK_OPTION_SIZE] && !args->value[CHUNK_OPTION_COLLECTIVE])
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "--size and --collective belong to the step: --step FILE sets others");
}

int chunk_train_run(const struct cli_args *args, struct err *err)
{
	struct training training = { .args = args, .err = err, .root = out_root() };
	int ret;

	ret = check(args, err) ?: chunk_networks_read(args, &training.networks, err);
	progress_start(&training.progress);
	ret = ret ?: train(&training);
	progress_end(&training.progress);
	chunk_networks_free(&training.networks);
	if (!ret)
		return out_show(&args->out, training.root, views);
	json_object_put(training.root);
	return ret;
}
