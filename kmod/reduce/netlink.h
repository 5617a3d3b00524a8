/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_NETLINK_H
#define REDUCE_NETLINK_H

int reduce_nl_register(void);

/* Waits for requests under way, and announces no poisoned group any more. */
void reduce_nl_unregister(void);

#endif /* REDUCE_NETLINK_H */
