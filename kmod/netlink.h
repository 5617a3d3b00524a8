/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_NETLINK_H
#define ROCESTEER_NETLINK_H

int rocesteer_nl_register(void);
void rocesteer_nl_unregister(void);

#endif /* ROCESTEER_NETLINK_H */
