// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family; its shape is in Documentation/netlink/specs/rocesteer.yaml, from
 * which netlink-gen.c is made. Here is what netlink_*.c share.
 */
#include <linux/pid.h>
#include <net/genetlink.h>

#include "event.h"
#include "net.h"
#include "netlink.h"
#include "netlink-gen.h"
#include "netlink_priv.h"

/* Room for a job or a flow with its header: all attributes are short. */
#define NL_EVENT_SIZE	(GENL_HDRLEN + 256)

/*
 * A process's number as the reader sees it. There is no such reader for an
 * event, which goes to all: @ns is NULL then.
 */
int rocesteer_nl_put_pid(struct sk_buff *skb, int attr, struct pid *pid,
			 struct pid_namespace *ns)
{
	pid_t nr = ns ? pid_nr_ns(pid, ns) : 0;

	return nr ? nla_put_u32(skb, attr, nr) : 0;
}

/* Begin the answer to a request; genlmsg_end() and genlmsg_reply() follow. */
struct sk_buff *rocesteer_nl_reply_new(struct genl_info *info, void **hdr)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	*hdr = msg ? genlmsg_iput(msg, info) : NULL;
	if (*hdr)
		return msg;
	nlmsg_free(msg);
	NL_SET_ERR_MSG(info->extack, "No memory for the answer");
	return NULL;
}

int rocesteer_nl_reply_end(struct genl_info *info, struct sk_buff *msg,
			   void *hdr, int err)
{
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

bool rocesteer_nl_event_wanted(const struct rocesteer_net *rn)
{
	return genl_has_listeners(&rocesteer_nl_family, rn->net,
				  ROCESTEER_NLGRP_EVENTS);
}

struct sk_buff *rocesteer_nl_event_new(u8 cmd, void **hdr)
{
	struct sk_buff *msg = genlmsg_new(NL_EVENT_SIZE, GFP_ATOMIC);

	*hdr = msg ? genlmsg_put(msg, 0, 0, &rocesteer_nl_family, 0, cmd) :
		     NULL;
	if (*hdr)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

void rocesteer_nl_event_send(const struct rocesteer_net *rn,
			     struct sk_buff *msg, void *hdr)
{
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&rocesteer_nl_family, rn->net, msg, 0,
				ROCESTEER_NLGRP_EVENTS, GFP_ATOMIC);
}

/* Let listeners know that they have missed something and must dump again. */
void rocesteer_nl_event_lost(const struct rocesteer_net *rn,
			     struct sk_buff *msg)
{
	nlmsg_free(msg);
	genl_set_err(&rocesteer_nl_family, rn->net, 0, ROCESTEER_NLGRP_EVENTS,
		     -ENOBUFS);
}

static const struct rocesteer_event_ops nl_event_ops = {
	.job = rocesteer_nl_job_event,
	.flow = rocesteer_nl_flow_event,
};

int __init rocesteer_nl_register(void)
{
	int err;

	rocesteer_event_subscribe(&nl_event_ops);
	err = genl_register_family(&rocesteer_nl_family);
	if (err)
		rocesteer_event_subscribe(NULL);
	return err;
}

/* Waits for requests under way. There must be no more events from elsewhere. */
void rocesteer_nl_unregister(void)
{
	genl_unregister_family(&rocesteer_nl_family);
	rocesteer_event_subscribe(NULL);
}
