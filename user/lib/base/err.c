// SPDX-License-Identifier: GPL-2.0
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(struct err *err, int exit_status, const char *code, const char *fmt, va_list args)
{
	if (!err)
		return;
	err->code = code;
	err->exit_status = exit_status;
	err->hint[0] = '\0';
	vsnprintf(err->message, sizeof(err->message), fmt, args);
}

int err_set(struct err *err, int exit_status, const char *code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set(err, exit_status, code, fmt, args);
	va_end(args);
	return -EINVAL;
}

int err_errno(struct err *err, int error, const char *code, const char *fmt, ...)
{
	va_list args;
	size_t len;

	error = error ?: EIO;
	va_start(args, fmt);
	set(err, EXIT_FAILED, code, fmt, args);
	va_end(args);
	if (err) {
		len = strlen(err->message);
		snprintf(err->message + len, sizeof(err->message) - len, ": %s", strerror(error));
	}
	return -error;
}

void err_hint(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
}
