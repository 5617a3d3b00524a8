// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family; its shape is in Documentation/netlink/specs/rocesteer.yaml, from
 * which netlink-gen.c is made. Here is what netlink_*.c share.
 */
#include <linux/pid.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "event.h"
#include "net.h"
#include "netlink-gen.h"
#include "netlink.h"
#include "netlink_priv.h"

/* Room for a job or a flow with its header: all attributes are short. */
#define NL_EVENT_SIZE	(GENL_HDRLEN + 256)

/* Most events of a namespace that are to be sent: about 4 MiB. */
#define NL_MOST_EVENTS	4096

static struct workqueue_struct *nl_event_queue;

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

/*
 * To send an event is to look at all sockets of the host that listen to any generic
 * netlink family. Queue pairs of all namespaces wait for rocesteer_lock meanwhile, with
 * preemption off: so a work item sends what is queued under the lock.
 */
void rocesteer_nl_event_send(struct rocesteer_net *rn, struct sk_buff *msg,
			     void *hdr)
{
	lockdep_assert_held(&rocesteer_lock);
	if (skb_queue_len(&rn->events) >= NL_MOST_EVENTS) {
		rocesteer_nl_event_lost(rn, msg);
		return;
	}
	genlmsg_end(msg, hdr);
	__skb_queue_tail(&rn->events, msg);
	queue_work(nl_event_queue, &rn->send_events);
}

/* Let listeners know that they have missed something and must dump again. */
void rocesteer_nl_event_lost(struct rocesteer_net *rn, struct sk_buff *msg)
{
	lockdep_assert_held(&rocesteer_lock);
	nlmsg_free(msg);
	rn->events_lost = true;
	queue_work(nl_event_queue, &rn->send_events);
}

static void nl_send_events(struct work_struct *work)
{
	struct rocesteer_net *rn;
	struct sk_buff_head events;
	struct sk_buff *msg;
	bool lost;

	rn = container_of(work, struct rocesteer_net, send_events);
	__skb_queue_head_init(&events);
	spin_lock(&rocesteer_lock);
	skb_queue_splice_init(&rn->events, &events);
	lost = rn->events_lost;
	rn->events_lost = false;
	spin_unlock(&rocesteer_lock);

	while ((msg = __skb_dequeue(&events)))
		genlmsg_multicast_netns(&rocesteer_nl_family, rn->net, msg, 0,
					ROCESTEER_NLGRP_EVENTS, GFP_KERNEL);
	if (lost)
		genl_set_err(&rocesteer_nl_family, rn->net, 0,
			     ROCESTEER_NLGRP_EVENTS, -ENOBUFS);
}

void rocesteer_nl_net_init(struct rocesteer_net *rn)
{
	__skb_queue_head_init(&rn->events);
	INIT_WORK(&rn->send_events, nl_send_events);
}

/* No event comes any more, and nobody in @rn listens. Its netlink socket is still there. */
void rocesteer_nl_net_exit(struct rocesteer_net *rn)
{
	cancel_work_sync(&rn->send_events);
	__skb_queue_purge(&rn->events);
}

static const struct rocesteer_event_ops nl_event_ops = {
	.job = rocesteer_nl_job_event,
	.flow = rocesteer_nl_flow_event,
};

/* What is queued is sent, as long as the family is there. */
static void nl_end_events(void)
{
	rocesteer_event_subscribe(NULL);
	destroy_workqueue(nl_event_queue);
}

int __init rocesteer_nl_register(void)
{
	int err;

	nl_event_queue = alloc_workqueue("rocesteer", WQ_UNBOUND, 0);
	if (!nl_event_queue)
		return -ENOMEM;
	rocesteer_event_subscribe(&nl_event_ops);
	err = genl_register_family(&rocesteer_nl_family);
	if (err)
		nl_end_events();
	return err;
}

/* Waits for requests under way, whose changes are not announced any more. */
void rocesteer_nl_unregister(void)
{
	nl_end_events();
	genl_unregister_family(&rocesteer_nl_family);
}
