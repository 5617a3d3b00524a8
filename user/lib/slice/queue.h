/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue of jobs that wait for a place. Jobs behind the first one wait until the first one
 * has started. In backfill each job that has a place starts; no place is kept for the first
 * job, so large jobs may wait for long.
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

#define QUEUE_TRIES	200u	/* backfill ends after so many jobs without a place */

/**
 * struct queue_job - a job that waits
 * @number: number, in the order of arrival
 * @gpus: number of GPUs
 * @duration: in any unit; an unknown one is the largest
 */
struct queue_job {
	__u32 number;
	__u32 gpus;
	__u64 duration;
};

/**
 * struct queue - jobs that wait
 * @order: order; of equal jobs, the job that arrived first is the first
 * @job: array of jobs
 * @nr: number of jobs
 * @first: index of the first job
 */
struct queue {
	enum queue_order order;
	struct queue_job *job;
	__u32 nr;
	__u32 first;
};

/* @jobs: the number of all jobs that will be added. Return: 0 or -ENOMEM. */
int queue_init(struct queue *queue, enum queue_order order, __u32 jobs);
void queue_free(struct queue *queue);

void queue_add(struct queue *queue, const struct queue_job *job);

/* The i-th job, the first is 0. */
static inline const struct queue_job *queue_job(const struct queue *queue, __u32 i)
{
	return &queue->job[queue->first + i];
}

/* Number of jobs to try, as long as none has a place. */
static inline __u32 queue_tries(const struct queue *queue)
{
	__u32 most = queue->order == QUEUE_BACKFILL ? QUEUE_TRIES : 1;

	return queue->nr < most ? queue->nr : most;
}

/* Remove the i-th job. */
void queue_take(struct queue *queue, __u32 i);

#endif /* ROCESTEER_LIB_QUEUE_H */
