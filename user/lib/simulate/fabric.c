// SPDX-License-Identifier: GPL-2.0
#include "fabric.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

const char *sim_class_name(const struct sim_fabric *fabric, enum sim_class class)
{
	static const char * const two[] = {
		[SIM_HOST_UP] = "host-leaf", [SIM_LEAF_UP] = "leaf-spine",
		[SIM_LEAF_DOWN] = "spine-leaf", [SIM_HOST_DOWN] = "leaf-host",
	};
	static const char * const three[] = {
		[SIM_HOST_UP] = "host-leaf", [SIM_LEAF_UP] = "leaf-agg",
		[SIM_AGG_UP] = "agg-core", [SIM_AGG_DOWN] = "core-agg",
		[SIM_LEAF_DOWN] = "agg-leaf", [SIM_HOST_DOWN] = "leaf-host",
	};

	return fabric->shape.cores ? three[class] : two[class];
}

static __u32 rows(const struct sim_shape *shape, enum sim_class class)
{
	switch (class) {
	case SIM_HOST_UP:
	case SIM_HOST_DOWN:
		return sim_hosts(shape);
	case SIM_LEAF_UP:
	case SIM_LEAF_DOWN:
		return shape->pods * shape->leaves;
	default:
		return shape->cores ? shape->pods : 0;
	}
}

/* Links of each row */
static __u32 columns(const struct sim_shape *shape, enum sim_class class)
{
	switch (class) {
	case SIM_HOST_UP:
	case SIM_HOST_DOWN:
		return 1;
	case SIM_LEAF_UP:
	case SIM_LEAF_DOWN:
		return shape->aggs;
	default:
		return shape->aggs * shape->cores;
	}
}

static double built_rate(const struct sim_shape *shape, enum sim_class class)
{
	return class == SIM_HOST_UP || class == SIM_HOST_DOWN ? shape->host_rate : shape->rate;
}

static bool is_too_big(const struct sim_shape *shape)
{
	double leaves = (double)shape->pods * shape->leaves;
	double links = leaves * shape->aggs + (double)shape->pods * shape->aggs * shape->cores;

	return leaves * shape->hosts > SIM_MAX_HOSTS || links > SIM_MAX_LINKS / 2;
}

static void set_rates(struct sim_fabric *fabric)
{
	enum sim_class class;
	__u32 i;

	for (class = 0; class < SIM_CLASSES; class++) {
		double rate = built_rate(&fabric->shape, class);

		for (i = fabric->first[class]; i < fabric->first[class + 1]; i++)
			fabric->rate[i] = rate;
		for (i = fabric->first_row[class]; i < fabric->first_row[class + 1]; i++)
			fabric->rate[i] = rate * columns(&fabric->shape, class);
	}
	fabric->broken = false;
}

int sim_fabric_init(struct sim_fabric *fabric, const struct sim_shape *shape)
{
	enum sim_class class;

	*fabric = (struct sim_fabric) { .shape = *shape };
	if (is_too_big(shape))
		return -E2BIG;
	for (class = 0; class < SIM_CLASSES; class++)
		fabric->first[class + 1] = fabric->first[class] +
					   rows(shape, class) * columns(shape, class);
	fabric->first_row[0] = sim_nr_links(fabric);
	for (class = 0; class < SIM_CLASSES; class++)
		fabric->first_row[class + 1] = fabric->first_row[class] + rows(shape, class);
	fabric->rate = calloc(fabric->first_row[SIM_CLASSES], sizeof(*fabric->rate));
	if (!fabric->rate)
		return -ENOMEM;
	set_rates(fabric);
	return 0;
}

void sim_fabric_free(struct sim_fabric *fabric)
{
	free(fabric->rate);
}

/* Break the cable with this number: links up of leaves first, then those of aggs. */
static void break_cable(struct sim_fabric *fabric, __u32 cable, double part)
{
	__u32 leaves = fabric->first[SIM_LEAF_UP + 1] - fabric->first[SIM_LEAF_UP];
	enum sim_class up = SIM_LEAF_UP, down = SIM_LEAF_DOWN;

	if (cable >= leaves) {
		cable -= leaves;
		up = SIM_AGG_UP;
		down = SIM_AGG_DOWN;
	}
	fabric->rate[fabric->first[up] + cable] *= part;
	fabric->rate[fabric->first[down] + cable] *= part;
	fabric->broken = true;
}

int sim_fabric_break(struct sim_fabric *fabric, __u32 dead, __u32 slow, __u32 seed)
{
	__u32 cables = fabric->first[SIM_AGG_UP + 1] - fabric->first[SIM_LEAF_UP], i;
	__u32 *order;

	set_rates(fabric);
	if ((__u64)dead + slow > cables)
		return -EINVAL;
	if (!dead && !slow)
		return 0;
	order = calloc(cables, sizeof(*order));
	if (!order)
		return -ENOMEM;
	random_order(seed, cables, order);
	for (i = 0; i < dead + slow; i++)
		break_cable(fabric, order[i], i < dead ? 0 : 0.5);
	free(order);
	return 0;
}

unsigned int sim_path_links(const struct sim_fabric *fabric, __u32 from, __u32 to, __u32 path,
			    __u32 link[4])
{
	const struct sim_shape *shape = &fabric->shape;
	__u32 agg = path % shape->aggs, core = path / shape->aggs;
	__u32 pod = sim_pod(shape, from), other = sim_pod(shape, to);
	unsigned int nr = 0;

	link[nr++] = fabric->first[SIM_LEAF_UP] + sim_leaf(shape, from) * shape->aggs + agg;
	if (pod != other) {
		link[nr++] = fabric->first[SIM_AGG_UP] +
			     (pod * shape->aggs + agg) * shape->cores + core;
		link[nr++] = fabric->first[SIM_AGG_DOWN] +
			     (other * shape->aggs + agg) * shape->cores + core;
	}
	link[nr++] = fabric->first[SIM_LEAF_DOWN] + sim_leaf(shape, to) * shape->aggs + agg;
	return nr;
}

double sim_path_rate(const struct sim_fabric *fabric, __u32 from, __u32 to, __u32 path)
{
	double least = fabric->shape.rate;
	__u32 link[4];
	unsigned int nr = sim_path_links(fabric, from, to, path, link), i;

	for (i = 0; i < nr; i++)
		if (fabric->rate[link[i]] < least)
			least = fabric->rate[link[i]];
	return least;
}

__u32 sim_row_of(const struct sim_fabric *fabric, enum sim_class class, __u32 host)
{
	const struct sim_shape *shape = &fabric->shape;
	__u32 row = class == SIM_HOST_UP || class == SIM_HOST_DOWN ? host :
		    class == SIM_LEAF_UP || class == SIM_LEAF_DOWN ? sim_leaf(shape, host) :
								     sim_pod(shape, host);

	return fabric->first_row[class] + row;
}

struct sim_row sim_row_links(const struct sim_fabric *fabric, enum sim_class class, __u32 row)
{
	__u32 nr = columns(&fabric->shape, class);

	return (struct sim_row) {
		.first = fabric->first[class] + (row - fabric->first_row[class]) * nr,
		.nr = nr,
	};
}
