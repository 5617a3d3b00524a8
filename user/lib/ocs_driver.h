/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that moves circuits (Documentation/formats.rst, Driver of circuit
 * switches).
 */
#ifndef ROCESTEER_OCS_DRIVER_H
#define ROCESTEER_OCS_DRIVER_H

#include "err.h"

struct json_object;

/**
 * ocs_driver_run() - have circuits moved
 * @command: looked for as execvp(3) does; it has no arguments, the request as
 *	standard input, and our standard error as its output
 * @request: what it is to do
 * @err: names the command, and how it ended
 *
 * Return: 0 when it says that all was done, or a negative errno.
 */
int ocs_driver_run(const char *command, struct json_object *request,
		   struct err *err);

#endif /* ROCESTEER_OCS_DRIVER_H */
