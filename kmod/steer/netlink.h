/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_NETLINK_H
#define ROCESTEER_NETLINK_H

struct rocesteer_net;

int rocesteer_nl_register(void);
void rocesteer_nl_unregister(void);
void rocesteer_nl_net_init(struct rocesteer_net *rn);
void rocesteer_nl_net_exit(struct rocesteer_net *rn);

#endif /* ROCESTEER_NETLINK_H */
