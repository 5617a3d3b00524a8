/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_MODULE_H
#define ROCESTEER_MODULE_H

#include "steer/steer.h"

enum module_use {
	MODULE_AUTO,	/* if it is loaded, or installed */
	MODULE_YES,
	MODULE_NO,
};

/**
 * module_open() - connect to the module, if wanted and there
 * @genl: set; NULL where the module is not used
 * @use: is it wanted?
 * @err: filled on failure
 *
 * Return: 0 or a negative errno. With MODULE_AUTO it is no failure that the
 * module is not loaded, but it is one that it is unusable.
 */
int module_open(struct genl **genl, enum module_use use, struct err *err);

#endif /* ROCESTEER_MODULE_H */
