/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rocesteer_reduce.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_ROCE_REDUCE_GEN_H
#define _LINUX_ROCE_REDUCE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rocesteer_reduce.h>

/* Common nested types */
extern const struct nla_policy roce_reduce_rank_nl_policy[ROCESTEER_REDUCE_A_RANK_SENDER_QPN + 1];

int roce_reduce_nl_group_get_start(struct netlink_callback *cb);

int roce_reduce_nl_group_add_doit(struct sk_buff *skb, struct genl_info *info);
int roce_reduce_nl_group_del_doit(struct sk_buff *skb, struct genl_info *info);
int roce_reduce_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info);
int roce_reduce_nl_group_get_dumpit(struct sk_buff *skb,
				    struct netlink_callback *cb);
int roce_reduce_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int roce_reduce_nl_group_join_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	ROCE_REDUCE_NLGRP_EVENTS,
};

extern struct genl_family roce_reduce_nl_family;

#endif /* _LINUX_ROCE_REDUCE_GEN_H */
