/* SPDX-License-Identifier: GPL-2.0 */
/* A command line that runs beside this process, and its output. */
#ifndef ROCESTEER_PERF_COMMAND_H
#define ROCESTEER_PERF_COMMAND_H

#include <sys/types.h>

#include "base/base.h"

/**
 * struct command - a command that runs
 * @line: command line of the shell
 * @in: file that the command reads
 * @out: file that the command writes
 * @pid: process of the shell
 * @ret: 0, or why the command has not started
 */
struct command {
	char *line;
	int in;
	int out;
	pid_t pid;
	int ret;
};

/**
 * command_start() - start a command, without what is preloaded into this process
 * @command: filled; to be finished in any case
 * @line: command line; freed by command_finish(), may be NULL without memory
 * @text: standard input
 */
void command_start(struct command *command, char *line, const char *text);

/**
 * command_finish() - wait for the end
 * @command: command
 * @until: time when the command is killed, as of clock_ns()
 * @err: its last output, or the error of a "rocesteer .. --json"
 *
 * Return: 0; -ENOENT and -EEXIST for such an error with code "not-found" and "exists"; another
 * negative errno.
 */
int command_finish(struct command *command, __u64 until, struct err *err);

#endif /* ROCESTEER_PERF_COMMAND_H */
