/* SPDX-License-Identifier: GPL-2.0 */
/* What takes its time, in a process of its own: the daemon goes on meanwhile. */
#ifndef ROCESTEER_LIB_ERRAND_H
#define ROCESTEER_LIB_ERRAND_H

#include <sys/types.h>

#include "base/base.h"

/**
 * struct errand - state; @pid is 0 while none is under way
 * @loop: where its end is waited for
 * @run: called in the process, which has the daemon's memory as it was and ends with it;
 *	returns 0 or a negative errno, and may fill the error
 * @what: passed to @run
 * @done: called at the end; the message says what went wrong, or is empty
 * @arg: passed to @done
 * @source: what the process says
 * @pid: the process
 */
struct errand {
	struct loop *loop;
	int (*run)(void *what, struct err *err);
	void *what;
	int (*done)(const char *message, void *arg);
	void *arg;
	struct source source;
	pid_t pid;
};

/**
 * errand_start() - begin
 * @errand: all up to @arg is set; none is under way
 *
 * Return: 0 or a negative errno.
 */
int errand_start(struct errand *errand);

/* End one that is under way. @done is not called. */
void errand_stop(struct errand *errand);

#endif /* ROCESTEER_LIB_ERRAND_H */
