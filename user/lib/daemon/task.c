// SPDX-License-Identifier: GPL-2.0
#include "task.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const struct task *task, int fd)
{
	struct err err = {};
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = task->run(task->what, &err);
	if (ret)
		dprintf(fd, "%s", err.code ? err.message : strerror(-ret));
	_exit(!!ret);
}

static void finish(struct task *task)
{
	loop_remove(task->loop, &task->source);
	close(task->source.fd);
	waitpid(task->pid, NULL, 0);
	task->pid = 0;
}

/* The process writes one message at most, at its end. */
static int said(void *arg)
{
	struct task *task = arg;
	char message[sizeof(((struct err *)0)->message)];
	ssize_t len = read(task->source.fd, message, sizeof(message) - 1);

	message[len > 0 ? len : 0] = '\0';
	finish(task);
	return task->done(message, task->arg);
}

int task_start(struct task *task)
{
	int fd[2], ret;

	if (pipe(fd))
		return -errno;
	task->pid = fork();
	if (!task->pid)
		child(task, fd[1]);
	close(fd[1]);
	task->source = (struct source) { .fd = fd[0], .ready = said, .arg = task };
	ret = task->pid < 0 ? -errno : loop_add(task->loop, &task->source);
	if (!ret)
		return 0;
	close(fd[0]);
	if (task->pid > 0) {
		kill(task->pid, SIGKILL);
		waitpid(task->pid, NULL, 0);
	}
	task->pid = 0;
	return ret;
}

void task_stop(struct task *task)
{
	if (!task->pid)
		return;
	kill(task->pid, SIGKILL);
	finish(task);
}
