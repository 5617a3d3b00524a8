// SPDX-License-Identifier: GPL-2.0
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jsonfile.h"
#include "reader.h"

int lines_open(struct lines *lines, const char *file, struct err *err)
{
	*lines = (struct lines) { .file = file ?: JSON_STDIN, .err = err };
	lines->in = file ? fopen(file, "re") : stdin;
	if (!lines->in)
		return err_set(err, EXIT_BAD_INPUT, "no-file", "%s: %s", file, strerror(errno));
	lines->text = malloc(LINES_MAX + 1);
	if (lines->text)
		return 0;
	lines_close(lines);
	return -ENOMEM;
}

static int refuse(const struct lines *lines, const char *why)
{
	return err_set(lines->err, EXIT_BAD_INPUT, "bad-file", "%s: line %u: %s", lines->file,
		       lines->number, why);
}

int lines_next(struct lines *lines)
{
	size_t len = 0, bom;
	int c;

	lines->number++;
	while ((c = getc_unlocked(lines->in)) != EOF && c != '\n') {
		if (!c)
			return refuse(lines, "contains a NUL");
		if (len == LINES_MAX)
			return refuse(lines, "is longer than 1 MiB");
		lines->text[len++] = c;
	}
	if (ferror(lines->in))
		return refuse(lines, strerror(errno));
	if (c == EOF && !len)
		return 0;
	if (len && lines->text[len - 1] == '\r')
		len--;
	lines->text[len] = '\0';
	bom = lines->number == 1 ? reader_bom(lines->text, len) : 0;
	memmove(lines->text, lines->text + bom, len - bom + 1);
	return 1;
}

void lines_close(struct lines *lines)
{
	free(lines->text);
	if (lines->in != stdin)
		fclose(lines->in);
}
