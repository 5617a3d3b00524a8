// SPDX-License-Identifier: GPL-2.0
#include "queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char * const queue_order_names[] = {
	[QUEUE_FIFO] = "fifo",
	[QUEUE_FEWEST_GPUS] = "fewest-gpus",
	[QUEUE_SHORTEST] = "shortest",
	[QUEUE_BACKFILL] = "backfill",
	[QUEUE_ORDERS] = NULL
};

int queue_init(struct queue *queue, enum queue_order order, __u32 jobs)
{
	*queue = (struct queue) { .order = order };
	queue->job = calloc(jobs + 1, sizeof(*queue->job));
	return queue->job ? 0 : -ENOMEM;
}

void queue_free(struct queue *queue)
{
	free(queue->job);
}

static bool is_before(enum queue_order order, const struct queue_job *a, const struct queue_job *b)
{
	if (order == QUEUE_FEWEST_GPUS && a->gpus != b->gpus)
		return a->gpus < b->gpus;
	if (order == QUEUE_SHORTEST && a->duration != b->duration)
		return a->duration < b->duration;
	return a->number < b->number;
}

void queue_add(struct queue *queue, const struct queue_job *job)
{
	struct queue_job *jobs = queue->job + queue->first;
	__u32 i = queue->nr++;

	for (; i && is_before(queue->order, job, &jobs[i - 1]); i--)
		jobs[i] = jobs[i - 1];
	jobs[i] = *job;
}

void queue_take(struct queue *queue, __u32 i)
{
	struct queue_job *jobs = queue->job + queue->first++;

	memmove(jobs + 1, jobs, i * sizeof(*jobs));
	queue->nr--;
}
