/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of the object job, one file each for load and unload. */
#ifndef ROCESTEER_JOB_H
#define ROCESTEER_JOB_H

#include "../objects.h"

extern const struct cli_option job_load_options[];
extern const struct cli_option job_unload_options[];
extern const struct cli_option job_steer_options[];

int job_load(const struct cli_args *args, struct err *err);
int job_replace(const struct cli_args *args, struct err *err);
int job_unload(const struct cli_args *args, struct err *err);
int job_steer(const struct cli_args *args, struct err *err);

/**
 * enum job_put - how a job gets into the tables
 * @JOB_LOAD: it is not loaded
 * @JOB_REPLACE: it is loaded
 * @JOB_EITHER: as the tables say
 * @JOB_CHECK: it does not: what JOB_EITHER would do is checked
 */
enum job_put {
	JOB_LOAD,
	JOB_REPLACE,
	JOB_EITHER,
	JOB_CHECK,
};

/**
 * job_put() - load a job, or replace it
 * @args: options of job_load_options
 * @how: which
 * @root: set to what is to be shown of it
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int job_put(const struct cli_args *args, enum job_put how, struct json_object **root,
	    struct err *err);

/* Unload a job. Return: 0 or a negative errno. */
int job_drop(__u32 id, struct err *err);

struct steer;

/* State of a job's steering: "on", "off", or "some" for some of its groups. */
const char *job_steering(struct steer *steer, __u32 id);

#endif /* ROCESTEER_JOB_H */
