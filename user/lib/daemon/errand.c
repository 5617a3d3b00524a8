// SPDX-License-Identifier: GPL-2.0
#include "errand.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process; it ends with its memory, and with the daemon. */
static void child(const struct errand *errand, int fd)
{
	struct err err = {};
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = errand->run(errand->what, &err);
	if (ret)
		dprintf(fd, "%s", err.code ? err.message : strerror(-ret));
	_exit(!!ret);
}

static void finish(struct errand *errand)
{
	loop_remove(errand->loop, &errand->source);
	close(errand->source.fd);
	waitpid(errand->pid, NULL, 0);
	errand->pid = 0;
}

/* It says one thing at most, at its end. */
static int said(void *arg)
{
	struct errand *errand = arg;
	char message[sizeof(((struct err *)0)->message)];
	ssize_t len = read(errand->source.fd, message, sizeof(message) - 1);

	message[len > 0 ? len : 0] = '\0';
	finish(errand);
	return errand->done(message, errand->arg);
}

int errand_start(struct errand *errand)
{
	int fd[2], ret;

	if (pipe(fd))
		return -errno;
	errand->pid = fork();
	if (!errand->pid)
		child(errand, fd[1]);
	close(fd[1]);
	errand->source = (struct source) { .fd = fd[0], .ready = said, .arg = errand };
	ret = errand->pid < 0 ? -errno : loop_add(errand->loop, &errand->source);
	if (!ret)
		return 0;
	close(fd[0]);
	if (errand->pid > 0) {
		kill(errand->pid, SIGKILL);
		waitpid(errand->pid, NULL, 0);
	}
	errand->pid = 0;
	return ret;
}

void errand_stop(struct errand *errand)
{
	if (!errand->pid)
		return;
	kill(errand->pid, SIGKILL);
	finish(errand);
}
