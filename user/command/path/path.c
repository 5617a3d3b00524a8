// SPDX-License-Identifier: GPL-2.0
/* rocesteer path: which source port takes which path. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "export/export.h"
#include "discover/discover.h"
#include "portmap/portmap.h"
#include "../objects.h"
#include "path_export.h"

enum {
	DEV, PEER, PEER_FILE, SOURCE, HOP, PATHS, PORTS, RATE, RETRIES, TIMEOUT,
	SHORT_QUOTES, OUT, ACCEPT_INCOMPLETE, FOR,
};

#define PROBE_OPTIONS(RATE, RETRIES, TIMEOUT, SHORT_QUOTES)				\
	[RATE] = { "rate", "PPS", "maximum of probes per second (default: "		\
		   __stringify(PROBE_BATCH_RATE) ")" },					\
	[RETRIES] = { "retries", "N", "repetitions of a lost probe (default: "		\
		      __stringify(PROBE_BATCH_RETRIES) ")" },				\
	[TIMEOUT] = { "probe-timeout", "MS", "time to wait for the first answer (default: " \
		      __stringify(PROBE_BATCH_TIMEOUT) ")" },				\
	[SHORT_QUOTES] = { "short-quotes", NULL,					\
			   "believe answers that quote 8 bytes of a probe only" }

static const struct cli_option discover_options[] = {
	[DEV] = { "dev", "DEV", "network device that the flows leave by", CLI_NEEDED },
	[PEER] = { "peer", "ADDR[,ADDR..]", "addresses of the peers" },
	[PEER_FILE] = { "peer-file", "FILE",
			"or a file of addresses, - for standard input" },
	[SOURCE] = { "source", "ADDR",
		     "source address of the flows (default: the kernel's choice)" },
	[HOP] = { "hop", "N",
		  "distance of the routers that tell paths apart (default: 2)" },
	[PATHS] = { "paths", "S",
		    "number of paths (default: until another is improbable)" },
	[PORTS] = { "ports", "MAX",
		    "maximum of source ports to probe per peer (default: "
		    __stringify(PROBE_BATCH_PORTS) ")" },
	PROBE_OPTIONS(RATE, RETRIES, TIMEOUT, SHORT_QUOTES),
	[OUT] = { "out", "FILE", "add to the port map in this file" },
	[ACCEPT_INCOMPLETE] = { "accept-incomplete", NULL,
				"write the file even if the map may be incomplete" },
	[FOR] = { "for", "LIBRARY",
		  "probe the ports too that path export needs for it: " PATH_EXPORT_WORDS },
	{}
};

enum { V_ALL, V_RATE, V_RETRIES, V_TIMEOUT, V_SHORT_QUOTES };

static const struct cli_option verify_options[] = {
	[V_ALL] = { "all", NULL, "probe every port, not only the first of each path" },
	PROBE_OPTIONS(V_RATE, V_RETRIES, V_TIMEOUT, V_SHORT_QUOTES),
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
	{ "qpn_hash", "QPN-HASH" },
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

/* Where paths by one router are told apart. */
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

static void note(void *arg, const char *line)
{
	out_note(arg, "%s", line);
}

static int read_rate(const struct cli_args *args, int rate, int retries,
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

/* @where: option or line that they are from, for messages. */
struct peers {
	__u8 (*addr)[16];
	size_t n;
	char where[160];
	struct err *err;
};

static int peer_add(const char *item, void *arg)
{
	struct peers *peers = arg;
	__u8 addr[16], (*bigger)[16];
	size_t i;

	if (addr_parse(item, addr))
		return err_set(peers->err, EXIT_BAD_INPUT, "usage",
			       "%s: '%s' is not an address of a host",
			       peers->where, item);
	for (i = 0; i < peers->n; i++)
		if (!addr_compare(peers->addr[i], addr))
			return err_set(peers->err, EXIT_BAD_INPUT, "usage",
				       "%s: %s is given twice", peers->where,
				       item);
	if (peers->n == ROCESTEER_MAX_PEERS)
		return err_set(peers->err, EXIT_BAD_INPUT, "usage",
			       "%s: more than %u peers", peers->where,
			       ROCESTEER_MAX_PEERS);
	bigger = reallocarray(peers->addr, peers->n + 1, sizeof(addr));
	if (!bigger)
		return -ENOMEM;
	peers->addr = bigger;
	memcpy(peers->addr[peers->n++], addr, 16);
	return 0;
}

/* One line of a file, up to a '#'. */
static int read_line(struct peers *peers, char *line)
{
	static const char between[] = ", \t\r\n";
	char *item, *rest;
	int ret = 0;

	line[strcspn(line, "#")] = '\0';
	for (item = strtok_r(line, between, &rest); !ret && item;
	     item = strtok_r(NULL, between, &rest))
		ret = peer_add(item, peers);
	return ret;
}

static int read_file(const char *name, struct peers *peers)
{
	struct lines lines;
	int ret = lines_open(&lines, strcmp(name, "-") ? name : NULL, peers->err);

	if (ret)
		return ret;
	while (!ret && (ret = lines_next(&lines)) > 0) {
		snprintf(peers->where, sizeof(peers->where), "%.128s: line %u", lines.file,
			 lines.number);
		ret = read_line(peers, lines.text);
	}
	lines_close(&lines);
	if (!ret && !peers->n)
		ret = err_set(peers->err, EXIT_BAD_INPUT, "bad-file",
			      "%s: has no address", lines.file);
	return ret;
}

static int read_peers(const struct cli_args *args, struct peers *peers)
{
	static const int from[] = { PEER, PEER_FILE };
	int ret = cli_one(args, from, ARRAY_SIZE(from), peers->err);

	if (ret)
		return ret;
	if (args->value[PEER_FILE])
		return read_file(args->value[PEER_FILE], peers);
	snprintf(peers->where, sizeof(peers->where), "--peer");
	return cli_each("peer", args->value[PEER], peer_add, peers, peers->err);
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

static void __printf(4, 5) reason(const struct out *out, struct json_object *reasons,
				  const char *code, const char *fmt, ...)
{
	char line[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (reasons)
		json_object_array_add(reasons, json_object_new_string(code));
	out_note(out, "%s", line);
}

/* Which of the peers answer. Return: 0 or a negative errno. */
static int ask_peers(const struct portmap *map, bool *answers)
{
	__u8 (*addr)[16] = calloc(map->nr_peers, 2 * sizeof(*addr));
	__u8 (*source)[16] = addr + map->nr_peers;
	size_t i;
	int ret;

	if (!addr)
		return -ENOMEM;
	for (i = 0; i < map->nr_peers; i++) {
		memcpy(addr[i], map->peers[i].addr, 16);
		memcpy(source[i], map->peers[i].source, 16);
	}
	ret = answers_check(map->device, (const __u8 (*)[16])source,
			    (const __u8 (*)[16])addr, answers, map->nr_peers);
	free(addr);
	return ret;
}

/* Name the routers that have no way to the peer. */
static void doubt_cut(const struct out *out, const struct portmap_peer *peer,
		      const char *name, struct json_object *reasons)
{
	char router[ADDR_STRLEN];
	unsigned int i;

	for (i = 0; i < portmap_peer_nr_cut(peer); i++) {
		const struct portmap_path *path = &peer->cut->paths[i];

		reason(out, i ? NULL : reasons, "unreachable",
		       "%s: %s says that it is unreachable, %zu of %u ports lead there: the path is not in the map",
		       name, addr_format(path->router, router), path->nr_ports, peer->probed);
	}
}

/* RFC 7600: all routers without an IPv4 address may answer from this one. */
static bool is_dummy(const __u8 addr[16])
{
	static const __u8 dummy[16] = { [10] = 0xff, 0xff, 192, 0, 0, 8 };

	return !addr_compare(addr, dummy);
}

/* A path is known by its leaf, if not by its router. */
static bool has_dummy(const struct portmap_peer *peer)
{
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		if (is_dummy(peer->paths[i].router) && addr_is_none(peer->paths[i].leaf))
			return true;
	return is_dummy(peer->leaf);
}

/* Report why there may be more paths behind routers than were found. */
static void doubt_paths(const struct out *out, const struct portmap_peer *peer,
			const char *name, struct json_object *reasons)
{
	unsigned int answered = peer->probed - peer->unanswered;
	unsigned int found = peer->nr_paths + portmap_peer_nr_cut(peer);
	unsigned int enough;

	enough = peer->expected ? 0 : discover_bound(found + 1, DISCOVER_ONE_IN);
	if (found < peer->expected)
		reason(out, reasons, "missing",
		       "%s: %u of %u paths are missing, no port reaches them",
		       name, peer->expected - found, peer->expected);
	if (peer->expected && found > peer->expected)
		reason(out, reasons, "more",
		       "%s: %u paths, more than --paths %u", name, found, peer->expected);
	if (answered < enough)
		reason(out, reasons, "few-ports",
		       "%s: %u ports were answered: it takes %u to be sure that there is no path besides these %u, see --ports",
		       name, answered, enough, found);
	doubt_cut(out, peer, name, reasons);
	/* Routers limit how often they say that a peer is unreachable. */
	if (discover_is_silent(peer) && !portmap_peer_nr_cut(peer) &&
	    (!peer->expected || found < peer->expected))
		reason(out, reasons, "silent",
		       "%s: %u of %u ports got no answer: a router may not answer to expired TTLs, its path is not in the map",
		       name, peer->unanswered, peer->probed);
	if (has_dummy(peer))
		reason(out, reasons, "no-address",
		       "%s: 192.0.0.8 answers, as any router may that has no IPv4 address: paths by such routers are not told apart; give the routers addresses",
		       name);
	else if (!peer->expected && found == 1)
		reason(out, reasons, "one-path",
		       "%s: all ports take one path: routers may hash without ports (Linux: fib_multipath_hash_policy), or --hop is wrong; where there is one path only: --paths 1",
		       name);
	if (peer->sprays)
		reason(out, reasons, "sprays",
		       "%s: packets of one port take several paths: the fabric sprays packets, a port does not choose a path there",
		       name);
	if (peer->moved)
		reason(out, reasons, "moved",
		       "%s: ports moved to other paths during the search, twice: routes keep changing, the map is of no fabric",
		       name);
	if (!addr_compare(peer->leaf, peer->addr))
		reason(out, reasons, "hop",
		       "%s: it answers where its leaf should: --hop is too large",
		       name);
}

/*
 * Why there may be more than was found of a peer: a word for programs and a line for
 * people. Return: number of reasons.
 */
static size_t doubt(const struct out *out, const struct portmap_peer *peer,
		    bool answers, struct json_object *reasons)
{
	char name[ADDR_STRLEN];

	addr_format(peer->addr, name);
	if (!peer->local)
		doubt_paths(out, peer, name, reasons);
	if (peer->near)
		reason(out, reasons, "near",
		       "%s: it is no further away than --hop: it is under our own leaf, or --hop is too large",
		       name);
	if (!answers && !portmap_peer_nr_cut(peer))
		reason(out, reasons, "peer-silent",
		       "%s: the peer does not answer: is this the address of a host?",
		       name);
	return json_object_array_length(reasons);
}

/* Mark incomplete peers in the tree. Return: their number, or a negative errno. */
static int mark_missing(const struct out *out, const struct portmap *map,
			struct json_object *root)
{
	struct json_object *peers = json_object_object_get(root, "peers");
	size_t n = map->nr_peers, i;
	bool answers[n];
	int incomplete = 0, ret;

	ret = ask_peers(map, answers);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		const struct portmap_peer *peer = &map->peers[i];
		struct json_object *obj = json_object_array_get_idx(peers, i);

		if (peer->nr_paths + portmap_peer_nr_cut(peer) < peer->expected)
			out_uint(obj, "missing",
				 peer->expected - peer->nr_paths - portmap_peer_nr_cut(peer));
		if (doubt(out, peer, answers[i], out_array(obj, "reasons")))
			incomplete++;
		else
			json_object_object_del(obj, "reasons");
	}
	out_bool(root, "incomplete", incomplete);
	return incomplete;
}

/* The paths are there, and a port may choose others: no reason to refuse the map. */
static void tell_qpn_hash(const struct out *out, const struct portmap *map)
{
	char name[ADDR_STRLEN];
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (map->peers[i].qpn_hash)
			out_note(out,
				 "%s: switches hash the destination queue pair: one port is not one path; the ports hold for queue pairs that are probed only",
				 addr_format(map->peers[i].addr, name));
}

/* Has a peer before this one the same leaf, and thus the same weights? */
static bool is_told(const struct portmap *map, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!addr_compare(map->peers[i].leaf, map->peers[n].leaf))
			return true;
	return false;
}

/* Weights are proposed where the shares of ports differ. */
static void tell_weights(const struct out *out, const struct portmap *map)
{
	char name[ADDR_STRLEN];
	unsigned int p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];
		const struct portmap_path *paths = peer->paths;
		unsigned int least = 0, most = 0;

		for (p = 1; p < peer->nr_paths; p++) {
			if (paths[p].weight < paths[least].weight)
				least = p;
			if (paths[p].weight > paths[most].weight)
				most = p;
		}
		if (least == most || is_told(map, i))
			continue;
		out_note(out,
			 "%s: path %u has %.2f of the ports of path %u: do the switches weigh next hops, or do several routers answer from one address? Paths have weights in the map: see weight.",
			 addr_format(peer->addr, name), least,
			 (double)paths[least].nr_ports / paths[most].nr_ports, most);
	}
}

static const struct out_view *views_of(const struct portmap *map)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		for (p = 0; p < map->peers[i].nr_paths; p++)
			if (!addr_is_none(map->peers[i].paths[p].leaf))
				return split_views;
	return map_views;
}

static bool is_own(const char *device, const __u8 source[16])
{
	struct err err = {};

	return !probe_source_check(device, source, &err);
}

static int report(const struct cli_args *args, struct portmap *map,
		  struct err *err)
{
	struct json_object *root;
	int incomplete, ret = 0;

	map->generation = 1;
	root = portmap_to_json(map);
	incomplete = mark_missing(&args->out, map, root);
	tell_qpn_hash(&args->out, map);
	tell_weights(&args->out, map);
	if (incomplete < 0)
		ret = incomplete;
	if (args->value[ACCEPT_INCOMPLETE])
		incomplete = 0;
	if (!ret && args->value[OUT] && !incomplete)
		ret = portmap_write(args->value[OUT], map, is_own, err);
	if (ret) {
		json_object_put(root);
		return ret;
	}
	out_uint(root, "generation", map->generation);
	ret = out_show(&args->out, root, views_of(map));
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
		       "--ports: %llu ports cannot take --paths %llu", ports, paths);
}

static int check_out(const struct cli_args *args, unsigned int hop, struct err *err)
{
	struct portmap map = { .hop = hop };

	snprintf(map.device, sizeof(map.device), "%s", args->value[DEV]);
	return args->value[OUT] ? portmap_check(args->value[OUT], &map, err) : 0;
}

static int discover(const struct cli_args *args, struct err *err)
{
	struct discover what = { .note = note, .arg = (void *)&args->out };
	__u64 hop = 2, paths = 0, ports = PROBE_BATCH_PORTS;
	struct peers peers = { .err = err };
	__u16 extra[EXPORT_MAX_EXTRA];
	struct portmap map;
	__u8 source[16];
	int library = -1, ret;

	ret = cli_word(args, FOR, export_words, &library, err) ?:
	      cli_uint(args, HOP, 1, PORTMAP_MAX_HOP, &hop, err) ?:
	      cli_uint(args, PATHS, 1, ROCESTEER_MAX_PATHS, &paths, err) ?:
	      cli_uint(args, PORTS, 1, PORTMAP_MAX_PORTS, &ports, err) ?:
	      read_rate(args, RATE, RETRIES, TIMEOUT, &what.config, err) ?:
	      check_ports(ports, paths, err) ?:
	      read_peers(args, &peers) ?: read_source(args, &peers, source, err) ?:
	      check_out(args, hop, err);
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
	what.extra = extra;
	what.nr_extra = library < 0 ? 0 : export_extra(library, extra);
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
	struct json_object *root = out_root(), *moved_array, *unreachable, *unanswered;
	size_t i;

	out_uint(root, "generation", map->generation);
	out_uint(root, "checked", result->checked);
	out_uint(root, "ports", result->ports);
	out_uint(root, "hop", map->hop + !!result->far);
	moved_array = out_array(root, "moved");
	unreachable = out_array(root, "unreachable");
	unanswered = out_array(root, "unanswered");
	for (i = 0; i < result->nr_moved; i++) {
		const struct verify_result *moved = &result->moved[i];
		const struct portmap_peer *peer = &map->peers[moved->peer];
		const struct portmap_path *path = &peer->paths[moved->path];
		bool silent = addr_is_none(moved->actual);
		struct json_object *obj;

		obj = out_append_object(silent ? unanswered :
					moved->unreachable ? unreachable : moved_array);
		out_addr(obj, "peer", peer->addr);
		out_addr(obj, "source", peer->source);
		out_uint(obj, "path", moved->path);
		out_uint(obj, "port", moved->port);
		out_uint(obj, "hop", map->hop + moved->leaf);
		out_addr(obj, "expected", !moved->leaf ? path->router :
			 addr_is_none(path->leaf) ? peer->leaf : path->leaf);
		if (!silent)
			out_addr(obj, "actual", moved->actual);
	}
	return root;
}

static int verify(const struct cli_args *args, struct err *err)
{
	struct verify_extent extent = { .all = args->value[V_ALL] };
	struct probe_batch_config config = {};
	struct verify result;
	struct portmap map;
	int ret;

	ret = read_rate(args, V_RATE, V_RETRIES, V_TIMEOUT, &config, err) ?:
	      portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	config.short_quotes = args->value[V_SHORT_QUOTES];
	ret = verify_run(&config, &map, &extent, note, (void *)&args->out,
			 &result, err);
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

static int show(const struct cli_args *args, struct err *err)
{
	struct portmap map;
	int ret;

	ret = portmap_read(args->operand, &map, err);
	if (ret)
		return ret;
	ret = out_show(&args->out, portmap_to_json(&map), views_of(&map));
	portmap_free(&map);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "discover",
		.help = "Find by probes which source port takes which path",
		.options = discover_options,
		.example = "path discover --dev eth0 --peer 10.1.1.1 --out ports.json",
		.run = discover,
	},
	{
		.name = "verify",
		.operand = "FILE",
		.help = "Probe the ports of a port map again",
		.options = verify_options,
		.example = "path verify ports.json --all",
		.run = verify,
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
