/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_NETLINK_H
#define REDUCE_NETLINK_H

struct reduce_net;

int reduce_nl_register(void);

/* All groups that are poisoned have been announced; no group may be poisoned any more. */
void reduce_nl_unregister(void);

void reduce_nl_net_init(struct reduce_net *rn);

#endif /* REDUCE_NETLINK_H */
