/* SPDX-License-Identifier: GPL-2.0 */
/* The counters, jobs and paths as metrics for Prometheus. */
#ifndef ROCESTEER_STAT_METRICS_H
#define ROCESTEER_STAT_METRICS_H

#include <stdio.h>

#include "groups/groups.h"
#include "counters.h"

#define METRICS_BEGIN	"# HELP rocesteer_"	/* with which they are printed */

/**
 * struct metrics_job - a job
 * @id: number
 * @job: as in rs_jobs
 * @served: the programs are attached to its device
 * @steering: "on", "some" or "off"
 */
struct metrics_job {
	__u32 id;
	struct rocesteer_job job;
	bool served;
	const char *steering;
};

/**
 * struct metrics - what is printed
 * @counters: of the namespace
 * @rates: paths, and what was sent on them
 * @jobs: set of struct metrics_job
 * @programs: version of the programs; empty without programs
 */
struct metrics {
	struct counters counters;
	struct rates rates;
	struct set jobs;
	char programs[sizeof(((struct rocesteer_version *)0)->version)];
};

/**
 * metrics_read() - read all that is printed
 * @metrics: zero; to be released by metrics_free() in any case
 * @steer: programs and tables, or NULL
 * @genl: the module, or NULL
 * @err: filled on failure of the module
 *
 * Return: 0 or a negative errno.
 */
int metrics_read(struct metrics *metrics, struct steer *steer, struct genl *genl, struct err *err);

void metrics_free(struct metrics *metrics);

/* The job with that number, or NULL. */
const struct metrics_job *metrics_job(const struct metrics *metrics, __u32 id);

/* Print all in the text exposition format. */
void metrics_print(FILE *out, const struct metrics *metrics);

/* A part of it: paths, groups and jobs. */
void metrics_print_jobs(FILE *out, const struct metrics *metrics);

/* A part of it: the counters of the module. */
void metrics_print_module(FILE *out, const struct genl_stats *values);

#endif /* ROCESTEER_STAT_METRICS_H */
