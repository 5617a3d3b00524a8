/* SPDX-License-Identifier: GPL-2.0 */
/* What netlink*.c share. */
#ifndef ROCESTEER_NETLINK_PRIV_H
#define ROCESTEER_NETLINK_PRIV_H

#include <net/genetlink.h>

#include "net.h"

struct pid;
struct pid_namespace;
struct rocesteer_flow;
struct rocesteer_job_rule;

static inline struct rocesteer_net *rocesteer_nl_net(const struct genl_info *info)
{
	return rocesteer_net(genl_info_net(info));
}

int rocesteer_nl_put_pid(struct sk_buff *skb, int attr, struct pid *pid,
			 struct pid_namespace *ns);
struct sk_buff *rocesteer_nl_reply_new(struct genl_info *info, void **hdr);
int rocesteer_nl_reply_end(struct genl_info *info, struct sk_buff *msg,
			   void *hdr, int err);
bool rocesteer_nl_event_wanted(const struct rocesteer_net *rn);
struct sk_buff *rocesteer_nl_event_new(u8 cmd, void **hdr);
void rocesteer_nl_event_send(struct rocesteer_net *rn, struct sk_buff *msg,
			     void *hdr);
void rocesteer_nl_event_lost(struct rocesteer_net *rn, struct sk_buff *msg);
void rocesteer_nl_job_event(struct rocesteer_net *rn,
			    const struct rocesteer_job_rule *job, u8 cmd);
void rocesteer_nl_flow_event(const struct rocesteer_flow *flow, u8 cmd);

#endif /* ROCESTEER_NETLINK_PRIV_H */
