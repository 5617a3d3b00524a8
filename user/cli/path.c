// SPDX-License-Identifier: GPL-2.0
/* rocesteer path: which source port takes which path. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/discover.h"
#include "../lib/portmap.h"
#include "cli.h"

enum { DEV, PEER, SOURCE, HOP, PATHS, PORTS, RATE, RETRIES, TIMEOUT,
       SHORT_QUOTES, OUT };

static const struct cli_option discover_options[] = {
	[DEV] = { "dev", "DEV", "network device the flows leave by" },
	[PEER] = { "peer", "ADDR[,ADDR..]", "addresses of the peers" },
	[SOURCE] = { "source", "ADDR",
		     "address the flows leave with (default: the kernel's choice)" },
	[HOP] = { "hop", "N",
		  "distance of the routers that tell paths apart (default: 2)" },
	[PATHS] = { "paths", "S",
		    "paths there are (default: until another is improbable)" },
	[PORTS] = { "ports", "MAX",
		    "source ports to probe per peer, at most (default: 1024)" },
	[RATE] = { "rate", "PPS", "probes per second, at most (default: 1000)" },
	[RETRIES] = { "retries", "N", "times to repeat a lost probe (default: 3)" },
	[TIMEOUT] = { "timeout", "MS", "wait for the first answer (default: 200)" },
	[SHORT_QUOTES] = { "short-quotes", NULL,
			   "believe answers that quote 8 bytes of a probe only" },
	[OUT] = { "out", "FILE", "write the port map to this file" },
	{}
};

enum { V_ALL, V_RATE, V_RETRIES, V_TIMEOUT, V_SHORT_QUOTES };

static const struct cli_option verify_options[] = {
	[V_ALL] = { "all", NULL, "every port, not only the first of each path" },
	[V_RATE] = { "rate", "PPS", "probes per second, at most (default: 1000)" },
	[V_RETRIES] = { "retries", "N", "times to repeat a lost probe (default: 3)" },
	[V_TIMEOUT] = { "timeout", "MS", "wait for the first answer (default: 200)" },
	[V_SHORT_QUOTES] = { "short-quotes", NULL,
			     "believe answers that quote 8 bytes of a probe only" },
	{}
};

static const struct cli_option show_options[] = { {} };

static const struct out_column head_columns[] = {
	{ "device", "device" },
	{ "hop", "hop" },
	{ "generation", "generation" },
	{ "created", "created" },
	{}
};

static const struct out_column peer_columns[] = {
	{ "address", "PEER" },
	{ "source", "SOURCE" },
	{ "local", "LOCAL" },
	{ "leaf", "LEAF" },
	{ "probed", "PROBED" },
	{ "unanswered", "UNANSWERED" },
	{ "missing", "MISSING" },
	{}
};

static const struct out_column path_columns[] = {
	{ "address", "PEER" },
	{ "path", "PATH" },
	{ "router", "ROUTER" },
	{ "ports", "PORTS" },
	{}
};

static const struct out_view map_views[] = {
	{ .columns = head_columns },
	{ .rows = "peers", .columns = peer_columns },
	{ .rows = "peers.paths", .columns = path_columns },
	{}
};

static const struct out_column moved_columns[] = {
	{ "peer", "PEER" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "expected", "EXPECTED" },
	{ "actual", "ACTUAL" },
	{}
};

static const struct out_column checked_columns[] = {
	{ "checked", "ports checked" },
	{}
};

static const struct out_view verify_views[] = {
	{ .columns = checked_columns },
	{ .rows = "moved", .columns = moved_columns,
	  .empty = "every port takes its path" },
	{}
};

static void note(void *arg, const char *line)
{
	out_note(arg, "%s", line);
}

static int read_pace(const struct cli_args *args, int rate, int retries,
		     int timeout, struct survey_config *config,
		     struct err *err)
{
	__u64 pps = 1000, times = 3, ms = 200;
	int ret;

	ret = cli_uint(args, rate, 1, 100000, &pps, err) ?:
	      cli_uint(args, retries, 0, 8, &times, err) ?:
	      cli_uint(args, timeout, 1, 60000, &ms, err);
	config->rate = pps;
	config->retries = times;
	config->timeout_ms = ms;
	return ret;
}

struct peers {
	__u8 (*addr)[16];
	size_t n;
	struct err *err;
};

static int peer_add(const char *item, void *arg)
{
	struct peers *peers = arg;
	__u8 addr[16], (*bigger)[16];
	size_t i;

	if (addr_parse(item, addr))
		return err_set(peers->err, EXIT_BAD_INPUT, "usage",
			       "--peer: '%s' is not an address of a host",
			       item);
	for (i = 0; i < peers->n; i++)
		if (!addr_compare(peers->addr[i], addr))
			return err_set(peers->err, EXIT_BAD_INPUT, "usage",
				       "--peer: %s is given twice", item);
	if (peers->n == ROCESTEER_MAX_PEERS)
		return err_set(peers->err, EXIT_BAD_INPUT, "usage",
			       "--peer: more than %u peers",
			       ROCESTEER_MAX_PEERS);
	bigger = reallocarray(peers->addr, peers->n + 1, sizeof(addr));
	if (!bigger)
		return -ENOMEM;
	peers->addr = bigger;
	memcpy(peers->addr[peers->n++], addr, 16);
	return 0;
}

static int read_source(const struct cli_args *args, const struct peers *peers,
		       __u8 source[16], struct err *err)
{
	const char *text = args->value[SOURCE];
	size_t i;

	if (!text)
		return 0;
	if (addr_parse(text, source))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--source: '%s' is not an address of a host",
			       text);
	for (i = 0; i < peers->n; i++)
		if (addr_is_v4(peers->addr[i]) != addr_is_v4(source))
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--source: %s is not of the peers' family",
				       text);
	return 0;
}

/* Note what is missing in the tree. Return: number of peers with fewer paths. */
static size_t mark_missing(const struct out *out, const struct portmap *map,
			   struct json_object *root)
{
	struct json_object *peers = json_object_object_get(root, "peers");
	char text[ADDR_STRLEN];
	size_t i, incomplete = 0;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];
		struct json_object *obj = json_object_array_get_idx(peers, i);

		addr_format(peer->addr, text);
		if (peer->unanswered)
			out_note(out, "%s: %u of %u ports got no answer: a path may be silent",
				 text, peer->unanswered, peer->probed);
		if (peer->expected && peer->nr_paths > peer->expected)
			out_note(out, "%s: %u paths, more than --paths %u",
				 text, peer->nr_paths, peer->expected);
		if (peer->nr_paths >= peer->expected)
			continue;
		incomplete++;
		out_uint(obj, "missing", peer->expected - peer->nr_paths);
		out_note(out, "%s: %u of %u paths are missing, no port reaches them",
			 text, peer->expected - peer->nr_paths, peer->expected);
	}
	out_bool(root, "incomplete", incomplete);
	return incomplete;
}

static int report(const struct cli_args *args, struct portmap *map,
		  struct err *err)
{
	struct json_object *root;
	size_t incomplete = 0, i;
	int ret = 0;

	for (i = 0; i < map->nr_peers; i++)
		incomplete += map->peers[i].nr_paths < map->peers[i].expected;
	map->generation = 1;
	if (args->value[OUT] && !incomplete)
		ret = portmap_write(args->value[OUT], map, err);
	if (ret)
		return ret;
	root = portmap_to_json(map);
	mark_missing(&args->out, map, root);
	ret = out_show(&args->out, root, map_views);
	if (!incomplete || ret)
		return ret;
	if (args->value[OUT])
		out_note(&args->out, "%s is left as it was", args->value[OUT]);
	return EXIT_FAILED;
}

static int discover(const struct cli_args *args, struct err *err)
{
	struct discover what = { .note = note, .arg = (void *)&args->out };
	__u64 hop = 2, paths = 0, ports = 1024;
	struct peers peers = { .err = err };
	struct portmap map;
	__u8 source[16];
	int ret;

	ret = cli_need(args, DEV, err) ?: cli_need(args, PEER, err) ?:
	      cli_uint(args, HOP, 1, PORTMAP_MAX_HOP, &hop, err) ?:
	      cli_uint(args, PATHS, 1, ROCESTEER_MAX_PATHS, &paths, err) ?:
	      cli_uint(args, PORTS, 1, PORTMAP_MAX_PORTS, &ports, err) ?:
	      read_pace(args, RATE, RETRIES, TIMEOUT, &what.config, err) ?:
	      cli_each(args->value[PEER], peer_add, &peers) ?:
	      read_source(args, &peers, source, err);
	if (ret == -EINVAL && !err->code)
		err_set(err, EXIT_BAD_INPUT, "usage",
			"--peer: an address is empty or too long");
	if (ret)
		goto out_free;
	what.config.device = args->value[DEV];
	what.config.hop = hop;
	what.config.ports = ports;
	what.config.short_quotes = args->value[SHORT_QUOTES];
	what.paths = paths;
	what.source = args->value[SOURCE] ? source : NULL;
	what.peers = (const __u8 (*)[16])peers.addr;
	what.nr_peers = peers.n;
	ret = discover_run(&what, &map, err);
	if (ret)
		goto out_free;
	ret = report(args, &map, err);
	portmap_free(&map);
out_free:
	free(peers.addr);
	return ret;
}

static struct json_object *verify_to_json(const struct portmap *map,
					  const struct verify *result)
{
	struct json_object *root = out_root(), *array;
	size_t i;

	out_uint(root, "generation", map->generation);
	out_uint(root, "checked", result->checked);
	array = out_array(root, "moved");
	for (i = 0; i < result->nr_moved; i++) {
		const struct verify_result *moved = &result->moved[i];
		const struct portmap_peer *peer = &map->peers[moved->peer];
		struct json_object *obj = out_append_object(array);

		out_addr(obj, "peer", peer->addr);
		out_uint(obj, "path", moved->path);
		out_uint(obj, "port", moved->port);
		out_addr(obj, "expected", peer->paths[moved->path].router);
		if (addr_is_none(moved->actual))
			json_object_object_add(obj, "actual", NULL);
		else
			out_addr(obj, "actual", moved->actual);
	}
	return root;
}

static int verify(const struct cli_args *args, struct err *err)
{
	struct survey_config config = {};
	struct verify result;
	struct portmap map;
	int ret;

	ret = read_pace(args, V_RATE, V_RETRIES, V_TIMEOUT, &config, err) ?:
	      portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	config.short_quotes = args->value[V_SHORT_QUOTES];
	ret = verify_run(&config, &map, args->value[V_ALL], note,
			 (void *)&args->out, &result, err);
	if (ret)
		goto out_free;
	ret = out_show(&args->out, verify_to_json(&map, &result), verify_views);
	if (!ret && result.nr_moved)
		ret = EXIT_FAILED;
	free(result.moved);
out_free:
	portmap_free(&map);
	return ret;
}

static int show(const struct cli_args *args, struct err *err)
{
	struct portmap map;
	int ret;

	ret = portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	ret = out_show(&args->out, portmap_to_json(&map), map_views);
	portmap_free(&map);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "discover",
		.help = "Find by probes which source port takes which path",
		.options = discover_options,
		.run = discover,
	},
	{
		.name = "verify",
		.operand = "FILE",
		.help = "Probe the ports of a port map again",
		.options = verify_options,
		.run = verify,
	},
	{
		.name = "show",
		.operand = "FILE",
		.help = "Show a port map",
		.options = show_options,
		.run = show,
	},
	{}
};

const struct cli_object cli_path = {
	.name = "path",
	.help = "find and prove which source port takes which path",
	.verbs = verbs,
};
