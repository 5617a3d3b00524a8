/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_CONF_H
#define REDUCE_CONF_H

#include "group.h"
#include "net.h"

/**
 * reduce_conf_load() - load a group
 * @rn: namespace
 * @config: checked here, but for what the netlink policy has checked
 * @extack: filled on failure
 *
 * Context: Process context, may sleep; takes @rn->conf. Return: 0, -EEXIST, -EINVAL,
 * -ENOMEM.
 */
int reduce_conf_load(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/**
 * reduce_conf_join() - give a group the queue pairs of its ranks
 * @rn: namespace
 * @config: checked as for reduce_conf_load(); as the group was loaded, but for type,
 *	operation, and queue pairs
 * @extack: filled on failure
 *
 * What the group had before is forgotten, also that it was poisoned. Context: Process
 * context, may sleep; takes @rn->conf. Return: 0, -EINVAL, -ENOENT.
 */
int reduce_conf_join(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack);

/**
 * reduce_conf_unload() - unload a group
 * @rn: namespace
 * @id: of the group
 *
 * Packets that wait are dropped. Context: Process context, may sleep; takes @rn->conf.
 * Return: 0 or -ENOENT.
 */
int reduce_conf_unload(struct reduce_net *rn, u32 id);

/* Unload all groups of a namespace that goes, or whose module goes. */
void reduce_conf_end(struct reduce_net *rn);

#endif /* REDUCE_CONF_H */
