/* SPDX-License-Identifier: GPL-2.0 */
/* Time limits of waits for others. */
#ifndef ROCESTEER_LIB_WAIT_LIMIT_H
#define ROCESTEER_LIB_WAIT_LIMIT_H

#include "err.h"

/*
 * Read a number of seconds from an environment variable; @seconds if it is unset or empty.
 * Return: the number, or -EINVAL.
 */
int wait_limit(const char *variable, int seconds, struct err *err);

#endif /* ROCESTEER_LIB_WAIT_LIMIT_H */
