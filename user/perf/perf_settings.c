// SPDX-License-Identifier: GPL-2.0
/*
 * Settings that must be the same on all ranks. The options of a plan are before the plan:
 * the first difference is reported.
 */
#include <stdio.h>

#include "perf.h"
#include "meet/setting.h"

static struct setting *add(struct setting *setting, const char *name, __u64 value)
{
	setting->name = name;
	snprintf(setting->value, sizeof(setting->value), "%llu", value);
	return setting + 1;
}

static struct setting *add_word(struct setting *setting, const char *name, const char *word)
{
	setting->name = name;
	snprintf(setting->value, sizeof(setting->value), "%s", word);
	return setting + 1;
}

/* A value for each dimension, separated by commas. */
static struct setting *add_dims(struct setting *setting, const char *name,
				const struct chunk_collective *of,
				__u64 (*get)(const struct chunk_dim *dim))
{
	size_t length = 0;
	__u32 k;

	setting->name = name;
	for (k = 0; k < of->dims && length < sizeof(setting->value); k++)
		length += snprintf(setting->value + length,
				   sizeof(setting->value) - length, "%s%llu",
				   k ? "," : "", get(&of->dim[k]));
	return setting + 1;
}

static __u64 get_endpoints(const struct chunk_dim *dim)
{
	return dim->endpoints;
}

static __u64 get_bandwidth(const struct chunk_dim *dim)
{
	return dim->bandwidth;
}

static __u64 get_latency(const struct chunk_dim *dim)
{
	return dim->latency;
}

static __u64 get_alg(const struct chunk_dim *dim)
{
	return dim->alg;
}

static void set_groups(struct setting *setting, const char *what, __u32 number, __u32 packets,
		       const __u8 box[16])
{
	char text[ADDR_STRLEN];

	snprintf(setting->value, sizeof(setting->value), "%s %u with %u packets%s%s", what, number,
		 packets, addr_is_none(box) ? "" : ", box ",
		 addr_is_none(box) ? "" : addr_format(box, text));
}

static struct setting *add_reduce(struct setting *setting, const struct perf_config *config)
{
	const struct perf_reduce *reduce = &config->reduce;
	const struct group *first = reduce->groups.group;

	setting->name = "netreduce";
	if (reduce->file)
		snprintf(setting->value, sizeof(setting->value), "%u groups of a plan %016llx",
			 reduce->groups.nr, reduction_hash(&reduce->groups));
	else if (first)
		set_groups(setting, "group", first->config.id, first->config.packets,
			   first->config.box);
	else if (config->sums.command)
		set_groups(setting, "groups from", config->sums.group, config->sums.packets,
			   config->sums.box);
	else
		snprintf(setting->value, sizeof(setting->value), "off");
	return setting + 1;
}

static struct setting *add_beside(struct setting *setting, const struct chunk_collective *of)
{
	size_t length = 0;
	__u32 i;

	setting->name = "hash of plans beside";
	for (i = 0; i < of->nr_beside; i++)
		length += snprintf(setting->value + length, sizeof(setting->value) - length,
				   "%016llx", chunk_plan_hash(&of->beside[i]));
	return setting + 1;
}

void perf_settings_fill(struct setting *setting, const struct perf_config *config)
{
	const struct chunk_collective *of = &config->plan.of;
	char hash[17];

	snprintf(hash, sizeof(hash), "%016llx", chunk_plan_hash(&config->plan));
	setting = add_dims(setting, "dims", of, get_endpoints);
	setting = add_word(setting, "collective", chunk_kinds[of->kind]);
	setting = add(setting, "size", of->size);
	setting = add_word(setting, "type", data_types[config->type]);
	setting = add(setting, "chunks", of->chunks);
	setting = add_dims(setting, "algorithm", of, get_alg);
	setting = add_reduce(setting, config);
	setting = add_dims(setting, "bandwidth (10^-6 GiB/s)", of, get_bandwidth);
	setting = add_dims(setting, "latency (ps)", of, get_latency);
	setting = add(setting, "in-flight", of->in_flight);
	setting = add(setting, "warmup", config->warmup);
	setting = add(setting, "iters", config->iters);
	setting = add_beside(setting, of);
	add_word(setting, "plan hash", hash);
}
