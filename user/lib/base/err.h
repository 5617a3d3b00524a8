/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Errors, for people and for programs. A function that can fail for a reason that the user
 * can act on fills a struct err.
 */
#ifndef ROCESTEER_LIB_ERR_H
#define ROCESTEER_LIB_ERR_H

#include "compiler.h"

/* Exit statuses of the command. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_BAD_INPUT = 2,	/* usage, or a file's contents */
	EXIT_REFUSED = 3,	/* no room */
	EXIT_LOCKED = 4,	/* another process holds a lock: try again later */
};

/**
 * struct err - one failure
 * @code: machine-readable name such as "no-route", static; NULL: no failure
 * @exit_status: enum exit_status the command ends with
 * @message: one line without newline, names the file and field or the object
 * @hint: what to do next, empty when there is nothing to say
 */
struct err {
	const char *code;
	int exit_status;
	char message[512];
	char hint[256];
};

/**
 * err_set() - record a failure
 * @err: may be NULL; an earlier failure is overwritten
 * @exit_status: enum exit_status
 * @code: static string
 * @fmt: message, printf style
 *
 * Return: -EINVAL: callers that know better return their own.
 */
int err_set(struct err *err, int exit_status, const char *code,
	    const char *fmt, ...) __printf(4, 5);

/**
 * err_errno() - record an error of the system, with EXIT_FAILED
 * @err: as of err_set()
 * @error: positive errno; 0, where a library forgot it, is EIO
 * @code: static string
 * @fmt: message, printf style; the text of @error is appended
 *
 * Return: -@error.
 */
int err_errno(struct err *err, int error, const char *code, const char *fmt, ...)
	__printf(4, 5);

/**
 * err_hint() - say what the user can do about the failure just recorded
 * @err: may be NULL
 * @fmt: printf style
 */
void err_hint(struct err *err, const char *fmt, ...)
	__printf(2, 3);

#endif /* ROCESTEER_LIB_ERR_H */
