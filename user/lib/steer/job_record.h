/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record of a job, /run/rocesteer/netns-COOKIE/job-ID.json, root only, says from which
 * files and options the job was loaded. The tables do not. A job needs no record.
 */
#ifndef ROCESTEER_LIB_JOB_RECORD_H
#define ROCESTEER_LIB_JOB_RECORD_H

#include <json-c/json.h>

#include "steer_tables.h"

/**
 * job_record_write() - keep the sources of a job, such as its port map
 * @s: open
 * @id: the job, loaded
 * @record: gets the time at which the job was loaded
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int job_record_write(struct steer *s, __u32 id, struct json_object *record, struct err *err);

/*
 * Return: the record, to be released; NULL where there is none, or it is of a job that
 * had the number before.
 */
struct json_object *job_record_read(struct steer *s, __u32 id);

void job_record_remove(struct steer *s, __u32 id);

/* Remove the records of a namespace, by the name of the directory of its pins. */
void job_records_remove(const char *name);

#endif /* ROCESTEER_LIB_JOB_RECORD_H */
