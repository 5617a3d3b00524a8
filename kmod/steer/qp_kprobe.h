/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_QP_KPROBE_H
#define ROCESTEER_QP_KPROBE_H

#include <linux/types.h>

struct net_device;
struct rocesteer_net;

int rocesteer_qp_adopt(struct rocesteer_net *rn, struct net_device *dev, u32 sqpn);
bool rocesteer_qp_kprobe_test(void);
int rocesteer_qp_kprobe_register(void);
void rocesteer_qp_kprobe_unregister(void);

#endif /* ROCESTEER_QP_KPROBE_H */
