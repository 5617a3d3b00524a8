// SPDX-License-Identifier: GPL-2.0
/* rocesteer path: which source port takes which path. */
#include <stdio.h>

#include "base/base.h"
#include "path.h"

static const struct cli_option show_options[] = { {} };

static const struct out_column head_columns[] = {
	{ "device", "device" },
	{ "hop", "hop" },
	{ "generation", "generation" },
	{ "created", "created" },
	{ "peers_probed", "peers probed" },
	{ "peers_confirmed", "peers confirmed" },
	{ "peers_predicted", "peers predicted" },
	{}
};

static const struct out_column peer_columns[] = {
	{ "address", "PEER" },
	{ "source", "SOURCE" },
	{ "local", "LOCAL" },
	{ "leaf", "LEAF" },
	{ "probed", "PROBED" },
	{ "unanswered", "UNANSWERED" },
	{ "qpn_hash", "QPN-HASH" },
	{ "rests_on", "RESTS ON" },
	{ "moved", "MOVED" },
	{ "missing", "MISSING" },
	{ "reasons", "INCOMPLETE" },
	{}
};

static const struct out_column path_columns[] = {
	{ "address", "PEER" },
	{ "path", "PATH" },
	{ "router", "ROUTER" },
	{ "weight", "WEIGHT" },
	{ "ports", "PORTS" },
	{}
};

static const struct out_view map_views[] = {
	{ .columns = head_columns },
	{ .rows = "peers", .columns = peer_columns },
	{ .rows = "peers.paths", .columns = path_columns },
	{}
};

/* Columns of a map where paths by one router are told apart. */
static const struct out_column split_columns[] = {
	{ "address", "PEER" },
	{ "path", "PATH" },
	{ "router", "ROUTER" },
	{ "leaf", "LEAF" },
	{ "weight", "WEIGHT" },
	{ "ports", "PORTS" },
	{}
};

static const struct out_view split_views[] = {
	{ .columns = head_columns },
	{ .rows = "peers", .columns = peer_columns },
	{ .rows = "peers.paths", .columns = split_columns },
	{}
};

void path_note(void *arg, const char *line)
{
	out_note(arg, "%s", line);
}

int path_read_rate(const struct cli_args *args, int rate, int retries,
		   int timeout, struct probe_batch_config *config,
		   struct err *err)
{
	__u64 pps = PROBE_BATCH_RATE, times = PROBE_BATCH_RETRIES, ms = PROBE_BATCH_TIMEOUT;
	int ret;

	ret = cli_uint(args, rate, 1, 100000, &pps, err) ?:
	      cli_uint(args, retries, 0, 8, &times, err) ?:
	      cli_uint(args, timeout, 1, 60000, &ms, err);
	config->rate = pps;
	config->retries = times;
	config->timeout_ms = ms;
	return ret;
}

const struct out_view *path_views(const struct portmap *map)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		for (p = 0; p < map->peers[i].nr_paths; p++)
			if (!addr_is_none(map->peers[i].paths[p].leaf))
				return split_views;
	return map_views;
}

struct json_object *path_to_json(const struct portmap *map)
{
	struct json_object *root = portmap_to_json(map);
	struct json_object *peers = json_object_object_get(root, "peers");
	unsigned int probed = 0, confirmed = 0, predicted = 0;
	char text[32];
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];

		if (peer->local)
			continue;
		probed += !peer->linear;
		confirmed += peer->linear && peer->probed;
		predicted += peer->linear && !peer->probed;
		snprintf(text, sizeof(text), "confirmed %u", peer->probed);
		out_string(json_object_array_get_idx(peers, i), "rests_on",
			   !peer->linear ? "probed" : peer->probed ? text : "predicted");
	}
	out_uint(root, "peers_probed", probed);
	out_uint(root, "peers_confirmed", confirmed);
	out_uint(root, "peers_predicted", predicted);
	return root;
}

static int show(const struct cli_args *args, struct err *err)
{
	struct portmap map;
	int ret;

	ret = portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	ret = out_show(&args->out, path_to_json(&map), path_views(&map));
	portmap_free(&map);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "discover",
		.help = "Find by probes which source port takes which path",
		.options = path_discover_options,
		.example = "path discover --dev eth0 --peer 10.1.1.1 --out ports.json",
		.run = path_discover,
	},
	{
		.name = "verify",
		.operand = "FILE",
		.help = "Probe the ports of a port map again",
		.options = path_verify_options,
		.example = "path verify ports.json --all",
		.run = path_verify,
	},
	{
		.name = "prove",
		.help = "Let the NIC show which ports it makes, and which way its packets go",
		.options = path_prove_options,
		.example = "path prove --rdma-dev rxe0 --port-map ports.json",
		.run = path_prove,
	},
	{
		.name = "show",
		.operand = "FILE",
		.help = "Show a port map",
		.options = show_options,
		.example = "path show ports.json",
		.run = show,
	},
	{
		.name = "audit",
		.operand = "FILE",
		.help = "Say what port maps show of the fabric, and what is wrong there",
		.options = path_audit_options,
		.example = "path audit ports.json",
		.run = path_audit,
	},
	{
		.name = "export",
		.operand = "FILE",
		.help = "Print a port map as settings of other libraries",
		.options = path_export_options,
		.example = "path export ports.json --for perftest",
		.run = path_export,
	},
	{}
};

const struct cli_object cli_path = {
	.name = "path",
	.help = "find and prove which source port takes which path",
	.verbs = verbs,
};
