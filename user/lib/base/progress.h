/* SPDX-License-Identifier: GPL-2.0 */
/* A progress line, on terminals only, for operations that take longer than two seconds. */
#ifndef ROCESTEER_LIB_PROGRESS_H
#define ROCESTEER_LIB_PROGRESS_H

#include <stdbool.h>
#include <linux/types.h>

#include "compiler.h"

/**
 * struct progress - state of the line
 * @started: time of the start, ns
 * @printed: time of the last line, ns, 0: none yet
 * @enabled: standard error is a terminal
 */
struct progress {
	__u64 started;
	__u64 printed;
	bool enabled;
};

void progress_start(struct progress *progress);

/**
 * progress_update() - show the line, if it is time to
 * @progress: the line
 * @fmt: printf style
 */
void progress_update(struct progress *progress, const char *fmt, ...)
	__printf(2, 3);

/* Clear the line. */
void progress_end(struct progress *progress);

#endif /* ROCESTEER_LIB_PROGRESS_H */
