// SPDX-License-Identifier: GPL-2.0
#include "layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__u32 layout_ranks(const struct chunk_collective *of)
{
	__u64 ranks = 1;
	__u32 k;

	for (k = 0; k < of->dims && ranks <= LAYOUT_MAX_RANKS; k++)
		ranks *= of->dim[k].endpoints;
	return ranks;
}

static __u32 stride(const struct chunk_collective *of, __u32 dim)
{
	__u32 stride = 1, k;

	for (k = 0; k < dim; k++)
		stride *= of->dim[k].endpoints;
	return stride;
}

__u32 layout_stride(const struct layout *layout, __u32 dim)
{
	return stride(&layout->plan->of, dim);
}

__u32 layout_member(const struct layout *layout, __u32 rank, __u32 dim)
{
	const struct chunk_collective *of = &layout->plan->of;

	return rank / stride(of, dim) % of->dim[dim].endpoints;
}

__u32 layout_rank(const struct layout *layout, __u32 rank, __u32 dim, __u32 member)
{
	return rank + (member - layout_member(layout, rank, dim)) *
	       stride(&layout->plan->of, dim);
}

/* The dimension that a Reduce-Scatter of the chunk would take as its @leg. */
static __u32 leg_dim(const struct layout *layout, __u32 chunk, __u32 leg)
{
	const struct chunk_collective *of = &layout->plan->of;
	const __u8 *order = layout->plan->order[chunk];
	__u32 i, k;

	for (i = 0;; i++) {
		k = order[of->kind == CHUNK_ALL_GATHER ? of->dims - 1 - i : i];
		if (of->dim[k].endpoints > 1 && !leg--)
			return k;
	}
}

struct stage layout_stage(const struct layout *layout, __u32 chunk, __u32 stage)
{
	const struct chunk_plan *plan = layout->plan;
	bool middle = stage + 1 == layout->legs;
	struct stage result = { .swap = plan->of.kind == CHUNK_ALL_TO_ALL };

	result.reduce = !result.swap && plan->of.kind != CHUNK_ALL_GATHER && stage < layout->legs;
	result.leg = result.reduce || result.swap ? stage :
		     chunk_plan_stages(plan, chunk) - 1 - stage;
	result.dim = leg_dim(layout, chunk, result.leg);
	if (middle && chunk_plan_sums(plan, chunk)) {
		result.tree = plan->of.dim[result.dim].alg == CHUNK_TREE;
		result.sum = !result.tree;
		result.gather = result.tree;
	} else {
		result.gather = !result.swap && (!result.reduce || (plan->fused && middle));
	}
	return result;
}

struct range layout_parts(struct range range, __u32 n, __u32 first, __u32 parts)
{
	__u64 elements = range.to - range.from;

	return (struct range) {
		.from = range.from + elements * first / n,
		.to = range.from + elements * (first + parts) / n,
	};
}

struct range layout_range(const struct layout *layout, __u32 rank, __u32 chunk, __u32 leg)
{
	const struct chunk_collective *of = &layout->plan->of;
	struct range range;
	__u32 i;

	range.from = chunk * (of->size / of->chunks) / ELEMENT;
	range.to = range.from + chunk_bytes(of, chunk) / ELEMENT;
	for (i = 0; i < leg && of->kind != CHUNK_ALL_TO_ALL; i++) {
		__u32 k = leg_dim(layout, chunk, i);

		range = layout_parts(range, of->dim[k].endpoints,
				     layout_member(layout, rank, k), 1);
	}
	return range;
}

__u64 layout_place(const struct layout *layout, __u32 chunk, __u32 leg, __u32 place)
{
	__u64 at = (__u64)chunk * layout->legs + leg;

	return layout->staging[at] + place * layout->place[at];
}

/* Places are as large as the largest part that any rank may get. */
static void add_staging(struct layout *layout, __u32 chunk)
{
	const struct chunk_collective *of = &layout->plan->of;
	__u64 elements = chunk_bytes(of, chunk) / ELEMENT;
	__u32 leg;

	for (leg = 0; leg < layout->legs; leg++) {
		struct stage stage = layout_stage(layout, chunk, leg);
		__u32 members = of->dim[stage.dim].endpoints;
		__u32 parts = stage.tree ? CHUNK_TREE_HALVES : members;
		__u32 places = stage.tree ? CHUNK_TREE_WIDTH : stage.swap ? 2 * members : members;
		__u64 at = (__u64)chunk * layout->legs + leg;
		__u64 place = (elements + parts - 1) / parts;

		layout->staging[at] = layout->elements;
		layout->place[at] = place;
		layout->elements += place * places;
		if (!stage.swap)
			elements = place;
	}
}

int layout_init(struct layout *layout, const struct chunk_plan *plan)
{
	const struct chunk_collective *of = &plan->of;
	__u32 i, k;

	memset(layout, 0, sizeof(*layout));
	layout->plan = plan;
	layout->ranks = layout_ranks(of);
	layout->elements = of->size / ELEMENT;
	for (k = 0; k < of->dims; k++)
		layout->legs += of->dim[k].endpoints > 1;
	layout->stages = layout->legs;
	if (of->kind == CHUNK_ALL_REDUCE)
		layout->stages += layout->legs - plan->fused;
	layout->staging = calloc((size_t)of->chunks * layout->legs, sizeof(*layout->staging));
	layout->place = calloc((size_t)of->chunks * layout->legs, sizeof(*layout->place));
	if (!layout->staging || !layout->place) {
		layout_free(layout);
		return -ENOMEM;
	}
	for (i = 0; i < of->chunks && of->kind != CHUNK_ALL_GATHER; i++)
		add_staging(layout, i);
	return 0;
}

void layout_free(struct layout *layout)
{
	free(layout->staging);
	free(layout->place);
	memset(layout, 0, sizeof(*layout));
}
