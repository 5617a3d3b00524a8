// SPDX-License-Identifier: GPL-2.0
/* The reader of port maps: a file is untrusted, every field is checked. */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "portmap.h"

#define MAX_DEPTH	16	/* the format needs 6 */

static int read_ports(struct reader *r, struct json_object *obj,
		      struct portmap_path *path, bool *taken)
{
	struct json_object *ports;
	size_t i, n, mark;
	int ret;

	ret = reader_array(r, obj, "ports", 1, PORTMAP_MAX_PORTS, &ports, &n);
	if (ret)
		return ret;
	path->ports = calloc(n, sizeof(*path->ports));
	if (!path->ports)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct json_object *value = json_object_array_get_idx(ports, i);
		__u64 port;

		mark = reader_enter(r, "ports", i);
		if (json_object_get_type(value) != json_type_int)
			return reader_invalid(r, "", "is not a number");
		if (!reader_in_range(value, ROCESTEER_SPORT_MIN, ROCESTEER_SPORT_MAX, &port))
			return reader_invalid(r, "", "%s is not a port (%u..%u)",
					      json_object_get_string(value),
					      ROCESTEER_SPORT_MIN, ROCESTEER_SPORT_MAX);
		if (taken[port - ROCESTEER_SPORT_MIN])
			return reader_invalid(r, "", "port %llu is listed twice for this peer",
					      port);
		taken[port - ROCESTEER_SPORT_MIN] = true;
		path->ports[path->nr_ports++] = port;
		reader_leave(r, mark);
	}
	return 0;
}

/*
 * Two paths by one router need a leaf each, of the peer or of our own. The order by tiers is put
 * right, not checked.
 */
static int check_order(struct reader *r, const struct portmap_path *paths, unsigned int number)
{
	const struct portmap_path *path = &paths[number], *before;
	unsigned int i;

	for (i = 0; i < number; i++) {
		before = &paths[i];
		if (addr_compare(before->router, path->router) ||
		    !portmap_via_same(before->via, path->via))
			continue;
		if (addr_is_none(before->leaf) || addr_is_none(path->leaf) ||
		    !addr_compare(before->leaf, path->leaf))
			return reader_invalid(r, "router",
					      "is that of path %u: no leaf tells them apart", i);
	}
	if (!number || !addr_is_none(path->via) || !addr_is_none(path[-1].via) ||
	    portmap_path_compare(path - 1, path) < 0)
		return 0;
	return reader_invalid(r, "router", "is out of order: paths ascend by router, then by leaf");
}

static int read_path(struct reader *r, struct json_object *obj,
		     struct portmap_peer *peer, unsigned int number,
		     bool *taken)
{
	struct portmap_path *path = &peer->paths[number];
	__u64 given, weight = 1;
	int ret;

	ret = reader_uint(r, obj, "path", 0, ROCESTEER_MAX_PATHS - 1, &given) ?:
	      reader_addr(r, obj, "router", path->router);
	if (!ret && json_object_object_get(obj, "via"))
		ret = reader_addr(r, obj, "via", path->via);
	if (!ret && json_object_object_get(obj, "leaf"))
		ret = reader_addr(r, obj, "leaf", path->leaf);
	if (!ret && json_object_object_get(obj, "weight"))
		ret = reader_uint(r, obj, "weight", 1, ROCESTEER_WEIGHT_HOME - 1, &weight);
	if (ret)
		return ret;
	path->weight = weight;
	if (given != number)
		return reader_invalid(r, "path", "%llu is out of order, expected %u",
				      given, number);
	return check_order(r, peer->paths, number) ?: read_ports(r, obj, path, taken);
}

static int read_paths(struct reader *r, struct json_object *obj, struct portmap_peer *peer)
{
	bool taken[PORTMAP_MAX_PORTS] = {};
	struct json_object *paths, *path;
	size_t i, n, mark;
	int ret;

	ret = reader_array(r, obj, "paths", 0, ROCESTEER_MAX_PATHS, &paths, &n);
	if (ret)
		return ret;
	if (peer->local && n)
		return reader_invalid(r, "paths", "must be empty: the peer is local");
	if (!peer->local && !n)
		return reader_invalid(r, "paths", "is empty and the peer is not local");
	peer->paths = calloc(n ?: 1, sizeof(*peer->paths));
	if (!peer->paths)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		peer->nr_paths++;	/* so that it is freed */
		ret = reader_item(r, "paths", paths, i, &path, &mark) ?:
		      read_path(r, path, peer, i, taken);
		if (ret)
			return ret;
		reader_leave(r, mark);
	}
	return 0;
}

/* Read a mark, which is false where it is absent. A local peer has no paths to mark. */
static int read_mark(struct reader *r, struct json_object *obj, const char *key, bool local,
		     bool *mark)
{
	struct json_object *value;
	int ret;

	if (!json_object_object_get_ex(obj, key, NULL))
		return 0;
	ret = reader_get(r, obj, key, json_type_boolean, &value);
	if (ret)
		return ret;
	*mark = json_object_get_boolean(value);
	return *mark && local ? reader_invalid(r, key, "is true and the peer is local") : 0;
}

/* Where the routers of its paths are, and its leaf; @hop: of a file of format 1, or 0 */
static int read_hops(struct reader *r, struct json_object *obj, __u64 hop,
		     struct portmap_peer *peer)
{
	__u64 leaf_hop = hop + 1;
	int ret = 0;

	if (!hop)
		ret = reader_uint(r, obj, "hop", 1, PORTMAP_MAX_HOP, &hop) ?:
		      reader_uint(r, obj, "leaf_hop", hop + 1, 2 * PORTMAP_MAX_HOP, &leaf_hop);
	peer->hop = hop;
	peer->leaf_hop = leaf_hop;
	return ret;
}

static int read_peer(struct reader *r, struct json_object *obj, __u64 hop,
		     struct portmap_peer *peer)
{
	__u64 probed, unanswered = 0;
	struct json_object *local;
	int ret;

	ret = reader_addr(r, obj, "address", peer->addr) ?:
	      reader_addr(r, obj, "source", peer->source) ?:
	      reader_get(r, obj, "local", json_type_boolean, &local) ?:
	      reader_uint(r, obj, "probed", 0, PORTMAP_MAX_PORTS, &probed);
	if (ret)
		return ret;
	if (addr_is_v4(peer->addr) != addr_is_v4(peer->source))
		return reader_invalid(r, "source", "is not of the address's family");
	if (json_object_object_get(obj, "unanswered"))
		ret = reader_uint(r, obj, "unanswered", 0, probed, &unanswered);
	if (ret)
		return ret;
	peer->probed = probed;
	peer->unanswered = unanswered;
	peer->local = json_object_get_boolean(local);
	ret = read_mark(r, obj, "qpn_hash", peer->local, &peer->qpn_hash) ?:
	      read_mark(r, obj, "linear", peer->local, &peer->linear) ?:
	      read_mark(r, obj, "moved", peer->local, &peer->moved);
	if (ret)
		return ret;
	if (!peer->local)
		ret = reader_addr(r, obj, "leaf", peer->leaf) ?: read_hops(r, obj, hop, peer);
	return ret ?: read_paths(r, obj, peer);
}

/* Position of a peer, for the search for duplicates. */
struct position {
	const struct portmap_peer *peer;
	size_t i;
};

static int compare_peers(const struct portmap_peer *left, const struct portmap_peer *right)
{
	return addr_compare(left->addr, right->addr) ?:
	       addr_compare(left->source, right->source);
}

static int compare_positions(const void *a, const void *b)
{
	const struct position *left = a, *right = b;
	int order = compare_peers(left->peer, right->peer);

	if (order)
		return order;
	return left->i < right->i ? -1 : 1;
}

static int check_duplicates(struct reader *r, const struct portmap *map)
{
	struct position *sorted = calloc(map->nr_peers, sizeof(*sorted));
	char text[ADDR_STRLEN];
	int ret = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < map->nr_peers; i++)
		sorted[i] = (struct position) { &map->peers[i], i };
	qsort(sorted, map->nr_peers, sizeof(*sorted), compare_positions);
	for (i = 1; i < map->nr_peers && !ret; i++) {
		if (compare_peers(sorted[i].peer, sorted[i - 1].peer))
			continue;
		reader_enter(r, "peers", sorted[i].i);
		ret = reader_invalid(r, "address",
				     "%s and the source are the same as those of peers[%zu]",
				     addr_format(sorted[i].peer->addr, text),
				     sorted[i - 1].i);
	}
	free(sorted);
	return ret;
}

static int read_peers(struct reader *r, struct json_object *root, __u64 hop,
		      struct portmap *map)
{
	struct json_object *peers, *peer;
	size_t i, n, mark;
	int ret;

	ret = reader_array(r, root, "peers", 1, ROCESTEER_MAX_PEERS, &peers, &n);
	if (ret)
		return ret;
	map->peers = calloc(n, sizeof(*map->peers));
	if (!map->peers)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		map->nr_peers++;
		ret = reader_item(r, "peers", peers, i, &peer, &mark) ?:
		      read_peer(r, peer, hop, &map->peers[i]);
		if (ret)
			return ret;
		reader_leave(r, mark);
	}
	return check_duplicates(r, map);
}

static int read_models(struct reader *r, struct json_object *root, __u64 hop,
		       struct portmap *map)
{
	struct json_object *models, *obj;
	struct portmap_model model;
	size_t i, n, mark;
	int ret;

	if (!json_object_object_get_ex(root, "models", NULL))
		return 0;
	ret = reader_array(r, root, "models", 0, PORTMAP_MAX_MODELS, &models, &n);
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(r, "models", models, i, &obj, &mark) ?:
		      portmap_model_read(r, obj, hop, &model);
		if (!ret && portmap_find_model(map, model.source, model.hop))
			ret = reader_invalid(r, "source", "and the hop are those of another model");
		ret = ret ?: portmap_add_model(map, &model);
		reader_leave(r, mark);
	}
	return ret;
}

/* @hop: 0 unless the format has one for all peers */
static int read_head(struct reader *r, struct json_object *root, __u64 *hop, struct portmap *map)
{
	__u64 format;
	const char *c;
	time_t at;
	int ret;

	ret = reader_object(r, root) ?:
	      reader_uint(r, root, "format", 1, INT64_MAX, &format);
	if (ret)
		return ret;
	if (format > PORTMAP_FORMAT)
		return reader_invalid(r, "format", "%llu is not known, this program knows 1..%u",
				      format, PORTMAP_FORMAT);
	ret = reader_uint(r, root, "generation", 1, INT64_MAX - 1, &map->generation) ?:
	      reader_string(r, root, "created", map->created, sizeof(map->created)) ?:
	      reader_string(r, root, "device", map->device, sizeof(map->device));
	if (!ret && format == 1)
		ret = reader_uint(r, root, "hop", 1, PORTMAP_MAX_HOP, hop);
	if (ret)
		return ret;
	if (json_object_get_boolean(json_object_object_get(root, "incomplete")))
		return reader_invalid(r, "incomplete", "paths are missing from this map");
	if (!utc_parse(map->created, &at))
		return reader_invalid(r, "created", "is not an RFC 3339 time");
	for (c = map->device; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || *c == '/')
			return reader_invalid(r, "device", "is not the name of a device");
	return 0;
}

int portmap_from_json(struct json_object *root, const char *file,
		      struct portmap *map, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	__u64 hop = 0;
	int ret;

	memset(map, 0, sizeof(*map));
	ret = read_head(&r, root, &hop, map) ?: read_peers(&r, root, hop, map) ?:
	      read_models(&r, root, hop, map);
	if (ret)
		portmap_free(map);
	else
		portmap_sort(map);
	if (ret == -ENOMEM)
		err_set(err, EXIT_FAILED, "memory", "out of memory");
	return ret;
}

int portmap_read(const char *file, struct portmap *map, struct err *err)
{
	struct json_object *root;
	int ret;

	ret = json_file_read(file, PORTMAP_MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = portmap_from_json(root, file, map, err);
	json_object_put(root);
	return ret;
}
