// SPDX-License-Identifier: GPL-2.0
/* Set the job of flows: by flow-add, or when jobs are added or deleted. */
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/rhashtable.h>

#include "flow_priv.h"
#include "job.h"
#include "net.h"

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
		rocesteer_flow_set_job(flow, job);
	}
	return 0;
}

/**
 * rocesteer_flow_add() - give a flow to a job
 * @rn: namespace
 * @key: flow
 * @job: number of an existing job
 *
 * A learnt flow without a job is given to @job, and still ends with its queue pair.
 *
 * Context: Process context, may sleep, holds @rn->conf, so that the job stays.
 * Return: 0; -ENODEV if the namespace has no such device; -EEXIST if the flow has a job;
 * -ENOSPC if there are max_flows; -ENOMEM.
 */
int rocesteer_flow_add(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key, u32 job)
{
	struct rocesteer_flow *flow;
	struct rhlist_head *known;
	int err;

	lockdep_assert_held(&rn->conf);
	flow = rocesteer_flow_alloc(rn, key, GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	flow->job = job;
	flow->by_hand = true;

	rcu_read_lock();
	spin_lock(&rocesteer_lock);
	known = rocesteer_flow_list(rn, key);
	if (known) {
		err = flow_adopt(known, job);
	} else {
		err = rocesteer_flow_link(flow);
		if (!err) {
			rocesteer_flow_announce(flow);
			flow = NULL;	/* owned by the table */
		}
	}
	spin_unlock(&rocesteer_lock);
	rcu_read_unlock();

	/* A walk may have found the flow before rocesteer_flow_link() failed. */
	if (flow)
		rocesteer_flow_free(flow);
	return err;
}

/* Rematch the flow to the job that owns its queue pair, if any. */
static void flow_end_job(struct rocesteer_flow *flow)
{
	u32 job;

	lockdep_assert_held(&rocesteer_lock);
	flow->by_hand = false;
	if (!flow->qp.qp) {
		rocesteer_flow_unlink(flow);
		return;
	}
	/* Match all jobs: flow_walk() drops the lock between two flows. */
	job = rocesteer_job_match(flow->rn, flow->qp.owner);
	rocesteer_flow_set_job(flow, job);
}

/**
 * rocesteer_flow_del() - undo flow-add
 * @rn: namespace
 * @key: flow
 *
 * A flow with a queue pair stays, and belongs to the job that owns the queue pair, if any.
 *
 * Context: Process context, holds @rn->conf.
 * Return: 0; -ENOENT if there is no such flow; -EBUSY if its job was not set by flow-add.
 */
int rocesteer_flow_del(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list, *pos;
	struct rocesteer_flow *flow;
	int err;

	lockdep_assert_held(&rn->conf);
	spin_lock(&rocesteer_lock);
	list = rocesteer_flow_list(rn, key);
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

/*
 * Call @fn under rocesteer_lock for each flow of a namespace. The lock is dropped in
 * between, as kprobe handlers spin on it. A flow that is linked meanwhile may be missed.
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
		rocesteer_flow_set_job(flow, job);
}

/*
 * Give a new job the flows that it owns and that have no job. A flow learnt during the walk
 * has matched the new job already. Context: process context, may sleep, holds @rn->conf.
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

/*
 * Rematch all flows of a job that was just deleted from @rn, so that it gets no new ones.
 * Context: process context, may sleep, holds @rn->conf.
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
	rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_REMOVED);
	rocesteer_flow_unlink(flow);
}

/*
 * Remove all flows of a device that leaves the namespace. rocesteer_flow_link() says why
 * none is added later. Context: process context, may sleep, holds RTNL.
 */
void rocesteer_flow_flush(struct rocesteer_net *rn, u32 ifindex)
{
	flow_walk(rn, flow_flush, ifindex);
}
