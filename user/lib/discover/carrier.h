/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices, and their carriers. */
#ifndef ROCESTEER_LIB_CARRIER_H
#define ROCESTEER_LIB_CARRIER_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"

struct carrier_monitor;

/**
 * carrier_open() - listen to changes of devices
 * @err: filled on failure
 *
 * The first carrier_read() reports all devices.
 *
 * Return: to be given back by carrier_close(), or NULL.
 */
struct carrier_monitor *carrier_open(struct err *err);

void carrier_close(struct carrier_monitor *monitor);

/* File descriptor to wait for. */
int carrier_fd(const struct carrier_monitor *monitor);

/**
 * carrier_read() - read changes
 * @monitor: monitor
 * @fn: called for each device that changed in any way; @name is NULL if the device is gone
 * @arg: passed to @fn
 *
 * Return: 0 or a negative errno.
 */
int carrier_read(struct carrier_monitor *monitor,
		 void (*fn)(__u32 ifindex, const char *name, bool carrier, void *arg), void *arg);

/* Is a device without a carrier, or down? One that is not there is not. */
bool carrier_is_missing(const char *device);

#endif /* ROCESTEER_LIB_CARRIER_H */
