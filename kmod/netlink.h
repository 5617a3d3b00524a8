/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_NETLINK_H
#define ROCESTEER_NETLINK_H

#include <linux/types.h>

struct rocesteer_flow;
struct rocesteer_job_rule;
struct rocesteer_net;

int rocesteer_nl_register(void);
void rocesteer_nl_unregister(void);
void rocesteer_nl_job_notify(struct rocesteer_net *rn,
			     const struct rocesteer_job_rule *job, u8 cmd);
void rocesteer_nl_flow_notify(const struct rocesteer_flow *flow, u8 cmd);

#endif /* ROCESTEER_NETLINK_H */
