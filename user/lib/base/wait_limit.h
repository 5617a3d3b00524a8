/* SPDX-License-Identifier: GPL-2.0 */
/* How long others are waited for. */
#ifndef ROCESTEER_LIB_WAIT_LIMIT_H
#define ROCESTEER_LIB_WAIT_LIMIT_H

#include "err.h"

/*
 * The seconds that an environment variable says, or @seconds where it is unset or empty.
 * Return: they, or -EINVAL.
 */
int wait_limit(const char *variable, int seconds, struct err *err);

#endif /* ROCESTEER_LIB_WAIT_LIMIT_H */
