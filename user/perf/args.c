// SPDX-License-Identifier: GPL-2.0
/* The options of rocesteer-perf. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"
#include "perf.h"
#include "switch/sums.h"

#define MSEC	1000000ull

const struct cli_option perf_options[] = {
	CHUNK_SHARED_OPTIONS(CLI_NEEDED),
	[PERF_OPTION_POLICY] = { "policy", "POLICY",
		"the order of dimensions (default: themis)", .words = chunk_policies },
	[PERF_OPTION_QUEUE] = { "queue", NULL,
		"order of waiting chunks: first come, or smallest first", .words = chunk_queues },
	[PERF_OPTION_DEV] = { "rdma-dev", "DEV[,DEV..]",
		"RDMA device of each dimension, or DEV/GID-INDEX", CLI_NEEDED },
	[PERF_OPTION_TYPE] = { "type", NULL,
		"type of the elements (default: int32)", .words = data_types },
	[PERF_OPTION_ITERS] = { "iters", "N",
		"number of measured runs (default: 20)" },
	[PERF_OPTION_WARMUP] = { "warmup", "N",
		"number of runs before the measured runs (default: 5)" },
	[PERF_OPTION_RANK] = { "rank", "RANK",
		"rank of this process (default: from mpirun or srun)" },
	[PERF_OPTION_RENDEZVOUS] = { "rendezvous", "HOST[:PORT]",
		"host of rank 0" },
	[PERF_OPTION_LISTEN] = { "listen", "ADDRESS",
		"address that rank 0 listens on (default: that of --rendezvous)" },
	[PERF_OPTION_TIMEOUT] = { "timeout", "MS",
		"time without progress after which all ranks end (30000)" },
	[PERF_OPTION_RANGES] = { "ranges-out", "FILE",
		"write which addresses belong to which chunk" },
	[PERF_OPTION_SWITCH] = { "switch", "COMMAND",
		"with --algorithm netreduce: command that runs rocesteer on the switch %s" },
	[PERF_OPTION_GROUP] = { "group", "N",
		"likewise: number of the group on the switch (default: 0)" },
	[PERF_OPTION_PACKETS] = { "packets", "N",
		"likewise: packets of a message (default: 40)" },
	[PERF_OPTION_BOX] = { "box", "ADDRESS",
		"likewise: address of a box beside the switches, which sums" },
	[PERF_OPTION_GROUPS] = { "groups", "FILE",
		"in place of these: plan of groups, from rocesteer reduce plan" },
	[PERF_OPTION_PORT_MAP] = { "port-map", "FILE",
		"with --groups: port map of this host, from rocesteer path discover" },
	{}
};

/* Names are given to dimensions that have stages, in their order. */
struct devices {
	struct perf_config *config;
	__u32 dim;
	struct err *err;
};

static int add_device(const char *item, void *arg)
{
	struct devices *devices = arg;
	const struct chunk_collective *of = &devices->config->plan.of;
	const char *slash = strchrnul(item, '/');
	struct perf_dev *dev;
	__u64 index;

	if (devices->dim == of->dims)
		return err_set(devices->err, EXIT_BAD_INPUT, "usage",
			       "--rdma-dev: more than %u dimensions", of->dims);
	dev = &devices->config->dev[devices->dim++];
	if (slash == item || slash - item >= (int)sizeof(dev->name) ||
	    (*slash && cli_number(slash + 1, 0, 65535, &index)))
		return err_set(devices->err, EXIT_BAD_INPUT, "usage",
			       "--rdma-dev: '%s' is not DEVICE or DEVICE/GID-INDEX",
			       item);
	snprintf(dev->name, sizeof(dev->name), "%.*s", (int)(slash - item), item);
	dev->gid_index = *slash ? (int)index : NIC_ANY_GID;
	return 0;
}

static int read_devices(const struct cli_args *args, struct perf_config *config, struct err *err)
{
	struct devices devices = { .config = config, .err = err };
	int ret;

	ret = cli_each("rdma-dev", args->value[PERF_OPTION_DEV], add_device, &devices, err);
	if (!ret && devices.dim < config->plan.of.dims)
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--rdma-dev: needs a device for each dimension: %u, not %u",
			      config->plan.of.dims, devices.dim);
	return ret;
}

static int read_numbers(const struct cli_args *args, struct perf_config *config, struct err *err)
{
	__u64 iters = 20, warmup = 5, timeout = 30000;
	int ret;

	ret = cli_uint(args, PERF_OPTION_ITERS, 0, 1000000, &iters, err) ?:
	      cli_uint(args, PERF_OPTION_WARMUP, 0, 1000000, &warmup, err) ?:
	      cli_uint(args, PERF_OPTION_TIMEOUT, 1000, 86400000, &timeout, err);
	config->iters = iters;
	config->warmup = warmup;
	config->timeout = timeout * MSEC;
	config->ranges = args->value[PERF_OPTION_RANGES];
	return ret;
}

static bool is_netreduce(const struct cli_args *args)
{
	const char *algorithm = args->value[CHUNK_OPTION_ALGORITHM];

	return algorithm && !strcmp(algorithm, "netreduce");
}

/* Options that mean nothing where no switch sums. */
static int check_unused(const struct cli_args *args, struct err *err)
{
	int option;

	for (option = PERF_OPTION_SWITCH; option <= PERF_OPTION_PORT_MAP; option++)
		if (args->value[option])
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--%s needs --algorithm netreduce",
				       args->options[option].name);
	return 0;
}

/* Numbers of @groups groups, from the first one on */
static int read_group(const struct cli_args *args, __u32 groups, __u32 *number, __u32 *packets,
		      __u8 box[16], struct err *err)
{
	const char *address = args->value[PERF_OPTION_BOX];
	__u64 first = 0, most = REDUCE_PACKETS;
	int ret;

	if (address && addr_parse(address, box))
		return err_set(err, EXIT_BAD_INPUT, "usage", "--box: '%s' is not an address",
			       address);
	ret = cli_uint(args, PERF_OPTION_GROUP, 0, ROCESTEER_REDUCE_MAX_GROUP + 1 - groups, &first,
		       err) ?:
	      cli_uint(args, PERF_OPTION_PACKETS, 1, ROCESTEER_REDUCE_MAX_WINDOW / REDUCE_WINDOW,
		       &most, err);
	*number = first;
	*packets = most;
	return ret;
}

static int read_single(const struct cli_args *args, __u32 ranks, struct reduction *groups,
		       struct err *err)
{
	__u32 number, packets;
	__u8 box[16] = {};
	int ret = read_group(args, 1, &number, &packets, box, err);

	return ret ?: reduction_single(number, packets, box, ranks, groups);
}

/* The dimension of a plan that sums in the network, or the number of dimensions */
static __u32 find_sums(const struct chunk_collective *of, __u32 k)
{
	while (k < of->dims && of->dim[k].alg != CHUNK_NETREDUCE)
		k++;
	return k;
}

/* Options of a dimension that sums in the network: it is the last one of some chunks. */
static int read_sums(const struct cli_args *args, const struct chunk_collective *of, __u32 dim,
		     struct perf_sums *sums, struct err *err)
{
	__u32 groups = sums_groups(of, dim);
	int ret;

	if (find_sums(of, dim + 1) < of->dims)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--algorithm: A%u: netreduce is for one dimension of several, and A%u has it",
			       find_sums(of, dim + 1), dim);
	if (of->size / of->chunks / ELEMENT < groups)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--chunks: with netreduce a chunk has an element for each of %u groups: take fewer chunks",
			       groups);
	if (args->value[PERF_OPTION_GROUPS])
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--groups is for one dimension: --group has the first number of %u groups",
			       groups);
	ret = cli_need(args, PERF_OPTION_SWITCH, err) ?:
	      read_group(args, groups, &sums->group, &sums->packets, sums->box, err);
	sums->command = args->value[PERF_OPTION_SWITCH];
	sums->dim = dim;
	return ret;
}

/* Options of sums by switches. */
static int read_reduce(const struct cli_args *args, const struct chunk_collective *of,
		       struct perf_config *config, struct err *err)
{
	static const struct cli_with with[] = { { PERF_OPTION_PORT_MAP, PERF_OPTION_GROUPS } };
	struct perf_reduce *reduce = &config->reduce;
	__u32 ranks = of->dim[0].endpoints, sums = find_sums(of, 0);
	int ret;

	if (sums < of->dims)
		return read_sums(args, of, sums, &config->sums, err);
	if (!is_netreduce(args))
		return check_unused(args, err);
	if (of->dims != 1 || of->kind != CHUNK_ALL_REDUCE || ranks > ROCESTEER_REDUCE_MAX_RANKS)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--algorithm: netreduce is for an all-reduce in one dimension of at most %u ranks",
			       ROCESTEER_REDUCE_MAX_RANKS);
	ret = cli_need(args, PERF_OPTION_SWITCH, err) ?:
	      cli_only_with(args, with, ARRAY_SIZE(with), err);
	if (ret)
		return ret;
	reduce->command = args->value[PERF_OPTION_SWITCH];
	reduce->file = args->value[PERF_OPTION_GROUPS];
	if (!reduce->file)
		return read_single(args, ranks, &reduce->groups, err);
	if (args->value[PERF_OPTION_GROUP] || args->value[PERF_OPTION_PACKETS] ||
	    args->value[PERF_OPTION_BOX])
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--groups and --group, --packets or --box exclude each other");
	reduce->port_map = args->value[PERF_OPTION_PORT_MAP];
	ret = reduction_read(reduce->file, ranks, &reduce->groups, err);
	if (ret || reduce->port_map || !reduction_have_routers(&reduce->groups))
		return ret;
	return err_set(err, EXIT_BAD_INPUT, "usage", "--port-map FILE is missing: %s has routers",
		       reduce->file);
}

/* If switches sum the whole All-Reduce, the plan is that of a ring, in case they fail. */
static int read_collective(const struct cli_args *args, struct chunk_collective *of,
			   struct err *err)
{
	struct cli_args ring = *args;

	if (is_netreduce(args))
		ring.value[CHUNK_OPTION_ALGORITHM] = NULL;
	return chunk_args_read(&ring, of, err);
}

/* Refuse collectives that can be planned but not run. */
static int check(const struct chunk_collective *of, struct err *err)
{
	/* A chunk of an All-to-All has as many elements for each rank. */
	__u64 ranks = of->kind == CHUNK_ALL_TO_ALL ? layout_ranks(of) : 1;
	__u64 unit = ELEMENT * ranks;
	__u32 k;

	if (layout_ranks(of) > LAYOUT_MAX_RANKS)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--dims: more than %u ranks", LAYOUT_MAX_RANKS);
	if (of->size % unit || of->size / of->chunks % unit)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--size: %llu bytes in %u chunks are not elements of %u bytes%s: take a multiple of %llu",
			       of->size, of->chunks, ELEMENT, ranks > 1 ? " for each rank" : "",
			       unit * of->chunks);
	for (k = 0; k < of->dims; k++)
		if (!chunk_alg_takes(of->dim[k].alg, of->dim[k].endpoints))
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--algorithm: A%u: %s needs a power of two, not %u endpoints",
				       k, chunk_algs[of->dim[k].alg],
				       of->dim[k].endpoints);
	return 0;
}

static int make_plan(const struct cli_args *args, struct perf_config *config, struct err *err)
{
	int queue = CHUNK_QUEUE_ANY, ret;
	struct chunk_collective of;

	config->policy = CHUNK_POLICY_THEMIS;
	ret = read_collective(args, &of, err) ?: check(&of, err) ?:
	      read_reduce(args, &of, config, err) ?:
	      cli_word(args, PERF_OPTION_POLICY, &config->policy, err) ?:
	      cli_word(args, PERF_OPTION_QUEUE, &queue, err);
	ret = ret ?: chunk_make(&config->plan, &of, config->policy, queue);
	if (ret)
		chunk_args_free(&of);
	return ret;
}

int perf_args_read(const struct cli_args *args, struct perf_config *config, struct err *err)
{
	int ret;

	ret = make_plan(args, config, err);
	if (ret)
		return ret;
	ret = read_devices(args, config, err) ?:
	      read_numbers(args, config, err) ?:
	      cli_word(args, PERF_OPTION_TYPE, &config->type, err) ?:
	      launch_read(&config->launch, args->value[PERF_OPTION_RANK],
			  args->value[PERF_OPTION_RENDEZVOUS],
			  layout_ranks(&config->plan.of), err);
	config->listen = args->value[PERF_OPTION_LISTEN] ?: config->launch.host;
	return ret ?: layout_init(&config->layout, &config->plan);
}

void perf_config_free(struct perf_config *config)
{
	reduction_free(&config->reduce.groups);
	layout_free(&config->layout);
	chunk_args_free(&config->plan.of);
	chunk_plan_free(&config->plan);
}
