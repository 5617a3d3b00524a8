/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_HOOK_H
#define REDUCE_HOOK_H

#include "net.h"

struct netlink_ext_ack;

/**
 * reduce_hook_get() - register the hooks, unless they are
 * @rn: namespace
 * @extack: filled in on failure
 *
 * The hooks stay until reduce_hook_end(), to drop packets to groups that were unloaded.
 * Context: Process context, may sleep, holds @rn->conf.
 * Return: 0 or a negative errno.
 */
int reduce_hook_get(struct reduce_net *rn, struct netlink_ext_ack *extack);

/* No group is loaded any more. A grace period must pass before @rn is freed. */
void reduce_hook_end(struct reduce_net *rn);

#endif /* REDUCE_HOOK_H */
