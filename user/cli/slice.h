/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of rocesteer slice that have a file of their own. */
#ifndef ROCESTEER_CLI_SLICE_H
#define ROCESTEER_CLI_SLICE_H

#include "../lib/cluster.h"
#include "cli.h"

extern const struct cli_option slice_alloc_options[];
int slice_alloc(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_release_options[];
int slice_release(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_mark_options[];
int slice_mark(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_check_options[];
int slice_check(const struct cli_args *args, struct err *err);

/* The job that an option names. Return: NULL with @err filled. */
struct json_object *slice_find_job(const struct cluster *c, const char *id,
				   struct err *err);

/* A job as commands print it. */
struct json_object *slice_job_json(const char *id, struct json_object *job);

#endif /* ROCESTEER_CLI_SLICE_H */
