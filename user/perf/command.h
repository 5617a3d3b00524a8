/* SPDX-License-Identifier: GPL-2.0 */
/* A command line that runs beside this process, and what it has said in the end. */
#ifndef ROCESTEER_PERF_COMMAND_H
#define ROCESTEER_PERF_COMMAND_H

#include <sys/types.h>

#include "base/base.h"

/**
 * struct command - a command that runs
 * @line: of the shell
 * @in: file that it reads
 * @out: file that it writes to
 * @pid: of the shell
 * @ret: 0, or why it has not begun
 */
struct command {
	char *line;
	int in;
	int out;
	pid_t pid;
	int ret;
};

/**
 * command_start() - begin
 * @command: filled; to be finished in any case
 * @line: of the shell; freed by command_finish(), may be NULL without memory
 * @text: for its standard input
 */
void command_start(struct command *command, char *line, const char *text);

/**
 * command_finish() - wait for the end
 * @command: command
 * @until: ns, by the clock of clock_ns(), when it is ended
 * @err: what it has said last, which may be the error of a "rocesteer .. --json"
 *
 * Return: 0; -ENOENT: such an error had the code "not-found"; another negative errno.
 */
int command_finish(struct command *command, __u64 until, struct err *err);

#endif /* ROCESTEER_PERF_COMMAND_H */
