// SPDX-License-Identifier: GPL-2.0
#include "group.h"

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

static struct json_object *to_json(const struct group *group)
{
	struct json_object *root = out_root(), *ranks;
	__u32 i;

	out_uint(root, "group", group->number);
	out_string(root, "type", group->type);
	out_string(root, "op", "sum");
	out_uint(root, "mtu", group->mtu);
	out_uint(root, "packets", group->packets);
	out_uint(root, "window", group->window);
	ranks = out_array(root, "ranks");
	for (i = 0; i < group->ranks; i++) {
		const struct group_rank *rank = &group->rank[i];
		struct json_object *obj = out_append_object(ranks);

		out_addr(obj, "address", rank->address);
		out_uint(obj, "qpn", rank->qpn);
		out_uint(obj, "psn", rank->psn);
		out_uint(obj, "va", rank->va);
	}
	return root;
}

/* A file that holds a text. Return: its descriptor, or a negative errno. */
static int file_of(const char *text)
{
	size_t length = strlen(text);
	int fd = memfd_create("group", MFD_CLOEXEC), ret = EIO;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) == (ssize_t)length && !lseek(fd, 0, SEEK_SET))
		return fd;
	ret = errno ?: ret;
	close(fd);
	return -ret;
}

/* What it prints is no output of ours. Return: 0 or a negative errno. */
static int start(const char *line, int in, int out, pid_t *pid)
{
	char *const argv[] = { "sh", "-c", (char *)line, NULL };
	posix_spawn_file_actions_t actions;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return -ret;
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	ret = posix_spawnp(pid, "sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

/* Return: as waitpid() says, or a negative errno. */
static int finish(pid_t pid, __u64 timeout)
{
	struct pollfd end = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	bool late = false;
	int status;

	if (end.fd >= 0) {
		late = !poll(&end, 1, timeout / MSEC);
		close(end.fd);
	}
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return late ? -ETIMEDOUT : status;
}

/* The last line of a file, as a message may show it. */
static void last_line(int fd, char *line, size_t size)
{
	char text[256] = "", *end = text;
	off_t length = lseek(fd, 0, SEEK_END);
	off_t from = length < (off_t)sizeof(text) ? 0 : length - sizeof(text) + 1;

	if (pread(fd, text, sizeof(text) - 1, from) > 0)
		end = text + strlen(text);
	while (end > text && end[-1] == '\n')
		*--end = '\0';
	end = strrchr(text, '\n');
	reader_quote(end ? end + 1 : text, line, size);
}

static int fail(const char *line, int status, int out, struct err *err)
{
	char said[200];

	if (status < 0)
		return err_errno(err, -status, "switch", "--switch: %.200s", line);
	last_line(out, said, sizeof(said));
	if (!said[0])
		snprintf(said, sizeof(said), WIFEXITED(status) ? "exit status %d" : "signal %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return err_set(err, EXIT_FAILED, "switch", "--switch: %.200s: %s", line, said);
}

/* Run "COMMAND reduce @verb" with @text to read. */
static int run(const struct group *group, const char *verb, const char *text, __u64 timeout,
	       struct err *err)
{
	int in = file_of(text), out = file_of(""), ret = in < 0 ? in : out;
	char *line = NULL;
	pid_t pid;

	if (ret >= 0 && asprintf(&line, "%s reduce %s", group->command, verb) < 0)
		ret = -ENOMEM;
	if (ret >= 0)
		ret = start(line, in, out, &pid) ?: finish(pid, timeout);
	if (ret)
		ret = fail(line ?: group->command, ret, out, err);
	free(line);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ret;
}

int group_load(const struct group *group, __u64 timeout, struct err *err)
{
	struct json_object *root = to_json(group);
	int ret = run(group, "load -", json_object_to_json_string(root), timeout, err);

	json_object_put(root);
	return ret;
}

int group_unload(const struct group *group, __u64 timeout, struct err *err)
{
	char verb[32];

	snprintf(verb, sizeof(verb), "unload %u", group->number);
	return run(group, verb, "", timeout, err);
}
