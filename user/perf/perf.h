/* SPDX-License-Identifier: GPL-2.0 */
/* A run and its options. */
#ifndef ROCESTEER_PERF_H
#define ROCESTEER_PERF_H

#include "chunk_args/chunk_args.h"
#include "cli/cli.h"
#include "engine/nic.h"
#include "meet/launch.h"
#include "switch/reduction.h"

/* The options of chunk come first. */
enum {
	PERF_OPTION_POLICY = CHUNK_OPTIONS,
	PERF_OPTION_QUEUE,
	PERF_OPTION_DEV,
	PERF_OPTION_TYPE,
	PERF_OPTION_ITERS,
	PERF_OPTION_WARMUP,
	PERF_OPTION_RANK,
	PERF_OPTION_RENDEZVOUS,
	PERF_OPTION_TIMEOUT,
	PERF_OPTION_LISTEN,
	PERF_OPTION_RANGES,
	PERF_OPTION_SWITCH,
	PERF_OPTION_GROUP,
	PERF_OPTION_PACKETS,
	PERF_OPTION_BOX,
	PERF_OPTION_GROUPS,
	PERF_OPTION_PORT_MAP,
};

/* The RDMA device of a dimension. */
struct perf_dev {
	char name[IBV_SYSFS_NAME_MAX];
	int gid_index;
};

/**
 * struct perf_reduce - an All-Reduce that switches sum
 * @command: command that runs rocesteer on a switch; NULL: no switch sums
 * @file: plan of the groups, or NULL
 * @groups: groups of all ranks
 * @port_map: port map of this host, if a rank needs one
 */
struct perf_reduce {
	const char *command;
	const char *file;
	struct reduction groups;
	const char *port_map;
};

/**
 * struct perf_sums - a dimension of a plan that sums in the network
 * @command: command that runs rocesteer on its switch; NULL: there is no such dimension
 * @dim: dimension
 * @group: number of the first group on the switch
 * @packets: packets of a message
 * @box: address of a box beside the switches, which sums, or all zero
 */
struct perf_sums {
	const char *command;
	__u32 dim;
	__u32 group;
	__u32 packets;
	__u8 box[16];
};

/**
 * struct perf_config - the options
 * @plan: plan; if switches sum, the plan of a ring, in case they fail
 * @reduce: sums by switches, of a whole All-Reduce
 * @sums: sums by a switch in one dimension of several
 * @policy: CHUNK_POLICY_* of the plan
 * @layout: layout of @plan
 * @dev: device of each dimension; without name if there is one endpoint
 * @type: type of the elements
 * @iters: number of measured runs
 * @warmup: number of runs before
 * @launch: this rank, and rank 0
 * @listen: name or address that rank 0 listens on
 * @timeout: ns
 * @ranges: file to write, or NULL
 */
struct perf_config {
	struct chunk_plan plan;
	struct perf_reduce reduce;
	struct perf_sums sums;
	int policy;
	struct layout layout;
	struct perf_dev dev[CHUNK_MAX_DIMS];
	int type;
	__u32 iters;
	__u32 warmup;
	struct launch launch;
	const char *listen;
	__u64 timeout;
	const char *ranges;
};

extern const struct cli_option perf_options[];

/**
 * perf_args_read() - read the options, and make the plan
 * @args: arguments
 * @config: zeroed; filled; to be freed by perf_config_free(), also after a
 *	failure
 * @err: names option and item
 *
 * Return: 0 or a negative errno.
 */
int perf_args_read(const struct cli_args *args, struct perf_config *config, struct err *err);

void perf_config_free(struct perf_config *config);

/* A stage of the last run, ns from its beginning. */
struct perf_stage {
	__u32 chunk;
	__u32 stage;
	__u32 dim;
	__u64 from;
	__u64 to;
};

#define PERF_REASON	288	/* of a text */

/**
 * struct perf_result - results, the same on all ranks but for the stages
 * @ns: time of all measured runs, of the slowest rank each
 * @least: time of the fastest run
 * @most: time of the slowest run
 * @wrong: wrong elements, on all ranks, in all runs
 * @wrong_rank: the first rank with wrong elements
 * @by_ring: runs that the ring summed because switches failed
 * @measured_by_ring: measured ones among these
 * @reason: reason of the first failure
 * @failed: by group: why the group was left out, or empty
 * @left: error of a switch that still has a group at the end; without code: none
 * @stage: stages of the last run on this rank, in the order in which they ended
 * @stages: number of @stage
 */
struct perf_result {
	__u64 ns;
	__u64 least;
	__u64 most;
	__u64 wrong;
	__u32 wrong_rank;
	__u32 by_ring;
	__u32 measured_by_ring;
	char reason[PERF_REASON];
	char failed[REDUCTION_GROUPS][PERF_REASON];
	struct err left;
	struct perf_stage *stage;
	__u32 stages;
};

/**
 * perf_run() - connect to the other ranks and run the plan
 * @config: options
 * @result: zeroed; filled; @stage is to be freed
 * @err: the failure of any rank
 *
 * Return: 0 or a negative errno.
 */
int perf_run(const struct perf_config *config, struct perf_result *result, struct err *err);

/* Print the result, and @err if set. Return: as out_show() or out_error(). */
int perf_report(const struct out *out, const struct perf_config *config,
		const struct perf_result *result, const struct err *err);

struct setting;

#define PERF_SETTINGS	15	/* the last one without name */

/* Fill PERF_SETTINGS zeroed settings, which ranks compare. */
void perf_settings_fill(struct setting *setting, const struct perf_config *config);

/* Check that the file of ranges can be written, and is no other file. */
int perf_ranges_check(const struct perf_config *config, struct err *err);

/**
 * perf_ranges_write() - write the file of ranges
 * @config: options of this rank
 * @nic: NIC of each dimension
 * @err: names the file
 *
 * The format is in Documentation/formats.rst. Return: 0 or a negative errno.
 */
int perf_ranges_write(const struct perf_config *config, const struct nic *nic, struct err *err);

#endif /* ROCESTEER_PERF_H */
