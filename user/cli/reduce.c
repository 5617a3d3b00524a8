// SPDX-License-Identifier: GPL-2.0
/* rocesteer reduce: load, show, unload and stat. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reduce/reduce.h"
#include "cli.h"

enum { LEAF, SPINE };

static const struct cli_option no_options[] = { {} };

static const struct cli_option switch_options[] = {
	[LEAF] = { "leaf", "NUMBER", "the switch is this leaf" },
	[SPINE] = { "spine", "NUMBER", "the switch is this spine, the root of the group" },
	{}
};

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
	{ "inputs", "INPUTS" },
	{ "results", "RESULTS" },
	{ "replays", "REPLAYS" },
	{ "duplicates", "DUPLICATES" },
	{ "stale", "STALE" },
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

static const struct out_view no_views[] = { {} };

static int read_id(const char *text, __u32 *id, struct err *err)
{
	__u64 value;
	int ret = cli_number(text, 0, REDUCE_MAX_GROUP, &value);

	if (ret)
		err_set(err, EXIT_BAD_INPUT, "usage",
			"GROUP: '%s' is not a number from 0 to %u", text,
			REDUCE_MAX_GROUP);
	else
		*id = value;
	return ret;
}

/* Say what to do where a group is missing, and not where the module is. */
static int hint(int ret, struct err *err)
{
	if (ret == -ENOENT && err->code && !err->hint[0])
		err_hint(err, "See: rocesteer reduce show");
	return ret;
}

static int read_switch(const struct cli_args *args, struct reduce_switch *self, struct err *err)
{
	*self = (struct reduce_switch) {
		.is_leaf = args->value[LEAF],
		.is_spine = args->value[SPINE],
	};
	if (self->is_leaf && self->is_spine)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--leaf and --spine: a switch is one of them");
	return cli_uint(args, LEAF, 0, ~0U, &self->number, err) ?:
	       cli_uint(args, SPINE, 0, ~0U, &self->number, err);
}

static int change(const struct cli_args *args, struct err *err,
		  int (*make)(struct reduce *reduce, const struct reduce_config *config,
			      struct err *err))
{
	struct reduce_config config;
	struct reduce_switch self;
	struct reduce *reduce;
	int ret;

	ret = read_switch(args, &self, err) ?:
	      reduce_file_read(&config, args->operand, err) ?:
	      reduce_config_role(&config, &self, err) ?:
	      reduce_open(&reduce, err);
	if (ret)
		return ret;
	ret = make(reduce, &config, err);
	reduce_close(reduce);
	return hint(ret, err) ?: out_show(&args->out, out_root(), no_views);
}

/* What is done says nothing more. */
static int load(const struct cli_args *args, struct err *err)
{
	return change(args, err, reduce_add);
}

static int join(const struct cli_args *args, struct err *err)
{
	return change(args, err, reduce_join);
}

static int unload(const struct cli_args *args, struct err *err)
{
	struct reduce *reduce;
	__u32 id;
	int ret;

	ret = read_id(args->operand, &id, err) ?: reduce_open(&reduce, err);
	if (ret)
		return ret;
	ret = reduce_del(reduce, id, err);
	reduce_close(reduce);
	return hint(ret, err) ?: out_show(&args->out, out_root(), no_views);
}

static const struct reduce_conn *conn_of(const struct reduce_group *group, __u32 nr)
{
	__u32 i;

	for (i = 0; i < group->nr_conns; i++)
		if (group->conn[i].value[ROCESTEER_REDUCE_A_CONN_RANK] == nr)
			return &group->conn[i];
	return NULL;
}

/* The switch counts packets of the ranks whose connections it has to do with. */
static void put_rank(struct json_object *array, __u32 nr, const struct reduce_group *group)
{
	const struct reduce_rank *rank = &group->config.rank[nr];
	const struct reduce_conn *conn = conn_of(group, nr);
	struct json_object *obj = out_append_object(array);
	unsigned int i;

	out_uint(obj, "rank", nr);
	out_addr(obj, "address", rank->address);
	out_uint(obj, "leaf", rank->leaf);
	if (group->config.joined) {
		out_uint(obj, "qpn", rank->qpn);
		out_uint(obj, "psn", rank->psn);
		out_uint(obj, "va", rank->va);
	}
	for (i = 0; conn && i <= ROCESTEER_REDUCE_A_CONN_MAX; i++)
		if (reduce_conn_name(i))
			out_uint(obj, reduce_conn_name(i), conn->value[i]);
}

/* A group that is poisoned says why, and by whose packet. */
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

static const char *word(const char * const *words, __u32 n, __u32 index)
{
	return index < n ? words[index] : "unknown";
}

static void put_group(struct json_object *obj, const struct reduce_group *group)
{
	const struct reduce_config *config = &group->config;
	struct json_object *ranks;
	__u32 i;

	out_uint(obj, "group", config->id);
	out_string(obj, "role", word(reduce_roles, ROCESTEER_REDUCE_ROLE_ROOT + 1, config->role));
	if (config->role == ROCESTEER_REDUCE_ROLE_LEAF)
		out_uint(obj, "leaf", config->leaf);
	if (config->joined) {
		out_string(obj, "type",
			   word(reduce_types, ROCESTEER_REDUCE_TYPE_FP16 + 1, config->type));
		out_string(obj, "op", word(reduce_ops, ROCESTEER_REDUCE_OP_MAX + 1, config->op));
	}
	out_uint(obj, "size", config->nr_ranks);
	out_uint(obj, "mtu", config->mtu);
	out_uint(obj, "packets", config->packets);
	out_uint(obj, "window", config->window);
	put_state(obj, group);
	out_uint(obj, "done", group->done);
	out_uint(obj, "held", group->held);
	out_uint(obj, "bytes", group->bytes);
	ranks = out_array(obj, "ranks");
	for (i = 0; i < config->nr_ranks; i++)
		put_rank(ranks, i, group);
}

static void list_group(const struct reduce_group *group, void *array)
{
	put_group(out_append_object(array), group);
}

/* All groups, or the one with a number. */
static int collect(struct json_object *root, struct reduce *reduce, const __u32 *id,
		   struct err *err)
{
	struct reduce_group group;
	int ret;

	if (!id)
		return reduce_each(reduce, list_group, out_array(root, "groups"), err);
	ret = reduce_get(reduce, *id, &group, err);
	if (!ret)
		put_group(root, &group);
	return hint(ret, err);
}

static int show(const struct cli_args *args, struct err *err)
{
	struct json_object *root;
	struct reduce *reduce;
	__u32 id;
	int ret;

	ret = args->operand ? read_id(args->operand, &id, err) : 0;
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
		.name = "load",
		.operand = "FILE",
		.help = "Load a group: sum the packets of its ranks",
		.options = switch_options,
		.run = load,
	},
	{
		.name = "join",
		.operand = "FILE",
		.help = "Give a group that is loaded other queue pairs",
		.options = switch_options,
		.run = join,
	},
	{
		.name = "unload",
		.operand = "GROUP",
		.help = "Unload a group: packets that wait are dropped",
		.options = no_options,
		.run = unload,
	},
	{
		.name = "show",
		.operand = "[GROUP]",
		.help = "Show the groups of this network namespace, or one and its ranks",
		.options = no_options,
		.run = show,
	},
	{
		.name = "stat",
		.help = "Show the counters of packets to the module",
		.options = no_options,
		.run = show_stats,
	},
	{}
};

const struct cli_object cli_reduce = {
	.name = "reduce",
	.help = "sum packets of RDMA WRITEs on a switch",
	.verbs = verbs,
};
