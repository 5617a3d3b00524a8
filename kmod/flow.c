// SPDX-License-Identifier: GPL-2.0
/*
 * Flow registry: which flows exist in a namespace, to which job they belong
 * and which queue pair they are.
 *
 * Three ways lead to a flow: its key (packets, under RCU), its queue pair (one
 * index for all namespaces, since a queue pair knows none) and its id (dumps
 * and walks). All change under rocesteer_lock, which also orders the events:
 * tracepoints and notifications come in the order of the changes.
 *
 * A key names a queue pair of the peer, and that has one partner. But nobody here
 * can ask the peer which it is, and any process may connect a queue pair of its own to
 * it. So each gets a flow, with the job of its own process, and a packet belongs to
 * the one whose queue pair sends it.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include <rocesteer/policy.h>

#include "compat.h"
#include "event.h"
#include "flow.h"
#include "job.h"
#include "net.h"
#include "resequence.h"
#include "trace.h"

static unsigned int max_flows __ro_after_init = ROCESTEER_MAX_FLOWS;
module_param(max_flows, uint, 0444);
MODULE_PARM_DESC(max_flows, "Most flows in a network namespace");

static const struct rhashtable_params key_params = {
	.head_offset = offsetof(struct rocesteer_flow, node),
	.key_offset = offsetof(struct rocesteer_flow, key),
	.key_len = sizeof(struct rocesteer_flow_key),
	.automatic_shrinking = true,
};

static const struct rhashtable_params qp_params = {
	.head_offset = offsetof(struct rocesteer_flow, qp_node),
	.key_offset = offsetof(struct rocesteer_flow, qp.qp),
	.key_len = sizeof(const struct ib_qp *),
	.automatic_shrinking = true,
};

/* Flows of one user that have one key: packets look through them. */
#define FLOW_RIVALS	8

/* Flows that have a queue pair, by its address. Under rocesteer_lock. */
static struct rhashtable by_qp;

/**
 * rocesteer_flow_init() - set up the index by queue pair
 *
 * Return: 0 or -ENOMEM.
 */
int __init rocesteer_flow_init(void)
{
	return rhashtable_init(&by_qp, &qp_params);
}

/**
 * rocesteer_flow_exit() - free the index by queue pair, which is empty
 */
void rocesteer_flow_exit(void)
{
	rhashtable_destroy(&by_qp);
}

/**
 * rocesteer_flow_table_init() - set up a namespace's tables
 * @rn: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int rocesteer_flow_table_init(struct rocesteer_net *rn)
{
	xa_init_flags(&rn->flow_ids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&rn->users, XA_FLAGS_ACCOUNT);
	return rhltable_init(&rn->flows, &key_params);
}

/* Not before a grace period: walks and lookups may still look at it. */
static void flow_free_rcu(struct rcu_head *rcu)
{
	struct rocesteer_flow *flow;

	flow = container_of(rcu, struct rocesteer_flow, rcu);
	put_pid(flow->qp.owner);
	kfree(flow);
}

/**
 * rocesteer_flow_table_free() - free a namespace's tables
 * @rn: namespace
 *
 * Flows with a queue pair are gone by now, they went with their device. Those
 * given by flow-add may be left over where the module goes, and nobody can
 * listen to events any more.
 *
 * Context: Nobody else uses @rn. Flows are freed by RCU.
 */
void rocesteer_flow_table_free(struct rocesteer_net *rn)
{
	struct rocesteer_flow *flow;
	unsigned long id;

	xa_for_each(&rn->flow_ids, id, flow) {
		WARN_ON_ONCE(flow->qp.qp);
		call_rcu(&flow->rcu, flow_free_rcu);
	}
	xa_destroy(&rn->flow_ids);
	xa_destroy(&rn->users);
	rhltable_destroy(&rn->flows);
}

static struct rocesteer_flow *flow_alloc(struct rocesteer_net *rn,
					 const struct rocesteer_flow_key *key,
					 gfp_t gfp)
{
	struct rocesteer_flow *flow;

	flow = kzalloc_obj(*flow, gfp | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!flow)
		return NULL;
	flow->rn = rn;
	flow->key = *key;
	return flow;
}

/*
 * Count a user's flows. Root's, the kernel's and those given by flow-add have the whole
 * table, another user half of it, lest one keeps all others out.
 */
static int flow_charge(struct rocesteer_net *rn, u32 uid, int change)
{
	unsigned long n = xa_to_value(xa_load(&rn->users, uid)) + change;

	lockdep_assert_held(&rocesteer_lock);
	if (!uid)
		return 0;
	if (change > 0 && n > max_flows / 2)
		return -ENOSPC;
	return xa_err(xa_store(&rn->users, uid, n ? xa_mk_value(n) : NULL,
			       GFP_ATOMIC));
}

/* The flows that have a key, as long as rocesteer_lock is held. */
static struct rhlist_head *flow_list(struct rocesteer_net *rn,
				     const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list;

	lockdep_assert_held(&rocesteer_lock);
	rcu_read_lock();
	list = rhltable_lookup(&rn->flows, key, key_params);
	rcu_read_unlock();
	return list;
}

/* Is there another flow with the key of this one, which is linked? */
static bool flow_has_rival(const struct rocesteer_flow *flow)
{
	struct rhlist_head *list = flow_list(flow->rn, &flow->key);

	return list != &flow->node || rcu_access_pointer(list->next);
}

/*
 * BPF programs know one flow of each key. That another one is gone, which they have
 * not asked about, must not make them forget it.
 */
static void flow_trace_del(const struct rocesteer_flow *flow, u32 job,
			   bool rival)
{
	lockdep_assert_held(&rocesteer_lock);
	if (rival && !READ_ONCE(flow->seen) &&
	    flow->qp.label != ROCESTEER_LABEL_POLICY)
		return;
	trace_rocesteer_flow_del(flow->rn->net->net_cookie, &flow->key, job);
}

/* Say that a flow is new or has changed. */
static void flow_announce(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	trace_rocesteer_flow_add(flow->rn->net->net_cookie, &flow->key,
				 flow->job);
	rocesteer_event_flow(flow, ROCESTEER_CMD_FLOW_ADD_NTF);
}

static void flow_end_reseq(struct rocesteer_flow *flow)
{
	struct rocesteer_reseq *reseq;

	reseq = rcu_dereference_protected(flow->reseq,
					  lockdep_is_held(&rocesteer_lock));
	if (!reseq)
		return;
	RCU_INIT_POINTER(flow->reseq, NULL);
	rocesteer_reseq_del(reseq);
}

/*
 * Follow the flow's job: are its packets resequenced? @fresh: none was received
 * yet.
 */
static void flow_resequence(struct rocesteer_flow *flow, bool fresh)
{
	struct rocesteer_reseq *reseq;
	bool wanted;

	/* What a NIC delivers itself does not come by. */
	wanted = flow->linked && flow->qp.qp && flow->qp.software &&
		 rocesteer_job_resequences(flow->rn, flow->job);
	if (!wanted)
		flow_end_reseq(flow);
	if (!wanted || rcu_access_pointer(flow->reseq))
		return;
	reseq = rocesteer_reseq_new(flow->rn, &flow->key, &flow->qp, fresh);
	if (!IS_ERR(reseq))
		rcu_assign_pointer(flow->reseq, reseq);
	else if (PTR_ERR(reseq) == -EEXIST)
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_DUPLICATE);
	else if (PTR_ERR(reseq) != -EINVAL)
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
}

/*
 * Put a flow into the tables. The device is looked up here, in the read-side
 * section in which the flow appears: a device that leaves the namespace is
 * unlisted first, then a grace period passes, then the notifier flushes. So
 * either the device is not found here or the notifier finds the flow.
 */
static int flow_link(struct rocesteer_flow *flow)
{
	struct rocesteer_net *rn = flow->rn;
	int err;

	lockdep_assert_held(&rocesteer_lock);
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "device may leave meanwhile");

	if (!dev_get_by_index_rcu(rn->net, flow->key.ifindex))
		return -ENODEV;
	if (rn->nr_flows >= max_flows)
		return -ENOSPC;
	err = flow_charge(rn, flow->qp.uid, 1);
	if (err)
		return err;

	err = xa_alloc_cyclic(&rn->flow_ids, &flow->id, flow,
			      XA_LIMIT(1, U32_MAX), &rn->next_flow_id,
			      GFP_ATOMIC);
	if (err < 0)
		goto uncharge;
	err = rhltable_insert(&rn->flows, &flow->node, key_params);
	if (err)
		goto erase_id;
	rn->nr_flows++;
	flow->linked = true;
	rocesteer_job_count(rn, flow->job, 1);
	flow_resequence(flow, true);
	return 0;

erase_id:
	xa_erase(&rn->flow_ids, flow->id);
uncharge:
	flow_charge(rn, flow->qp.uid, -1);
	return err;
}

static void flow_unlink(struct rocesteer_flow *flow)
{
	struct rocesteer_net *rn = flow->rn;
	bool rival = flow_has_rival(flow);

	lockdep_assert_held(&rocesteer_lock);
	rhltable_remove(&rn->flows, &flow->node, key_params);
	if (flow->qp.qp)
		rhashtable_remove_fast(&by_qp, &flow->qp_node, qp_params);
	xa_erase(&rn->flow_ids, flow->id);
	flow_charge(rn, flow->qp.uid, -1);
	rn->nr_flows--;
	flow->linked = false;
	rocesteer_job_count(rn, flow->job, -1);

	flow_trace_del(flow, flow->job, rival);
	rocesteer_event_flow(flow, ROCESTEER_CMD_FLOW_DEL_NTF);
	flow_resequence(flow, false);
	call_rcu(&flow->rcu, flow_free_rcu);
}

static void flow_set_job(struct rocesteer_flow *flow, u32 job)
{
	struct rocesteer_net *rn = flow->rn;
	u32 old = flow->job;

	lockdep_assert_held(&rocesteer_lock);
	if (job == old)
		return;
	WRITE_ONCE(flow->job, job);
	rocesteer_job_count(rn, old, -1);
	rocesteer_job_count(rn, job, 1);
	flow_resequence(flow, false);
	flow_trace_del(flow, old, flow_has_rival(flow));
	flow_announce(flow);
}

/*
 * The queue pair that sends a packet, or NULL. rxe has a socket for each, which
 * points to it: struct ib_qp is the first member of what it points to.
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

	list = rhltable_lookup(&rn->flows, key, key_params);
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		known = READ_ONCE(flow->sender);
		if (!known)
			any = flow;
		else if (known == sender)
			return flow;
	}
	/* What is received has no sender: it is on behalf of the only one. */
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

/**
 * rocesteer_flow_find() - find a flow by its key
 * @rn: namespace
 * @key: flow
 *
 * Context: Holds rocesteer_lock, under which the flow stays.
 * Return: the flow, of several the one that was learnt last; or NULL.
 */
struct rocesteer_flow *
rocesteer_flow_find(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list = flow_list(rn, key);

	return list ? container_of(list, struct rocesteer_flow, node) : NULL;
}

/* A flow-add for flows that are known already. */
static int flow_adopt(struct rhlist_head *list, u32 job)
{
	struct rocesteer_flow *flow;
	struct rhlist_head *pos;

	lockdep_assert_held(&rocesteer_lock);
	rhl_for_each_entry_rcu(flow, pos, list, node)
		if (flow->job)
			return -EEXIST;
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		flow->by_hand = true;
		flow_set_job(flow, job);
	}
	return 0;
}

/**
 * rocesteer_flow_add() - give a flow to a job
 * @rn: namespace
 * @key: flow
 * @job: number of a job that exists, not 0
 *
 * A learnt flow that belongs to no job is given to @job and still goes with
 * its queue pair.
 *
 * Context: Process context, may sleep, holds @rn->conf, so that the job stays.
 * Return: 0; -ENODEV when the namespace has no such device; -EEXIST when the
 * flow belongs to a job already; -ENOSPC when there are max_flows; -ENOMEM.
 */
int rocesteer_flow_add(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key, u32 job)
{
	struct rocesteer_flow *flow;
	struct rhlist_head *known;
	int err;

	lockdep_assert_held(&rn->conf);
	flow = flow_alloc(rn, key, GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	flow->job = job;
	flow->by_hand = true;

	rcu_read_lock();
	spin_lock(&rocesteer_lock);
	known = flow_list(rn, key);
	if (known) {
		err = flow_adopt(known, job);
	} else {
		err = flow_link(flow);
		if (!err) {
			flow_announce(flow);
			flow = NULL;	/* is the table's now */
		}
	}
	spin_unlock(&rocesteer_lock);
	rcu_read_unlock();

	/* Not kfree(): a walk may have met it before flow_link() failed. */
	if (flow)
		call_rcu(&flow->rcu, flow_free_rcu);
	return err;
}

/* Take a flow from its job: it is of the job that owns its queue pair, if any. */
static void flow_end_job(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	flow->by_hand = false;
	if (flow->qp.qp)
		flow_set_job(flow,
			     rocesteer_job_match(flow->rn, flow->qp.owner));
	else
		flow_unlink(flow);
}

/**
 * rocesteer_flow_del() - undo flow-add
 * @rn: namespace
 * @key: flow
 *
 * A flow that has a queue pair stays, and belongs again to the job that owns
 * the queue pair, if any.
 *
 * Context: Process context, holds @rn->conf.
 * Return: 0; -ENOENT when the flow is not known; -EBUSY when no flow-add gave
 * it its job.
 */
int rocesteer_flow_del(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list, *pos;
	struct rocesteer_flow *flow;
	int err;

	lockdep_assert_held(&rn->conf);
	spin_lock(&rocesteer_lock);
	list = flow_list(rn, key);
	err = list ? -EBUSY : -ENOENT;
	rhl_for_each_entry_rcu(flow, pos, list, node) {
		if (!flow->by_hand)
			continue;
		flow_end_job(flow);
		err = 0;
	}
	spin_unlock(&rocesteer_lock);
	return err;
}

/* Make a flow the one of a queue pair. It need not be linked. */
static int flow_bind(struct rocesteer_flow *flow,
		     const struct rocesteer_qp *qp)
{
	int err;

	lockdep_assert_held(&rocesteer_lock);
	WARN_ON_ONCE(flow->qp.qp);
	flow->qp = *qp;
	err = rhashtable_insert_fast(&by_qp, &flow->qp_node, qp_params);
	if (err) {
		memset(&flow->qp, 0, sizeof(flow->qp));
		return err;
	}
	get_pid(qp->owner);
	if (qp->software)
		WRITE_ONCE(flow->sender, qp->qp);
	return 0;
}

static struct rocesteer_flow *
flow_learn_new(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	       const struct rocesteer_qp *qp,
	       const struct rocesteer_flow *rival)
{
	struct rocesteer_flow *flow;
	int err;

	flow = flow_alloc(rn, key, GFP_ATOMIC);
	if (!flow)
		return ERR_PTR(-ENOMEM);
	/* What flow-add says of a key it says of all. */
	flow->by_hand = rival && rival->by_hand;
	flow->job = flow->by_hand ? rival->job :
				    rocesteer_job_match(rn, qp->owner);
	err = flow_bind(flow, qp);
	if (err)
		goto free_flow;
	err = flow_link(flow);
	if (err)
		goto unbind;
	if (!flow->job)
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_UNTAGGED);
	return flow;

unbind:
	rhashtable_remove_fast(&by_qp, &flow->qp_node, qp_params);
free_flow:
	call_rcu(&flow->rcu, flow_free_rcu);
	return ERR_PTR(err);
}

static void flow_forget(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_REMOVED);
	flow_unlink(flow);
}

static struct rocesteer_flow *flow_find_qp(const struct ib_qp *qp)
{
	lockdep_assert_held(&rocesteer_lock);
	return rhashtable_lookup_fast(&by_qp, &qp, qp_params);
}

static struct rocesteer_flow *
flow_learn(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	   const struct rocesteer_qp *qp)
{
	struct rocesteer_flow *flow, *rival = NULL;
	struct rhlist_head *pos;
	int err, same = 0;

	rhl_for_each_entry_rcu(flow, pos, flow_list(rn, key), node) {
		if (!flow->qp.qp) {	/* flow-add came first: keep its job */
			err = flow_bind(flow, qp);
			if (err)
				return ERR_PTR(err);
			flow->qp.uid = 0;	/* as it was counted */
			flow_resequence(flow, true);
			return flow;
		}
		/*
		 * Where a process connects a second queue pair to the same one,
		 * the first is dead and not yet destroyed.
		 */
		if (flow->qp.owner == qp->owner) {
			flow_forget(flow);
			continue;
		}
		rival = flow;
		same += flow->qp.uid == qp->uid;
	}
	if (same >= FLOW_RIVALS)
		return ERR_PTR(-ENOSPC);
	if (rival)
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_DUPLICATE);
	return flow_learn_new(rn, key, qp, rival);
}

/* It is connected as it was before. What flow-add has said of the flow stays. */
static struct rocesteer_flow *
flow_learn_again(struct rocesteer_flow *flow,
		 const struct rocesteer_qp *qp)
{
	struct pid *owner = flow->qp.owner;
	u32 uid = flow->qp.uid;

	rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_REMOVED);
	flow_trace_del(flow, flow->job, flow_has_rival(flow));
	get_pid(qp->owner);
	flow->qp = *qp;
	flow->qp.uid = uid;	/* it was charged to that one */
	put_pid(owner);
	if (!flow->by_hand)
		flow_set_job(flow, rocesteer_job_match(flow->rn, qp->owner));
	flow_end_reseq(flow);
	flow_resequence(flow, true);
	return flow;
}

/*
 * Ask the policy for the source port of a flow's queue pair, which may have one of
 * its own. What the policy notes of a flow it notes under rocesteer_lock, before
 * anybody is told that the flow is gone.
 */
static u16 flow_steer(struct rocesteer_flow *flow)
{
	const struct rocesteer_policy *policy = flow->rn->policy;
	u32 flags = flow->qp.software ? ROCESTEER_QP_SOFTWARE : 0;
	u16 sport;

	lockdep_assert_held(&rocesteer_lock);
	if (flow->qp.label == ROCESTEER_LABEL_OWN) {
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_QP_OWN_LABEL);
		return 0;
	}
	if (!policy)
		return 0;
	sport = ntohs(policy->source_port(&flow->key, flow->job, flags));
	if (sport < ROCESTEER_SPORT_MIN)
		return 0;
	flow->qp.label = ROCESTEER_LABEL_POLICY;
	rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_QP_STEERED);
	return sport;
}

/**
 * rocesteer_flow_learn() - register the flow of a queue pair
 * @rn: namespace of the device that its packets leave by
 * @key: flow
 * @qp: queue pair; its owner is borrowed
 *
 * Success and failure are counted: the caller, in the midst of somebody else's
 * system call, can do nothing about a failure. The policy is asked about flows
 * that are registered, since it is told when those go.
 *
 * Context: Process context, also with interrupts off. Inside the RCU read-side
 * critical section in which @rn was got from a listed device.
 * Return: the source port that the queue pair is to have, host order, or 0.
 */
u16 rocesteer_flow_learn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key,
			 const struct rocesteer_qp *qp)
{
	struct rocesteer_flow *flow;
	u16 sport = 0;

	spin_lock(&rocesteer_lock);
	/*
	 * Known already, and no RESET was seen in between: the modify failed
	 * and is tried again, or a kprobe was missed.
	 */
	flow = flow_find_qp(qp->qp);
	if (flow && (flow->rn != rn || memcmp(&flow->key, key, sizeof(*key)))) {
		flow_forget(flow);
		flow = NULL;
	}
	flow = flow ? flow_learn_again(flow, qp) : flow_learn(rn, key, qp);
	switch (PTR_ERR_OR_ZERO(flow)) {
	case 0:
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_LEARNT);
		sport = flow_steer(flow);
		flow_announce(flow);
		break;
	case -ENODEV:	/* just leaving, and the queue pair with it */
		break;
	case -ENOSPC:
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_FULL);
		break;
	default:
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_NO_MEMORY);
		break;
	}
	spin_unlock(&rocesteer_lock);
	return sport;
}

/**
 * rocesteer_flow_forget() - remove the flow of a queue pair, if it has one
 * @qp: queue pair, not dereferenced
 *
 * Context: Process context, also with interrupts off.
 */
void rocesteer_flow_forget(const struct ib_qp *qp)
{
	struct rocesteer_flow *flow;

	spin_lock(&rocesteer_lock);
	flow = flow_find_qp(qp);
	if (flow)
		flow_forget(flow);
	spin_unlock(&rocesteer_lock);
}

/*
 * Call @fn under rocesteer_lock for every flow of a namespace. The lock is
 * released in between, since learning waits for it with preemption off. A flow
 * that comes during the walk may be missed.
 */
static void flow_walk(struct rocesteer_net *rn,
		      void (*fn)(struct rocesteer_flow *flow, u32 arg), u32 arg)
{
	struct rocesteer_flow *flow;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&rn->flow_ids, id, flow) {
		spin_lock(&rocesteer_lock);
		if (flow->linked)
			fn(flow, arg);
		spin_unlock(&rocesteer_lock);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

static void flow_claim(struct rocesteer_flow *flow, u32 job)
{
	if (!flow->job && rocesteer_job_owns(flow->rn, job, flow->qp.owner))
		flow_set_job(flow, job);
}

/**
 * rocesteer_flow_claim() - give a new job the flows that it owns and no other has
 * @rn: namespace
 * @job: its number
 *
 * Flows learnt during the walk have seen the new job already.
 *
 * Context: Process context, may sleep, holds @rn->conf.
 */
void rocesteer_flow_claim(struct rocesteer_net *rn, u32 job)
{
	lockdep_assert_held(&rn->conf);
	flow_walk(rn, flow_claim, job);
}

static void flow_disown(struct rocesteer_flow *flow, u32 job)
{
	if (flow->job == job)
		flow_end_job(flow);
}

/**
 * rocesteer_flow_disown() - take all flows from a job
 * @rn: namespace, from which the job was just deleted: it gets no new flows
 * @job: its number
 *
 * Context: Process context, may sleep, holds @rn->conf.
 */
void rocesteer_flow_disown(struct rocesteer_net *rn, u32 job)
{
	lockdep_assert_held(&rn->conf);
	flow_walk(rn, flow_disown, job);
}

static void flow_flush(struct rocesteer_flow *flow, u32 ifindex)
{
	if (flow->key.ifindex != ifindex)
		return;
	rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_REMOVED);
	flow_unlink(flow);
}

/**
 * rocesteer_flow_flush() - remove all flows of a device
 * @rn: namespace that the device leaves; see flow_link() why no flow can
 *	appear any more
 * @ifindex: device
 *
 * Context: Process context, may sleep, holds RTNL.
 */
void rocesteer_flow_flush(struct rocesteer_net *rn, u32 ifindex)
{
	flow_walk(rn, flow_flush, ifindex);
}
