// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

#define SECOND	1000000000ull

void progress_start(struct progress *progress)
{
	progress->started = clock_ns();
	progress->printed = 0;
	progress->enabled = isatty(STDERR_FILENO);
}

void progress_update(struct progress *progress, const char *fmt, ...)
{
	__u64 now = clock_ns();
	va_list args;

	if (!progress->enabled || now - progress->started < 2 * SECOND ||
	    now - progress->printed < SECOND / 5)
		return;
	progress->printed = now;
	fputs("\r\033[K", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->printed) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	progress->printed = 0;
}
