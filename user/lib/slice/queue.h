/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue of jobs that wait for a place. Its first job is the next to start, and
 * holds back those behind it while it has no place. In backfill it does not: whatever
 * has a place starts, and nothing is kept free for the first one, so that large jobs
 * may wait for long.
 */
#ifndef ROCESTEER_LIB_QUEUE_H
#define ROCESTEER_LIB_QUEUE_H

#include <linux/types.h>

enum queue_order {
	QUEUE_FIFO,
	QUEUE_FEWEST_GPUS,
	QUEUE_SHORTEST,
	QUEUE_BACKFILL,
	QUEUE_ORDERS
};

/* Their names on the command line, ended by NULL. */
extern const char * const queue_order_names[QUEUE_ORDERS + 1];

#define QUEUE_TRIES	200u	/* in backfill: jobs without a place, until it ends */

/**
 * struct queue_job - a job that waits
 * @number: in the order of arrival
 * @gpus: that it wants
 * @duration: in any unit; jobs that do not say have the largest
 */
struct queue_job {
	__u32 number;
	__u32 gpus;
	__u64 duration;
};

/**
 * struct queue - jobs that wait
 * @order: which is first; of those alike, the one that arrived first
 * @job: first is next
 * @nr: how many
 * @first: where they begin
 */
struct queue {
	enum queue_order order;
	struct queue_job *job;
	__u32 nr;
	__u32 first;
};

/* Make room for as many jobs as will ever be added. Return: 0 or -ENOMEM. */
int queue_init(struct queue *queue, enum queue_order order, __u32 jobs);
void queue_free(struct queue *queue);

void queue_add(struct queue *queue, const struct queue_job *job);

/* The i-th job, the first is 0. */
static inline const struct queue_job *queue_job(const struct queue *queue,
						__u32 i)
{
	return &queue->job[queue->first + i];
}

/* How many jobs may be tried, as long as none of them has a place. */
static inline __u32 queue_tries(const struct queue *queue)
{
	__u32 most = queue->order == QUEUE_BACKFILL ? QUEUE_TRIES : 1;

	return queue->nr < most ? queue->nr : most;
}

/* Take the i-th one out. */
void queue_take(struct queue *queue, __u32 i);

#endif /* ROCESTEER_LIB_QUEUE_H */
