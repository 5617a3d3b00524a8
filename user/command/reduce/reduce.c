// SPDX-License-Identifier: GPL-2.0
/* rocesteer reduce: show and stat. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reduce.h"

static const struct cli_option no_options[] = { {} };

static const struct out_column group_columns[] = {
	{ "group", "GROUP" },
	{ "role", "ROLE" },
	{ "type", "TYPE" },
	{ "op", "OP" },
	{ "size", "RANKS" },
	{ "mtu", "MTU" },
	{ "window", "WINDOW" },
	{ "state", "STATE" },
	{ "done", "DONE" },
	{ "held", "HELD" },
	{ "reason", "REASON" },
	{}
};

static const struct out_view list_views[] = {
	{ .rows = "groups", .columns = group_columns, .empty = "no group is loaded" },
	{}
};

static const struct out_column field_columns[] = {
	{ "group", "group" },
	{ "role", "role" },
	{ "leaf", "leaf" },
	{ "box", "box" },
	{ "type", "type" },
	{ "op", "op" },
	{ "size", "ranks" },
	{ "mtu", "mtu" },
	{ "packets", "packets" },
	{ "window", "window" },
	{ "state", "state" },
	{ "reason", "reason" },
	{ "done", "done" },
	{ "held", "held" },
	{ "bytes", "bytes" },
	{}
};

static const struct out_column rank_columns[] = {
	{ "rank", "RANK" },
	{ "address", "ADDRESS" },
	{ "leaf", "LEAF" },
	{ "qpn", "QPN" },
	{ "psn", "PSN" },
	{ "sender_qpn", "SENDER-QPN" },
	{ "inputs", "INPUTS" },
	{ "results", "RESULTS" },
	{ "replays", "REPLAYS" },
	{ "duplicates", "DUPLICATES" },
	{ "stale", "STALE" },
	{ "beyond", "BEYOND" },
	{ "gaps", "GAPS" },
	{ "nudges", "NUDGES" },
	{ "restarts", "RESTARTS" },
	{}
};

static const struct out_view show_views[] = {
	{ .columns = field_columns },
	{ .rows = "ranks", .columns = rank_columns },
	{}
};

int reduce_read_id(const char *text, __u32 *id, struct err *err)
{
	__u64 value;
	int ret = cli_number(text, 0, ROCESTEER_REDUCE_MAX_GROUP, &value);

	if (ret)
		err_set(err, EXIT_BAD_INPUT, "usage",
			"GROUP: '%s' is not a number from 0 to %u", text,
			ROCESTEER_REDUCE_MAX_GROUP);
	else
		*id = value;
	return ret;
}

int reduce_hint(int ret, struct err *err)
{
	if (ret == -ENOENT && err->code && !err->hint[0])
		err_hint(err, "See: rocesteer reduce show");
	if (ret == -EADDRINUSE)
		err_hint(err, "Begin at least 4194304 PSNs away: late packets may still come.");
	return ret;
}

static const struct reduce_conn *conn_of(const struct reduce_group *group, __u32 nr)
{
	__u32 i;

	for (i = 0; i < group->nr_conns; i++)
		if (group->conn[i].value[ROCESTEER_REDUCE_A_CONN_RANK] == nr)
			return &group->conn[i];
	return NULL;
}

/* The switch counts packets of ranks with connections through it. */
static void put_conn(struct json_object *obj, __u32 rank, const struct reduce_group *group)
{
	const struct reduce_conn *conn = conn_of(group, rank);
	unsigned int i;

	out_uint(obj, "rank", rank);
	for (i = 0; conn && i <= ROCESTEER_REDUCE_A_CONN_MAX; i++)
		if (reduce_conn_name(i))
			out_uint(obj, reduce_conn_name(i), conn->value[i]);
}

/* A poisoned group has a reason, and the sender of the packet. */
static void put_state(struct json_object *obj, const struct reduce_group *group)
{
	bool alive = group->poison == ROCESTEER_REDUCE_POISON_ALIVE;
	const char *text = reduce_poison_text(group->poison);
	char reason[128];

	out_string(obj, "state", !alive ? "poisoned" : group->config.joined ? "alive" : "reserved");
	if (alive)
		return;
	out_string(obj, "poison", reduce_poison_name(group->poison));
	if (group->by_rank) {
		out_uint(obj, "poison_rank", group->poison_rank);
		snprintf(reason, sizeof(reason), "rank %u: %s", group->poison_rank, text);
		text = reason;
	}
	out_string(obj, "reason", text);
}

static void put_group(struct json_object *obj, const struct reduce_group *group)
{
	const struct reduce_config *config = &group->config;
	struct json_object *ranks;
	__u32 i;

	reduce_config_put(obj, config);
	out_string(obj, "role", reduce_name(reduce_roles, config->role));
	if (config->role == ROCESTEER_REDUCE_ROLE_LEAF)
		out_uint(obj, "leaf", config->leaf);
	out_uint(obj, "size", config->nr_ranks);
	put_state(obj, group);
	out_uint(obj, "done", group->done);
	out_uint(obj, "held", group->held);
	out_uint(obj, "bytes", group->bytes);
	ranks = json_object_object_get(obj, "ranks");
	for (i = 0; i < config->nr_ranks; i++)
		put_conn(json_object_array_get_idx(ranks, i), i, group);
}

static void list_group(const struct reduce_group *group, void *array)
{
	put_group(out_append_object(array), group);
}

/* All groups, or the one with a number. */
static int collect(struct json_object *root, struct reduce *reduce, const __u32 *id,
		   struct err *err)
{
	struct json_object *groups;
	struct reduce_group group;
	int ret;

	if (!id) {
		groups = out_array(root, "groups");
		ret = reduce_each(reduce, list_group, groups, err);
		out_sort(groups, (const char *const[]){ "group", NULL });
		return ret;
	}
	ret = reduce_get(reduce, *id, &group, err);
	if (!ret)
		put_group(root, &group);
	return reduce_hint(ret, err);
}

static int show(const struct cli_args *args, struct err *err)
{
	struct json_object *root;
	struct reduce *reduce;
	__u32 id;
	int ret;

	ret = args->operand ? reduce_read_id(args->operand, &id, err) : 0;
	if (!ret)
		ret = reduce_open(&reduce, err);
	if (ret)
		return ret;
	root = out_root();
	ret = collect(root, reduce, args->operand ? &id : NULL, err);
	reduce_close(reduce);
	if (!ret)
		return out_show(&args->out, root, args->operand ? show_views : list_views);
	json_object_put(root);
	return ret;
}

static int print_stats(const struct out *out, const struct reduce_stats *stats)
{
	struct out_column columns[ROCESTEER_REDUCE_A_STATS_MAX + 1] = {};
	const struct out_view views[] = { { .columns = columns }, {} };
	struct json_object *root = out_root();
	unsigned int i, n = 0;

	for (i = 0; i <= ROCESTEER_REDUCE_A_STATS_MAX; i++) {
		const char *name = reduce_stat_name(i);

		if (!name)
			continue;
		out_uint(root, name, stats->value[i]);
		columns[n++] = (struct out_column) { .key = name, .heading = name };
	}
	return out_show(out, root, views);
}

static int show_stats(const struct cli_args *args, struct err *err)
{
	struct reduce_stats stats;
	struct reduce *reduce;
	int ret;

	ret = reduce_open(&reduce, err);
	if (ret)
		return ret;
	ret = reduce_stats(reduce, &stats, err);
	reduce_close(reduce);
	return ret ?: print_stats(&args->out, &stats);
}

static const struct cli_verb verbs[] = {
	{
		.name = "plan",
		.help = "Plan the groups of a job from its slice",
		.options = reduce_plan_options,
		.example = "reduce plan train --cluster cluster.json",
		.run = reduce_plan,
	},
	{
		.name = "load",
		.operand = "[FILE]",
		.help = "Load a group, or the groups of a job: sum the packets of its ranks",
		.options = reduce_load_options,
		.example = "reduce load group.json",
		.run = reduce_load,
	},
	{
		.name = "join",
		.operand = "FILE",
		.help = "Give a group that is loaded the queue pairs of a run",
		.options = reduce_join_options,
		.example = "reduce join group.json",
		.run = reduce_join_file,
	},
	{
		.name = "unload",
		.operand = "[GROUP]",
		.help = "Unload a group, or the groups of a job: packets that wait are dropped",
		.options = reduce_load_options,
		.example = "reduce unload 1",
		.run = reduce_unload,
	},
	{
		.name = "show",
		.operand = "[GROUP]",
		.help = "Show the groups of this network namespace, or one and its ranks",
		.options = no_options,
		.example = "reduce show",
		.shows = true,
		.run = show,
	},
	{
		.name = "stat",
		.help = "Show the counters of packets to the module",
		.options = no_options,
		.example = "reduce stat",
		.run = show_stats,
	},
	{}
};

const struct cli_object cli_reduce = {
	.name = "reduce",
	.help = "sum packets of RDMA WRITEs on switches",
	.verbs = verbs,
};
