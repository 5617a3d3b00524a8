// SPDX-License-Identifier: GPL-2.0
#include "ocs_wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int ocs_init(struct ocs *ocs)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;

	ocs->circuit = malloc(ports * sizeof(*ocs->circuit));
	ocs->fixed = calloc(ports, sizeof(*ocs->fixed));
	ocs->shut = calloc(ocs->leaves, ocs->spines * sizeof(*ocs->shut));
	if (!ocs->circuit || !ocs->fixed || !ocs->shut)
		return -ENOMEM;
	memset(ocs->circuit, 0xff, ports * sizeof(*ocs->circuit));
	return 0;
}

void ocs_free(struct ocs *ocs)
{
	free(ocs->circuit);
	free(ocs->fixed);
	free(ocs->shut);
	memset(ocs, 0, sizeof(*ocs));
}

void ocs_wire_default(struct ocs *ocs)
{
	__u32 leaf, oxc;

	for (leaf = 0; leaf < ocs->leaves; leaf++)
		for (oxc = 0; oxc < ocs->oxcs; oxc++)
			if (leaf / ocs->spines < ocs->spine_ports)
				ocs->circuit[ocs_port(ocs, leaf, oxc)] =
					(leaf + oxc) % ocs->spines;
}

void ocs_links(const struct ocs *ocs, struct slice_fabric *fabric)
{
	size_t pairs = (size_t)ocs->leaves * ocs->spines, pair;
	__u32 most = SLICE_MAX_UPLINKS / ocs->spines, leaf, oxc;
	__u8 *links = fabric->free_links;

	most = most < SLICE_MAX_LINKS ? most : SLICE_MAX_LINKS;
	memset(links, 0, pairs * sizeof(*links));
	fabric->links_per_pair = 1;
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);

			if (!ocs_idle_link(ocs, port))
				continue;
			pair = ocs_pair(ocs, leaf, ocs->circuit[port]);
			if (links[pair] < most && ++links[pair] > fabric->links_per_pair)
				fabric->links_per_pair = links[pair];
		}
	}
}

/* The OXCs of a leaf's circuits to the spine of a lane, the next ones after @oxc. */
static __u32 assign(const struct ocs *ocs, const __u16 *circuit, __u32 leaf,
		    __u32 spine, __u32 oxc, __u32 links, __u32 *oxcs)
{
	for (; links; oxc++) {
		size_t port = ocs_port(ocs, leaf, oxc);

		if (ocs->fixed[port] || circuit[port] != spine)
			continue;
		*oxcs++ = oxc;
		links--;
	}
	return oxc;
}

int ocs_assign(const struct ocs *ocs, const __u16 *circuit, struct slice *slice)
{
	__u32 *oxcs, i, k, oxc = 0;

	slice->oxcs = calloc(slice_links(slice) + 1, sizeof(*slice->oxcs));
	oxcs = slice->oxcs;
	if (!oxcs)
		return -ENOMEM;
	for (i = 0; i < slice->nr_leaves; i++) {
		for (k = 0; k < slice->nr_spines; k++) {
			if (!k || slice->spines[k] != slice->spines[k - 1])
				oxc = 0;
			oxc = assign(ocs, circuit, slice->leaves[i], slice->spines[k],
				     oxc, slice->lane_links[i], oxcs);
			oxcs += slice->lane_links[i];
		}
	}
	return 0;
}

/* Free ports of spines at an OXC, by spine. */
static void count_left(const struct ocs *ocs, const __u16 *circuit, __u32 oxc, __u32 *left)
{
	__u32 i;

	for (i = 0; i < ocs->spines; i++)
		left[i] = ocs->spine_ports;
	for (i = 0; i < ocs->leaves; i++)
		if (circuit[ocs_port(ocs, i, oxc)] != OCS_DARK)
			left[circuit[ocs_port(ocs, i, oxc)]]--;
}

static __u32 count_circuits(const struct ocs *ocs, const __u16 *circuit, __u32 leaf, __u32 spine)
{
	__u32 oxc, n = 0;

	for (oxc = 0; oxc < ocs->oxcs; oxc++)
		n += circuit[ocs_port(ocs, leaf, oxc)] == spine;
	return n;
}

/* Join a port to the spine that its leaf has the fewest circuits to. */
static void join(const struct ocs *ocs, __u16 *circuit, __u32 leaf, __u32 oxc, __u32 *left)
{
	__u32 best = UINT32_MAX, spine, to = 0;

	for (spine = 0; spine < ocs->spines; spine++) {
		__u32 n;

		if (!left[spine] || ocs->shut[ocs_pair(ocs, leaf, spine)])
			continue;
		n = count_circuits(ocs, circuit, leaf, spine);
		if (n < best) {
			best = n;
			to = spine;
		}
	}
	if (best == UINT32_MAX)
		return;
	circuit[ocs_port(ocs, leaf, oxc)] = to;
	left[to]--;
}

/* Take down circuits that block others at an OXC, where @need has ports to keep. */
static void make_way(const struct ocs *ocs, __u16 *circuit, const bool *need, __u32 oxc)
{
	__u32 left[SLICE_MAX_SPINES], leaf;

	count_left(ocs, circuit, oxc, left);
	for (leaf = ocs->leaves; leaf--;) {
		size_t port = ocs_port(ocs, leaf, oxc);
		__u16 spine = circuit[port];

		/* Below zero it has wrapped. */
		if (spine == OCS_DARK || ocs->fixed[port] || need[port] ||
		    left[spine] <= ocs->spine_ports)
			continue;
		circuit[port] = OCS_DARK;
		left[spine]++;
	}
	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		size_t port = ocs_port(ocs, leaf, oxc);

		if (circuit[port] == OCS_DARK && ocs->circuit[port] != OCS_DARK)
			join(ocs, circuit, leaf, oxc, left);
	}
}

/* Fill all circuits, with the new ones. Return: 0 or -ENOMEM. */
static int make_circuits(const struct ocs *ocs, const struct slice_lanes *l,
			 const struct ocs_wire *w, __u16 *circuit)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;
	bool *need = calloc(ports, sizeof(*need));
	__u32 i, oxc;

	if (!need)
		return -ENOMEM;
	for (i = 0; i < l->nr; i++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, l->leaf[i], oxc);
			__u16 spine = w->port[ocs_port(ocs, i, oxc)];

			if (spine >= ocs->spines)
				continue;
			need[port] = true;
			circuit[port] = spine;
		}
	}
	for (oxc = 0; oxc < ocs->oxcs; oxc++)
		make_way(ocs, circuit, need, oxc);
	free(need);
	return 0;
}

static __u64 count_down(const struct ocs *ocs, const __u16 *circuit)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs, i;
	__u64 n = 0;

	for (i = 0; i < ports; i++)
		n += ocs->circuit[i] != OCS_DARK && ocs->circuit[i] != circuit[i];
	return n;
}

static int make_slice(const struct slice_fabric *fabric, const struct ocs *ocs,
		      const struct slice_lanes *l, const struct ocs_wire *w,
		      struct slice *slice, __u16 *circuit)
{
	int ret = slice_take_leaves(slice, fabric, l) ?:
		  make_circuits(ocs, l, w, circuit);
	__u32 spine, k;

	if (ret)
		return ret;
	for (spine = 0; spine < ocs->spines; spine++)
		for (k = 0; k < w->lanes[spine]; k++)
			slice->spines[slice->nr_spines++] = spine;
	if (memcmp(circuit, ocs->circuit, (size_t)ocs->leaves * ocs->oxcs * sizeof(*circuit))) {
		slice->stage = SLICE_OCS;
		slice->objective = count_down(ocs, circuit);
	} else {
		slice->objective = (__u64)l->lanes * l->sum;
	}
	return ocs_assign(ocs, circuit, slice);
}

/* Ports of a leaf that no job has. */
static __u32 free_ports(const struct ocs *ocs, __u32 leaf)
{
	__u32 n = 0, oxc;

	for (oxc = 0; oxc < ocs->oxcs; oxc++)
		n += !ocs->fixed[ocs_port(ocs, leaf, oxc)];
	return n;
}

/**
 * struct search - places over leaves
 * @fabric: where
 * @ocs: circuits
 * @l: lanes that are tried
 * @leaf: what each leaf could give
 */
struct search {
	const struct slice_fabric *fabric;
	const struct ocs *ocs;
	struct slice_lanes l;
	struct slice_leaf *leaf;
};

/* Choose leaves for a number of lanes. Return: true if they have enough servers. */
static bool choose(struct search *s, __u32 lanes)
{
	const struct slice_fabric *fabric = s->fabric;
	__u32 each = fabric->gpus_per_server, need = s->l.gpus / each, i;
	int first;

	slice_progress(fabric);
	s->l.lanes = lanes;
	for (i = 0; i < fabric->leaves; i++) {
		__u32 most = lanes * fabric->parallel / each;
		__u32 servers = slice_whole_servers(fabric, i);
		__u32 ports = free_ports(s->ocs, i);

		servers = servers < most ? servers : most;
		while (servers && lanes * slice_divide_up(servers * each, lanes) > ports)
			servers--;
		s->leaf[i] = (struct slice_leaf) { i, servers, ports, NULL };
	}
	first = slice_first_leaf(s->leaf, fabric->leaves, need);
	return first >= 0 &&
	       slice_lanes_choose(&s->l, fabric, s->leaf, fabric->leaves, first, 0);
}

/*
 * Ports that a job of whole leaves wastes with a number of lanes, or UINT64_MAX: ports of
 * spines, where a lane needs a port for each of its ranks, and of leaves.
 */
static __u64 count_waste(const struct search *s, __u32 lanes)
{
	__u64 all = (__u64)s->ocs->spine_ports * s->ocs->oxcs;
	__u32 each = s->fabric->gpus_per_leaf, gpus = s->l.gpus;
	__u32 ranks = gpus / lanes, links = slice_divide_up(each, lanes), rest = gpus % each;
	__u64 waste;

	if (ranks > all)
		return UINT64_MAX;
	waste = slice_divide_up(lanes, all / ranks) * all - gpus +
		(__u64)(gpus / each) * (lanes * links - each);
	if (rest)
		waste += lanes * slice_divide_up(rest, lanes) - rest;
	/* A leaf cannot be whole. */
	if (lanes * links > s->ocs->oxcs || links > s->fabric->parallel)
		waste += s->ocs->oxcs * all;
	return waste;
}

/*
 * A job that one leaf could hold is spread over parts of leaves: the fewest leaves first,
 * then the fewest links.
 */
static __u64 count_parts(struct search *s, __u32 lanes)
{
	if (!choose(s, lanes))
		return UINT64_MAX;
	return (__u64)s->l.nr << 32 | lanes * s->l.sum;
}

/* The numbers of lanes, the one with the least waste first, then the smallest. */
static __u32 order_numbers(struct search *s, __u32 *number)
{
	bool parts = s->l.gpus <= s->fabric->gpus_per_leaf;
	__u64 waste[SLICE_MAX_NUMBERS];
	__u32 n, kept = 0, i, j;

	n = slice_lane_numbers(s->l.gpus, s->fabric->gpus_per_server, s->ocs->oxcs, number);
	for (i = 0; i < n; i++) {
		__u32 lanes = number[i];
		__u64 own = parts ? count_parts(s, lanes) : count_waste(s, lanes);

		if (own == UINT64_MAX)
			continue;
		for (j = kept++; j && waste[j - 1] >= own; j--) {
			waste[j] = waste[j - 1];
			number[j] = number[j - 1];
		}
		waste[j] = own;
		number[j] = lanes;
	}
	return kept;
}

/* Over leaves. Return: 0, SLICE_NO_NETWORK, or -ENOMEM. */
static int place_across(const struct slice_fabric *fabric, const struct ocs *ocs,
			__u32 gpus, struct slice *slice, __u16 *circuit)
{
	struct search s = {
		.fabric = fabric, .ocs = ocs,
		.leaf = calloc(fabric->leaves, sizeof(*s.leaf)),
	};
	__u32 number[SLICE_MAX_NUMBERS], n, i;
	bool found = false;
	struct ocs_wire w;
	int ret, wires;

	ret = slice_lanes_init(&s.l, fabric, gpus);
	wires = ocs_wire_init(&w, ocs, fabric->parallel);
	if (wires || !s.leaf)
		ret = -ENOMEM;
	n = ret ? 0 : order_numbers(&s, number);
	for (i = 0; i < n && !found; i++)
		found = choose(&s, number[i]) && ocs_wire_find(&w, &s.l);
	if (found)
		ret = make_slice(fabric, ocs, &s.l, &w, slice, circuit);
	ocs_wire_free(&w);
	slice_lanes_free(&s.l);
	free(s.leaf);
	return ret ?: found ? 0 : SLICE_NO_NETWORK;
}

int ocs_place(const struct slice_fabric *fabric, const struct ocs *ocs,
	      __u32 gpus, struct slice *slice, __u16 *circuit)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;
	struct slice_fabric leaf = *fabric;
	int ret;

	leaf.parallel = 0;
	memcpy(circuit, ocs->circuit, ports * sizeof(*circuit));
	ret = slice_place(&leaf, gpus, slice);
	if (ret != SLICE_NO_NETWORK)
		return ret;
	ret = place_across(fabric, ocs, gpus, slice, circuit);
	if (ret)
		slice_free(slice);
	return ret;
}
