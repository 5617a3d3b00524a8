// SPDX-License-Identifier: GPL-2.0
/* The flow of a packet, looked up without a lock. */
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "flow_priv.h"
#include "net.h"

/*
 * rxe has a socket for each queue pair. The socket points to rxe's queue pair, of
 * which struct ib_qp is the first member.
 */
static const void *flow_sender(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!sk || !sk_fullsock(sk) || !sk->sk_kern_sock)
		return NULL;
	return READ_ONCE(sk->sk_user_data);
}

/* The flow of a packet, NULL, or -EEXIST where it is another sender's. */
static struct rocesteer_flow *flow_of(struct rocesteer_net *rn,
				      const struct rocesteer_flow_key *key,
				      const struct sk_buff *skb)
{
	const void *sender = flow_sender(skb), *known;
	struct rocesteer_flow *flow, *any = NULL;
	struct rhlist_head *list, *pos;

	list = rocesteer_flow_list_rcu(rn, key);
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		known = READ_ONCE(flow->sender);
		if (!known)
			any = flow;
		else if (known == sender)
			return flow;
	}
	/* A packet that is received has no sender: the only flow has it. */
	if (list && !any && skb_at_tc_ingress(skb) &&
	    !rcu_access_pointer(list->next))
		return container_of(list, struct rocesteer_flow, node);
	return list && !any ? ERR_PTR(-EEXIST) : any;
}

/**
 * rocesteer_flow_job() - the job of a packet's flow
 * @rn: namespace
 * @key: flow
 * @skb: packet, with the socket that sends it; or received, on behalf of the queue pair
 *
 * Context: Any, takes no lock.
 * Return: job number, with ROCESTEER_FLOW_JOB_ORDERS; 0 when the flow belongs
 * to no job; -ENOENT when it is not known; -EEXIST when the key is known, but not the
 * packet's sender by it.
 */
s64 rocesteer_flow_job(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key,
		       const struct sk_buff *skb)
{
	struct rocesteer_flow *flow;
	s64 job;

	rcu_read_lock();
	flow = flow_of(rn, key, skb);
	if (IS_ERR_OR_NULL(flow)) {
		job = flow ? PTR_ERR(flow) : -ENOENT;
	} else {
		if (!READ_ONCE(flow->seen))
			WRITE_ONCE(flow->seen, true);
		job = READ_ONCE(flow->job);
		if (job && rcu_access_pointer(flow->reseq))
			job |= ROCESTEER_FLOW_JOB_ORDERS;
	}
	rcu_read_unlock();
	return job;
}

/**
 * rocesteer_flow_reseq() - the resequencer of what comes back to a flow
 * @rn: namespace
 * @key: flow
 * @skb: packet of the flow, with the socket that sends it
 *
 * Context: RCU read-side critical section, in which the result stays.
 * Return: resequencer, or NULL.
 */
struct rocesteer_reseq *
rocesteer_flow_reseq(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key,
		     const struct sk_buff *skb)
{
	struct rocesteer_flow *flow = flow_of(rn, key, skb);

	return IS_ERR_OR_NULL(flow) ? NULL : rcu_dereference(flow->reseq);
}
