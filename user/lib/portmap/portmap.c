// SPDX-License-Identifier: GPL-2.0
#include "portmap.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

int portmap_path_compare(const struct portmap_path *left, const struct portmap_path *right)
{
	return addr_compare(left->router, right->router) ?:
	       addr_compare(left->leaf, right->leaf) ?: addr_compare(left->via, right->via);
}

bool portmap_via_same(const __u8 left[16], const __u8 right[16])
{
	return addr_is_none(left) || addr_is_none(right) || !addr_compare(left, right);
}

bool portmap_path_same(const struct portmap_path *left, const struct portmap_path *right)
{
	return !addr_compare(left->router, right->router) &&
	       !addr_compare(left->leaf, right->leaf) && portmap_via_same(left->via, right->via);
}

static int several_sources(const struct portmap *map, const struct portmap_peer *peer,
			   const struct portmap_peer *other, const char *file, struct err *err)
{
	char addr[ADDR_STRLEN], source[ADDR_STRLEN], more[ADDR_STRLEN];

	addr_format(peer->addr, addr);
	addr_format(peer->source, source);
	err_set(err, EXIT_BAD_INPUT, "sources",
		"%s: the peer %s has ports for several sources, as %s and %s: which are meant?",
		file, addr, source, addr_format(other->source, more));
	err_hint(err,
		 "Make a map of one source: rocesteer path discover --dev %s --source %s --peer %s --out FILE",
		 map->device, source, addr);
	return -EINVAL;
}

int portmap_find_peer(const struct portmap *map, const __u8 addr[16], const char *file,
		      const struct portmap_peer **peer, struct err *err)
{
	size_t i;

	*peer = NULL;
	for (i = 0; i < map->nr_peers; i++) {
		if (addr_compare(map->peers[i].addr, addr))
			continue;
		if (*peer)
			return several_sources(map, *peer, &map->peers[i], file, err);
		*peer = &map->peers[i];
	}
	return 0;
}

static struct portmap_path *find_path(struct portmap_peer *peer, const struct portmap_path *path)
{
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		if (portmap_path_same(&peer->paths[i], path))
			return &peer->paths[i];
	return NULL;
}

static struct portmap_path *new_path(struct portmap_peer *peer, const struct portmap_path *path)
{
	if (!peer->paths)
		peer->paths = calloc(ROCESTEER_MAX_PATHS, sizeof(*peer->paths));
	if (!peer->paths)
		return NULL;
	peer->paths[peer->nr_paths] = *path;
	return &peer->paths[peer->nr_paths++];
}

int portmap_peer_add_port(struct portmap_peer *peer, const struct hash_router *router,
			  const __u8 *leaf, unsigned int port)
{
	struct portmap_path want = { .weight = 1 }, *path;
	bool fresh;
	__u16 *ports;

	memcpy(want.router, router->addr, 16);
	memcpy(want.via, router->via, 16);
	if (leaf)
		memcpy(want.leaf, leaf, 16);
	path = find_path(peer, &want);
	fresh = !path;
	if (fresh && peer->nr_paths == ROCESTEER_MAX_PATHS)
		return -ENOSPC;
	if (fresh)
		path = new_path(peer, &want);
	if (!path)
		return -ENOMEM;
	if (!(path->nr_ports & (path->nr_ports - 1))) {	/* 0, or full */
		size_t room = path->nr_ports ? path->nr_ports * 2 : 1;

		ports = reallocarray(path->ports, room, sizeof(*ports));
		if (!ports)
			return -ENOMEM;
		path->ports = ports;
	}
	path->ports[path->nr_ports++] = port;
	return fresh;
}

static int compare_paths(const void *a, const void *b)
{
	const struct portmap_path *left = a, *right = b;

	return addr_compare(left->via, right->via) ?: portmap_path_compare(left, right);
}

void portmap_order(struct portmap_path *paths, size_t nr)
{
	struct portmap_path sorted[ROCESTEER_MAX_PATHS];
	size_t turn_of[ROCESTEER_MAX_PATHS] = {}, turn, i, n = 0;

	if (!nr)
		return;
	qsort(paths, nr, sizeof(*paths), compare_paths);
	if (addr_is_none(paths[nr - 1].via))
		return;
	memcpy(sorted, paths, nr * sizeof(*paths));
	for (i = 1; i < nr; i++)
		if (!addr_compare(sorted[i - 1].via, sorted[i].via))
			turn_of[i] = turn_of[i - 1] + 1;
	for (turn = 0; n < nr; turn++)
		for (i = 0; i < nr; i++)
			if (turn_of[i] == turn)
				paths[n++] = sorted[i];
}

/* Is router @i of @nr one of @per that are evenly apart, from router @from on? */
static bool is_chosen(size_t i, size_t nr, size_t per, size_t from)
{
	size_t after = (i + nr - from % nr) % nr, turn = (after * per + nr - 1) / nr;

	return turn < per && turn * nr / per == after;
}

/* How many paths from here on have the same router before? */
static size_t run_length(const struct portmap_path *sorted, size_t nr)
{
	size_t n = 1;

	while (n < nr && !addr_compare(sorted[n].via, sorted->via))
		n++;
	return n;
}

size_t portmap_choose(struct portmap_path *paths, size_t nr, size_t most, __u32 place)
{
	size_t vias = 0, per, from, run, i, j, n = 0;

	qsort(paths, nr, sizeof(*paths), compare_paths);
	for (i = 0; i < nr; i += run_length(paths + i, nr - i))
		vias++;
	per = vias && vias < most ? most / vias : 1;
	from = vias ? place / (vias * per) + place % vias : 0;
	for (i = 0; i < nr; i += run) {
		run = run_length(paths + i, nr - i);
		for (j = i; j < i + run && n < most; j++) {
			struct portmap_path path = paths[j];

			if (nr > most && !is_chosen(j - i, run, per, from))
				continue;
			paths[j] = paths[n];
			paths[n++] = path;
		}
	}
	portmap_order(paths, n);
	return n;
}

void portmap_sort(struct portmap *map)
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		portmap_order(map->peers[i].paths, map->peers[i].nr_paths);
}

const struct portmap_path *portmap_peer_port_path(const struct portmap_peer *peer,
						  unsigned int port)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < peer->nr_paths; i++)
		for (j = 0; j < peer->paths[i].nr_ports; j++)
			if (peer->paths[i].ports[j] == port)
				return &peer->paths[i];
	return NULL;
}

unsigned int portmap_peer_find_port(const struct portmap_peer *peer, unsigned int port)
{
	const struct portmap_path *path = portmap_peer_port_path(peer, port);

	return path ? path - peer->paths : 0;
}

__u16 portmap_path_port(const struct portmap_path *path, __u16 before)
{
	size_t i;

	for (i = 0; i < path->nr_ports; i++)
		if (path->ports[i] == before)
			return before;
	return path->ports[0];
}

unsigned int portmap_peer_find_path(const struct portmap_peer *peer, const __u8 *router,
				    const __u8 *via, const __u8 *leaf)
{
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		if (!addr_compare(peer->paths[i].router, router) &&
		    (!via || portmap_via_same(peer->paths[i].via, via)) &&
		    (!leaf || !addr_compare(peer->paths[i].leaf, leaf)))
			return i;
	return ROCESTEER_MAX_PATHS;
}

struct hash_router portmap_peer_router(const struct portmap_peer *peer, unsigned int path)
{
	struct hash_router router = {};

	memcpy(router.addr, peer->paths[path].router, 16);
	if (portmap_peer_has_leaves(peer))
		memcpy(router.via, peer->paths[path].via, 16);
	return router;
}

void portmap_peer_free(struct portmap_peer *peer)
{
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		free(peer->paths[i].ports);
	free(peer->paths);
	peer->paths = NULL;
	peer->nr_paths = 0;
	if (peer->cut)
		portmap_peer_free(peer->cut);
	free(peer->cut);
	peer->cut = NULL;
}

void portmap_free(struct portmap *map)
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		portmap_peer_free(&map->peers[i]);
	free(map->peers);
	free(map->models);
	memset(map, 0, sizeof(*map));
}

static void path_to_json(const struct portmap_path *path, unsigned int number,
			 struct json_object *obj)
{
	struct json_object *ports;
	size_t i;

	out_uint(obj, "path", number);
	out_addr(obj, "router", path->router);
	if (!addr_is_none(path->via))
		out_addr(obj, "via", path->via);
	if (!addr_is_none(path->leaf))
		out_addr(obj, "leaf", path->leaf);
	if (path->weight != 1)
		out_uint(obj, "weight", path->weight);
	ports = out_array(obj, "ports");
	for (i = 0; i < path->nr_ports; i++)
		out_append_uint(ports, path->ports[i]);
}

static void peer_to_json(const struct portmap_peer *peer, struct json_object *obj)
{
	struct json_object *paths;
	unsigned int i;

	out_addr(obj, "address", peer->addr);
	out_addr(obj, "source", peer->source);
	out_bool(obj, "local", peer->local);
	if (!peer->local) {
		out_addr(obj, "leaf", peer->leaf);
		out_uint(obj, "hop", peer->hop);
		out_uint(obj, "leaf_hop", peer->leaf_hop);
	}
	out_uint(obj, "probed", peer->probed);
	if (peer->unanswered)
		out_uint(obj, "unanswered", peer->unanswered);
	if (peer->qpn_hash)
		out_bool(obj, "qpn_hash", true);
	if (peer->linear)
		out_bool(obj, "linear", true);
	if (peer->moved)
		out_bool(obj, "moved", true);
	paths = out_array(obj, "paths");
	for (i = 0; i < peer->nr_paths; i++)
		path_to_json(&peer->paths[i], i, out_append_object(paths));
}

struct json_object *portmap_to_json(const struct portmap *map)
{
	struct json_object *root = out_root(), *peers, *models;
	size_t i;

	out_uint(root, "format", PORTMAP_FORMAT);
	out_uint(root, "generation", map->generation);
	out_string(root, "created", map->created);
	out_string(root, "device", map->device);
	peers = out_array(root, "peers");
	for (i = 0; i < map->nr_peers; i++)
		peer_to_json(&map->peers[i], out_append_object(peers));
	models = map->nr_models ? out_array(root, "models") : NULL;
	for (i = 0; i < map->nr_models; i++)
		portmap_model_to_json(&map->models[i], out_append_object(models));
	return root;
}

static bool has_peer(const struct portmap *map, size_t n, const struct portmap_peer *peer)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!addr_compare(map->peers[i].addr, peer->addr) &&
		    !addr_compare(map->peers[i].source, peer->source))
			return true;
	return false;
}

const struct portmap_model *portmap_find_model(const struct portmap *map, const __u8 source[16],
					       unsigned int hop)
{
	size_t i;

	for (i = 0; i < map->nr_models; i++)
		if (!addr_compare(map->models[i].source, source) && map->models[i].hop == hop)
			return &map->models[i];
	return NULL;
}

int portmap_add_model(struct portmap *map, const struct portmap_model *model)
{
	const struct portmap_model *old = portmap_find_model(map, model->source, model->hop);
	struct portmap_model *models;

	if (old) {
		map->models[old - map->models] = *model;
		return 0;
	}
	models = reallocarray(map->models, map->nr_models + 1, sizeof(*models));
	if (!models)
		return -ENOMEM;
	map->models = models;
	models[map->nr_models++] = *model;
	return 0;
}

/* Keep the models that @map has none in place of. */
static int add_models(struct portmap *map, const struct portmap *old)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < old->nr_models && map->nr_models < PORTMAP_MAX_MODELS; i++)
		if (!portmap_find_model(map, old->models[i].source, old->models[i].hop))
			ret = portmap_add_model(map, &old->models[i]);
	return ret;
}

/* Move the peers of @old that @map has not behind its own. */
static int add_peers(struct portmap *map, struct portmap *old)
{
	size_t found = map->nr_peers, i;
	struct portmap_peer *peers;

	peers = reallocarray(map->peers, found + old->nr_peers, sizeof(*peers));
	if (!peers)
		return -ENOMEM;
	map->peers = peers;
	for (i = 0; i < old->nr_peers; i++) {
		if (has_peer(map, found, &old->peers[i]))
			continue;
		peers[map->nr_peers++] = old->peers[i];
		old->peers[i].paths = NULL;	/* they are the other's now */
		old->peers[i].nr_paths = 0;
	}
	return 0;
}

/* Does a map have peers of this family, all of them of other hosts' sources? */
static bool is_other_hosts(const struct portmap *map, const __u8 source[16], portmap_own_fn *is_own)
{
	bool other = false;
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const __u8 *known = map->peers[i].source;

		if (addr_is_v4(known) != addr_is_v4(source))
			continue;
		if (!addr_compare(known, source) || is_own(map->device, known))
			return false;
		other = true;
	}
	return other;
}

/* Two maps of one file have to be of one host. */
static int check_alike(const char *file, const struct portmap *map,
		       const struct portmap *old, portmap_own_fn *is_own, struct err *err)
{
	char text[ADDR_STRLEN];
	int ret = 0;
	size_t i;

	if (strcmp(map->device, old->device))
		ret = err_set(err, EXIT_BAD_INPUT, "other-map",
			      "%s: is of device %s, not of %s", file, old->device, map->device);
	for (i = 0; !ret && i < map->nr_peers; i++)
		if (is_other_hosts(old, map->peers[i].source, is_own))
			ret = err_set(err, EXIT_BAD_INPUT, "other-map",
				      "%s: no peer has the source %s: the map is of another host or address",
				      file, addr_format(map->peers[i].source, text));
	if (ret)
		err_hint(err, "Remove it, or choose another --out.");
	return ret;
}

/* Read the old file, if there is one, which has to be like the new map. */
static int read_old(const char *file, const struct portmap *map, portmap_own_fn *is_own,
		    struct portmap *old, struct err *err)
{
	struct stat st;
	int ret;

	*old = (struct portmap) {};
	if (stat(file, &st) && errno == ENOENT)
		return 0;
	ret = portmap_read(file, old, err);
	if (ret) {
		err_hint(err, "The file is not a port map: remove it, or choose another --out.");
		return ret;
	}
	ret = check_alike(file, map, old, is_own, err);
	if (ret)
		portmap_free(old);
	return ret;
}

/* Add the peers of the old file. */
static int add_old(const char *file, struct portmap *map, portmap_own_fn *is_own, struct err *err)
{
	struct portmap old;
	int ret = read_old(file, map, is_own, &old, err);

	if (ret)
		return ret;
	map->generation = old.generation + 1;
	ret = add_models(map, &old) ?: add_peers(map, &old);
	if (!ret && map->nr_peers > ROCESTEER_MAX_PEERS)
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "%s: more than %u peers", file,
			      ROCESTEER_MAX_PEERS);
	portmap_free(&old);
	return ret;
}

static int replace(const char *file, struct json_object *root)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (ret)
		return ret;
	fprintf(new.out, "%s\n",
		json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
					       JSON_C_TO_STRING_SPACED |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	return -abs(file_replace(file, &new));
}

/* Return: a descriptor that holds the lock of a file, or a negative errno. */
static int lock(const char *file, struct err *err)
{
	struct stat like = { .st_uid = -1, .st_gid = -1 };
	char *name;
	int fd, ret;

	if (stat(file, &like) && errno != ENOENT)
		return -errno;
	if (asprintf(&name, "%s.lock", file) < 0)
		return -ENOMEM;
	/* A user who may not write the file may not lock it, so may not read the lock. */
	like.st_mode = 0600;
	fd = file_open_like(name, &like, 0);
	ret = fd < 0 ? fd : lock_take(fd, LOCK_EX, name, err);
	free(name);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int write_locked(const char *file, struct portmap *map, portmap_own_fn *is_own,
			struct err *err)
{
	struct json_object *root;
	int ret;

	ret = add_old(file, map, is_own, err);
	if (ret)
		return ret;
	root = portmap_to_json(map);
	ret = replace(file, root);
	json_object_put(root);
	return ret;
}

int portmap_check(const char *file, const struct portmap *map, struct err *err)
{
	int ret = file_has_place(file);
	struct portmap old;

	if (ret)
		return err_errno(err, -ret, "write", "cannot write %s", file);
	ret = file_check_names(file, err) ?: read_old(file, map, NULL, &old, err);
	if (!ret)
		portmap_free(&old);
	return ret;
}

int portmap_write(const char *file, struct portmap *map, portmap_own_fn *is_own, struct err *err)
{
	char *real = realpath(file, NULL);	/* a link stays one */
	int fd = file_check_names(file, err) ?: lock(real ?: file, err), ret = fd;

	if (fd >= 0) {
		ret = write_locked(real ?: file, map, is_own, err);
		close(fd);
	}
	free(real);
	if (ret && !err->code)
		err_set(err, EXIT_FAILED, "write", "cannot write %s: %s", file, strerror(-ret));
	return ret;
}
