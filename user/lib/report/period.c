// SPDX-License-Identifier: GPL-2.0
#include "period.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int report_period_add(const char *file, void *arg)
{
	struct report_period *period = arg;
	struct recording *bigger;
	size_t i;
	int ret;

	bigger = reallocarray(period->recording, period->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	period->recording = bigger;
	memset(&bigger[period->nr], 0, sizeof(*bigger));
	ret = recording_read(file, &bigger[period->nr++], period->err);
	for (i = 0; !ret && i + 1 < period->nr; i++)
		if (!strcmp(bigger[i].host, bigger[period->nr - 1].host))
			ret = err_set(period->err, EXIT_BAD_INPUT, "periods",
				      "%s: host: %s has another recording of this period",
				      file, bigger[i].host);
	return ret;
}

/* Recordings of one period have to have a moment in common. */
static int check_times(const struct report_period *period)
{
	const struct recording *first = &period->recording[0], *other;
	size_t i;

	for (i = 1; i < period->nr; i++) {
		other = &period->recording[i];
		if (other->begin <= first->begin + (__s64)first->ms &&
		    first->begin <= other->begin + (__s64)other->ms)
			continue;
		return err_set(period->err, EXIT_BAD_INPUT, "periods",
			       "the recordings of %s and %s are of different periods",
			       first->host, other->host);
	}
	return 0;
}

int report_period_join(struct report_period *period)
{
	int ret = check_times(period) ?:
		  report_join(&period->join, period->recording, period->nr);

	return ret == -E2BIG ? err_set(period->err, EXIT_BAD_INPUT, "bad-file",
				       "the recordings have more leaves than are supported") : ret;
}

void report_period_free(struct report_period *period)
{
	size_t i;

	report_join_free(&period->join);
	for (i = 0; i < period->nr; i++)
		recording_free(&period->recording[i]);
	free(period->recording);
}
