// SPDX-License-Identifier: GPL-2.0
/* rocesteer prog load: the installed module in the place of the one that is loaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prog.h"

/* Until packets that peers have sent over several paths have arrived, ms. */
#define DRAIN	1000
/* Until programs that are not attached any more let go of the module, ms. */
#define RELEASE	20000

/* Run a command, with its output in @text. Return: the exit status, or -1. */
static int command(char *const argv[], char *text, size_t size)
{
	int pipes[2], status = -1;
	ssize_t n, len = 0;
	pid_t pid;

	text[0] = '\0';
	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(pipes[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static bool differs(char *field)
{
	char *const modinfo[] = { "modinfo", "-F", field, "rocesteer", NULL };
	char installed[128], loaded[128];

	genl_module_says(field, loaded, sizeof(loaded));
	return command(modinfo, installed, sizeof(installed)) ||
	       strcmp(installed, loaded);
}

bool prog_module_is_other(void)
{
	return differs("srcversion") || differs("version");
}

static int modprobe(struct prog *p, char *option)
{
	char *const argv[] = { "modprobe", option, "rocesteer", NULL };
	char *const plain[] = { "modprobe", "rocesteer", NULL };
	char said[256];

	if (!command(option ? argv : plain, said, sizeof(said)))
		return 0;
	return err_set(p->err, EXIT_FAILED, "modprobe", "modprobe %s%srocesteer: %s",
		       option ?: "", option ? " " : "", said);
}

static int count_resequenced(const struct genl_flow *flow, void *arg)
{
	struct prog *p = arg;
	struct genl_flow *bigger;

	p->resequenced += flow->resequenced;
	if (flow->origin != ROCESTEER_ORIGIN_NETLINK)
		return 0;
	bigger = reallocarray(p->listed, p->nr_listed + 1, sizeof(*flow));
	if (!bigger)
		return -ENOMEM;
	p->listed = bigger;
	p->listed[p->nr_listed++] = *flow;
	return 0;
}

static int forget_order(const struct rocesteer_flow_key *key,
			const struct rocesteer_flow_path *path, void *arg)
{
	struct rocesteer_set_order set = { .key = *key };
	struct prog *p = arg;

	if (path->flags & (ROCESTEER_FLOW_LOCAL_RESEQ | ROCESTEER_FLOW_PEER_RESEQ))
		steer_set_order(p->steer, &set);
	return 0;
}

int prog_module_leave(struct prog *p)
{
	int ret = steer_open(&p->steer, STEER_RENEW | STEER_NO_MODULE, p->err);

	if (ret)
		return ret;
	steer_flow_each(p->steer, forget_order, p);
	steer_close(p->steer);
	p->steer = NULL;
	return 0;
}

/* Other network namespaces may have programs that call the module. */
static int remove_module(struct prog *p)
{
	int tries, ret = 0;

	for (tries = 0; tries < RELEASE / 100; tries++) {
		p->err->code = NULL;
		ret = modprobe(p, "-r");
		if (!ret)
			return 0;
		usleep(100000);
	}
	err_hint(p->err, "Are jobs loaded in other network namespaces? ls /sys/fs/bpf/rocesteer");
	return ret;
}

int prog_module_replace(struct prog *p)
{
	int ret;

	ret = genl_open(&p->genl, p->err);
	if (!ret) {
		ret = genl_flow_each(p->genl, count_resequenced, p, p->err);
		genl_close(p->genl);
	}
	p->err->code = NULL;	/* one that cannot be talked to is replaced as well */
	ret = prog_module_leave(p);
	if (ret)
		return ret;
	if (p->resequenced)
		usleep(DRAIN * 1000);
	ret = remove_module(p);
	if (ret)
		return ret;
	p->replaced = true;
	return modprobe(p, NULL);
}
