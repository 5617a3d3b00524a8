// SPDX-License-Identifier: GPL-2.0
#include "slice_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	((__u32)-1)

__u32 slice_servers_per_leaf(const struct slice_fabric *fabric)
{
	return fabric->gpus_per_leaf / fabric->gpus_per_server;
}

static const __u16 *gpus_of(const struct slice_fabric *fabric, __u32 leaf)
{
	return fabric->free_gpus + (size_t)leaf * slice_servers_per_leaf(fabric);
}

__u32 slice_whole_servers(const struct slice_fabric *fabric, __u32 leaf)
{
	const __u16 *free_gpus = gpus_of(fabric, leaf);
	__u32 n = 0, v;

	for (v = 0; v < slice_servers_per_leaf(fabric); v++)
		n += free_gpus[v] == fabric->gpus_per_server;
	return n;
}

__u32 slice_free_on_leaf(const struct slice_fabric *fabric, __u32 leaf)
{
	const __u16 *free_gpus = gpus_of(fabric, leaf);
	__u32 n = 0, v;

	for (v = 0; v < slice_servers_per_leaf(fabric); v++)
		n += free_gpus[v];
	return n;
}

static __u32 servers_needed(const struct slice_fabric *fabric, __u32 gpus)
{
	return gpus / fabric->gpus_per_server +
	       (gpus % fabric->gpus_per_server != 0);
}

int slice_make_room(struct slice *slice, __u32 leaves, __u32 spines, __u32 servers)
{
	slice->leaves = calloc(leaves, sizeof(*slice->leaves));
	slice->lane_links = calloc(leaves, sizeof(*slice->lane_links));
	slice->spines = calloc(spines ?: 1, sizeof(*slice->spines));
	slice->servers = calloc(servers, sizeof(*slice->servers));
	return slice->leaves && slice->lane_links && slice->spines &&
	       slice->servers ? 0 : -ENOMEM;
}

void slice_free(struct slice *slice)
{
	free(slice->leaves);
	free(slice->lane_links);
	free(slice->spines);
	free(slice->servers);
	free(slice->oxcs);
	memset(slice, 0, sizeof(*slice));
}

__u32 slice_links(const struct slice *slice)
{
	__u32 links = 0, i;

	for (i = 0; slice->nr_spines && i < slice->nr_leaves; i++)
		links += slice->lane_links[i];
	return links * slice->nr_spines;
}

/* The server with the fewest free GPUs that are enough, or -1. */
static int tightest_server(const struct slice_fabric *fabric, __u32 leaf, __u32 gpus)
{
	const __u16 *free_gpus = gpus_of(fabric, leaf);
	int best = -1, v;

	for (v = 0; v < (int)slice_servers_per_leaf(fabric); v++)
		if (free_gpus[v] >= gpus && (best < 0 || free_gpus[v] < free_gpus[best]))
			best = v;
	return best;
}

static void add_server(struct slice *slice, __u32 leaf, __u32 server, __u32 gpus)
{
	slice->servers[slice->nr_servers++] =
		(struct slice_server) { leaf, server, gpus };
}

void slice_take_servers(struct slice *slice, const struct slice_fabric *fabric,
			__u32 leaf, __u32 gpus)
{
	const __u16 *free_gpus = gpus_of(fabric, leaf);
	__u32 whole = fabric->gpus_per_server, v;

	for (v = 0; gpus; v++) {
		__u32 take = gpus < whole ? gpus : whole;

		if (free_gpus[v] < whole)
			continue;
		add_server(slice, leaf, v, take);
		gpus -= take;
	}
}

/* Take the best server; if several are equal, one of the leaf with the fewest free GPUs. */
static int place_in_server(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	__u32 best_free = 0, best_leaf = 0, best_fit = 0, leaf;
	int best = -1;

	for (leaf = 0; leaf < fabric->leaves; leaf++) {
		int server = tightest_server(fabric, leaf, gpus);
		__u32 total, fit;

		if (server < 0)
			continue;
		total = slice_free_on_leaf(fabric, leaf);
		fit = gpus_of(fabric, leaf)[server];
		if (best >= 0 && (fit > best_fit || (fit == best_fit && total >= best_free)))
			continue;
		best = server;
		best_leaf = leaf;
		best_free = total;
		best_fit = fit;
	}
	if (best < 0)
		return 0;
	slice->stage = SLICE_SERVER;
	slice->objective = best_free;
	if (slice_make_room(slice, 1, 0, 1))
		return -ENOMEM;
	slice->leaves[slice->nr_leaves++] = best_leaf;
	add_server(slice, best_leaf, best, gpus);
	return 1;
}

static __u32 free_uplinks(const struct slice_fabric *fabric, __u32 leaf)
{
	const __u8 *links = fabric->free_links + (size_t)leaf * fabric->spines;
	__u32 n = 0, spine;

	for (spine = 0; spine < fabric->spines; spine++)
		n += links[spine];
	return n;
}

/* Take the best leaf; if several are equal, the one with the fewest free uplinks. */
static int place_in_leaf(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	__u32 need = servers_needed(fabric, gpus), best_free = NONE;
	__u32 best = 0, best_links = 0, leaf;

	for (leaf = 0; leaf < fabric->leaves; leaf++) {
		__u32 total, links;

		if (slice_whole_servers(fabric, leaf) < need)
			continue;
		total = slice_free_on_leaf(fabric, leaf);
		links = free_uplinks(fabric, leaf);
		if (total < best_free || (total == best_free && links < best_links)) {
			best = leaf;
			best_free = total;
			best_links = links;
		}
	}
	if (best_free == NONE)
		return 0;
	slice->stage = SLICE_LEAF;
	slice->objective = best_free;
	if (slice_make_room(slice, 1, 0, need))
		return -ENOMEM;
	slice->leaves[slice->nr_leaves++] = best;
	slice_take_servers(slice, fabric, best, gpus);
	return 1;
}

/* Return: 1 if the job is placed, 0, or -ENOMEM. */
static int place(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	int ret;

	if (gpus <= fabric->gpus_per_server)
		ret = place_in_server(fabric, gpus, slice);
	else
		ret = place_in_leaf(fabric, gpus, slice);
	return ret ?: slice_place_across(fabric, gpus, slice);
}

int slice_place(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	__u32 total = 0, whole = 0, leaf;
	int ret;

	memset(slice, 0, sizeof(*slice));
	for (leaf = 0; leaf < fabric->leaves; leaf++) {
		total += slice_free_on_leaf(fabric, leaf);
		whole += slice_whole_servers(fabric, leaf);
	}
	if (gpus > total)
		return SLICE_NO_GPUS;
	ret = place(fabric, gpus, slice);
	if (ret < 0)
		slice_free(slice);
	if (ret)
		return ret == 1 ? 0 : ret;
	return whole < servers_needed(fabric, gpus) ? SLICE_NO_LOCALITY :
						      SLICE_NO_NETWORK;
}

/* Find the leaves of servers, and the GPUs on each. Return: 0 or SLICE_NO_LOCALITY. */
static int take_given(const struct slice_fabric *fabric,
		      const struct slice_server *servers, __u32 nr,
		      struct slice *slice, struct slice_lanes *l)
{
	__u32 i;

	for (i = 0; i < nr; i++) {
		__u32 leaf = servers[i].leaf, gpus = servers[i].gpus;

		if (gpus_of(fabric, leaf)[servers[i].server] < gpus)
			return SLICE_NO_LOCALITY;
		if (!i || leaf != servers[i - 1].leaf)
			l->leaf[l->nr++] = leaf;
		l->on[l->nr - 1] += gpus;
		l->gpus += gpus;
		add_server(slice, leaf, servers[i].server, gpus);
	}
	memcpy(slice->leaves, l->leaf, l->nr * sizeof(*l->leaf));
	slice->nr_leaves = l->nr;
	return 0;
}

/*
 * Try the numbers of lanes that divide the job, and keep the one that needs the fewest
 * links.
 */
static bool count_at(const struct slice_fabric *fabric, struct slice_lanes *l)
{
	__u32 number[SLICE_MAX_NUMBERS], best = 0, n, i;
	__u64 fewest = 0;

	n = slice_lane_numbers(l->gpus, 1, fabric->spines * fabric->links_per_pair, number);
	for (i = 0; i < n; i++) {
		l->lanes = number[i];
		slice_lanes_count(l);
		if (best && (__u64)l->lanes * l->sum >= fewest)
			continue;
		if (!slice_has_links(fabric, l))
			continue;
		best = l->lanes;
		fewest = (__u64)l->lanes * l->sum;
	}
	l->lanes = best;
	return best;
}

/* One link for each GPU of the leaf with most GPUs: flows may meet on the way down. */
static void count_most(struct slice_lanes *l)
{
	__u32 i;

	for (i = 0; i < l->nr; i++)
		l->lanes = l->on[i] > l->lanes ? l->on[i] : l->lanes;
}

/* Return: 0, an enum slice_refusal, or -ENOMEM. */
static int place_at(const struct slice_fabric *fabric,
		    const struct slice_server *servers, __u32 nr,
		    struct slice *slice, struct slice_lanes *l)
{
	int ret = take_given(fabric, servers, nr, slice, l);
	__u32 i;

	if (ret)
		return ret;
	if (l->nr == 1) {
		slice->stage = nr > 1 ? SLICE_LEAF : SLICE_SERVER;
		slice->objective = slice_free_on_leaf(fabric, servers->leaf);
		return 0;
	}
	slice->stage = SLICE_VCLOS;
	if (!count_at(fabric, l))
		count_most(l);
	slice_lanes_count(l);
	for (i = 0; i < l->nr; i++)
		slice->lane_links[i] = l->links[i];
	return slice_take_links(slice, fabric, l) ? 0 : SLICE_NO_NETWORK;
}

int slice_place_at(const struct slice_fabric *fabric,
		   const struct slice_server *servers, __u32 nr,
		   struct slice *slice)
{
	struct slice_lanes l;
	int ret;

	memset(slice, 0, sizeof(*slice));
	ret = slice_lanes_init(&l, fabric, 0) ?:
	      slice_make_room(slice, nr, SLICE_MAX_UPLINKS, nr) ?:
	      place_at(fabric, servers, nr, slice, &l);
	slice_lanes_free(&l);
	if (ret)
		slice_free(slice);
	return ret;
}
