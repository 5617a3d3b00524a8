// SPDX-License-Identifier: GPL-2.0
/* The flow of a packet, looked up without a lock. */
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "flow_priv.h"
#include "net.h"

/* The socket of a packet that the kernel itself sends, as rxe does, or NULL. */
static const struct sock *flow_socket(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	return sk && sk_fullsock(sk) && sk->sk_kern_sock ? sk : NULL;
}

/*
 * rxe has a socket for each queue pair. Its user data points to rxe's queue pair, of
 * which struct ib_qp is the first member. From 6.10 until 6.12.44, 6.16.4 and 6.17 the
 * user data is the index of the queue pair, which is its number, of 24 bits: no
 * pointer of the kernel is so small. Two queue pairs with one number and one key would
 * be on two RDMA devices of one network device, connected to one queue pair, which
 * answers one of them only.
 */
static bool flow_has_sender(const struct rocesteer_flow *flow,
			    const struct sock *sk)
{
	const void *sender;

	if (!sk)
		return false;
	sender = READ_ONCE(sk->sk_user_data);
	return sender && (sender == READ_ONCE(flow->sender) ||
			  (uintptr_t)sender == READ_ONCE(flow->sqpn));
}

/*
 * Such a queue pair was connected before the module was loaded or did not fit in the
 * table. Or this kernel's rxe says otherwise which queue pair a socket is of: then no
 * packet is steered.
 */
static void flow_note_unknown(struct rocesteer_net *rn)
{
	rocesteer_stats_inc(rn, ROCESTEER_A_STATS_UNKNOWN_SENDER);
	pr_warn_once("a queue pair that is not known sends to one that another is connected to, and is not steered. If rocesteer stat counts all packets as unknown_sender, this kernel's rxe is not supported\n");
}

/* The flow of a packet, NULL, or -EEXIST where it is another sender's. */
static struct rocesteer_flow *flow_of(struct rocesteer_net *rn,
				      const struct rocesteer_flow_key *key,
				      const struct sk_buff *skb)
{
	const struct sock *sk = flow_socket(skb);
	struct rocesteer_flow *flow, *any = NULL;
	struct rhlist_head *list, *pos;

	list = rocesteer_flow_list_rcu(rn, key);
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		if (!READ_ONCE(flow->sender))
			any = flow;
		else if (flow_has_sender(flow, sk))
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
 * Return: job number, with ROCESTEER_FLOW_JOB_RESEQ; 0 when the flow belongs
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
		if (flow && flow_socket(skb))
			flow_note_unknown(rn);
	} else {
		if (!READ_ONCE(flow->seen))
			WRITE_ONCE(flow->seen, true);
		job = READ_ONCE(flow->job);
		if (job && rcu_access_pointer(flow->reseq))
			job |= ROCESTEER_FLOW_JOB_RESEQ;
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
