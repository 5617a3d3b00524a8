/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a network namespace. */
#ifndef ROCESTEER_STAT_COUNTERS_H
#define ROCESTEER_STAT_COUNTERS_H

#include <rocesteer/chunk.h>

#include "steer/steer.h"

/**
 * struct counters - what "rocesteer stat" shows
 * @has_tables: programs are loaded, and the next three are filled
 * @verdicts: packets by enum rocesteer_verdict
 * @observed: packets by enum rocesteer_observed
 * @has_classes: a job has chunks
 * @classes: packets of the classes of chunks, over all jobs and dimensions
 * @has_module: @module is filled
 * @module: counters of the module
 */
struct counters {
	bool has_tables;
	__u64 verdicts[ROCESTEER_VERDICT_MAX];
	__u64 observed[ROCESTEER_OBSERVED_MAX];
	bool has_classes;
	struct rocesteer_count classes[ROCESTEER_MAX_CLASSES];
	bool has_module;
	struct genl_stats module;
};

/**
 * counters_read() - read the counters
 * @counters: filled
 * @steer: programs and tables, or NULL
 * @genl: the module, or NULL
 * @err: filled on failure of the module
 *
 * Return: 0 or a negative errno.
 */
int counters_read(struct counters *counters, struct steer *steer, struct genl *genl,
		  struct err *err);

#endif /* ROCESTEER_STAT_COUNTERS_H */
