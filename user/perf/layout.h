/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where everything is: ranks in a grid, elements in a rank's window. Pure, and
 * the same on all ranks, so that they know each other's addresses from a plan.
 *
 * Ranks are numbered through the grid with dimension 0 fastest. The group of a
 * rank in a dimension are those that differ from it in this coordinate only;
 * its member number there is this coordinate.
 *
 * A window begins with the buffer, chunk after chunk, which is worked on in
 * place: a Reduce-Scatter stage takes a range of the chunk and leaves the rank
 * the part of it that has its member number, which is the range of the next
 * stage. Which part of a chunk a rank ends with thus follows from the chunk's
 * order. Parts differ by an element at most. All-Gather stages undo that.
 *
 * Behind the buffer each Reduce-Scatter stage of each chunk has a staging area,
 * with as many places as the group has members.
 */
#ifndef ROCESTEER_PERF_LAYOUT_H
#define ROCESTEER_PERF_LAYOUT_H

#include "chunk/chunk.h"

#define ELEMENT		4u	/* bytes of each type there is */
#define WINDOW_IOVA	0x10000000000ull

/**
 * struct stage - one stage of a chunk
 * @dim: dimension it is in
 * @leg: how many dimensions have divided the chunk before
 * @reduce: it is, or begins with, a Reduce-Scatter
 * @gather: it is, or ends with, an All-Gather
 */
struct stage {
	__u32 dim;
	__u32 leg;
	bool reduce;
	bool gather;
};

/* Elements, from the beginning of the window. */
struct range {
	__u64 from;
	__u64 to;
};

/**
 * struct layout - of a plan
 * @plan: the plan; its chunks are whole elements
 * @ranks: there are
 * @legs: dimensions that have stages
 * @stages: of each chunk, numbered as in chunk_model.h
 * @elements: of the window
 * @staging: by chunk and leg: its staging area
 * @place: by chunk and leg: elements of a place there
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

/* Endpoints of all dimensions, multiplied; above the limit, something above. */
__u32 layout_ranks(const struct chunk_collective *of);

/* The member number of a rank in a dimension. */
__u32 layout_member(const struct layout *layout, __u32 rank, __u32 dim);

/* The rank that is member @member of the group of @rank in a dimension. */
__u32 layout_rank(const struct layout *layout, __u32 rank, __u32 dim,
		  __u32 member);

struct stage layout_stage(const struct layout *layout, __u32 chunk,
			  __u32 stage);

/* What @rank has of a chunk when @leg dimensions have divided it. */
struct range layout_range(const struct layout *layout, __u32 rank, __u32 chunk,
			  __u32 leg);

/* Parts @first to @first + @parts - 1 when a range is cut into @n. */
struct range layout_parts(struct range range, __u32 n, __u32 first,
			  __u32 parts);

/* Where places of the staging area of a chunk's leg begin. */
__u64 layout_place(const struct layout *layout, __u32 chunk, __u32 leg,
		   __u32 place);

#endif /* ROCESTEER_PERF_LAYOUT_H */
