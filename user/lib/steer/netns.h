/* SPDX-License-Identifier: GPL-2.0 */
/* Which network namespace this is. */
#ifndef ROCESTEER_LIB_NETNS_H
#define ROCESTEER_LIB_NETNS_H

#include <linux/types.h>

#include "base/base.h"

/**
 * netns_cookie() - the number of this network namespace
 * @cookie: set to its SO_NETNS_COOKIE, which is never used again
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int netns_cookie(__u64 *cookie, struct err *err);

#endif /* ROCESTEER_LIB_NETNS_H */
