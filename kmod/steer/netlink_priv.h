/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by netlink*.c. */
#ifndef ROCESTEER_NETLINK_PRIV_H
#define ROCESTEER_NETLINK_PRIV_H

#include <net/genetlink.h>

#include "net.h"

struct pid;
struct pid_namespace;

static inline struct rocesteer_net *rocesteer_nl_net(const struct genl_info *info)
{
	return rocesteer_net(genl_info_net(info));
}

int rocesteer_nl_put_pid(struct sk_buff *skb, int attr, struct pid *pid,
			 struct pid_namespace *ns);
struct sk_buff *rocesteer_nl_reply_new(struct genl_info *info, void **hdr);
int rocesteer_nl_reply_end(struct genl_info *info, struct sk_buff *msg,
			   void *hdr, int err);
struct sk_buff *rocesteer_nl_event_new(struct rocesteer_net *rn, u8 cmd,
				       void **hdr);
void rocesteer_nl_event_end(struct rocesteer_net *rn, struct sk_buff *msg,
			    void *hdr, int err);

#endif /* ROCESTEER_NETLINK_PRIV_H */
