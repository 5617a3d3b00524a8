/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_CONF_H
#define REDUCE_CONF_H

#include "group.h"
#include "net.h"

/**
 * reduce_conf_load() - load a group
 * @rn: namespace
 * @config: validated here, beyond the netlink policy
 * @extack: filled in on failure
 *
 * Context: Process context, may sleep; takes @rn->conf. Return: 0, -EADDRNOTAVAIL, -EEXIST,
 * -EINVAL, -ENOMEM.
 */
int reduce_conf_load(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/**
 * reduce_conf_join() - set the queue pairs of a group's ranks
 * @rn: namespace
 * @config: as the group was loaded, except type, operation and queue pairs
 * @extack: filled in on failure
 *
 * Resets the group, also if it was poisoned. Context: Process context, may sleep; takes
 * @rn->conf. Return: 0, -EADDRNOTAVAIL, -EINVAL, -ENOENT.
 */
int reduce_conf_join(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/* Drops waiting packets. Context: as reduce_conf_load(). Return: 0 or -ENOENT. */
int reduce_conf_unload(struct reduce_net *rn, u32 id);

/* Unload all groups of a namespace. */
void reduce_conf_end(struct reduce_net *rn);

#endif /* REDUCE_CONF_H */
