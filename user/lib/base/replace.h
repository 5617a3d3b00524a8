/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are replaced as a whole: a reader sees the old or the new one. */
#ifndef ROCESTEER_LIB_REPLACE_H
#define ROCESTEER_LIB_REPLACE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "err.h"

/**
 * struct file_new - new contents of a file
 * @out: stream that takes them
 * @text: bytes written to @out
 * @len: number of bytes
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
 * @file: replaced by rename, or created; a link is followed, and a file that is not
 *	regular is written to. An old file passes on its permissions, as root also its
 *	owner, and as root or a member its group
 * @new: contents; released
 *
 * FILE.new, in the same directory, is reserved: one that a crash has left is removed.
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
 * A file that exists has to be of the kind, or empty: any other may be an input.
 *
 * Return: 0 or a negative errno.
 */
int file_check(const char *file, const char *begin, const char *what, struct err *err);

/*
 * Open a file, but no link, to read and write. If there is none, create it empty, with what @like
 * passes on as in file_replace(). Return: a descriptor, or a negative errno.
 */
int file_open_like(const char *name, const struct stat *like, int flags);

/*
 * Check that the file has no further hard links: these would keep the old contents, and a lock of
 * their own. A file that does not exist passes. Return: 0 or -EINVAL.
 */
int file_check_names(const char *file, struct err *err);

/* Write all of a text. Return: 0 or a negative errno. */
int file_write(int fd, const char *text, size_t len);

#endif /* ROCESTEER_LIB_REPLACE_H */
