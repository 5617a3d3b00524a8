// SPDX-License-Identifier: GPL-2.0
/* rocesteer path discover: the peers, the search, and the file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "export/export.h"
#include "../peer_list.h"
#include "path.h"

enum {
	DEV, PEER, PEER_FILE, SOURCE, HOP, PATHS, PORTS, RATE, RETRIES, TIMEOUT,
	SHORT_QUOTES, OUT, ACCEPT_INCOMPLETE, FOR,
};

const struct cli_option path_discover_options[] = {
	[DEV] = { "dev", "DEV", "network device that the flows leave by", CLI_NEEDED },
	[PEER] = { "peer", "ADDR[,ADDR..]", "addresses of the peers" },
	[PEER_FILE] = { "peer-file", "FILE",
			"or a file of addresses, - for standard input" },
	[SOURCE] = { "source", "ADDR",
		     "source address of the flows (default: the kernel's choice)" },
	[HOP] = { "hop", "N",
		  "distance of the routers that tell paths apart (default: found)" },
	[PATHS] = { "paths", "S",
		    "number of paths (default: until another is improbable)" },
	[PORTS] = { "ports", "MAX",
		    "maximum of source ports to probe per peer (default: "
		    __stringify(PROBE_BATCH_PORTS) ")" },
	PATH_PROBE_OPTIONS(RATE, RETRIES, TIMEOUT, SHORT_QUOTES),
	[OUT] = { "out", "FILE", "add to the port map in this file" },
	[ACCEPT_INCOMPLETE] = { "accept-incomplete", NULL,
				"write the file even if the map may be incomplete" },
	[FOR] = { "for", "LIBRARY", "probe the ports too that path export needs for it",
		  .words = export_words },
	{}
};

static int read_peers(const struct cli_args *args, struct peer_list *peers)
{
	static const int from[] = { PEER, PEER_FILE };
	int ret = cli_one(args, from, ARRAY_SIZE(from), peers->err);

	if (ret)
		return ret;
	if (args->value[PEER_FILE])
		return peer_list_read(peers, args->value[PEER_FILE]);
	return peer_list_parse(peers, "peer", args->value[PEER]);
}

static int read_source(const struct cli_args *args, const struct peer_list *peers,
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
	for (i = 0; i < peers->nr; i++)
		if (addr_is_v4(peers->addr[i]) != addr_is_v4(source))
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--source: %s is not of the peers' family",
				       text);
	return 0;
}

static int report(const struct cli_args *args, struct portmap *map, struct err *err)
{
	struct json_object *root;
	int incomplete, ret = 0;
	struct bond bond;

	map->generation = 1;
	root = path_to_json(map);
	bond_read("/sys", map->device, if_nametoindex(map->device), &bond);
	path_doubt_bond(&args->out, &bond, root);
	incomplete = path_doubt_peers(&args->out, map, &bond, root);
	path_doubt_qpn_hash(&args->out, map);
	path_doubt_weights(&args->out, map);
	if (!args->value[PATHS])
		ret = path_doubt_cores(&args->out, map);
	if (incomplete < 0)
		ret = incomplete;
	if (args->value[ACCEPT_INCOMPLETE])
		incomplete = 0;
	if (!ret && args->value[OUT] && !incomplete)
		ret = portmap_write(args->value[OUT], map, probe_source_is_own, err);
	if (ret) {
		json_object_put(root);
		return ret;
	}
	out_uint(root, "generation", map->generation);
	ret = out_show(&args->out, root, path_views(map));
	if (!incomplete || ret)
		return ret;
	if (args->value[OUT])
		out_note(&args->out, "%s is %s. To write it: --accept-incomplete.",
			 args->value[OUT], access(args->value[OUT], F_OK) ?
			 "not written" : "left as it was");
	return EXIT_FAILED;
}

/* A port takes one path. */
static int check_ports(__u64 ports, __u64 paths, struct err *err)
{
	return ports >= paths ? 0 :
	       err_set(err, EXIT_BAD_INPUT, "usage",
		       "--ports: %llu ports are too few for --paths %llu", ports, paths);
}

/* The file may be there: @known is what it has. */
static int read_out(const struct cli_args *args, struct portmap *known, struct err *err)
{
	const char *file = args->value[OUT];
	struct portmap map = {};
	int ret;

	snprintf(map.device, sizeof(map.device), "%s", args->value[DEV]);
	ret = file ? portmap_check(file, &map, err) : 0;
	if (ret || !file || access(file, F_OK))
		return ret;
	return portmap_read(file, known, err);
}

int path_discover(const struct cli_args *args, struct err *err)
{
	struct discover what = { .note = path_note, .arg = (void *)&args->out };
	__u64 hop = 0, paths = 0, ports = PROBE_BATCH_PORTS;
	struct peer_list peers = { .err = err };
	__u16 extra[EXPORT_MAX_EXTRA];
	struct portmap map, known = {};
	__u8 source[16];
	int library = -1, ret;

	ret = cli_word(args, FOR, &library, err) ?:
	      cli_uint(args, HOP, 1, PORTMAP_MAX_HOP, &hop, err) ?:
	      cli_uint(args, PATHS, 1, ROCESTEER_MAX_PATHS, &paths, err) ?:
	      cli_uint(args, PORTS, 1, PORTMAP_MAX_PORTS, &ports, err) ?:
	      path_read_rate(args, RATE, RETRIES, TIMEOUT, &what.config, err) ?:
	      check_ports(ports, paths, err) ?:
	      read_peers(args, &peers) ?: read_source(args, &peers, source, err) ?:
	      read_out(args, &known, err);
	if (ret)
		goto out_free;
	what.config.device = args->value[DEV];
	what.hop = hop;
	what.config.ports = ports;
	what.config.short_quotes = args->value[SHORT_QUOTES];
	what.paths = paths;
	what.source = args->value[SOURCE] ? source : NULL;
	what.peers = (const __u8 (*)[16])peers.addr;
	what.nr_peers = peers.nr;
	what.known = known.nr_peers ? &known : NULL;
	what.extra = extra;
	what.nr_extra = library < 0 ? 0 : export_extra(library, extra);
	ret = discover_run(&what, &map, err);
	if (ret)
		goto out_free;
	ret = report(args, &map, err);
	portmap_free(&map);
out_free:
	portmap_free(&known);
	peer_list_free(&peers);
	return ret;
}
