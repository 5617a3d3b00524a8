// SPDX-License-Identifier: GPL-2.0
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int exit_status, const char *code,
	    const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (err) {
		err->code = code;
		err->exit_status = exit_status;
		err->hint[0] = '\0';
		va_start(args, fmt);
		vsnprintf(err->message, sizeof(err->message), fmt, args);
		va_end(args);
	}
	errno = saved;
	if (exit_status == EXIT_BAD_INPUT || saved <= 0)
		return -EINVAL;
	return -saved;
}

void err_hint(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (err) {
		va_start(args, fmt);
		vsnprintf(err->hint, sizeof(err->hint), fmt, args);
		va_end(args);
	}
	errno = saved;
}
