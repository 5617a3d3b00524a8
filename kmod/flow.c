// SPDX-License-Identifier: GPL-2.0
/*
 * Flow registry: which flows exist in a namespace, to which job they belong
 * and which queue pair they are.
 *
 * Three ways lead to a flow: its key (packets, under RCU), its queue pair (one
 * index for all namespaces, since a queue pair knows none) and its id (dumps
 * and walks). All change under rocesteer_lock, which also orders the events:
 * tracepoints and notifications come in the order of the changes.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "compat.h"
#include "flow.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "policy.h"
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
	return rhashtable_init(&rn->flows, &key_params);
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
	rhashtable_destroy(&rn->flows);
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

/* Say that a flow is new or has changed. */
static void flow_announce(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	trace_rocesteer_flow_add(flow->rn->net->net_cookie, &flow->key,
				 flow->job);
	rocesteer_nl_flow_notify(flow, ROCESTEER_CMD_FLOW_ADD_NTF);
}

/*
 * Follow the flow's job: are its packets resequenced? @fresh: none was received
 * yet.
 */
static void flow_resequence(struct rocesteer_flow *flow, bool fresh)
{
	struct rocesteer_reseq *reseq;
	bool wanted;

	reseq = rcu_dereference_protected(flow->reseq,
					  lockdep_is_held(&rocesteer_lock));
	/* What a NIC delivers itself does not come by. */
	wanted = flow->linked && flow->qp.qp && flow->qp.software &&
		 rocesteer_job_resequences(flow->rn, flow->job);
	if (wanted == !!reseq)
		return;
	if (reseq) {
		RCU_INIT_POINTER(flow->reseq, NULL);
		rocesteer_reseq_del(reseq);
		return;
	}
	reseq = rocesteer_reseq_new(flow, fresh);
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

	err = xa_alloc_cyclic(&rn->flow_ids, &flow->id, flow,
			      XA_LIMIT(1, U32_MAX), &rn->next_flow_id,
			      GFP_ATOMIC);
	if (err < 0)
		return err;
	err = rhashtable_insert_fast(&rn->flows, &flow->node, key_params);
	if (err) {
		xa_erase(&rn->flow_ids, flow->id);
		return err;
	}
	rn->nr_flows++;
	flow->linked = true;
	rocesteer_job_count(rn, flow->job, 1);
	flow_resequence(flow, true);
	return 0;
}

static void flow_unlink(struct rocesteer_flow *flow)
{
	struct rocesteer_net *rn = flow->rn;

	lockdep_assert_held(&rocesteer_lock);
	rhashtable_remove_fast(&rn->flows, &flow->node, key_params);
	if (flow->qp.qp)
		rhashtable_remove_fast(&by_qp, &flow->qp_node, qp_params);
	xa_erase(&rn->flow_ids, flow->id);
	rn->nr_flows--;
	flow->linked = false;
	rocesteer_job_count(rn, flow->job, -1);

	trace_rocesteer_flow_del(rn->net->net_cookie, &flow->key, flow->job);
	rocesteer_nl_flow_notify(flow, ROCESTEER_CMD_FLOW_DEL_NTF);
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
	trace_rocesteer_flow_del(rn->net->net_cookie, &flow->key, old);
	flow_announce(flow);
}

/**
 * rocesteer_flow_job() - the job of a packet's flow
 * @rn: namespace
 * @key: flow
 *
 * Context: Any, takes no lock.
 * Return: job number, with ROCESTEER_FLOW_JOB_ORDERS; 0 when the flow belongs
 * to no job; -ENOENT when it is not known.
 */
s64 rocesteer_flow_job(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow *flow;
	s64 job = -ENOENT;

	rcu_read_lock();
	flow = rhashtable_lookup(&rn->flows, key, key_params);
	if (flow) {
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
 *
 * Context: RCU read-side critical section, in which the result stays.
 * Return: resequencer, or NULL.
 */
struct rocesteer_reseq *
rocesteer_flow_reseq(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow *flow;

	flow = rhashtable_lookup(&rn->flows, key, key_params);
	return flow ? rcu_dereference(flow->reseq) : NULL;
}

/**
 * rocesteer_flow_find() - find a flow by its key
 * @rn: namespace
 * @key: flow
 *
 * Context: Holds rocesteer_lock, under which the flow stays.
 * Return: the flow, or NULL.
 */
struct rocesteer_flow *
rocesteer_flow_find(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key)
{
	lockdep_assert_held(&rocesteer_lock);
	return rhashtable_lookup_fast(&rn->flows, key, key_params);
}

/* A flow-add for a flow that is known already. */
static int flow_adopt(struct rocesteer_flow *flow, u32 job)
{
	lockdep_assert_held(&rocesteer_lock);
	if (flow->job)
		return -EEXIST;
	flow->by_hand = true;
	flow_set_job(flow, job);
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
	struct rocesteer_flow *flow, *known;
	int err;

	lockdep_assert_held(&rn->conf);
	flow = flow_alloc(rn, key, GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	flow->job = job;
	flow->by_hand = true;

	rcu_read_lock();
	spin_lock(&rocesteer_lock);
	known = rocesteer_flow_find(rn, key);
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
	struct rocesteer_flow *flow;
	int err = 0;

	lockdep_assert_held(&rn->conf);
	spin_lock(&rocesteer_lock);
	flow = rocesteer_flow_find(rn, key);
	if (!flow) {
		err = -ENOENT;
	} else if (!flow->by_hand) {
		err = -EBUSY;
	} else if (flow->qp.qp) {
		flow->by_hand = false;
		flow_set_job(flow, rocesteer_job_match(rn, flow->qp.owner));
	} else {
		flow_unlink(flow);
	}
	spin_unlock(&rocesteer_lock);
	return err;
}

/* Make a flow the one of a queue pair. It need not be linked. */
static int flow_bind(struct rocesteer_flow *flow,
		     const struct rocesteer_flow_qp *qp)
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
	return 0;
}

static struct rocesteer_flow *
flow_learn_new(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	       const struct rocesteer_flow_qp *qp)
{
	struct rocesteer_flow *flow;
	int err;

	flow = flow_alloc(rn, key, GFP_ATOMIC);
	if (!flow)
		return ERR_PTR(-ENOMEM);
	flow->job = rocesteer_job_match(rn, qp->owner);
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

static void flow_forget(const struct ib_qp *qp)
{
	struct rocesteer_flow *flow;

	lockdep_assert_held(&rocesteer_lock);
	flow = rhashtable_lookup_fast(&by_qp, &qp, qp_params);
	if (flow) {
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_REMOVED);
		flow_unlink(flow);
	}
}

static struct rocesteer_flow *
flow_learn(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	   const struct rocesteer_flow_qp *qp)
{
	struct rocesteer_flow *flow;
	int err;

	flow = rocesteer_flow_find(rn, key);
	if (flow && !flow->qp.qp) {	/* flow-add came first: keep its job */
		err = flow_bind(flow, qp);
		if (err)
			return ERR_PTR(err);
		flow_resequence(flow, true);
		return flow;
	}
	if (flow) {
		/*
		 * A peer's queue pair has one partner. Where a process
		 * connects a second one to it, the first is dead and not yet
		 * destroyed. From another process it is a mistake, or an
		 * attempt to take the flow out of its job.
		 */
		if (flow->qp.owner != qp->owner)
			return ERR_PTR(-EEXIST);
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_REMOVED);
		flow_unlink(flow);
	}
	return flow_learn_new(rn, key, qp);
}

/* The source port for a flow's queue pair, unless that has one of its own. */
static u16 flow_steer(struct rocesteer_flow *flow)
{
	u16 sport;

	lockdep_assert_held(&rocesteer_lock);
	if (flow->qp.label == ROCESTEER_LABEL_OWN) {
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_QP_OWN_LABEL);
		return 0;
	}
	sport = rocesteer_policy_sport(flow);
	if (sport) {
		flow->qp.label = ROCESTEER_LABEL_POLICY;
		rocesteer_stats_inc(flow->rn, ROCESTEER_COUNT_QP_STEERED);
	}
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
			 const struct rocesteer_flow_qp *qp)
{
	struct rocesteer_flow *flow;
	u16 sport = 0;

	spin_lock(&rocesteer_lock);
	/*
	 * Known already, and no RESET was seen in between: the modify failed
	 * and is tried again, or a kprobe was missed.
	 */
	flow_forget(qp->qp);
	flow = flow_learn(rn, key, qp);
	switch (PTR_ERR_OR_ZERO(flow)) {
	case 0:
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_LEARNT);
		sport = flow_steer(flow);
		flow_announce(flow);
		break;
	case -ENODEV:	/* just leaving, and the queue pair with it */
		break;
	case -EEXIST:
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_DUPLICATE);
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
	spin_lock(&rocesteer_lock);
	flow_forget(qp);
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

static void flow_claim(struct rocesteer_flow *flow, u32 unused)
{
	if (!flow->job)
		flow_set_job(flow, rocesteer_job_match(flow->rn,
						       flow->qp.owner));
}

/**
 * rocesteer_flow_claim() - let flows without a job find one
 * @rn: namespace, to which a job was just added
 *
 * Flows learnt during the walk have seen the new job already.
 *
 * Context: Process context, may sleep, holds @rn->conf.
 */
void rocesteer_flow_claim(struct rocesteer_net *rn)
{
	lockdep_assert_held(&rn->conf);
	flow_walk(rn, flow_claim, 0);
}

static void flow_disown(struct rocesteer_flow *flow, u32 job)
{
	if (flow->job != job)
		return;
	if (flow->qp.qp) {
		flow->by_hand = false;
		flow_set_job(flow, 0);
	} else {
		flow_unlink(flow);
	}
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
