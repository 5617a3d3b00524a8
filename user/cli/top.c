// SPDX-License-Identifier: GPL-2.0
/* rocesteer top: what goes over which path, again and again. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "cli.h"

#define MSEC	1000000ull
#define SEC	1000000000ull

enum { INTERVAL, COUNT };

static const struct cli_option options[] = {
	[INTERVAL] = { "interval", "MS", "time between samples (default: 1000)" },
	[COUNT] = { "count", "N", "end after N samples (default: never)" },
	{}
};

static const struct out_column columns[] = {
	{ "job", "JOB" },
	{ "device", "DEVICE" },
	{ "leaf", "LEAF" },
	{ "path", "PATH" },
	{ "router", "ROUTER" },
	{ "path_leaf", "ENTRY" },
	{ "state", "STATE" },
	{ "flows", "FLOWS" },
	{ "pieces", "PIECES" },
	{ "packets_per_s", "PACKETS/S" },
	{ "bytes_per_s", "BYTES/S" },
	{ "rounds_per_s", "ROUNDS/S" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "groups.paths", .columns = columns,
	  .empty = "no job is loaded" },
	{}
};

static const char *state_of(const struct rates_group *group, __u32 p)
{
	if (!group->served)	/* the device is gone, or came without them */
		return "unserved";
	if (group->group.down >> p & 1)
		return "down";
	if (!(group->ports >> p & 1))
		return "no-port";
	return group->path[p].avoided ? "suspected" : "up";
}

static __u64 per_second(__u64 count, __u64 elapsed)
{
	return (__uint128_t)count * SEC / elapsed;
}

static void put_path(struct json_object *obj, const struct rates_group *group,
		     __u32 p, __u64 elapsed)
{
	const struct rates_path *path = &group->path[p];

	out_uint(obj, "path", p);
	out_addr(obj, "router", group->group.router[p]);
	if (!addr_is_none(group->group.leaf[p]))
		out_addr(obj, "path_leaf", group->group.leaf[p]);
	out_string(obj, "state", state_of(group, p));
	out_uint(obj, "flows", group->group.flows[p]);
	out_uint(obj, "pieces", path->pieces);
	out_uint(obj, "packets_per_s", per_second(path->packets, elapsed));
	out_uint(obj, "bytes_per_s", per_second(path->bytes, elapsed));
	out_uint(obj, "rounds_per_s", per_second(path->rounds, elapsed));
}

static struct json_object *to_json(const struct rates *rates)
{
	struct json_object *root = out_root(), *groups, *obj, *paths;
	size_t i;
	__u32 p;

	out_uint(root, "interval_ms", rates->elapsed / MSEC);
	groups = out_array(root, "groups");
	for (i = 0; i < rates->groups.nr; i++) {
		const struct rates_group *group = rates->groups.item[i];

		obj = out_append_object(groups);
		out_uint(obj, "job", group->key.job);
		out_device(obj, "device", group->key.ifindex);
		out_addr(obj, "leaf", group->key.leaf);
		paths = out_array(obj, "paths");
		for (p = 0; p < group->group.nr_paths; p++)
			put_path(out_append_object(paths), group, p,
				 rates->elapsed);
	}
	return root;
}

/* A terminal shows one look, in the place of the last. */
static int show(const struct out *out, const struct rates *rates)
{
	static bool was_empty;
	bool empty = !rates->groups.nr, tty = isatty(STDOUT_FILENO);

	if (!out->json && tty)
		fputs("\033[H\033[2J", stdout);
	else if (!out->json && empty && was_empty)
		return 0;	/* once is enough where lines follow each other */
	was_empty = empty;
	return out_show(out, to_json(rates), views);
}

static int run(const struct cli_args *args, struct err *err)
{
	__u64 interval = 1000, left = 0;
	struct rates rates = {};
	struct timespec pause;
	int ret;

	ret = cli_uint(args, INTERVAL, 10, 3600000, &interval, err) ?:
	      cli_uint(args, COUNT, 1, 0xffffffff, &left, err) ?:
	      rates_read(&rates, err);
	pause.tv_sec = interval / 1000;
	pause.tv_nsec = interval % 1000 * MSEC;
	while (!ret) {
		nanosleep(&pause, NULL);
		ret = rates_read(&rates, err) ?: show(&args->out, &rates);
		if (left && !--left)
			break;
	}
	rates_free(&rates);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Show what goes over each path, until interrupted",
		.options = options,
		.run = run,
	},
	{}
};

const struct cli_object cli_top = {
	.name = "top",
	.help = "show what goes over each path, live",
	.verbs = verbs,
};
