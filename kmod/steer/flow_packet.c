// SPDX-License-Identifier: GPL-2.0
/* Look up the flow of a packet, without a lock. */
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include <rocesteer/roce.h>

#include "flow_priv.h"
#include "net.h"

/* Return: the socket of a packet if it is a kernel socket, as those of rxe, or NULL. */
static const struct sock *flow_socket(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	return sk && sk_fullsock(sk) && sk->sk_kern_sock ? sk : NULL;
}

/*
 * rxe has a socket for each queue pair, with sk_user_data pointing to struct rxe_qp, whose
 * first member is struct ib_qp. From 6.10 until 6.12.44, 6.16.4 and 6.17 sk_user_data is
 * the queue pair number, which cannot equal a pointer. Two queue pairs with one number and
 * one key would be on two RDMA devices of one network device, connected to the same queue
 * pair, which answers only one of them.
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
 * The queue pair was connected before the module was loaded, or did not fit in the table.
 * Or rxe of this kernel uses sk_user_data otherwise: then no packet is steered.
 */
static void flow_note_unknown(struct rocesteer_net *rn)
{
	rocesteer_stats_inc(rn, ROCESTEER_A_STATS_UNKNOWN_SENDER);
	pr_warn_once("a queue pair that is not known sends to one that another is connected to, and is not steered. If rocesteer stat counts all packets as unknown_sender, this kernel's rxe is not supported\n");
}

/*
 * A packet that was received has no socket, but a rival number in @key.
 *
 * Return: the flow of a packet, NULL, or -EEXIST if all flows with @key are other senders'.
 */
static struct rocesteer_flow *flow_of(struct rocesteer_net *rn,
				      const struct rocesteer_flow_key *key,
				      const struct sk_buff *skb)
{
	const u8 rival = key->dqpn >> ROCESTEER_RIVAL_SHIFT;
	const bool received = skb_at_tc_ingress(skb);
	const struct sock *sk = flow_socket(skb);
	struct rocesteer_flow *flow, *any = NULL;
	struct rocesteer_flow_key plain = *key;
	struct rhlist_head *list, *pos;

	plain.dqpn &= ROCESTEER_QPN_MASK;
	list = rocesteer_flow_list_rcu(rn, &plain);
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		if (received ? flow->rival == rival : flow_has_sender(flow, sk))
			return flow;
		if (!received && !READ_ONCE(flow->sender))
			any = flow;
	}
	return list && !any ? ERR_PTR(-EEXIST) : any;
}

/* See bpf_rocesteer_flow_job(). Context: any, takes no lock. */
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
		job = READ_ONCE(flow->job);
		if (job && rcu_access_pointer(flow->reseq))
			job |= ROCESTEER_FLOW_JOB_RESEQ;
		job |= (s64)flow->rival << ROCESTEER_FLOW_JOB_RIVAL_SHIFT;
	}
	rcu_read_unlock();
	return job;
}

/*
 * Context: RCU read-side critical section. Return: the resequencer of the queue pair that
 * sends @skb, or NULL.
 */
struct rocesteer_reseq *
rocesteer_flow_reseq(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key,
		     const struct sk_buff *skb)
{
	struct rocesteer_flow *flow = flow_of(rn, key, skb);

	return IS_ERR_OR_NULL(flow) ? NULL : rcu_dereference(flow->reseq);
}
