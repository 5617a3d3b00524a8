/* SPDX-License-Identifier: GPL-2.0 */
/* A command that runs rocesteer on a switch, beside this process, and its output. */
#ifndef ROCESTEER_LIB_RING_SWITCH_COMMAND_H
#define ROCESTEER_LIB_RING_SWITCH_COMMAND_H

#include <sys/types.h>

#include "base/base.h"

/**
 * struct switch_command - a command that runs
 * @line: command line of the shell
 * @in: file that the command reads
 * @out: file that the command writes
 * @pid: process of the shell
 * @ret: 0, or why the command has not started
 */
struct switch_command {
	char *line;
	int in;
	int out;
	pid_t pid;
	int ret;
};

/**
 * switch_command_start() - start a command, without what is preloaded into this process
 * @command: filled; to be finished in any case
 * @line: command line; freed by switch_command_finish(), may be NULL without memory
 * @text: standard input
 */
void switch_command_start(struct switch_command *command, char *line, const char *text);

/**
 * switch_command_finish() - wait for the end
 * @command: command
 * @until: time when the command is killed, as of clock_ns()
 * @err: its last output, or the error of a "rocesteer .. --json"
 *
 * Return: 0; -ENOENT and -EEXIST for such an error with code "not-found" and "exists"; another
 * negative errno.
 */
int switch_command_finish(struct switch_command *command, __u64 until, struct err *err);

#endif /* ROCESTEER_LIB_RING_SWITCH_COMMAND_H */
