/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rocesteer.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_ROCESTEER_GEN_H
#define _LINUX_ROCESTEER_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rocesteer.h>

int rocesteer_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_job_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int rocesteer_nl_flow_add_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_flow_del_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_flow_get_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_flow_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int rocesteer_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_flow_adopt_doit(struct sk_buff *skb, struct genl_info *info);
int rocesteer_nl_hop_limit_set_doit(struct sk_buff *skb,
				    struct genl_info *info);

enum {
	ROCESTEER_NLGRP_EVENTS,
};

extern struct genl_family rocesteer_nl_family;

#endif /* _LINUX_ROCESTEER_GEN_H */
