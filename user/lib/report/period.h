/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings of one period, from files. */
#ifndef ROCESTEER_LIB_REPORT_PERIOD_H
#define ROCESTEER_LIB_REPORT_PERIOD_H

#include "join.h"

/**
 * struct report_period - recordings of a period; to be freed by report_period_free() in any case
 * @recording: recordings
 * @nr: number of recordings
 * @join: set by report_period_join()
 * @err: filled on failure
 */
struct report_period {
	struct recording *recording;
	size_t nr;
	struct report_join join;
	struct err *err;
};

/* Add a file to the period that @arg points to, of another host. Return: 0 or a negative errno. */
int report_period_add(const char *file, void *arg);

/* Join the recordings, which need a moment in common. Return: 0 or a negative errno. */
int report_period_join(struct report_period *period);

void report_period_free(struct report_period *period);

#endif /* ROCESTEER_LIB_REPORT_PERIOD_H */
