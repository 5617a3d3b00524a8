// SPDX-License-Identifier: GPL-2.0
/* Flows with a queue pair: learnt when it is connected, forgotten when it ends. */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>

#include <rocesteer/policy.h>

#include "flow_priv.h"
#include "job.h"
#include "net.h"

/* Most flows of one user with one key, as each packet searches them */
#define FLOW_RIVALS	8

static const struct rhashtable_params flow_qp_params = {
	.head_offset = offsetof(struct rocesteer_flow, qp_node),
	.key_offset = offsetof(struct rocesteer_flow, qp.qp),
	.key_len = sizeof(const struct ib_qp *),
	.automatic_shrinking = true,
};

/* Flows by the address of their queue pair, under rocesteer_lock */
static struct rhashtable flow_by_qp;

int __init rocesteer_flow_init(void)
{
	return rhashtable_init(&flow_by_qp, &flow_qp_params);
}

void rocesteer_flow_exit(void)
{
	rhashtable_destroy(&flow_by_qp);
}

static int flow_bind(struct rocesteer_flow *flow,
		     const struct rocesteer_qp *qp)
{
	int err;

	lockdep_assert_held(&rocesteer_lock);
	WARN_ON_ONCE(flow->qp.qp);
	flow->qp = *qp;
	err = rhashtable_insert_fast(&flow_by_qp, &flow->qp_node, flow_qp_params);
	if (err) {
		memset(&flow->qp, 0, sizeof(flow->qp));
		return err;
	}
	get_pid(qp->owner);
	if (qp->software) {
		WRITE_ONCE(flow->sqpn, qp->sqpn);
		WRITE_ONCE(flow->sender, qp->qp);
	}
	return 0;
}

/* The flow keeps its reference to the owner until it is freed. */
void rocesteer_flow_unbind(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	rhashtable_remove_fast(&flow_by_qp, &flow->qp_node, flow_qp_params);
}

static struct rocesteer_flow *
flow_learn_new(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	       const struct rocesteer_qp *qp,
	       const struct rocesteer_flow *rival)
{
	struct rocesteer_flow *flow;
	int err;

	flow = rocesteer_flow_alloc(rn, key, GFP_ATOMIC);
	if (!flow)
		return ERR_PTR(-ENOMEM);
	/* flow-add applies to all flows with a key. */
	flow->by_hand = rival && rival->by_hand;
	flow->job = flow->by_hand ? rival->job :
				    rocesteer_job_match(rn, qp->owner);
	err = flow_bind(flow, qp);
	if (err)
		goto free_flow;
	err = rocesteer_flow_link(flow);
	if (err)
		goto unbind;
	if (!flow->job)
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_UNTAGGED);
	return flow;

unbind:
	rocesteer_flow_unbind(flow);
free_flow:
	rocesteer_flow_free(flow);
	return ERR_PTR(err);
}

static void flow_forget(struct rocesteer_flow *flow)
{
	lockdep_assert_held(&rocesteer_lock);
	rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_REMOVED);
	rocesteer_flow_unlink(flow);
}

static struct rocesteer_flow *flow_find_qp(const struct ib_qp *qp)
{
	lockdep_assert_held(&rocesteer_lock);
	return rhashtable_lookup_fast(&flow_by_qp, &qp, flow_qp_params);
}

static struct rocesteer_flow *
flow_learn(struct rocesteer_net *rn, const struct rocesteer_flow_key *key,
	   const struct rocesteer_qp *qp)
{
	struct rocesteer_flow *flow, *rival = NULL;
	struct rhlist_head *pos;
	int err, same = 0;

	rhl_for_each_entry_rcu(flow, pos, rocesteer_flow_list(rn, key), node) {
		if (!flow->qp.qp) {	/* flow-add came first: keep its job */
			err = flow_bind(flow, qp);
			if (err)
				return ERR_PTR(err);
			flow->qp.uid = 0;	/* not charged */
			rocesteer_flow_resequence(flow, !qp->running);
			return flow;
		}
		/* The first of two queue pairs of one process is dead. */
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
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_DUPLICATE);
	return flow_learn_new(rn, key, qp, rival);
}

/* The queue pair is connected again. A job set by flow-add stays. */
static struct rocesteer_flow *
flow_learn_again(struct rocesteer_flow *flow,
		 const struct rocesteer_qp *qp)
{
	struct pid *owner = flow->qp.owner;
	u32 uid = flow->qp.uid;

	rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_REMOVED);
	rocesteer_flow_trace_del(flow, flow->job);
	get_pid(qp->owner);
	flow->qp = *qp;
	flow->qp.uid = uid;	/* the flow stays charged to it */
	put_pid(owner);
	if (!flow->by_hand)
		rocesteer_flow_set_job(flow, rocesteer_job_match(flow->rn, qp->owner));
	rocesteer_flow_end_reseq(flow);
	rocesteer_flow_resequence(flow, true);
	return flow;
}

/*
 * Ask the policy for the source port of a queue pair. Under rocesteer_lock: the policy
 * enters the flow into its tables before the end of the flow can be traced.
 */
static u16 flow_steer(struct rocesteer_flow *flow)
{
	const struct rocesteer_policy *policy = flow->rn->policy;
	u32 flags = flow->qp.software ? ROCESTEER_QP_SOFTWARE : 0;
	struct rocesteer_flow_key key;
	u16 sport;

	lockdep_assert_held(&rocesteer_lock);
	switch (flow->qp.label) {
	case ROCESTEER_LABEL_OWN:
		rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_QP_OWN_LABEL);
		return 0;
	case ROCESTEER_LABEL_LANE:
		rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_QP_LANE_LABEL);
		flags |= ROCESTEER_QP_LABELLED;
		break;
	case ROCESTEER_LABEL_CM:
		rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_QP_CM_LABEL);
		flags |= ROCESTEER_QP_LABELLED;
		break;
	default:
		break;
	}
	if (!policy)
		return 0;
	key = rocesteer_flow_own_key(flow);
	sport = ntohs(policy->source_port(&key, flow->job, flags, &flow->qp.local));
	if (sport < ROCESTEER_SPORT_MIN)
		return 0;
	flow->qp.label = ROCESTEER_LABEL_POLICY;
	rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_QP_STEERED);
	return sport;
}

/**
 * rocesteer_flow_learn() - register the flow of a queue pair
 * @rn: namespace of the device that sends its packets
 * @key: flow
 * @qp: queue pair that is being connected, or is running; takes a reference to its owner
 *
 * A connected queue pair may be in use, and the driver will refuse to connect it again: its
 * flow is left alone.
 *
 * Success and failure are counted, as the caller, a kprobe handler, cannot report them.
 * The policy is only asked about registered flows, whose end is traced.
 *
 * Context: Process context, also with interrupts off. In the RCU read-side critical section
 * in which @rn was found from a listed device.
 * Return: source port for the queue pair, in host order, or 0.
 */
u16 rocesteer_flow_learn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key,
			 const struct rocesteer_qp *qp)
{
	struct rocesteer_flow *flow;
	u16 sport = 0;

	spin_lock(&rocesteer_lock);
	flow = flow_find_qp(qp->qp);
	if (flow && (flow->connected || qp->running))
		goto unlock;
	/* Known: a modify failed and is repeated, or the return of RESET was missed. */
	if (flow && (flow->rn != rn || memcmp(&flow->key, key, sizeof(*key)))) {
		flow_forget(flow);
		flow = NULL;
	}
	flow = flow ? flow_learn_again(flow, qp) : flow_learn(rn, key, qp);
	switch (PTR_ERR_OR_ZERO(flow)) {
	case 0:
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_LEARNT);
		flow->connected = qp->running;
		if (!qp->running)
			sport = flow_steer(flow);
		rocesteer_flow_announce(flow);
		break;
	case -ENODEV:	/* the device is leaving, and the queue pair with it */
		break;
	case -ENOSPC:
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_FULL);
		break;
	default:
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_NO_MEMORY);
		break;
	}
unlock:
	spin_unlock(&rocesteer_lock);
	return sport;
}

/* @qp is not dereferenced. Context: process context, also with interrupts off. */
void rocesteer_flow_set_connected(const struct ib_qp *qp, bool connected)
{
	struct rocesteer_flow *flow;

	spin_lock(&rocesteer_lock);
	flow = flow_find_qp(qp);
	if (flow)
		flow->connected = connected;
	spin_unlock(&rocesteer_lock);
}

/* @qp is not dereferenced. Context: process context, also with interrupts off. */
void rocesteer_flow_forget(const struct ib_qp *qp)
{
	struct rocesteer_flow *flow;

	spin_lock(&rocesteer_lock);
	flow = flow_find_qp(qp);
	if (flow)
		flow_forget(flow);
	spin_unlock(&rocesteer_lock);
}
