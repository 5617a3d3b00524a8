/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of jobs that have chunks: fill, read, empty. */
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
 * On all devices that @table has ranges of. All or nothing.
 *
 * Return: 0 or a negative errno; -EEXIST, code "exists", where it has chunks;
 * -ENOENT, code "no-job".
 */
int steer_chunks_add(struct steer *s, __u32 job, const struct chunk_table *table,
		     struct err *err);

/* No longer. Return: 0, or -ENOENT, code "no-chunks", where it has none. */
int steer_chunks_del(struct steer *s, __u32 job, struct err *err);

/* Return: 0, or -ENOENT where the job has no chunks. */
int steer_chunks_get(struct steer *s, __u32 job,
		     struct rocesteer_chunk_job *chunks);

/* Go through what flows sent by class: a walk as steer_flow_each() is one. */
int steer_tags_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_tags *tags, void *arg),
		    void *arg);

/**
 * steer_count_each() - go through what was sent by class and dimension
 * @s: open
 * @job: only of this, 0: of all
 * @fn: called for each, with the sum over the CPUs
 * @arg: passed on
 *
 * Return: 0, or what @fn returned that was not.
 */
int steer_count_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_count_key *key,
			       const struct rocesteer_count *count, void *arg),
		     void *arg);

#endif /* ROCESTEER_LIB_STEER_CHUNKS_H */
