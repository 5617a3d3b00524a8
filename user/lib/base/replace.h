/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are replaced as a whole: a reader sees the old or the new one. */
#ifndef ROCESTEER_LIB_REPLACE_H
#define ROCESTEER_LIB_REPLACE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "err.h"

/**
 * struct file_new - what is to be in a file
 * @out: takes it
 * @text: what @out was given
 * @len: bytes of it
 */
struct file_new {
	FILE *out;
	char *text;
	size_t len;
};

/* Return: 0; @new is to be released by file_replace(). Or -ENOMEM. */
int file_begin(struct file_new *new);

/**
 * file_replace() - replace a file atomically and durably
 * @file: replaced by rename, or created; a link leads to it, and what is no regular
 *	file is written to. One that is there passes on its permissions, as root also its
 *	owner, and as root or a member its group
 * @new: contents; released
 *
 * FILE.new, beside it, is for no one else to use: one left by a crash is removed.
 *
 * Return: 0; a negative errno: the file is as it was; a positive one: the file is
 * replaced, but its directory could not be synced, and a crash may undo that.
 */
int file_replace(const char *file, struct file_new *new);

/*
 * Could file_replace() write the file now? Nothing is written to a pipe, nor to a file that is
 * there. Return: 0 or a negative errno.
 */
int file_has_place(const char *file);

/**
 * file_check() - check that a file may be replaced, before the work for it is done
 * @file: name
 * @begin: text with which all files of the kind begin, white space aside
 * @what: name of the kind, for the message
 * @err: filled on failure
 *
 * A file that is there has to be of the kind, or empty: it may be an input, or another's.
 *
 * Return: 0 or a negative errno.
 */
int file_check(const char *file, const char *begin, const char *what, struct err *err);

/*
 * Open a file to read and write, no link to one. If it is not there, make an empty one; as
 * file_replace() it has what @like passes on. Return: a descriptor, or a negative errno.
 */
int file_open_like(const char *name, const struct stat *like, int flags);

/*
 * Has the file one name only? What is renamed over one of several (hard links) leaves the others
 * behind, with a lock of their own. A file that is not there has none. Return: 0 or -EINVAL.
 */
int file_check_names(const char *file, struct err *err);

/* Write all of a text. Return: 0 or a negative errno. */
int file_write(int fd, const char *text, size_t len);

#endif /* ROCESTEER_LIB_REPLACE_H */
