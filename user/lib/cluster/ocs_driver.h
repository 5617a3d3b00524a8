/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that moves circuits (Documentation/formats.rst, Driver of circuit
 * switches).
 */
#ifndef ROCESTEER_LIB_OCS_DRIVER_H
#define ROCESTEER_LIB_OCS_DRIVER_H

#include "base/base.h"

struct json_object;

/**
 * ocs_driver_run() - have circuits moved
 * @command: looked for as execvp(3) does; it has no arguments, the request as
 *	standard input, and our standard error as its output
 * @request: what it is to do
 * @lock: descriptor of the cluster file's lock: the command has it as well, so that
 *	nobody else moves circuits while it runs on behind a caller that was killed
 * @err: names the command, and how it ended
 *
 * The command has 300 seconds, or as many as ROCESTEER_DRIVER_WAIT says. From here to
 * ocs_driver_done() no SIGINT, SIGTERM or SIGHUP ends the caller.
 *
 * Return: 0 when it says that all was done, or a negative errno.
 */
int ocs_driver_run(const char *command, struct json_object *request, int lock,
		   struct err *err);

/* It is written down where circuits are, or they are back: signals end us again. */
void ocs_driver_done(void);

#endif /* ROCESTEER_LIB_OCS_DRIVER_H */
