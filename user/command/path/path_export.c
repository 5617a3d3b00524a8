// SPDX-License-Identifier: GPL-2.0
/* rocesteer path export: a port map as the settings of other libraries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "path.h"
#include "path_export.h"

enum { FOR, PEER };

const struct cli_option path_export_options[] = {
	[FOR] = { "for", "LIBRARY", "whose settings to print", CLI_NEEDED, export_words },
	[PEER] = { "peer", "ADDR[,ADDR..]", "of these peers only (default: of all)" },
	{}
};

static int bad_peer(struct err *err, const char *code, const char *item, const char *what)
{
	return err_set(err, EXIT_BAD_INPUT, code, "--peer: %s%s", item, what);
}

static int take_peer(const char *item, void *arg)
{
	struct exporter *x = arg;
	const struct portmap_peer *peer;
	char in[320];
	__u8 addr[16];
	size_t i;
	int ret;

	if (addr_parse(item, addr))
		return err_set(x->err, EXIT_BAD_INPUT, "usage",
			       "--peer: '%s' is not an address of a host", item);
	for (i = 0; i < x->nr_peers; i++)
		if (!addr_compare(x->peers[i]->addr, addr))
			return bad_peer(x->err, "usage", item, " is given twice");
	ret = portmap_find_peer(&x->map, addr, x->args->operand, &peer, x->err);
	if (ret)
		return ret;
	snprintf(in, sizeof(in), ": the peer is not in %.256s", x->args->operand);
	if (!peer)
		return bad_peer(x->err, "no-peer", item, in);
	if (peer->local)
		return bad_peer(x->err, "local-peer", item,
				": the peer is under our own leaf, there is one path only");
	x->peers[x->nr_peers++] = peer;
	return 0;
}

static int take_all(struct exporter *x)
{
	const struct portmap_peer *peer;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < x->map.nr_peers; i++) {
		ret = portmap_find_peer(&x->map, x->map.peers[i].addr, x->args->operand, &peer,
					x->err);
		if (!ret && !peer->local)
			x->peers[x->nr_peers++] = peer;
	}
	if (ret || x->nr_peers)
		return ret;
	return err_set(x->err, EXIT_BAD_INPUT, "local-peer",
		       "%s: all peers are under our own leaf, there is one path only",
		       x->args->operand);
}

static int take_peers(struct exporter *x)
{
	const char *list = x->args->value[PEER];

	x->peers = calloc(x->map.nr_peers, sizeof(*x->peers));
	if (!x->peers)
		return -ENOMEM;
	return list ? cli_each("peer", list, take_peer, x, x->err) : take_all(x);
}

static struct json_object *member(struct json_object *obj, const char *key)
{
	return json_object_object_get(obj, key);
}

static const char *text(struct json_object *obj, const char *key)
{
	return json_object_get_string(member(obj, key));
}

/* Peers whose paths are not even, one each line. */
static void print_uneven(struct json_object *lib)
{
	struct json_object *balance = member(lib, "balance");
	size_t i, n = balance ? json_object_array_length(balance) : 0;

	if (!balance || json_object_get_boolean(member(lib, "exact")))
		return;
	for (i = 0; i < n; i++) {
		struct json_object *obj = json_object_array_get_idx(balance, i);

		printf("# %s: the fullest of %s paths has %s times its share\n",
		       text(obj, "peer"), text(obj, "paths"), text(obj, "fullest"));
	}
}

/* Print for people and shells: all but the settings are comments. */
static void print_library(struct json_object *lib)
{
	struct json_object *notes = member(lib, "notes"), *settings = member(lib, "settings");
	size_t i;

	for (i = 0; i < json_object_array_length(notes); i++)
		printf("# %s\n", json_object_get_string(json_object_array_get_idx(notes, i)));
	print_uneven(lib);
	for (i = 0; i < json_object_array_length(settings); i++) {
		struct json_object *obj = json_object_array_get_idx(settings, i);

		printf("%s=%s\n", text(obj, "name"), text(obj, "value"));
	}
}

static int show(const struct exporter *x, enum export_for library, struct json_object *root)
{
	struct out out = x->args->out;

	out.json |= library == EXPORT_JSON;
	if (out.json)
		return out_show(&out, root, NULL);
	print_library(json_object_array_get_idx(x->libraries, 0));
	json_object_put(root);
	return out_flush();
}

static struct json_object *new_root(struct exporter *x)
{
	struct json_object *root = out_root();

	out_string(root, "device", x->map.device);
	out_uint(root, "generation", x->map.generation);
	out_string(root, "created", x->map.created);
	out_uint(root, "peers", x->nr_peers);
	x->libraries = out_array(root, "libraries");
	return root;
}

static int export_map(struct exporter *x, enum export_for library)
{
	struct json_object *root;
	int ret = take_peers(x);

	if (ret)
		return ret;
	ret = export_open(&x->e, x->peers, x->nr_peers);
	root = new_root(x);
	if (!ret)
		ret = path_export_settings(x, library);
	export_close(&x->e);
	if (!ret)
		return show(x, library, root);
	json_object_put(root);
	return ret;
}

int path_export(const struct cli_args *args, struct err *err)
{
	struct exporter *x = calloc(1, sizeof(*x));
	int library = 0, ret;

	if (!x)
		return -ENOMEM;
	x->args = args;
	x->err = err;
	ret = cli_word(args, FOR, &library, err) ?:
	      portmap_read(args->operand, &x->map, err);
	if (!ret) {
		ret = export_map(x, library);
		portmap_free(&x->map);
	}
	free(x->peers);
	free(x);
	return ret;
}
