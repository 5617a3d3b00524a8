// SPDX-License-Identifier: GPL-2.0
/* rocesteer path verify: the ports that do not take their paths. */
#include <stdlib.h>

#include "base/base.h"
#include "path.h"

enum { ALL, RATE, RETRIES, TIMEOUT, SHORT_QUOTES };

const struct cli_option path_verify_options[] = {
	[ALL] = { "all", NULL, "probe every port, not only the first of each path" },
	PATH_PROBE_OPTIONS(RATE, RETRIES, TIMEOUT, SHORT_QUOTES),
	{}
};

static const struct out_column moved_columns[] = {
	{ "peer", "PEER" },
	{ "source", "SOURCE" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "hop", "HOP" },
	{ "expected", "EXPECTED" },
	{ "actual", "ACTUAL" },
	{}
};

static const struct out_column unreachable_columns[] = {
	{ "peer", "PEER" },
	{ "source", "SOURCE" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "expected", "EXPECTED" },
	{ "actual", "SAYS SO" },
	{}
};

static const struct out_column unanswered_columns[] = {
	{ "peer", "PEER" },
	{ "source", "SOURCE" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "hop", "HOP" },
	{ "expected", "EXPECTED" },
	{}
};

static const struct out_column checked_columns[] = {
	{ "checked", "ports checked" },
	{ "ports", "of ports" },
	{ "hop", "up to hop" },
	{}
};

static const struct out_view verify_views[] = {
	{ .columns = checked_columns },
	{ .rows = "moved", .columns = moved_columns },
	{ .rows = "unreachable", .columns = unreachable_columns,
	  .title = "Unreachable:" },
	{ .rows = "unanswered", .columns = unanswered_columns,
	  .title = "No answer:" },
	{}
};

static const struct out_view verified_views[] = {
	{ .columns = checked_columns },
	{ .rows = "moved", .columns = moved_columns,
	  .empty = "every port takes its path" },
	{}
};

static struct json_object *verify_to_json(const struct portmap *map, const struct verify *result)
{
	struct json_object *root = out_root(), *moved_array, *unreachable, *unanswered;
	size_t i;

	out_uint(root, "generation", map->generation);
	out_uint(root, "checked", result->checked);
	out_uint(root, "ports", result->ports);
	out_uint(root, "hop", result->hop);
	moved_array = out_array(root, "moved");
	unreachable = out_array(root, "unreachable");
	unanswered = out_array(root, "unanswered");
	for (i = 0; i < result->nr_moved; i++) {
		const struct verify_result *moved = &result->moved[i];
		const struct portmap_peer *peer = &map->peers[moved->peer];
		bool silent = addr_is_none(moved->actual);
		struct json_object *obj;

		obj = out_append_object(silent ? unanswered :
					moved->unreachable ? unreachable : moved_array);
		out_addr(obj, "peer", peer->addr);
		out_addr(obj, "source", peer->source);
		out_uint(obj, "path", moved->path);
		out_uint(obj, "port", moved->port);
		out_uint(obj, "hop", moved->hop);
		out_addr(obj, "expected", moved->expected);
		if (!silent)
			out_addr(obj, "actual", moved->actual);
	}
	return root;
}

int path_verify(const struct cli_args *args, struct err *err)
{
	struct verify_extent extent = { .all = args->value[ALL] };
	struct probe_batch_config config = {};
	struct verify result;
	struct portmap map;
	int ret;

	ret = path_read_rate(args, RATE, RETRIES, TIMEOUT, &config, err) ?:
	      portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	config.short_quotes = args->value[SHORT_QUOTES];
	ret = verify_run(&config, &map, &extent, path_note, (void *)&args->out, &result, err);
	if (ret)
		goto out_free;
	ret = out_show(&args->out, verify_to_json(&map, &result),
		       result.nr_moved ? verify_views : verified_views);
	if (!ret && result.nr_moved)
		ret = EXIT_FAILED;
	free(result.moved);
out_free:
	portmap_free(&map);
	return ret;
}
