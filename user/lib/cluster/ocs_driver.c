// SPDX-License-Identifier: GPL-2.0
#include "ocs_driver.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define WAIT	300	/* seconds a driver has */
#define GRACE	10	/* and to end when it is told to */

/* The request is a file, so a command that does not read it blocks no one. */
static int write_request(struct json_object *request)
{
	const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	int fd = memfd_create("request", MFD_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = file_write(fd, text, strlen(text)) ?: file_write(fd, "\n", 1);
	if (!ret && lseek(fd, 0, SEEK_SET))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static sigset_t before;	/* signals that were blocked */
static bool held;

static void hold_signals(void)
{
	sigset_t set;

	if (held)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	held = !sigprocmask(SIG_BLOCK, &set, &before);
}

void ocs_driver_done(void)
{
	if (held)
		sigprocmask(SIG_SETMASK, &before, NULL);
	held = false;
}

/* Run the command with the request, our standard error, the lock, and signals as before. */
static int start(const char *command, int in, int lock, pid_t *pid)
{
	char *const argv[] = { (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int ret;

	ret = posix_spawn_file_actions_init(&actions);
	if (ret)
		return -ret;
	ret = posix_spawnattr_init(&attr);
	if (ret)
		goto out_actions;
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	/* A duplicate onto itself is not closed on exec. */
	posix_spawn_file_actions_adddup2(&actions, lock, lock);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &before);
	ret = posix_spawnp(pid, command, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

static bool has_ended(int pidfd, int seconds)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return poll(&fd, 1, seconds * 1000) != 0;
}

/* Return: the status of waitpid(), or a negative errno. */
static int run(const char *command, int in, int lock, int seconds)
{
	int pidfd, ret, status;
	bool late = false;
	pid_t pid;

	ret = start(command, in, lock, &pid);
	if (ret)
		return ret;
	pidfd = pidfd_open(pid, 0);
	if (pidfd >= 0 && !has_ended(pidfd, seconds)) {
		late = true;
		kill(pid, SIGTERM);
		if (!has_ended(pidfd, GRACE))
			kill(pid, SIGKILL);
	}
	if (pidfd >= 0)
		close(pidfd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return late ? -ETIMEDOUT : status;
}

int ocs_driver_run(const char *command, struct json_object *request, int lock, struct err *err)
{
	int wait = wait_limit("ROCESTEER_DRIVER_WAIT", WAIT, err);
	int in, status;

	if (wait < 0)
		return wait;
	in = write_request(request);
	if (in < 0)
		return in;
	hold_signals();
	status = run(command, in, lock, wait);
	close(in);
	if (!status)
		return 0;
	if (status < 0)
		err_set(err, EXIT_FAILED, "driver", "%s: %s", command, strerror(-status));
	else if (WIFEXITED(status))
		err_set(err, EXIT_FAILED, "driver",
			"%s: exit status %d", command, WEXITSTATUS(status));
	else
		err_set(err, EXIT_FAILED, "driver", "%s: signal %d", command, WTERMSIG(status));
	return status < 0 ? status : -EIO;
}
