/* SPDX-License-Identifier: GPL-2.0 */
/* A background task, in a process of its own. */
#ifndef ROCESTEER_LIB_TASK_H
#define ROCESTEER_LIB_TASK_H

#include <sys/types.h>

#include "base/base.h"

/**
 * struct task - a task
 * @loop: event loop that waits for its end
 * @run: called in the process, which has a copy of the daemon's memory; returns 0 or a
 *	negative errno, and may fill the error
 * @what: passed to @run
 * @done: called at the end; the message is that of the error, or empty
 * @arg: passed to @done
 * @source: pipe from the process
 * @pid: the process; 0: the task does not run
 */
struct task {
	struct loop *loop;
	int (*run)(void *what, struct err *err);
	void *what;
	int (*done)(const char *message, void *arg);
	void *arg;
	struct source source;
	pid_t pid;
};

/**
 * task_start() - start a task
 * @task: all fields up to @arg are set; the task does not run
 *
 * Return: 0 or a negative errno.
 */
int task_start(struct task *task);

/* Kill the process if it runs. @done is not called. */
void task_stop(struct task *task);

#endif /* ROCESTEER_LIB_TASK_H */
