// SPDX-License-Identifier: GPL-2.0
/*
 * The journal of a cluster file. Its lines begin with the generation that the
 * decision leads to: one more than the file's until the file is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster_priv.h"
#include "out.h"
#include "replace.h"

#define MAX_LINE	262144	/* bytes, with room to spare */
#define HEAD		"{\"generation\":%llu,\"decision\":\"%15[a-z]\""

static int fail(const struct cluster *c, int ret, struct err *err)
{
	err_set(err, EXIT_FAILED, "journal", "%s.journal: %s", c->file,
		strerror(-ret));
	return ret;
}

/*
 * Cut off a line that was not written to its end: its decision was not carried
 * out. Return: what is left, or a negative errno.
 */
static off_t cut_torn(const struct cluster *c, char *tail, off_t from,
		      size_t len)
{
	char *newline = memrchr(tail, '\n', len);
	size_t whole = newline ? newline + 1 - tail : 0;

	if (from && !newline)
		return -EFBIG;
	if (whole < len && ftruncate(c->journal, from + whole))
		return -errno;
	return whole;
}

/* A decision whose new file was never put in place is void. */
static int mend(struct cluster *c, char *tail, struct err *err)
{
	off_t size = lseek(c->journal, 0, SEEK_END), from, len;
	unsigned long long generation;
	struct json_object *line;
	char decision[16], *last;

	from = size > MAX_LINE ? size - MAX_LINE : 0;
	len = pread(c->journal, tail, size - from, from);
	if (size < 0 || len < 0)
		return fail(c, -errno, err);
	len = cut_torn(c, tail, from, len);
	if (len < 0)
		return fail(c, len, err);
	if (!len)
		return 0;
	tail[len - 1] = '\0';
	last = strrchr(tail, '\n');
	if (sscanf(last ? last + 1 : tail, HEAD, &generation, decision) != 2 ||
	    generation != c->generation + 1 || !strcmp(decision, "void"))
		return 0;
	line = out_root();
	out_string(line, "decision", "void");
	return cluster_journal_add(c, generation, line, err);
}

int cluster_journal_open(struct cluster *c, struct err *err)
{
	char *tail;
	int ret;

	c->journal = cluster_open_beside(c, "journal", O_APPEND);
	if (c->journal < 0)
		return fail(c, c->journal, err);
	tail = malloc(MAX_LINE + 1);
	if (!tail)
		return -ENOMEM;
	ret = mend(c, tail, err);
	free(tail);
	return ret;
}

int cluster_journal_add(struct cluster *c, __u64 generation,
			struct json_object *decision, struct err *err)
{
	struct json_object *line = out_root();
	time_t now = time(NULL);
	const char *json;
	char text[32];
	int ret, len;
	char *buf;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	out_uint(line, "generation", generation);
	json_object_object_foreach(decision, key, value) {
		json_object_object_add(line, key, json_object_get(value));
	}
	out_string(line, "time", text);
	json = json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	len = asprintf(&buf, "%s\n", json);
	json_object_put(line);
	json_object_put(decision);
	if (len < 0)
		return -ENOMEM;
	ret = file_write(c->journal, buf, len);
	free(buf);
	if (!ret && fdatasync(c->journal))
		ret = -errno;
	return ret ? fail(c, ret, err) : 0;
}
