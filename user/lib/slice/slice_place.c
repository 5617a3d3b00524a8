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

int slice_make_room(struct slice *slice, __u32 leaves, __u32 spines,
		    __u32 servers)
{
	slice->leaves = calloc(leaves, sizeof(*slice->leaves));
	slice->spines = calloc(spines ?: 1, sizeof(*slice->spines));
	slice->servers = calloc(servers, sizeof(*slice->servers));
	return slice->leaves && slice->spines && slice->servers ? 0 : -ENOMEM;
}

void slice_free(struct slice *slice)
{
	free(slice->leaves);
	free(slice->spines);
	free(slice->servers);
	free(slice->oxcs);
	memset(slice, 0, sizeof(*slice));
}

/* The server with the fewest free GPUs that will do, or -1. */
static int tightest_server(const struct slice_fabric *fabric, __u32 leaf,
			   __u32 gpus)
{
	const __u16 *free_gpus = gpus_of(fabric, leaf);
	int best = -1, v;

	for (v = 0; v < (int)slice_servers_per_leaf(fabric); v++)
		if (free_gpus[v] >= gpus &&
		    (best < 0 || free_gpus[v] < free_gpus[best]))
			best = v;
	return best;
}

static void add_server(struct slice *slice, __u32 leaf, __u32 server,
		       __u32 gpus)
{
	slice->servers[slice->nr_servers++] =
		(struct slice_server) { leaf, server, gpus };
}

/* Add wholly free servers of a leaf; the last may be used in part. */
static void add_servers(struct slice *slice, const struct slice_fabric *fabric,
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

static int compare_leaves(const void *a, const void *b)
{
	const __u32 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

void slice_take_servers(struct slice *slice, const struct slice_fabric *fabric,
			__u32 gpus)
{
	__u32 i;

	qsort(slice->leaves, slice->nr_leaves, sizeof(*slice->leaves),
	      compare_leaves);
	for (i = 0; i < slice->nr_leaves; i++)
		add_servers(slice, fabric, slice->leaves[i], gpus);
}

/* Of leaves alike, the one whose server fits tightest: it breaks no whole one. */
static int place_in_server(const struct slice_fabric *fabric, __u32 gpus,
			   struct slice *slice)
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
		if (best >= 0 && (total > best_free ||
				  (total == best_free && fit >= best_fit)))
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

static int place_in_leaf(const struct slice_fabric *fabric, __u32 gpus,
			 struct slice *slice)
{
	__u32 need = servers_needed(fabric, gpus), best_free = NONE;
	__u32 best = 0, leaf;

	for (leaf = 0; leaf < fabric->leaves; leaf++) {
		__u32 total;

		if (slice_whole_servers(fabric, leaf) < need)
			continue;
		total = slice_free_on_leaf(fabric, leaf);
		if (total < best_free) {
			best = leaf;
			best_free = total;
		}
	}
	if (best_free == NONE)
		return 0;
	slice->stage = SLICE_LEAF;
	slice->objective = best_free;
	if (slice_make_room(slice, 1, 0, need))
		return -ENOMEM;
	slice->leaves[slice->nr_leaves++] = best;
	add_servers(slice, fabric, best, gpus);
	return 1;
}

/* Return: 1 when it was placed, 0, or -ENOMEM. */
static int place(const struct slice_fabric *fabric, __u32 gpus,
		 struct slice *slice)
{
	int ret;

	if (gpus <= fabric->gpus_per_server)
		ret = place_in_server(fabric, gpus, slice);
	else
		ret = place_in_leaf(fabric, gpus, slice);
	return ret ?: slice_place_across(fabric, gpus, slice);
}

int slice_place(const struct slice_fabric *fabric, __u32 gpus,
		struct slice *slice)
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

/* Links to a spine that each leaf has; what is free there adds to the objective. */
static __u32 links_in_common(struct slice *slice,
			     const struct slice_fabric *fabric, __u32 spine)
{
	__u32 links = fabric->links_per_pair, i;

	for (i = 0; i < slice->nr_leaves; i++) {
		__u8 free = fabric->free_links[(size_t)slice->leaves[i] *
					       fabric->spines + spine];

		if (free < links)
			links = free;
		slice->objective += free;
	}
	return links;
}

bool slice_take_links(struct slice *slice, const struct slice_fabric *fabric,
		      __u32 need)
{
	__u8 links[SLICE_MAX_SPINES], take[SLICE_MAX_SPINES] = {};
	__u32 spine;

	for (spine = 0; spine < fabric->spines; spine++)
		links[spine] = links_in_common(slice, fabric, spine);
	while (need) {
		__u32 best = 0;

		/* The fewest links that are enough, or else the most. */
		for (spine = 1; spine < fabric->spines; spine++)
			if (links[best] < need ? links[spine] > links[best] :
			    links[spine] >= need && links[spine] < links[best])
				best = spine;
		if (!links[best])
			return false;
		take[best] = links[best] < need ? links[best] : need;
		need -= take[best];
		links[best] = 0;
	}
	for (spine = 0; spine < fabric->spines; spine++)
		while (take[spine]--)
			slice->spines[slice->nr_spines++] = spine;
	return true;
}

/* Return: 0, or an enum slice_refusal. */
static int place_at(const struct slice_fabric *fabric,
		    const struct slice_server *servers, __u32 nr,
		    struct slice *slice)
{
	__u32 on_leaf = 0, most = 0, i;

	for (i = 0; i < nr; i++) {
		__u32 leaf = servers[i].leaf, gpus = servers[i].gpus;

		if (gpus_of(fabric, leaf)[servers[i].server] < gpus)
			return SLICE_NO_LOCALITY;
		if (!i || leaf != servers[i - 1].leaf) {
			slice->leaves[slice->nr_leaves++] = leaf;
			on_leaf = 0;
		}
		on_leaf += gpus;
		if (on_leaf > most)
			most = on_leaf;
		add_server(slice, leaf, servers[i].server, gpus);
	}
	if (slice->nr_leaves > 1) {
		slice->stage = SLICE_VCLOS;
		return slice_take_links(slice, fabric, most) ?
		       0 : SLICE_NO_NETWORK;
	}
	slice->stage = nr > 1 ? SLICE_LEAF : SLICE_SERVER;
	slice->objective = slice_free_on_leaf(fabric, servers->leaf);
	return 0;
}

int slice_place_at(const struct slice_fabric *fabric,
		   const struct slice_server *servers, __u32 nr,
		   struct slice *slice)
{
	int ret;

	memset(slice, 0, sizeof(*slice));
	ret = slice_make_room(slice, nr, fabric->gpus_per_leaf, nr) ?:
	      place_at(fabric, servers, nr, slice);
	if (ret)
		slice_free(slice);
	return ret;
}
