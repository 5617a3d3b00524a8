/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a host keeps the ports that the daemon has found: a port map for each device, written by
 * the daemon alone. What is lost is found again.
 */
#ifndef ROCESTEER_LIB_PATH_STORE_H
#define ROCESTEER_LIB_PATH_STORE_H

#include "base/base.h"

#define PATH_STORE_DIR	"/var/lib/rocesteer/paths"
#define PATH_STORE_NAME	128	/* of a file, with its NUL */

/**
 * path_store_name() - the file of a device of this network namespace
 * @device: its name
 * @file: filled
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int path_store_name(const char *device, char file[PATH_STORE_NAME], struct err *err);

/* Make the directory, root's alone. Return: 0 or a negative errno. */
int path_store_make(void);

#endif /* ROCESTEER_LIB_PATH_STORE_H */
