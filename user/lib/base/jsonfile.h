/* SPDX-License-Identifier: GPL-2.0 */
/* Files of JSON from outside. */
#ifndef ROCESTEER_LIB_JSONFILE_H
#define ROCESTEER_LIB_JSONFILE_H

#include <stddef.h>

#include "err.h"

struct json_object;

/**
 * json_file_read() - read and parse a file
 * @file: name
 * @max: bytes, a longer file is refused
 * @depth: of nesting, likewise
 * @root: set; to be released; NULL is JSON's null, which has no fields
 * @err: names the file, and the place where it is no JSON
 *
 * Return: 0 or a negative errno.
 */
int json_file_read(const char *file, size_t max, int depth,
		   struct json_object **root, struct err *err);

/* How messages name standard input. */
#define JSON_STDIN	"standard input"

/* The same from standard input. */
int json_stdin_read(size_t max, int depth, struct json_object **root, struct err *err);

/**
 * json_file_write() - replace a file as by file_replace()
 * @file: name
 * @root: contents; released
 * @flags: of json_object_to_json_string_ext()
 * @err: names the file
 *
 * Return: 0 or a negative errno.
 */
int json_file_write(const char *file, struct json_object *root, int flags, struct err *err);

#endif /* ROCESTEER_LIB_JSONFILE_H */
