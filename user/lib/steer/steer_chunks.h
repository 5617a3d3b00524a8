/* SPDX-License-Identifier: GPL-2.0 */
/* Fill, read and empty the tables of chunks. */
#ifndef ROCESTEER_LIB_STEER_CHUNKS_H
#define ROCESTEER_LIB_STEER_CHUNKS_H

#include "chunk/chunk.h"
#include "steer_tables.h"

/**
 * steer_chunks_add() - tag a job's packets by their chunks
 * @s: open
 * @job: loaded
 * @table: its chunks
 * @err: filled on failure
 *
 * Covers all devices of the ranges in @table. All or nothing.
 *
 * Return: 0 or a negative errno; -EEXIST, code "exists", if the job has chunks; -ENOENT, code
 * "no-job".
 */
int steer_chunks_add(struct steer *s, __u32 job, const struct chunk_table *table, struct err *err);

/* Stop to tag packets. Return: 0, or -ENOENT, code "no-chunks". */
int steer_chunks_del(struct steer *s, __u32 job, struct err *err);

/* Return: 0, or -ENOENT if the job has no chunks. */
int steer_chunks_get(struct steer *s, __u32 job, struct rocesteer_chunk_job *chunks);

/* Walk the counters of flows by class, as steer_flow_each() does. */
int steer_tags_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_tags *tags, void *arg),
		    void *arg);

/**
 * steer_count_each() - walk the counters by class and dimension
 * @s: open
 * @job: a job; 0: all jobs
 * @fn: called for each counter, with the sum over the CPUs
 * @arg: passed to @fn
 *
 * Return: 0, or the first nonzero value of @fn.
 */
int steer_count_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_count_key *key,
			       const struct rocesteer_count *count, void *arg),
		     void *arg);

#endif /* ROCESTEER_LIB_STEER_CHUNKS_H */
