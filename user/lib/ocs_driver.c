// SPDX-License-Identifier: GPL-2.0
#include "ocs_driver.h"

#include <errno.h>
#include <json-c/json.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replace.h"

/* The request as a file: a command that does not read it blocks nobody. */
static int write_request(struct json_object *request)
{
	const char *text = json_object_to_json_string_ext(request,
					JSON_C_TO_STRING_PLAIN);
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

/* Return: what waitpid() says, or a negative errno. */
static int run(const char *command, int in)
{
	char *const argv[] = { (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	int ret, status;
	pid_t pid;

	ret = posix_spawn_file_actions_init(&actions);
	if (ret)
		return -ret;
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO,
					 STDOUT_FILENO);
	ret = posix_spawnp(&pid, command, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return -ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

int ocs_driver_run(const char *command, struct json_object *request,
		   struct err *err)
{
	int in = write_request(request), status;

	if (in < 0)
		return in;
	status = run(command, in);
	close(in);
	if (!status)
		return 0;
	if (status < 0)
		err_set(err, EXIT_FAILED, "driver", "%s: %s", command,
			strerror(-status));
	else if (WIFEXITED(status))
		err_set(err, EXIT_FAILED, "driver",
			"%s: exit status %d", command, WEXITSTATUS(status));
	else
		err_set(err, EXIT_FAILED, "driver", "%s: signal %d", command,
			WTERMSIG(status));
	return status < 0 ? status : -EIO;
}
