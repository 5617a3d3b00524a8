// SPDX-License-Identifier: GPL-2.0
#include "job_slice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster_addr.h"

#define NONE	(~0u)

static int read_routers(struct reader *r, struct json_object *obj,
			struct job_slice *js)
{
	const struct contention_slice *slice = &js->slice;
	__u32 leaves = slice->layout.leaves;
	struct json_object *array;
	int ret;

	js->routers = calloc((size_t)leaves * slice->nr_spines,
			     sizeof(*js->routers));
	if (!js->routers)
		return -ENOMEM;
	js->router = js->routers;
	ret = reader_get(r, obj, "routers", json_type_array, &array);
	if (ret)
		err_hint(r->err, "The cluster file needs \"routers\" and \"nics\".");
	return ret ?: cluster_routers_read(r, array, leaves, slice->nr_spines,
					   slice->spines, js->routers);
}

/* Each server has as many as GPUs: contention_read_slice() counted those. */
static int read_nics(struct reader *r, struct json_object *obj,
		     struct job_slice *js)
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

/* A NIC names its GPU: no two may have the same. */
static int check_nics(struct reader *r, const struct job_slice *js)
{
	char text[ADDR_STRLEN];
	__u8 twice[16];
	int ret;

	ret = addr_find_twice((const __u8 (*)[16])js->nic,
			      js->slice.layout.ranks, twice);
	return ret <= 0 ? ret : reader_invalid(r, "servers", "two GPUs have the NIC %s",
					       addr_format(twice, text));
}

int job_slice_read(struct job_slice *js, struct json_object *obj,
		   const char *file, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	int ret;

	*js = (struct job_slice) {};
	ret = contention_read_slice(&js->slice, &r, obj);
	if (!ret && json_object_object_get_ex(obj, "job", NULL))
		ret = reader_string(&r, obj, "job", js->job, sizeof(js->job));
	if (ret || js->slice.layout.leaves == 1)
		return ret;
	return read_routers(&r, obj, js) ?: read_nics(&r, obj, js) ?:
	       check_nics(&r, js);
}

void job_slice_free(struct job_slice *js)
{
	contention_slice_free(&js->slice);
	free(js->routers);
	free(js->nic);
}

/* Under one leaf nobody has an address: no peer is a rank. */
static __u32 find_rank(const struct job_slice *js, const __u8 addr[16])
{
	__u32 rank;

	for (rank = 0; js->nic && rank < js->slice.layout.ranks; rank++)
		if (!addr_compare(js->nic[rank], addr))
			return rank;
	return NONE;
}

/* Lanes that lead over a router. */
static __u32 count_lanes(const struct job_slice *js, const __u8 router[16])
{
	__u32 n = 0, i;

	for (i = 0; i < js->slice.nr_spines; i++)
		n += !addr_compare(js->router[i], router);
	return n;
}

/* Ports that the port map lacks: how many, and the first of them. */
struct missing {
	__u32 nr;
	__u32 place;
	__u8 addr[16];
};

static void miss(struct missing *missing, __u32 place, const __u8 addr[16])
{
	if (missing->nr++)
		return;
	missing->place = place;
	memcpy(missing->addr, addr, 16);
}

static int check_missing(const struct job_slice *js,
			 const struct missing *missing, struct err *err)
{
	char peer[ADDR_STRLEN], router[ADDR_STRLEN], more[32] = "";

	if (!missing->nr)
		return 0;
	if (missing->nr > 1)
		snprintf(more, sizeof(more), ", and %u more", missing->nr - 1);
	return err_set(err, EXIT_REFUSED, "no-port",
		       "job %s: the port map has no port to %s by spine %u, %s%s",
		       js->job, addr_format(missing->addr, peer),
		       js->slice.spines[missing->place],
		       addr_format(js->router[missing->place], router), more);
}

/*
 * Keep the paths by the slice's spines, each with the share of the lanes there; all of
 * them have to be there.
 */
static void restrict_paths(const struct job_slice *js,
			   struct portmap_peer *peer, struct missing *missing)
{
	unsigned int p, kept = 0;
	__u32 place;

	for (p = 0; p < peer->nr_paths; p++) {
		struct portmap_path path = peer->paths[p];

		path.weight = count_lanes(js, path.router);
		if (!path.weight)
			free(path.ports);
		else
			peer->paths[kept++] = path;
	}
	peer->nr_paths = kept;
	for (place = 0; place < js->slice.nr_spines; place++) {
		for (p = 0; p < kept; p++)
			if (!addr_compare(peer->paths[p].router,
					  js->router[place]))
				break;
		if (p == kept)
			miss(missing, place, peer->addr);
	}
}

static int restrict_peer(const struct job_slice *js, __u32 own, __u32 rank,
			 struct portmap_peer *peer, struct missing *missing,
			 struct err *err)
{
	const struct contention_layout *layout = &js->slice.layout;
	char text[ADDR_STRLEN];

	if (layout->leaf[rank] != layout->leaf[own]) {
		restrict_paths(js, peer, missing);
		return 0;
	}
	if (peer->local)
		return 0;
	return err_set(err, EXIT_REFUSED, "other-leaf",
		       "job %s: %s is under our leaf in the slice, and under another in the port map",
		       js->job, addr_format(peer->addr, text));
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
		__u32 rank = find_rank(js, peer.addr);

		if (rank == NONE || ret) {
			portmap_peer_free(&peer);
			continue;
		}
		ret = restrict_peer(js, own, rank, &peer, missing, err);
		ports->peers[kept++] = peer;
	}
	ports->nr_peers = kept;
	return ret;
}

/* Ranks under other leaves that are no peers are out of reach, by any spine. */
static void miss_ranks(const struct job_slice *js, __u32 own,
		       const struct portmap *ports, struct missing *missing)
{
	const struct contention_layout *layout = &js->slice.layout;
	__u32 rank, place;
	size_t i;

	for (rank = 0; rank < layout->ranks; rank++) {
		if (layout->leaf[rank] == layout->leaf[own])
			continue;
		for (i = 0; i < ports->nr_peers; i++)
			if (!addr_compare(ports->peers[i].addr, js->nic[rank]))
				break;
		for (place = 0; i == ports->nr_peers &&
		     place < js->slice.nr_spines; place++)
			miss(missing, place, js->nic[rank]);
	}
}

/* The rank whose NIC is the source of what is sent to a peer. */
static __u32 find_own(const struct job_slice *js, const struct portmap *ports)
{
	__u32 rank = NONE;
	size_t i;

	for (i = 0; rank == NONE && i < ports->nr_peers; i++)
		rank = find_rank(js, ports->peers[i].source);
	return rank;
}

int job_slice_restrict(struct job_slice *js, struct portmap *ports,
		       __u32 *place, struct err *err)
{
	const struct contention_layout *layout = &js->slice.layout;
	struct missing missing = {};
	char text[ADDR_STRLEN];
	__u32 own;
	int ret;

	*place = 0;
	if (layout->leaves == 1)
		return restrict_peers(js, 0, ports, &missing, err);
	own = find_own(js, ports);
	if (own == NONE)
		return err_set(err, EXIT_BAD_INPUT, "not-in-slice",
			       "job %s: %s, the source in the port map, is no NIC of the slice",
			       js->job,
			       addr_format(ports->peers[0].source, text));
	*place = own - layout->first[layout->leaf[own]];
	js->lane = own % layout->lanes;
	js->router = js->routers + layout->leaf[own] * js->slice.nr_spines;
	ret = restrict_peers(js, own, ports, &missing, err);
	if (ret)
		return ret;
	miss_ranks(js, own, ports, &missing);
	return check_missing(js, &missing, err);
}
