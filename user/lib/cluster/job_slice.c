// SPDX-License-Identifier: GPL-2.0
#include "job_slice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster_addr.h"

#define NONE	(~0u)

static int read_routers(struct reader *r, struct json_object *obj, struct job_slice *js)
{
	const struct contention_slice *slice = &js->slice;
	__u32 leaves = slice->layout.leaves;
	struct json_object *array;
	int ret;

	js->routers = calloc((size_t)leaves * slice->nr_spines, sizeof(*js->routers));
	if (!js->routers)
		return -ENOMEM;
	ret = reader_get(r, obj, "routers", json_type_array, &array);
	if (ret)
		err_hint(r->err, "The cluster file needs \"routers\" and \"nics\".");
	return ret ?: cluster_routers_read(r, array, leaves, slice->nr_spines,
					   slice->spines, js->routers);
}

/* Has a job several links between a leaf and a spine that hosts tell apart? */
static bool is_parallel(const struct contention_slice *slice)
{
	__u32 i;

	if (slice->layout.joined)
		return false;
	for (i = 1; i < slice->nr_spines; i++)
		if (slice->spines[i] == slice->spines[i - 1])
			return true;
	return slice->layout.most > 1;
}

static int untold(struct reader *r)
{
	reader_invalid(r, "up", "is missing, and several links lead to one spine");
	err_hint(r->err, "The cluster file needs \"leaf_addrs\" and \"spine_addrs\".");
	return -EINVAL;
}

/* An address, or a list of addresses. */
static int read_up(struct reader *r, struct json_object *value, struct job_link *link)
{
	struct json_object *one = json_object_new_array();
	int ret = -ENOMEM;

	json_object_array_add(one, json_object_get(value));
	if (json_object_get_type(value) != json_type_array)
		value = one;
	link->nr_up = json_object_array_length(value);
	link->up = calloc(link->nr_up + 1, sizeof(*link->up));
	if (link->up)
		ret = reader_addrs(r, "", value, link->nr_up, link->up);
	json_object_put(one);
	return ret;
}

static int read_links(struct reader *r, struct json_object *obj, struct job_slice *js)
{
	const struct contention_layout *layout = &js->slice.layout;
	struct json_object *up, *down;
	__u8 (*addr)[16];
	size_t n, i, mark;
	int ret;

	ret = reader_get(r, obj, "up", json_type_array, &up) ?:
	      reader_get(r, obj, "down", json_type_array, &down);
	if (ret)
		return ret;
	n = json_object_array_length(json_object_object_get(obj, "links"));
	js->link = calloc(n + 1, sizeof(*js->link));
	js->first_link = calloc(layout->leaves + 1, sizeof(*js->first_link));
	addr = calloc(n + 1, sizeof(*addr));
	if (!js->link || !js->first_link || !addr)
		ret = -ENOMEM;
	for (i = 0; !ret && i < layout->leaves; i++)
		js->first_link[i + 1] = js->first_link[i] +
					layout->lanes * layout->links[i];
	js->nr_links = ret ? 0 : n;
	ret = ret ?: reader_addrs(r, "down", down, n, addr);
	if (!ret && json_object_array_length(up) != n)
		ret = reader_invalid(r, "up", "is not an array of %zu", n);
	for (i = 0; !ret && i < n; i++) {
		mark = reader_enter(r, "up", i);
		ret = read_up(r, json_object_array_get_idx(up, i), &js->link[i]);
		memcpy(js->link[i].down, addr[i], 16);
		reader_leave(r, ret ? strlen(r->where) : mark);
	}
	free(addr);
	return ret;
}

/* A server has as many NICs as GPUs; contention_read_slice() has counted the GPUs. */
static int read_nics(struct reader *r, struct json_object *obj, struct job_slice *js)
{
	struct json_object *servers, *array;
	size_t i, mark;
	__u64 rank = 0, gpus;
	int ret = 0;

	js->nic = calloc(js->slice.layout.ranks, sizeof(*js->nic));
	if (!js->nic)
		return -ENOMEM;
	servers = json_object_object_get(obj, "servers");
	for (i = 0; !ret && i < json_object_array_length(servers); i++) {
		struct json_object *server;

		server = json_object_array_get_idx(servers, i);
		mark = reader_enter(r, "servers", i);
		ret = reader_uint(r, server, "gpus", 1, SLICE_MAX_GPUS, &gpus) ?:
		      reader_get(r, server, "nics", json_type_array, &array) ?:
		      reader_addrs(r, "nics", array, gpus, js->nic + rank);
		reader_leave(r, ret ? strlen(r->where) : mark);
		rank += gpus;
	}
	return ret;
}

/* Two GPUs may not have one NIC. */
static int check_nics(struct reader *r, const struct job_slice *js)
{
	char text[ADDR_STRLEN];
	__u8 twice[16];
	int ret;

	ret = addr_find_twice((const __u8 (*)[16])js->nic, js->slice.layout.ranks, twice);
	return ret <= 0 ? ret : reader_invalid(r, "servers", "two GPUs have the NIC %s",
					       addr_format(twice, text));
}

int job_slice_read(struct job_slice *js, struct json_object *obj, const char *file, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	int ret;

	*js = (struct job_slice) {};
	ret = contention_read_slice(&js->slice, &r, obj);
	if (!ret && json_object_object_get_ex(obj, "job", NULL))
		ret = reader_string(&r, obj, "job", js->job, sizeof(js->job));
	if (ret || js->slice.layout.leaves == 1)
		return ret;
	if (json_object_object_get_ex(obj, "up", NULL))
		ret = read_links(&r, obj, js);
	else if (!is_parallel(&js->slice))
		ret = read_routers(&r, obj, js);
	else
		ret = untold(&r);
	return ret ?: read_nics(&r, obj, js) ?: check_nics(&r, js);
}

void job_slice_free(struct job_slice *js)
{
	size_t i;

	for (i = 0; i < js->nr_links; i++)
		free(js->link[i].up);
	free(js->link);
	free(js->first_link);
	contention_slice_free(&js->slice);
	free(js->routers);
	free(js->nic);
}

/* Under one leaf no rank has an address: no peer is a rank. */
static __u32 find_rank(const struct job_slice *js, const __u8 addr[16])
{
	__u32 rank;

	for (rank = 0; js->nic && rank < js->slice.layout.ranks; rank++)
		if (!addr_compare(js->nic[rank], addr))
			return rank;
	return NONE;
}

/* The two ends of a flow. */
struct ends {
	const struct job_slice *js;
	__u32 own;
	__u32 peer;
};

/* The link of a lane by which a flow passes the leaf of @rank. */
static const struct job_link *link_at(const struct job_slice *js, __u32 rank,
				      __u32 other, __u32 lane)
{
	const struct contention_layout *layout = &js->slice.layout;
	__u32 leaf = layout->leaf[rank];

	return &js->link[js->first_link[leaf] + lane * layout->links[leaf] +
			 contention_link_at(layout, rank, other)];
}

/* Address of the spine of a lane, as the host's leaf sees it. */
static const __u8 *router_of(const struct ends *ends, __u32 lane)
{
	const struct job_slice *js = ends->js;

	if (js->link)
		return link_at(js, ends->own, ends->peer, lane)->up[0];
	return js->routers[js->slice.layout.leaf[ends->own] * js->slice.nr_spines + lane];
}

/*
 * Does a path go by the links of a lane? A path has the address of the leaf only if several
 * links lead down to it.
 */
static bool is_of_lane(const struct ends *ends, __u32 lane, const struct portmap_path *path)
{
	const struct job_link *up, *down;
	size_t i;

	if (!ends->js->link)
		return !addr_compare(router_of(ends, lane), path->router);
	up = link_at(ends->js, ends->own, ends->peer, lane);
	down = link_at(ends->js, ends->peer, ends->own, lane);
	if (!addr_is_none(path->leaf) && addr_compare(path->leaf, down->down))
		return false;
	for (i = 0; i < up->nr_up; i++)
		if (!addr_compare(up->up[i], path->router))
			return true;
	return false;
}

/* Missing paths: their number, and the first one. */
struct missing {
	__u32 nr;
	__u32 lane;
	__u8 router[16];
	__u8 addr[16];
};

static void miss(struct missing *missing, const struct ends *ends, __u32 lane)
{
	if (missing->nr++)
		return;
	missing->lane = lane;
	memcpy(missing->router, router_of(ends, lane), 16);
	memcpy(missing->addr, ends->js->nic[ends->peer], 16);
}

static int check_missing(const struct job_slice *js, const struct missing *missing, struct err *err)
{
	char peer[ADDR_STRLEN], router[ADDR_STRLEN], more[32] = "";

	if (!missing->nr)
		return 0;
	if (missing->nr > 1)
		snprintf(more, sizeof(more), ", and %u more", missing->nr - 1);
	return err_set(err, EXIT_REFUSED, "no-port",
		       "job %s: the port map has no port to %s by spine %u, %s%s",
		       js->job, addr_format(missing->addr, peer),
		       js->slice.spines[missing->lane],
		       addr_format(missing->router, router), more);
}

/* Count the lanes that a path serves; one may be the lane of the host's GPU. */
static void count_lanes(const struct ends *ends, struct portmap_path *path, bool *served)
{
	__u32 lanes = ends->js->slice.nr_spines, lane;

	path->weight = 0;
	for (lane = 0; lane < lanes; lane++) {
		if (!is_of_lane(ends, lane, path))
			continue;
		path->weight++;
		path->home |= lane == ends->own % lanes;
		served[lane] = true;
	}
}

/* Keep the paths by the slice's lanes, none of which may be missing. */
static void restrict_paths(const struct ends *ends, struct portmap_peer *peer,
			   struct missing *missing)
{
	bool served[SLICE_MAX_UPLINKS] = {};
	unsigned int p, kept = 0;
	__u32 lane;

	for (p = 0; p < peer->nr_paths; p++) {
		struct portmap_path path = peer->paths[p];

		count_lanes(ends, &path, served);
		if (!path.weight)
			free(path.ports);
		else
			peer->paths[kept++] = path;
	}
	peer->nr_paths = kept;
	for (lane = 0; lane < ends->js->slice.nr_spines; lane++)
		if (!served[lane])
			miss(missing, ends, lane);
}

static int restrict_peer(const struct ends *ends, struct portmap_peer *peer,
			 struct missing *missing, struct err *err)
{
	const struct contention_layout *layout = &ends->js->slice.layout;
	char text[ADDR_STRLEN];

	if (layout->leaf[ends->peer] != layout->leaf[ends->own]) {
		restrict_paths(ends, peer, missing);
		return 0;
	}
	if (peer->local)
		return 0;
	return err_set(err, EXIT_REFUSED, "other-leaf",
		       "job %s: %s is under our leaf in the slice, and under another in the port map",
		       ends->js->job, addr_format(peer->addr, text));
}

/* A slice has leaves, spines and the links between them, of two tiers, and a leaf of each host. */
static int check_fabric(const struct job_slice *js, const struct portmap_peer *peer,
			struct err *err)
{
	char text[ADDR_STRLEN];

	if (portmap_peer_has_tiers(peer))
		return err_set(err, EXIT_BAD_INPUT, "three-tiers",
			       "job %s: %s is behind cores, in another pod: a slice is of two tiers",
			       js->job, addr_format(peer->addr, text));
	if (portmap_peer_has_leaves(peer))
		return err_set(err, EXIT_BAD_INPUT, "two-leaves",
			       "job %s: ports to %s choose one of our leaves, as behind a bond: a slice has one leaf of each host",
			       js->job, addr_format(peer->addr, text));
	return 0;
}

/* Keep the peers that are ranks of the slice. */
static int restrict_peers(const struct job_slice *js, __u32 own,
			  struct portmap *ports, struct missing *missing,
			  struct err *err)
{
	size_t n = ports->nr_peers, i, kept = 0;
	int ret = 0;

	for (i = 0; i < n; i++) {
		struct portmap_peer peer = ports->peers[i];
		struct ends ends = { js, own, find_rank(js, peer.addr) };

		if (ends.peer == NONE || ret) {
			portmap_peer_free(&peer);
			continue;
		}
		ret = check_fabric(js, &peer, err) ?: restrict_peer(&ends, &peer, missing, err);
		ports->peers[kept++] = peer;
	}
	ports->nr_peers = kept;
	return ret;
}

/* Ranks under other leaves that are no peers cannot be reached. */
static void miss_ranks(const struct job_slice *js, __u32 own,
		       const struct portmap *ports, struct missing *missing)
{
	const struct contention_layout *layout = &js->slice.layout;
	struct ends ends = { js, own, 0 };
	__u32 lane;
	size_t i;

	for (; ends.peer < layout->ranks; ends.peer++) {
		if (layout->leaf[ends.peer] == layout->leaf[own])
			continue;
		for (i = 0; i < ports->nr_peers; i++)
			if (!addr_compare(ports->peers[i].addr, js->nic[ends.peer]))
				break;
		for (lane = 0; i == ports->nr_peers && lane < layout->lanes; lane++)
			miss(missing, &ends, lane);
	}
}

/* The rank whose NIC has the source address for a peer. */
static __u32 find_own(const struct job_slice *js, const struct portmap *ports)
{
	__u32 rank = NONE;
	size_t i;

	for (i = 0; rank == NONE && i < ports->nr_peers; i++)
		rank = find_rank(js, ports->peers[i].source);
	return rank;
}

/* Each GPU has lanes of its own: those of one are not for packets of another. */
static int check_own(const struct job_slice *js, const struct portmap *ports, __u32 own,
		     struct err *err)
{
	char one[ADDR_STRLEN], other[ADDR_STRLEN];
	__u32 rank;
	size_t i;

	for (i = 0; i < ports->nr_peers; i++) {
		rank = find_rank(js, ports->peers[i].source);
		if (rank == NONE || rank == own)
			continue;
		err_set(err, EXIT_BAD_INPUT, "sources",
			"job %s: two sources in the port map are NICs of the slice, %s and %s",
			js->job, addr_format(js->nic[own], one), addr_format(js->nic[rank], other));
		err_hint(err, "Make a map of each: rocesteer path discover --source %s ..", one);
		return -EINVAL;
	}
	return 0;
}

int job_slice_restrict(struct job_slice *js, struct portmap *ports, __u32 *rank, struct err *err)
{
	const struct contention_layout *layout = &js->slice.layout;
	struct missing missing = {};
	char text[ADDR_STRLEN];
	__u32 own;
	int ret;

	*rank = 0;
	if (layout->leaves == 1)
		return restrict_peers(js, 0, ports, &missing, err);
	own = find_own(js, ports);
	if (own == NONE)
		return err_set(err, EXIT_BAD_INPUT, "not-in-slice",
			       "job %s: %s, the source in the port map, is not a NIC of the slice",
			       js->job,
			       addr_format(ports->peers[0].source, text));
	*rank = own;
	ret = check_own(js, ports, own, err) ?: restrict_peers(js, own, ports, &missing, err);
	if (ret)
		return ret;
	miss_ranks(js, own, ports, &missing);
	return check_missing(js, &missing, err);
}
