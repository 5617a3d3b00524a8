// SPDX-License-Identifier: GPL-2.0
/* rocesteer-perf - run the plan of a collective over RoCE, and measure it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

const char * const cli_program = "rocesteer-perf";

static int fail_wrong(const struct perf_result *result, struct err *err)
{
	return err_set(err, EXIT_FAILED, "wrong",
		       "%llu elements are wrong, the first of them on rank %u",
		       result->wrong, result->wrong_rank);
}

/* The results are right, but not the switch's. */
static int fail_by_ring(const struct perf_config *config, const struct perf_result *result,
			struct err *err)
{
	return err_set(err, EXIT_FAILED, "fallback",
		       "netreduce has failed, and %u of %u runs went by the ring: %s",
		       result->by_ring, config->warmup + config->iters, result->reason);
}

/* All is well, but for the switch. */
static int fail_left(const struct perf_result *result, struct err *err)
{
	*err = result->left;
	return -EIO;
}

/* Ranks other than 0 print only their failure. */
static int show(const struct out *out, const struct perf_config *config,
		const struct perf_result *result, struct err *err)
{
	int ret = result->wrong ? fail_wrong(result, err) :
		  result->by_ring ? fail_by_ring(config, result, err) :
		  result->left.code ? fail_left(result, err) : 0;

	return config->launch.rank ? ret :
	       perf_report(out, config, result, err);
}

/*
 * Report a failure before the other ranks are waited for. They learn of it when all have
 * met; without this rank they would wait.
 */
static void forewarn(const struct out *out, const struct perf_config *config)
{
	const struct chunk_collective *of = &config->plan.of;
	struct err err = {};
	__u32 k;

	for (k = 0; k < of->dims; k++) {
		if (of->dim[k].endpoints == 1 || nic_exists(config->dev[k].name))
			continue;
		out_note(out, "dimension %u: there is no RDMA device %s: this run will fail",
			 k, config->dev[k].name);
	}
	if (config->ranges && perf_ranges_check(config, &err))
		out_note(out, "--ranges-out: %s: this run will fail", err.message);
}

static int perf(const struct cli_args *args, struct err *err)
{
	struct perf_config config = {};
	struct perf_result result = {};
	int ret;

	ret = perf_args_read(args, &config, err);
	if (!ret) {
		forewarn(&args->out, &config);
		ret = perf_run(&config, &result, err) ?:
		      show(&args->out, &config, &result, err);
	}
	free(result.stage);
	perf_config_free(&config);
	return ret;
}

static const struct cli_verb verb = {
	.help = "Run the plan of a collective over RoCE, one process per host, and measure it",
	.options = perf_options,
	.example = "--dims 4 --bandwidth 11.6 --size 64M --rdma-dev mlx5_0",
	.run = perf,
};

static const struct cli_object object = { .name = "", .verbs = &verb };

int main(int argc, char **argv)
{
	struct cli_args args = {};
	struct err err = {};
	int ret;

	ret = cli_take_output(&argc, argv, &args.out, &err);
	if (!ret)
		ret = argc > 1 && cli_wants_version(argv[1]) ? cli_version(&args.out) :
		      cli_run(&object, &verb, &args, argc, argv, &err);
	return cli_exit(&args.out, ret, &err);
}
