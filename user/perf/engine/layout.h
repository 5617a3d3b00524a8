/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The grid of ranks, and the window of a rank. Pure, and the same on all ranks, so that
 * ranks derive the addresses of others from a plan.
 *
 * Ranks are numbered through the grid with dimension 0 fastest. The group of a rank in a
 * dimension are the ranks that differ in this coordinate only; the coordinate is the member
 * number.
 *
 * A window begins with the buffer, chunk after chunk, which is changed in place. A
 * Reduce-Scatter stage takes a range of the chunk and leaves the rank the part with its
 * member number, which is the range of the next stage. So the order of the chunk determines
 * the part that a rank ends with. Parts differ by an element at most. All-Gather stages do
 * the reverse. A stage that sums, by switches or by trees, takes a range, and leaves the rank the
 * sum of it.
 *
 * After the buffer each Reduce-Scatter stage of each chunk has a staging area, with as many
 * places as the group has members. Sums from switches come there as well, at the first place.
 * Trees have CHUNK_TREE_WIDTH places, each for a half.
 *
 * A chunk of an All-to-All has a block for each rank, in the order of ranks. A stage exchanges,
 * for each other member, the blocks whose number has that member in the stage's dimension. So
 * afterwards the number of a block says in this dimension where the block came from. These blocks
 * are apart from each other: the rank packs them at a place to send from, and unpacks what has
 * come to a place. A stage has these places in its staging area: one for each member to receive,
 * then one for each to send.
 */
#ifndef ROCESTEER_PERF_LAYOUT_H
#define ROCESTEER_PERF_LAYOUT_H

#include "chunk/chunk.h"

#define ELEMENT		4u	/* bytes of each type there is */

/**
 * struct stage - one stage of a chunk
 * @dim: dimension
 * @leg: number of dimensions that have divided the chunk before
 * @reduce: the stage is, or begins with, a Reduce-Scatter
 * @gather: the stage is, or ends with, an All-Gather
 * @sum: switches sum, so that neither half is to be done
 * @tree: both halves are done by trees
 * @swap: the stage is of an All-to-All, and neither half
 */
struct stage {
	__u32 dim;
	__u32 leg;
	bool reduce;
	bool gather;
	bool sum;
	bool tree;
	bool swap;
};

/* A range of elements of the window. */
struct range {
	__u64 from;
	__u64 to;
};

/**
 * struct layout - layout of a plan
 * @plan: the plan; its chunks are whole elements
 * @ranks: number of ranks
 * @legs: number of dimensions that have stages
 * @stages: most stages of a chunk
 * @elements: size of the window
 * @staging: by chunk and leg: offset of the staging area
 * @place: by chunk and leg: elements of a place in it
 */
struct layout {
	const struct chunk_plan *plan;
	__u32 ranks;
	__u32 legs;
	__u32 stages;
	__u64 elements;
	__u64 *staging;
	__u64 *place;
};

#define LAYOUT_MAX_RANKS	4096u

/**
 * layout_init() - lay out a window
 * @layout: filled; to be freed by layout_free()
 * @plan: a plan of chunks of whole elements, for at most LAYOUT_MAX_RANKS
 *
 * Return: 0 or -ENOMEM.
 */
int layout_init(struct layout *layout, const struct chunk_plan *plan);

void layout_free(struct layout *layout);

/* Product of the endpoints of all dimensions; any larger number above the limit. */
__u32 layout_ranks(const struct chunk_collective *of);

/* The member number of a rank in a dimension. */
__u32 layout_member(const struct layout *layout, __u32 rank, __u32 dim);

/* The rank that is member @member of the group of @rank in a dimension. */
__u32 layout_rank(const struct layout *layout, __u32 rank, __u32 dim, __u32 member);

/* Stage @stage of a chunk, below chunk_plan_stages() */
struct stage layout_stage(const struct layout *layout, __u32 chunk, __u32 stage);

/* The distance of the numbers of ranks that are neighbours in a dimension. */
__u32 layout_stride(const struct layout *layout, __u32 dim);

/*
 * The range of a chunk that @rank has when @leg dimensions have divided the chunk. Those of an
 * All-to-All do not divide it.
 */
struct range layout_range(const struct layout *layout, __u32 rank, __u32 chunk, __u32 leg);

/* Parts @first to @first + @parts - 1 of a range that is cut into @n parts. */
struct range layout_parts(struct range range, __u32 n, __u32 first, __u32 parts);

/* Offset of places in the staging area of a chunk's leg. */
__u64 layout_place(const struct layout *layout, __u32 chunk, __u32 leg, __u32 place);

#endif /* ROCESTEER_PERF_LAYOUT_H */
