/* SPDX-License-Identifier: GPL-2.0 */
/* Which network devices there are, and which of them have a carrier. */
#ifndef ROCESTEER_LINK_H
#define ROCESTEER_LINK_H

#include <stdbool.h>
#include <linux/types.h>

#include "err.h"

struct link_monitor;

/**
 * link_open() - be told of devices
 * @err: filled on failure
 *
 * The first link_read() tells of those there are.
 *
 * Return: to be given back by link_close(), or NULL.
 */
struct link_monitor *link_open(struct err *err);

void link_close(struct link_monitor *link);

/* File descriptor to wait for. */
int link_fd(const struct link_monitor *link);

/**
 * link_read() - take what has changed
 * @link: monitor
 * @fn: called for each device that changed, maybe not in what is told here; @name is
 *	NULL where it is gone
 * @arg: passed to @fn
 *
 * Return: 0 or a negative errno.
 */
int link_read(struct link_monitor *link,
	      void (*fn)(__u32 ifindex, const char *name, bool carrier,
			 void *arg), void *arg);

#endif /* ROCESTEER_LINK_H */
