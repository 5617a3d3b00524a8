// SPDX-License-Identifier: GPL-2.0
/* rocesteer path export: the settings of each library. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <rocesteer/label.h>

#include "base/base.h"
#include "path_export.h"

#define NCCL_MAX_QPS	128	/* NCCL_IB_MAX_QPS */
#define MOONCAKE_MAX_QPS 255	/* config.cpp */
#define UCX_MAX_LANES	63	/* UCP_MAX_LANES, but for the one of small messages */
#define UCCL_DEFAULT_QPS 32

/* Hint at the command that probes the missing ports; for many peers, with the map itself. */
static void hint_discover(const struct exporter *x, enum export_for library)
{
	const char *file = x->args->operand;
	char peers[120] = "", addr[ADDR_STRLEN];
	size_t i, len = 0;

	for (i = 0; i < x->nr_peers && len < sizeof(peers); i++)
		len += snprintf(peers + len, sizeof(peers) - len, "%s%s", i ? "," : "",
				addr_format(x->peers[i]->addr, addr));
	if (len < sizeof(peers))
		err_hint(x->err,
			 "rocesteer path discover --dev %s --peer %s --for %s --out %s",
			 x->map.device, peers, export_words[library], file);
	else
		err_hint(x->err,
			 "jq -r '.peers[].address' %s | rocesteer path discover --dev %s --peer-file - --for %s --out %s",
			 file, x->map.device, export_words[library], file);
}

static int not_probed(const struct exporter *x, enum export_for library, const char *what)
{
	char peers[ADDR_STRLEN];

	if (x->nr_peers > 1)
		snprintf(peers, sizeof(peers), "all of %zu peers", x->nr_peers);
	else
		addr_format(x->peers[0]->addr, peers);
	err_set(x->err, EXIT_FAILED, "not-probed", "%s: %s was probed for %s",
		x->args->operand, what, peers);
	hint_discover(x, library);
	return -ENOENT;
}

static void __printf(2, 3) note(struct json_object *lib, const char *fmt, ...)
{
	struct json_object *notes = json_object_object_get(lib, "notes");
	char line[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	json_object_array_add(notes, json_object_new_string(line));
}

static void setting(struct json_object *lib, const char *name, const char *value)
{
	struct json_object *obj;

	obj = out_append_object(json_object_object_get(lib, "settings"));
	out_string(obj, "name", name);
	out_string(obj, "value", value);
}

static void setting_uint(struct json_object *lib, const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setting(lib, name, text);
}

/* Ports in decimal, separated by commas, and as an array. */
static void setting_list(struct json_object *lib, const char *name, const char *key,
			 const __u32 *value, unsigned int n)
{
	struct json_object *array = out_array(lib, key);
	char text[EXPORT_MAX_LENGTH * 8] = "";
	unsigned int i, len = 0;

	for (i = 0; i < n; i++) {
		out_append_uint(array, value[i]);
		len += snprintf(text + len, sizeof(text) - len, "%s%u", i ? "," : "", value[i]);
	}
	if (name)
		setting(lib, name, text);
}

static void list_ports(struct json_object *lib, const char *name, const __u16 *port, unsigned int n)
{
	__u32 value[EXPORT_MAX_LENGTH] = {};
	unsigned int i;

	for (i = 0; i < n; i++)
		value[i] = port[i];
	setting_list(lib, name, "ports", value, n);
}

static struct json_object *begin(const struct exporter *x, enum export_for library)
{
	struct json_object *lib = out_append_object(x->libraries);

	out_string(lib, "for", export_words[library]);
	out_array(lib, "settings");
	out_array(lib, "notes");
	return lib;
}

static bool has_weights(const struct exporter *x)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < x->nr_peers; i++)
		for (p = 1; p < x->peers[i]->nr_paths; p++)
			if (x->peers[i]->paths[p].weight != x->peers[i]->paths[0].weight)
				return true;
	return false;
}

/* Do switches hash the queue pair number on the way to one? Then a port is not a path. */
static bool hashes_qpns(const struct exporter *x)
{
	size_t i;

	for (i = 0; i < x->nr_peers; i++)
		if (x->peers[i]->qpn_hash)
			return true;
	return false;
}

/* A map that may be of no fabric is exact for none. */
static bool has_moved(const struct exporter *x)
{
	size_t i;

	for (i = 0; i < x->nr_peers; i++)
		if (x->peers[i]->moved)
			return true;
	return false;
}

static bool is_exact(const struct exporter *x, const struct export_balance *balance)
{
	return balance->worst == EXPORT_EVEN && !hashes_qpns(x) && !has_moved(x);
}

static void note_balance(const struct exporter *x, struct json_object *lib,
			 const struct export_balance *balance, unsigned int n,
			 const char *what, const char *best)
{
	unsigned int mean = balance->sum / x->nr_peers;

	if (hashes_qpns(x))
		note(lib,
		     "Not exact: switches hash the destination queue pair, so a port does not choose a path. Chance does.");
	else if (has_moved(x))
		note(lib,
		     "Not exact: ports moved to other paths while the map was made. Make it again when routes are stable: rocesteer path discover.");
	else if (balance->worst == EXPORT_EVEN)
		note(lib, "Exact: with %u %s all paths of each peer carry %s.", n, what,
		     has_weights(x) ? "what their weights say" : "the same");
	else
		note(lib,
		     "Not exact: with %u %s the fullest path of a peer carries up to %u.%02u times its share, %u.%02u on average. %s",
		     n, what, balance->worst / EXPORT_EVEN, balance->worst % EXPORT_EVEN / 100,
		     mean / EXPORT_EVEN, mean % EXPORT_EVEN / 100, best);
}

/* Balance for all peers and for each. @n queue pairs have @ports. */
static int balance_of(const struct exporter *x, struct json_object *lib, const __u16 *ports,
		      unsigned int n, const char *what, const char *best)
{
	unsigned int *each = calloc(x->nr_peers, sizeof(*each));
	struct export_balance balance;
	struct json_object *array;
	size_t i;
	int ret;

	if (!each)
		return -ENOMEM;
	ret = export_measure(&x->e, ports, n, each, &balance);
	if (ret)
		goto out_free;
	out_bool(lib, "exact", is_exact(x, &balance));
	out_decimal(lib, "worst", balance.worst, 4);
	out_decimal(lib, "mean", balance.sum / x->nr_peers, 4);
	array = out_array(lib, "balance");
	for (i = 0; i < x->nr_peers; i++) {
		struct json_object *obj = out_append_object(array);

		out_addr(obj, "peer", x->peers[i]->addr);
		out_uint(obj, "paths", x->peers[i]->nr_paths);
		out_decimal(obj, "fullest", each[i], 4);
	}
	note_balance(x, lib, &balance, n, what, best);
out_free:
	free(each);
	return ret;
}

/* The list that perftest and Mooncake get; both begin again at its end. */
static int find_list(const struct exporter *x, enum export_for library, struct json_object *lib,
		     unsigned int length, __u16 *ports)
{
	int ret;

	if (!x->e.nr_ports)
		return not_probed(x, library, "no port");
	ret = export_search(&x->e, length, ports);
	if (ret)
		return ret;
	out_uint(lib, "queue_pairs", length);
	return balance_of(x, lib, ports, length,
			  length > 1 ? "queue pairs, or a multiple of that," : "queue pair or more",
			  "A search found no list that is more even.");
}

static int export_perftest(const struct exporter *x)
{
	struct json_object *lib = begin(x, EXPORT_PERFTEST);
	unsigned int n = export_length(&x->e), i;
	__u32 labels[EXPORT_MAX_LENGTH];
	__u16 ports[EXPORT_MAX_LENGTH];
	int ret = find_list(x, EXPORT_PERFTEST, lib, n, ports);

	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		labels[i] = rocesteer_label_of(ports[i]);
	list_ports(lib, NULL, ports, n);
	setting_list(lib, "--flow_label", "flow_labels", labels, n);
	note(lib,
	     "The queue pairs have the labels in turn: -q %u. Give it to the side that sends the data, without -R.",
	     n);
	return 0;
}

static int export_mooncake(const struct exporter *x)
{
	struct json_object *lib = begin(x, EXPORT_MOONCAKE);
	unsigned int n = export_length(&x->e);
	__u16 ports[EXPORT_MAX_LENGTH];
	int ret;

	if (n > MOONCAKE_MAX_QPS)
		n = MOONCAKE_MAX_QPS;
	ret = find_list(x, EXPORT_MOONCAKE, lib, n, ports);
	if (ret)
		return ret;
	setting_uint(lib, "MC_NUM_QP_PER_EP", n);
	list_ports(lib, "MC_MLX5_QP_UDP_SPORTS", ports, n);
	note(lib,
	     "Queue pair i of an endpoint has port i of the list. It takes an mlx5 NIC, and Mooncake built with USE_MLX5DV.");
	return 0;
}

/* Settings for DEVX objects of UCX (mlx5), if those ports were probed. */
static void add_devx(const struct exporter *x, struct json_object *lib, unsigned int lanes)
{
	struct export_balance balance;
	__u16 ports[EXPORT_MAX_LENGTH];
	int factor = export_ucx(&x->e, lanes, true, ports);

	if (factor < 0 || export_measure(&x->e, ports, lanes, NULL, &balance)) {
		note(lib,
		     "For rc_x (DEVX, mlx5) the lanes have other ports, which were not probed: path discover --for json.");
		return;
	}
	out_uint(lib, "devx_factor", factor);
	out_decimal(lib, "devx_worst", balance.worst, 4);
	note(lib, "For rc_x (DEVX, mlx5) it is UCX_IB_ROCE_PATH_FACTOR=%u instead%s.", factor,
	     is_exact(x, &balance) ? ", which is exact" : ", which is not exact");
}

static int export_for_ucx(const struct exporter *x)
{
	struct json_object *lib = begin(x, EXPORT_UCX);
	unsigned int lanes = export_length(&x->e);
	__u16 ports[EXPORT_MAX_LENGTH];
	int factor, ret;

	if (lanes > UCX_MAX_LANES)
		lanes = UCX_MAX_LANES;
	factor = export_ucx(&x->e, lanes, false, ports);
	if (factor == -ENOENT)
		return not_probed(x, EXPORT_UCX, "for no factor the port of each lane");
	if (factor < 0)
		return factor;
	setting_uint(lib, "UCX_IB_NUM_PATHS", lanes);
	setting_uint(lib, "UCX_IB_ROCE_PATH_FACTOR", factor);
	setting_uint(lib, "UCX_MAX_RNDV_RAILS", lanes);
	out_uint(lib, "lanes", lanes);
	out_uint(lib, "factor", factor);
	list_ports(lib, NULL, ports, lanes);
	ret = balance_of(x, lib, ports, lanes, lanes > 1 ? "lanes" : "lane",
			 "No factor whose ports were probed is more even.");
	if (ret)
		return ret;
	note(lib,
	     "Large messages take all lanes; small ones take the first lane, whose port is %u.",
	     ports[0]);
	note(lib,
	     "This is for queue pairs of the verbs: UCX_TLS=rc_v and what else the job needs.");
	add_devx(x, lib, lanes);
	return 0;
}

static void add_expected(struct json_object *array, unsigned int paths, unsigned int n)
{
	struct json_object *obj = out_append_object(array);

	out_uint(obj, "paths", paths);
	out_uint(obj, "queue_pairs", n);
	out_decimal(obj, "fullest", export_expected(paths, n) * EXPORT_EVEN + 0.5, 4);
}

static unsigned int most_paths(const struct exporter *x)
{
	unsigned int most = 1;
	size_t i;

	for (i = 0; i < x->nr_peers; i++)
		if (x->peers[i]->nr_paths > most)
			most = x->peers[i]->nr_paths;
	return most;
}

static int export_for_uccl(const struct exporter *x)
{
	struct json_object *lib = begin(x, EXPORT_UCCL);
	__u16 ports[EXPORT_UCCL_QPS];
	unsigned int paths = most_paths(x);
	int base = export_uccl(&x->e, ports), ret;

	if (base == -ENOENT)
		return not_probed(x, EXPORT_UCCL, "no base with the ports behind it");
	if (base < 0)
		return base;
	setting_uint(lib, "UCCL_UDP_SPORT_BASE", base);
	out_uint(lib, "base", base);
	list_ports(lib, NULL, ports, EXPORT_UCCL_QPS);
	ret = balance_of(x, lib, ports, EXPORT_UCCL_QPS, "queue pairs of data",
			 "No base whose ports were probed is more even.");
	if (ret)
		return ret;
	add_expected(out_array(lib, "expected"), paths, UCCL_DEFAULT_QPS);
	note(lib,
	     "The base is for UCCL-EP on mlx5: its %u queue pairs of data to a peer have the ports behind the base, for each proxy thread. In low-latency mode all data has the base itself.",
	     EXPORT_UCCL_QPS);
	note(lib,
	     "UCCL's collectives leave the port to the driver: with UCCL_PORT_ENTROPY=%u and %u paths, chance puts %.2f times the mean on the fullest path.",
	     UCCL_DEFAULT_QPS, paths, export_expected(paths, UCCL_DEFAULT_QPS));
	return 0;
}

static int export_nccl(const struct exporter *x)
{
	struct json_object *lib = begin(x, EXPORT_NCCL), *expected;
	unsigned int n = export_length(&x->e), paths = most_paths(x), times;

	if (n > NCCL_MAX_QPS)
		n = NCCL_MAX_QPS;
	setting_uint(lib, "NCCL_IB_QPS_PER_CONNECTION", n);
	setting_uint(lib, "NCCL_IB_SPLIT_DATA_ON_QPS", 1);
	out_bool(lib, "exact", false);
	expected = out_array(lib, "expected");
	note(lib,
	     "NCCL has no setting for the port, the driver chooses it: nothing here puts a queue pair on a path.");
	for (times = 1; times <= 4; times *= 2) {
		add_expected(expected, paths, times * paths);
		note(lib,
		     "Where chance does, %u queue pairs on %u paths put %.2f times the mean on the fullest path%s.",
		     times * paths, paths, export_expected(paths, times * paths),
		     times * paths > NCCL_MAX_QPS ? "; NCCL has 128 at most" : "");
	}
	note(lib,
	     "This is for switches that hash the port. Those that hash the queue pair number do chance as well (E-ECMP).");
	note(lib, "Exact: rocesteer job load --port-map, with %u queue pairs for each connection.",
	     n);
	return 0;
}

static int (*const exports[])(const struct exporter *x) = {
	[EXPORT_PERFTEST] = export_perftest,
	[EXPORT_UCX] = export_for_ucx,
	[EXPORT_MOONCAKE] = export_mooncake,
	[EXPORT_UCCL] = export_for_uccl,
	[EXPORT_NCCL] = export_nccl,
};

/* Export for all libraries; a failure of one is reported in its place. */
static int export_all(struct exporter *x)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(exports); i++) {
		struct json_object *lib, *error;
		size_t at;

		ret = exports[i](x);
		if (!x->err->code)
			continue;
		at = json_object_array_length(x->libraries) - 1;
		lib = json_object_array_get_idx(x->libraries, at);
		error = out_object(lib, "error");
		out_string(error, "code", x->err->code);
		out_string(error, "message", x->err->message);
		out_string(error, "hint", x->err->hint);
		*x->err = (struct err) {};
		ret = 0;
	}
	return ret;
}

int path_export_settings(struct exporter *x, enum export_for library)
{
	return library == EXPORT_JSON ? export_all(x) : exports[library](x);
}
