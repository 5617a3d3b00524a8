/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_HOP_H
#define ROCESTEER_HOP_H

#include <linux/types.h>

struct net;
struct netlink_ext_ack;

int rocesteer_hop_set(struct net *net, u32 portid, u8 limit, struct netlink_ext_ack *extack);
int rocesteer_hop_limit(void);
int rocesteer_hop_register(void);
void rocesteer_hop_unregister(void);

#endif /* ROCESTEER_HOP_H */
