// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family: replies, events and registration. The requests are in netlink_*.c,
 * the tables in netlink-gen.c, generated from Documentation/netlink/specs/rocesteer.yaml.
 */
#include <linux/pid.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "net.h"
#include "netlink-gen.h"
#include "netlink.h"
#include "netlink_priv.h"

/* Large enough for a job or a flow: all attributes are short. */
#define NL_EVENT_SIZE	(GENL_HDRLEN + 256)

/* Most queued events of a namespace, about 4 MiB */
#define NL_MOST_EVENTS	4096

/* NULL while no events are sent, under rocesteer_lock */
static struct workqueue_struct *nl_event_queue;

/* Put the number of a process in the reader's pid namespace. Events have NULL for @ns. */
int rocesteer_nl_put_pid(struct sk_buff *skb, int attr, struct pid *pid,
			 struct pid_namespace *ns)
{
	pid_t nr = ns ? pid_nr_ns(pid, ns) : 0;

	return nr ? nla_put_u32(skb, attr, nr) : 0;
}

/* Begin the reply to a request. */
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

/* Listeners have missed an event and must dump again. */
static void nl_event_lost(struct rocesteer_net *rn, struct sk_buff *msg)
{
	nlmsg_free(msg);
	rn->events_lost = true;
	queue_work(nl_event_queue, &rn->send_events);
}

/* Begin an event. Return: NULL if nobody listens, or without memory. */
struct sk_buff *rocesteer_nl_event_new(struct rocesteer_net *rn, u8 cmd,
				       void **hdr)
{
	struct sk_buff *msg;

	lockdep_assert_held(&rocesteer_lock);
	if (!nl_event_queue ||
	    !genl_has_listeners(&rocesteer_nl_family, rn->net,
				ROCESTEER_NLGRP_EVENTS))
		return NULL;
	msg = genlmsg_new(NL_EVENT_SIZE, GFP_ATOMIC);
	*hdr = msg ? genlmsg_put(msg, 0, 0, &rocesteer_nl_family, 0, cmd) : NULL;
	if (*hdr)
		return msg;
	nl_event_lost(rn, msg);
	return NULL;
}

/*
 * Queue an event, unless @err. Multicast walks all generic netlink sockets of the host,
 * too long a time to hold rocesteer_lock with preemption off: a work item sends it.
 */
void rocesteer_nl_event_end(struct rocesteer_net *rn, struct sk_buff *msg,
			    void *hdr, int err)
{
	lockdep_assert_held(&rocesteer_lock);
	if (err || skb_queue_len(&rn->events) >= NL_MOST_EVENTS) {
		nl_event_lost(rn, msg);
		return;
	}
	genlmsg_end(msg, hdr);
	__skb_queue_tail(&rn->events, msg);
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

/* No more events are queued, and nobody in @rn listens. Its netlink socket still exists. */
void rocesteer_nl_net_exit(struct rocesteer_net *rn)
{
	cancel_work_sync(&rn->send_events);
	__skb_queue_purge(&rn->events);
}

static void nl_set_event_queue(struct workqueue_struct *queue)
{
	spin_lock(&rocesteer_lock);
	swap(nl_event_queue, queue);
	spin_unlock(&rocesteer_lock);
	/* Sends what is queued. No event can find the old queue any more. */
	if (queue)
		destroy_workqueue(queue);
}

int __init rocesteer_nl_register(void)
{
	struct workqueue_struct *queue;
	int err;

	queue = alloc_workqueue("rocesteer", WQ_UNBOUND, 0);
	if (!queue)
		return -ENOMEM;
	nl_set_event_queue(queue);
	err = genl_register_family(&rocesteer_nl_family);
	if (err)
		nl_set_event_queue(NULL);
	return err;
}

/*
 * Events are sent before the family goes, as its multicast group may get another owner.
 * Changes by requests that are still under way are not announced.
 */
void rocesteer_nl_unregister(void)
{
	nl_set_event_queue(NULL);
	genl_unregister_family(&rocesteer_nl_family);
}
