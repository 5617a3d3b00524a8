// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "chunk_table.h"

/* A stage of a chunk, and how large the chunk is in it. */
struct stage {
	__u64 bytes;
	__u8 *class;
};

/* Stages of all chunks in one dimension. */
struct queue {
	struct stage *stage;
	size_t nr;
};

/* Add a stage; the last one of a chunk is in no queue. */
static void add_stage(struct queue *queues, struct rocesteer_chunk *chunk,
		      __u32 dim, __u64 bytes, bool last)
{
	__u8 *class = &chunk->class[chunk->nr_stages];
	struct queue *queue = &queues[dim];

	if (last)
		*class = 1;
	else
		queue->stage[queue->nr++] = (struct stage) { bytes, class };
	chunk->dimension[chunk->nr_stages++] = dim;
}

/*
 * Through the dimensions and, in an All-Reduce, back. A Reduce-Scatter begins a
 * stage with the bytes that an All-Gather ends it with; an All-Gather that is
 * alone goes through sizes backwards. In an All-to-All a chunk keeps its size.
 */
static void add_stages(const struct chunk_plan *plan, struct queue *queues,
		       __u32 number, struct rocesteer_chunk *chunk)
{
	const struct chunk_collective *of = &plan->of;
	__u64 bytes = chunk->bytes, size[CHUNK_MAX_DIMS];
	__u8 leg[CHUNK_MAX_DIMS];
	__u32 stages = chunk_plan_stages(plan, number), legs = 0, i;

	for (i = 0; i < of->dims; i++) {
		__u32 at = of->kind == CHUNK_ALL_GATHER ? of->dims - 1 - i : i;
		__u32 dim = plan->order[number][at];

		if (of->dim[dim].endpoints == 1)
			continue;
		leg[legs] = dim;
		size[legs++] = bytes;
		if (of->kind != CHUNK_ALL_TO_ALL)
			bytes /= of->dim[dim].endpoints;
	}
	for (i = 0; i < legs; i++) {
		__u32 at = of->kind == CHUNK_ALL_GATHER ? legs - 1 - i : i;

		add_stage(queues, chunk, leg[at], size[at], i + 1 == stages);
	}
	for (i = stages - legs; i--;)
		add_stage(queues, chunk, leg[i], size[i], !i);
}

static int compare(const void *a, const void *b)
{
	const struct stage *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Classes from @nr for the smallest chunk down to 2. */
static void rank(struct queue *queue, __u32 nr)
{
	__u64 sizes = 0, at = 0;
	size_t i;

	qsort(queue->stage, queue->nr, sizeof(*queue->stage), compare);
	for (i = 0; i < queue->nr; i++)
		sizes += !i || compare(&queue->stage[i - 1], &queue->stage[i]);
	for (i = 0; i < queue->nr; i++) {
		at += i && compare(&queue->stage[i - 1], &queue->stage[i]);
		*queue->stage[i].class = nr - at * (nr - 1) / sizes;
	}
}

int chunk_classes(const struct chunk_plan *plan, __u32 nr, struct rocesteer_chunk *chunks)
{
	struct queue queues[CHUNK_MAX_DIMS] = {};
	__u32 dims = plan->of.dims, i, k;
	__u64 offset = 0;
	int ret = 0;

	for (k = 0; k < dims; k++) {
		queues[k].stage = calloc(2ul * plan->of.chunks, sizeof(*queues[k].stage));
		if (!queues[k].stage)
			ret = -ENOMEM;
	}
	for (i = 0; !ret && i < plan->of.chunks; i++) {
		chunks[i] = (struct rocesteer_chunk) {
			.offset = offset, .bytes = chunk_bytes(&plan->of, i),
		};
		offset += chunks[i].bytes;
		add_stages(plan, queues, i, &chunks[i]);
	}
	for (k = 0; k < dims; k++) {
		if (!ret)
			rank(&queues[k], nr);
		free(queues[k].stage);
	}
	return ret;
}
