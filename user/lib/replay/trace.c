// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace.h"

#define HEADER	"arrival,gpus,duration,communication,pattern"
#define FIELDS	5

static int invalid(const struct lines *at, const char *field, const char *what, const char *text)
{
	char quoted[40];

	return err_set(at->err, EXIT_BAD_INPUT, "bad-file",
		       "%s: line %u: %s: '%s' %s", at->file, at->number, field,
		       reader_quote(text, quoted, sizeof(quoted)), what);
}

/* Cut a line at its commas. Return: number of fields, one more when more. */
static int split(char *line, char *field[FIELDS])
{
	int n = 0;

	for (;;) {
		if (n == FIELDS)
			return n + 1;
		field[n++] = line;
		line = strchr(line, ',');
		if (!line)
			return n;
		*line++ = '\0';
	}
}

static int read_gpus(const struct lines *at, const char *text, __u32 most, __u32 *gpus)
{
	char what[80];
	__u64 value;

	if (!strchr(text, '.') && !decimal_read(text, TRACE_SECOND, most * TRACE_SECOND, &value)) {
		*gpus = value / TRACE_SECOND;
		return 0;
	}
	snprintf(what, sizeof(what), "is not a number from 1 to %u", most);
	return invalid(at, "gpus", what, text);
}

static int read_pattern(const struct lines *at, const char *text, struct trace_job *job)
{
	int i = words_find(contention_pattern_names, text);
	char all[128], what[160];

	snprintf(what, sizeof(what), "is not one of %s",
		 words_list(contention_pattern_names, all, sizeof(all)));
	if (i < 0)
		return invalid(at, "pattern", what, text);
	if (contention_steps(i, job->gpus, 0) < 0)
		return invalid(at, "pattern", "needs a power of two of GPUs", text);
	job->pattern = i;
	return 0;
}

static int read_job(const struct lines *at, char *line, __u32 max_gpus,
		    __u64 before, struct trace_job *job)
{
	char *field[FIELDS];
	__u64 share;
	int ret;

	if (split(line, field) != FIELDS)
		return err_set(at->err, EXIT_BAD_INPUT, "bad-file",
			       "%s: line %u: does not have %u fields: " HEADER,
			       at->file, at->number, FIELDS);
	if (decimal_read(field[0], 0, TRACE_MAX_TIME, &job->arrival))
		return invalid(at, "arrival", "is not a time in seconds, at most 10000000",
			       field[0]);
	if (job->arrival < before)
		return invalid(at, "arrival", "is earlier than that of the line before", field[0]);
	ret = read_gpus(at, field[1], max_gpus, &job->gpus);
	if (ret)
		return ret;
	if (decimal_read(field[2], 1, TRACE_MAX_TIME, &job->duration))
		return invalid(at, "duration",
			       "is not a time in seconds, more than 0, at most 10000000",
			       field[2]);
	if (decimal_read(field[3], 0, TRACE_SHARE, &share))
		return invalid(at, "communication", "is not a share from 0 to 1", field[3]);
	job->communication = share;
	return read_pattern(at, field[4], job);
}

static int read_lines(struct lines *at, __u32 max_gpus, struct trace_job **jobs, __u32 *nr)
{
	struct trace_job *more;
	size_t room = 0;
	int ret;

	ret = lines_next(at);
	if (ret >= 0 && (!ret || strcmp(at->text, HEADER)))
		return err_set(at->err, EXIT_BAD_INPUT, "bad-file",
			       "%s: line 1: is not the header " HEADER, at->file);
	while (ret >= 0) {
		ret = lines_next(at);
		if (ret <= 0)
			break;
		if (*nr == TRACE_MAX_JOBS)
			return err_set(at->err, EXIT_BAD_INPUT, "bad-file",
				       "%s: line %u: more than %u jobs",
				       at->file, at->number, TRACE_MAX_JOBS);
		if (*nr == room) {
			room = 2 * room + 1024;
			more = reallocarray(*jobs, room, sizeof(**jobs));
			if (!more)
				return -ENOMEM;
			*jobs = more;
		}
		ret = read_job(at, at->text, max_gpus,
			       *nr ? (*jobs)[*nr - 1].arrival : 0, &(*jobs)[*nr]);
		++*nr;
	}
	return ret;
}

int trace_read(const char *file, __u32 max_gpus, struct trace_job **jobs,
	       __u32 *nr, struct err *err)
{
	struct lines at;
	int ret;

	*jobs = NULL;
	*nr = 0;
	ret = lines_open(&at, file, err);
	if (ret)
		return ret;
	ret = read_lines(&at, max_gpus, jobs, nr);
	lines_close(&at);
	if (!ret && !*nr)
		ret = err_set(err, EXIT_BAD_INPUT, "bad-file", "%s: line 2: there is no job", file);
	if (ret) {
		free(*jobs);
		*jobs = NULL;
	}
	return ret;
}

void trace_write(FILE *file, const struct trace_job *jobs, __u32 nr)
{
	__u32 i;

	fputs(HEADER "\n", file);
	for (i = 0; i < nr; i++)
		fprintf(file, "%llu.%06llu,%u,%llu.%06llu,%u.%06u,%s\n",
			jobs[i].arrival / TRACE_SECOND,
			jobs[i].arrival % TRACE_SECOND, jobs[i].gpus,
			jobs[i].duration / TRACE_SECOND,
			jobs[i].duration % TRACE_SECOND,
			jobs[i].communication / TRACE_SHARE,
			jobs[i].communication % TRACE_SHARE,
			contention_pattern_names[jobs[i].pattern]);
}
