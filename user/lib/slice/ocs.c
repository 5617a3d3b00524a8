// SPDX-License-Identifier: GPL-2.0
#include "ocs_priv.h"

#include <errno.h>
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
			if (links[pair] < most &&
			    ++links[pair] > fabric->links_per_pair)
				fabric->links_per_pair = links[pair];
		}
	}
}

int ocs_assign(const struct ocs *ocs, const __u16 *circuit,
	       struct slice *slice)
{
	__u32 *oxcs, i, j, oxc = 0;

	slice->oxcs = calloc((size_t)slice->nr_leaves * slice->nr_spines + 1,
			     sizeof(*slice->oxcs));
	oxcs = slice->oxcs;
	if (!oxcs)
		return -ENOMEM;
	for (i = 0; i < slice->nr_leaves; i++) {
		for (j = 0; j < slice->nr_spines; j++, oxc++) {
			__u32 leaf = slice->leaves[i];

			if (!j || slice->spines[j] != slice->spines[j - 1])
				oxc = 0;
			while (ocs->fixed[ocs_port(ocs, leaf, oxc)] ||
			       circuit[ocs_port(ocs, leaf, oxc)] !=
			       slice->spines[j])
				oxc++;
			*oxcs++ = oxc;
		}
	}
	return 0;
}

/* Ports of spines that are left, by spine, at an OXC. */
static void count_left(const struct ocs *ocs, const __u16 *circuit, __u32 oxc,
		       __u32 *left)
{
	__u32 i;

	for (i = 0; i < ocs->spines; i++)
		left[i] = ocs->spine_ports;
	for (i = 0; i < ocs->leaves; i++)
		if (circuit[ocs_port(ocs, i, oxc)] != OCS_DARK)
			left[circuit[ocs_port(ocs, i, oxc)]]--;
}

static __u32 count_circuits(const struct ocs *ocs, const __u16 *circuit,
			    __u32 leaf, __u32 spine)
{
	__u32 oxc, n = 0;

	for (oxc = 0; oxc < ocs->oxcs; oxc++)
		n += circuit[ocs_port(ocs, leaf, oxc)] == spine;
	return n;
}

/* Join a port to the spine that its leaf has the fewest circuits to. */
static void join(const struct ocs *ocs, __u16 *circuit, __u32 leaf, __u32 oxc,
		 __u32 *left)
{
	__u32 best = OCS_NONE, spine, to = 0;

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
	if (best == OCS_NONE)
		return;
	circuit[ocs_port(ocs, leaf, oxc)] = to;
	left[to]--;
}

/* Take down what stands in the way at an OXC, where @need has ports to keep. */
static void make_way(const struct ocs *ocs, __u16 *circuit, const bool *need,
		     __u32 oxc)
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

static int make_circuits(const struct ocs_search *s, __u16 *circuit)
{
	const struct ocs *ocs = s->ocs;
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;
	bool *need = calloc(ports, sizeof(*need));
	__u32 i, oxc;

	if (!need)
		return -ENOMEM;
	memcpy(circuit, ocs->circuit, ports * sizeof(*circuit));
	for (i = 0; i < s->shape.leaves; i++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, s->best_leaf[i], oxc);
			__u16 spine = s->best_port[ocs_port(ocs, i, oxc)];

			if (spine == OCS_DARK)
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

static int make_slice(const struct ocs_search *s, struct slice *slice)
{
	__u32 servers = s->shape.gpus / s->fabric->gpus_per_server, i, n;

	if (slice_make_room(slice, s->shape.leaves, s->shape.gpus,
			    s->shape.leaves * servers))
		return -ENOMEM;
	slice->stage = SLICE_OCS;
	slice->objective = s->best;
	slice->nr_leaves = s->shape.leaves;
	memcpy(slice->leaves, s->best_leaf,
	       slice->nr_leaves * sizeof(*slice->leaves));
	slice_take_servers(slice, s->fabric, s->shape.gpus);
	for (i = 0; i < s->ocs->spines; i++)
		for (n = 0; n < s->best_spine[i]; n++)
			slice->spines[slice->nr_spines++] = i;
	return 0;
}

static int try_shape(struct ocs_search *s, struct slice *slice, __u16 *circuit)
{
	const struct ocs *ocs = s->ocs;
	int ret = -ENOMEM;

	s->best = OCS_NONE;
	s->leaf = calloc(s->shape.leaves, sizeof(*s->leaf));
	s->best_leaf = calloc(s->shape.leaves, sizeof(*s->best_leaf));
	s->times = calloc(ocs->spines, sizeof(*s->times));
	s->best_spine = calloc(ocs->spines, sizeof(*s->best_spine));
	s->best_port = calloc((size_t)s->shape.leaves * ocs->oxcs,
			      sizeof(*s->best_port));
	if (s->leaf && s->best_leaf && s->times && s->best_spine &&
	    s->best_port)
		ret = ocs_search_place(s);
	if (!ret && s->best != OCS_NONE)
		ret = make_circuits(s, circuit) ?: make_slice(s, slice) ?:
		      ocs_assign(ocs, circuit, slice);
	free(s->leaf);
	free(s->best_leaf);
	free(s->times);
	free(s->best_spine);
	free(s->best_port);
	return ret;
}

int ocs_place(const struct slice_fabric *fabric, const struct ocs *ocs,
	      __u32 gpus, __u64 steps, struct slice *slice, __u16 *circuit,
	      bool *proven)
{
	struct slice_shape shapes[SLICE_MAX_SHAPES];
	struct slice_fabric wide = *fabric;
	unsigned int nr, i;
	int ret = 0;

	memset(slice, 0, sizeof(*slice));
	*proven = true;
	/* As many links as a leaf has ports. */
	wide.spines = ocs->oxcs;
	wide.links_per_pair = 1;
	nr = gpus <= OCS_MAX_GPUS ? slice_shapes(&wide, gpus, shapes) : 0;
	for (i = 0; i < nr; i++) {
		__u64 left = steps;
		struct ocs_search s = {
			.fabric = fabric, .ocs = ocs, .shape = shapes[i],
			.steps = &left,
		};

		ret = try_shape(&s, slice, circuit);
		*proven &= s.proven;
		if (ret) {
			slice_free(slice);
			return ret;
		}
		if (s.best != OCS_NONE)
			return 0;
	}
	return SLICE_NO_NETWORK;
}
