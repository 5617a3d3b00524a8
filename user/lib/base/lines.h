/* SPDX-License-Identifier: GPL-2.0 */
/* Text files from outside, line by line. */
#ifndef ROCESTEER_LIB_LINES_H
#define ROCESTEER_LIB_LINES_H

#include <stdio.h>

#include "err.h"

#define LINES_MAX	1048576u	/* bytes of a line */

/**
 * struct lines - a file that is read
 * @file: its name, for messages
 * @number: of the last line, from 1
 * @text: the last line, without its end
 * @in: the rest
 * @err: names file and line
 */
struct lines {
	const char *file;
	unsigned int number;
	char *text;
	FILE *in;
	struct err *err;
};

/**
 * lines_open() - begin to read a file
 * @lines: filled; to be closed by lines_close() if that succeeds
 * @file: name, NULL: standard input
 * @err: names the file, here and later
 *
 * Return: 0 or a negative errno.
 */
int lines_open(struct lines *lines, const char *file, struct err *err);

/**
 * lines_next() - read a line
 * @lines: its @text and @number change
 *
 * A byte order mark is skipped, and a line may end with CRLF. A line that is too long or
 * contains a NUL is refused.
 *
 * Return: 1; 0: there is no more; or a negative errno.
 */
int lines_next(struct lines *lines);

void lines_close(struct lines *lines);

#endif /* ROCESTEER_LIB_LINES_H */
