/* SPDX-License-Identifier: GPL-2.0 */
/* Routes of the kernel to a peer. */
#ifndef ROCESTEER_LIB_ROUTE_H
#define ROCESTEER_LIB_ROUTE_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"

/**
 * struct route - how a peer is reached by a device
 * @source: address the packets leave with
 * @on_link: there is no router on the way
 */
struct route {
	__u8 source[16];
	bool on_link;
};

/**
 * route_lookup() - find out how a peer is reached by a device
 * @device: name of the device
 * @peer: destination
 * @source: address to send from; NULL: the one the kernel takes, or where it
 *	takes none by this device, the first address of the device with a route
 * @route: filled
 * @err: filled on failure: "no-device", "no-route"
 *
 * Return: 0 or a negative errno.
 */
int route_lookup(const char *device, const __u8 peer[16],
		 const __u8 *source, struct route *route, struct err *err);

#endif /* ROCESTEER_LIB_ROUTE_H */
