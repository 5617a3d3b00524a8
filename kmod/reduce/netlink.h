/* SPDX-License-Identifier: GPL-2.0 */
/* The netlink family: groups are loaded, read and removed, and counters are read. */
#ifndef REDUCE_NETLINK_H
#define REDUCE_NETLINK_H

/**
 * reduce_nl_register() - requests may come
 *
 * Context: Process context, may sleep. Return: 0 or a negative errno.
 */
int reduce_nl_register(void);

/**
 * reduce_nl_unregister() - no request comes any more
 *
 * Waits for requests under way. From here on nobody is told of a poisoned group.
 * Context: Process context, may sleep.
 */
void reduce_nl_unregister(void);

#endif /* REDUCE_NETLINK_H */
