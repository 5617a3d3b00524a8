/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_CONF_H
#define REDUCE_CONF_H

#include "group.h"
#include "net.h"

/*
 * Changes by user space. Process context, may sleep; takes @rn->conf. Errors have a text in
 * @extack.
 */

/* Return: 0, -EADDRINUSE for a PSN, -EADDRNOTAVAIL, -EEXIST, -EINVAL, -ENOMEM, -EOPNOTSUPP. */
int reduce_conf_load(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/* Begin a run, also if the group was poisoned. Return: as before, or -ENOENT. */
int reduce_conf_join(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/* Drops waiting packets. Return: 0 or -ENOENT. */
int reduce_conf_unload(struct reduce_net *rn, u32 id);

/* Unload all groups of a namespace. */
void reduce_conf_end(struct reduce_net *rn);

#endif /* REDUCE_CONF_H */
