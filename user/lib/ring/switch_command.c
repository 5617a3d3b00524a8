// SPDX-License-Identifier: GPL-2.0
#include "switch_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MSEC	1000000ull

/* A file that holds a text. Return: its descriptor, or a negative errno. */
static int file_of(const char *text)
{
	size_t length = strlen(text);
	int fd = memfd_create("command", MFD_CLOEXEC), ret = EIO;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) == (ssize_t)length && !lseek(fd, 0, SEEK_SET))
		return fd;
	ret = errno ?: ret;
	close(fd);
	return -ret;
}

/* The environment but LD_PRELOAD; NULL without memory. */
static char **environment(void)
{
	size_t n = 0, i;
	char **env;

	while (environ && environ[n])
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (i = 0, n = 0; env && environ && environ[i]; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")))
			env[n++] = environ[i];
	return env;
}

/* Its output does not go to our output. Return: 0 or a negative errno. */
static int spawn(struct switch_command *command)
{
	char *const argv[] = { "sh", "-c", command->line, NULL };
	posix_spawn_file_actions_t actions;
	char **env = environment();
	int ret = env ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (ret) {
		free(env);
		return -ret;
	}
	posix_spawn_file_actions_adddup2(&actions, command->in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, command->out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, command->out, STDERR_FILENO);
	ret = posix_spawnp(&command->pid, "sh", &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	free(env);
	return -ret;
}

void switch_command_start(struct switch_command *command, char *line, const char *text)
{
	*command = (struct switch_command) {
		.line = line, .in = file_of(text), .out = file_of(""),
	};
	if (!line)
		command->ret = -ENOMEM;
	else if (command->in < 0 || command->out < 0)
		command->ret = command->in < 0 ? command->in : command->out;
	else
		command->ret = spawn(command);
}

/* Return: as waitpid() says, or a negative errno. */
static int wait_end(pid_t pid, __u64 until)
{
	struct pollfd end = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	__u64 now = clock_ns();
	bool late = false;
	int status;

	if (end.fd >= 0) {
		late = !poll(&end, 1, until > now ? (until - now) / MSEC : 0);
		close(end.fd);
	}
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return late ? -ETIMEDOUT : status;
}

/* The last line of a file. */
static void last_line(int fd, char *line, size_t size)
{
	char text[1024] = "", *end = text;
	off_t length = lseek(fd, 0, SEEK_END);
	off_t from = length < (off_t)sizeof(text) ? 0 : length - sizeof(text) + 1;

	if (pread(fd, text, sizeof(text) - 1, from) > 0)
		end = text + strlen(text);
	while (end > text && end[-1] == '\n')
		*--end = '\0';
	end = strrchr(text, '\n');
	snprintf(line, size, "%s", end ? end + 1 : text);
}

/* A text of the error in a line of JSON; NULL: there is none. */
static const char *error_text(struct json_object *root, const char *key)
{
	struct json_object *error, *value;

	if (json_object_get_type(root) != json_type_object ||
	    !json_object_object_get_ex(root, "error", &error) ||
	    json_object_get_type(error) != json_type_object ||
	    !json_object_object_get_ex(error, key, &value))
		return NULL;
	return json_object_get_string(value);
}

static int errno_of(const char *code)
{
	if (!strcmp(code, "not-found"))
		return -ENOENT;
	if (!strcmp(code, "psn"))
		return -EADDRINUSE;
	return strcmp(code, "exists") ? -EINVAL : -EEXIST;
}

static int fail(const char *line, int status, int out, struct err *err)
{
	char raw[1024], said[200];
	const char *code, *message;
	struct json_object *root;
	int ret;

	if (status < 0)
		return err_errno(err, -status, "switch", "--switch: %.200s", line);
	last_line(out, raw, sizeof(raw));
	root = json_tokener_parse(raw);
	code = error_text(root, "code");
	message = error_text(root, "message");
	reader_quote(message ?: raw, said, sizeof(said));
	ret = errno_of(code ?: "");
	json_object_put(root);
	if (!said[0])
		snprintf(said, sizeof(said), WIFEXITED(status) ? "exit status %d" : "signal %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	err_set(err, EXIT_FAILED, "switch", "--switch: %.200s: %s", line, said);
	return ret;
}

int switch_command_finish(struct switch_command *command, __u64 until, struct err *err)
{
	int ret = command->ret ?: wait_end(command->pid, until);

	if (ret)
		ret = fail(command->line ?: "", ret, command->out, err);
	free(command->line);
	if (command->in >= 0)
		close(command->in);
	if (command->out >= 0)
		close(command->out);
	return ret;
}
