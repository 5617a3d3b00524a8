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
 * ocs_driver_run() - move circuits
 * @command: command, found as by execvp(3), without arguments; gets the request as standard
 *	input, and our standard error as its output
 * @request: the request
 * @lock: descriptor of the cluster file's lock, which the command inherits: if the caller is
 *	killed, no other caller moves circuits while the command runs
 * @err: names the command, and how it ended
 *
 * The command has 300 seconds, or as many as ROCESTEER_DRIVER_WAIT says. SIGINT, SIGTERM and
 * SIGHUP are blocked from here to ocs_driver_done().
 *
 * Return: 0 if all circuits were moved; -EIO if the command failed; -ETIMEDOUT if it took too
 * long; another negative errno if it did not run.
 */
int ocs_driver_run(const char *command, struct json_object *request, int lock, struct err *err);

/* Unblock the signals, once the file has the circuits or they are moved back. */
void ocs_driver_done(void);

#endif /* ROCESTEER_LIB_OCS_DRIVER_H */
