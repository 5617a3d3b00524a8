/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_HOOK_H
#define REDUCE_HOOK_H

#include "net.h"

struct netlink_ext_ack;

/*
 * Register the hooks, unless they are. They stay until reduce_hook_end(), to drop packets to
 * groups that were unloaded. Holds @rn->conf, may sleep. Return: 0 or a negative errno.
 */
int reduce_hook_get(struct reduce_net *rn, struct netlink_ext_ack *extack);

/* No group is loaded any more. A grace period must pass before @rn is freed. */
void reduce_hook_end(struct reduce_net *rn);

#endif /* REDUCE_HOOK_H */
