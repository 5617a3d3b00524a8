// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stddef.h>

#include "base/base.h"
#include "reduce.h"

const char * const reduce_types[] = {
	[ROCESTEER_REDUCE_TYPE_INT32] = "int32",
	[ROCESTEER_REDUCE_TYPE_FP32] = "fp32",
	[ROCESTEER_REDUCE_TYPE_BF16] = "bf16",
	[ROCESTEER_REDUCE_TYPE_FP16] = "fp16",
	[ROCESTEER_REDUCE_TYPE_INT64] = "int64",
	[ROCESTEER_REDUCE_TYPE_FP64] = "fp64",
	NULL
};

const char * const reduce_ops[] = {
	[ROCESTEER_REDUCE_OP_SUM] = "sum",
	[ROCESTEER_REDUCE_OP_MIN] = "min",
	[ROCESTEER_REDUCE_OP_MAX] = "max",
	NULL
};

const char * const reduce_roles[] = {
	[ROCESTEER_REDUCE_ROLE_ALONE] = "alone",
	[ROCESTEER_REDUCE_ROLE_LEAF] = "leaf",
	[ROCESTEER_REDUCE_ROLE_ROOT] = "root",
	NULL
};

const char *reduce_name(const char * const *names, __u32 number)
{
	while (*names && number--)
		names++;
	return *names ?: "unknown";
}

static const char * const conn_names[] = {
	[ROCESTEER_REDUCE_A_CONN_INPUTS] = "inputs",
	[ROCESTEER_REDUCE_A_CONN_RESULTS] = "results",
	[ROCESTEER_REDUCE_A_CONN_REPLAYS] = "replays",
	[ROCESTEER_REDUCE_A_CONN_DUPLICATES] = "duplicates",
	[ROCESTEER_REDUCE_A_CONN_STALE] = "stale",
	[ROCESTEER_REDUCE_A_CONN_GAPS] = "gaps",
	[ROCESTEER_REDUCE_A_CONN_NUDGES] = "nudges",
	[ROCESTEER_REDUCE_A_CONN_RESTARTS] = "restarts",
	[ROCESTEER_REDUCE_A_CONN_RANK] = NULL,	/* no counter */
	[ROCESTEER_REDUCE_A_CONN_BEYOND] = "beyond",
};

static const char * const stat_names[] = {
	[ROCESTEER_REDUCE_A_STATS_GROUPS] = "groups",
	[ROCESTEER_REDUCE_A_STATS_BYTES] = "bytes",
	[ROCESTEER_REDUCE_A_STATS_UNKNOWN] = "unknown",
	[ROCESTEER_REDUCE_A_STATS_ADDRESS] = "address",
	[ROCESTEER_REDUCE_A_STATS_OPCODE] = "opcode",
	[ROCESTEER_REDUCE_A_STATS_LENGTH] = "length",
	[ROCESTEER_REDUCE_A_STATS_ICRC] = "icrc",
	[ROCESTEER_REDUCE_A_STATS_GSO] = "gso",
	[ROCESTEER_REDUCE_A_STATS_NO_MEMORY] = "no_memory",
	[ROCESTEER_REDUCE_A_STATS_POISONED] = "poisoned",
	[ROCESTEER_REDUCE_A_STATS_INTEGER] = "integer",
	[ROCESTEER_REDUCE_A_STATS_MISPLACED] = "misplaced",
};

static const struct {
	const char *name;
	const char *text;
} poisons[] = {
	[ROCESTEER_REDUCE_POISON_ALIVE] = { "alive", "packets are summed" },
	[ROCESTEER_REDUCE_POISON_DISAGREE] = { "disagree",
		"a packet has another opcode, length, immediate, offset or payload than others" },
	[ROCESTEER_REDUCE_POISON_EMPTY] = { "empty", "a packet has no payload" },
	[ROCESTEER_REDUCE_POISON_BEYOND] = { "beyond",
		"a packet is further ahead than packets and window allow" },
	[ROCESTEER_REDUCE_POISON_ROUTE] = { "route",
		"packets come by another way than those before" },
	[ROCESTEER_REDUCE_POISON_DEVICE] = { "device",
		"a device went down for which packets waited" },
	[ROCESTEER_REDUCE_POISON_GONE] = { "gone", "the group is being removed" },
};

static_assert(ARRAY_SIZE(reduce_types) == ROCESTEER_REDUCE_TYPE_MAX + 2, "each type has a name");
static_assert(ARRAY_SIZE(conn_names) == ROCESTEER_REDUCE_A_CONN_MAX + 1, "each counter has a name");
static_assert(ARRAY_SIZE(stat_names) == ROCESTEER_REDUCE_A_STATS_MAX + 1,
	      "each counter has a name");

const char *reduce_conn_name(unsigned int attr)
{
	return attr < ARRAY_SIZE(conn_names) ? conn_names[attr] : NULL;
}

const char *reduce_stat_name(unsigned int attr)
{
	return attr < ARRAY_SIZE(stat_names) ? stat_names[attr] : NULL;
}

const char *reduce_poison_name(__u32 poison)
{
	return poison < ARRAY_SIZE(poisons) ? poisons[poison].name : "unknown";
}

const char *reduce_poison_text(__u32 poison)
{
	return poison < ARRAY_SIZE(poisons) ? poisons[poison].text :
					      "for a reason that this program does not know";
}
