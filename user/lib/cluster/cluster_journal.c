// SPDX-License-Identifier: GPL-2.0
/*
 * The journal of a cluster file. A line begins with the generation that its decision leads
 * to: one more than the generation of the file, until the file is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster_priv.h"

#define HEAD	"{\"generation\":%llu,\"decision\":\"%15[a-z]\""

static int fail(const struct cluster *c, int ret, struct err *err)
{
	return err_errno(err, -ret, "journal", "%s.journal", c->file);
}

/* Return: offset of the line that ends at @end, or a negative errno. */
static off_t line_begin(int fd, off_t end)
{
	char block[4096], *newline;
	ssize_t len;

	while (end) {
		len = end % sizeof(block) ?: sizeof(block);
		if (pread(fd, block, len, end - len) != len)
			return -EIO;
		newline = memrchr(block, '\n', len);
		if (newline)
			return end - len + (newline + 1 - block);
		end -= len;
	}
	return 0;
}

/*
 * Cut off an incomplete line: its decision was not carried out. Return: offset of the last
 * line; -ENOENT if there is none; or another negative errno.
 */
static off_t cut_torn(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END), end;

	if (size < 0)
		return -errno;
	end = line_begin(fd, size);
	if (end < 0)
		return end;
	if (end < size && ftruncate(fd, end))
		return -errno;
	return end ? line_begin(fd, end - 1) : -ENOENT;
}

/* The file is older than its journal: jobs of later decisions may still run. */
static int refuse(const struct cluster *c, __u64 generation, struct err *err)
{
	err_set(err, EXIT_BAD_INPUT, "journal-ahead",
		"%s: generation: is %llu, but %s.journal ends with %llu: later jobs are missing",
		c->file, c->generation, c->file, generation);
	err_hint(err,
		 "Put back the file of that generation. If none of these jobs runs, move the journal away.");
	return -EINVAL;
}

/* A decision is void if the file was not replaced. */
static int mend(struct cluster *c, struct err *err)
{
	char head[128] = "", decision[16];
	unsigned long long generation;
	struct json_object *line;
	off_t last;

	last = cut_torn(c->journal);
	if (last == -ENOENT)
		return 0;
	if (last < 0)
		return fail(c, last, err);
	if (pread(c->journal, head, sizeof(head) - 1, last) < 0)
		return fail(c, -errno, err);
	if (sscanf(head, HEAD, &generation, decision) != 2)
		return 0;
	if (generation > c->generation + 1)
		return refuse(c, generation, err);
	if (generation != c->generation + 1 || !strcmp(decision, "void"))
		return 0;
	line = out_root();
	out_string(line, "decision", "void");
	return cluster_journal_add(c, generation, line, err);
}

int cluster_journal_open(struct cluster *c, struct err *err)
{
	c->journal = cluster_open_beside(c, "journal", O_APPEND);
	if (c->journal < 0)
		return fail(c, c->journal, err);
	return mend(c, err);
}

int cluster_journal_add(struct cluster *c, __u64 generation,
			struct json_object *decision, struct err *err)
{
	struct json_object *line = out_root();
	char text[UTC_SIZE];
	const char *json;
	int ret, len;
	char *buf;

	out_uint(line, "generation", generation);
	json_object_object_foreach(decision, key, value) {
		json_object_object_add(line, key, json_object_get(value));
	}
	out_string(line, "time", utc_format(time(NULL), text));
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
