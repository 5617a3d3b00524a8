// SPDX-License-Identifier: GPL-2.0
/*
 * Flow registry: the flows of a namespace, their jobs and their queue pairs.
 *
 * A flow is looked up by key (packets, under RCU: flow_packet.c), by queue pair (one index
 * for all namespaces: flow_qp.c) and by id (dumps and walks: flow_job.c). All changes are
 * made under rocesteer_lock, so tracepoints and events follow the order of the changes.
 *
 * A key names a queue pair of the peer. Any local process may connect a queue pair of its
 * own to it, although the peer talks to one of them only, and this host cannot know to
 * which. So each queue pair has its own flow, with the job of its process, and a packet
 * belongs to the flow of the queue pair that sends it.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "../compat.h"
#include "event.h"
#include "flow_priv.h"
#include "job.h"
#include "net.h"
#include "reseq.h"
#include "trace.h"

static unsigned int max_flows __ro_after_init = ROCESTEER_MAX_FLOWS;
module_param(max_flows, uint, 0444);
MODULE_PARM_DESC(max_flows, "Most flows in a network namespace");

static const struct rhashtable_params flow_key_params = {
	.head_offset = offsetof(struct rocesteer_flow, node),
	.key_offset = offsetof(struct rocesteer_flow, key),
	.key_len = sizeof(struct rocesteer_flow_key),
	.automatic_shrinking = true,
};

int rocesteer_flow_table_init(struct rocesteer_net *rn)
{
	xa_init_flags(&rn->flow_ids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&rn->users, XA_FLAGS_ACCOUNT);
	return rhltable_init(&rn->flows, &flow_key_params);
}

static void flow_free_rcu(struct rcu_head *rcu)
{
	struct rocesteer_flow *flow;

	flow = container_of(rcu, struct rocesteer_flow, rcu);
	put_pid(flow->qp.owner);
	kfree(flow);
}

/* Walks and lookups may still access @flow. */
void rocesteer_flow_free(struct rocesteer_flow *flow)
{
	call_rcu(&flow->rcu, flow_free_rcu);
}

/*
 * Nobody else uses @rn. Flows with a queue pair were removed with their device; flows of
 * flow-add may be left when the module is unloaded.
 */
void rocesteer_flow_table_free(struct rocesteer_net *rn)
{
	struct rocesteer_flow *flow;
	unsigned long id;

	xa_for_each(&rn->flow_ids, id, flow) {
		WARN_ON_ONCE(flow->qp.qp);
		rocesteer_flow_free(flow);
	}
	xa_destroy(&rn->flow_ids);
	xa_destroy(&rn->users);
	rhltable_destroy(&rn->flows);
}

struct rocesteer_flow *
rocesteer_flow_alloc(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key, gfp_t gfp)
{
	struct rocesteer_flow *flow;

	flow = kzalloc_obj(*flow, gfp | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!flow)
		return NULL;
	flow->rn = rn;
	flow->key = *key;
	return flow;
}

/* A user may have half of max_flows; root, the kernel and flow-add are not limited. */
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

struct rhlist_head *
rocesteer_flow_list_rcu(struct rocesteer_net *rn,
			const struct rocesteer_flow_key *key)
{
	return rhltable_lookup(&rn->flows, key, flow_key_params);
}

/* The flows stay under rocesteer_lock. */
struct rhlist_head *rocesteer_flow_list(struct rocesteer_net *rn,
					const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list;

	lockdep_assert_held(&rocesteer_lock);
	rcu_read_lock();
	list = rocesteer_flow_list_rcu(rn, key);
	rcu_read_unlock();
	return list;
}

/* The key by which BPF programs know the flow: no two flows have one. */
struct rocesteer_flow_key rocesteer_flow_own_key(const struct rocesteer_flow *flow)
{
	struct rocesteer_flow_key key = flow->key;

	key.dqpn |= (u32)flow->rival << ROCESTEER_RIVAL_SHIFT;
	return key;
}

void rocesteer_flow_trace_del(const struct rocesteer_flow *flow, u32 job)
{
	struct rocesteer_flow_key key = rocesteer_flow_own_key(flow);

	lockdep_assert_held(&rocesteer_lock);
	trace_rocesteer_flow_del(flow->rn->net->net_cookie, &key, job);
}

void rocesteer_flow_announce(struct rocesteer_flow *flow)
{
	struct rocesteer_flow_key key = rocesteer_flow_own_key(flow);

	lockdep_assert_held(&rocesteer_lock);
	trace_rocesteer_flow_add(flow->rn->net->net_cookie, &key, flow->job);
	rocesteer_event_flow(flow, ROCESTEER_CMD_FLOW_ADD_NTF);
}

void rocesteer_flow_end_reseq(struct rocesteer_flow *flow)
{
	struct rocesteer_reseq *reseq;

	reseq = rcu_dereference_protected(flow->reseq,
					  lockdep_is_held(&rocesteer_lock));
	if (!reseq)
		return;
	RCU_INIT_POINTER(flow->reseq, NULL);
	rocesteer_reseq_del(reseq);
}

/* Start or stop resequencing. @fresh: the queue pair has not received a packet yet. */
void rocesteer_flow_resequence(struct rocesteer_flow *flow, bool fresh)
{
	struct rocesteer_flow_key key;
	struct rocesteer_reseq *reseq;
	bool wanted;

	/* Packets to a queue pair of hardware bypass the stack. */
	wanted = flow->linked && flow->qp.qp && flow->qp.software &&
		 rocesteer_job_resequences(flow->rn, flow->job);
	if (!wanted)
		rocesteer_flow_end_reseq(flow);
	if (!wanted || rcu_access_pointer(flow->reseq))
		return;
	key = rocesteer_flow_own_key(flow);
	reseq = rocesteer_reseq_new(flow->rn, &key, &flow->qp, fresh);
	if (!IS_ERR(reseq))
		rcu_assign_pointer(flow->reseq, reseq);
	else if (PTR_ERR(reseq) == -EEXIST)
		rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_DUPLICATE);
	else if (PTR_ERR(reseq) != -EINVAL)
		rocesteer_stats_inc(flow->rn, ROCESTEER_A_STATS_RESEQ_NO_MEMORY);
}

/* Return: the lowest number that no flow with @key has, or -ENOSPC. */
static int flow_free_rival(struct rocesteer_net *rn,
			   const struct rocesteer_flow_key *key)
{
	DECLARE_BITMAP(used, ROCESTEER_MAX_RIVALS) = {};
	struct rocesteer_flow *flow;
	struct rhlist_head *pos;
	unsigned int rival;

	lockdep_assert_held(&rocesteer_lock);
	rhl_for_each_entry_rcu(flow, pos, rocesteer_flow_list(rn, key), node)
		__set_bit(flow->rival, used);
	rival = find_first_zero_bit(used, ROCESTEER_MAX_RIVALS);
	return rival < ROCESTEER_MAX_RIVALS ? rival : -ENOSPC;
}

/*
 * The device is looked up in the RCU read-side critical section in which the flow is
 * linked. A device that leaves the namespace is unlisted, a grace period passes, then the
 * notifier flushes: either the lookup fails here, or the notifier finds the flow.
 */
int rocesteer_flow_link(struct rocesteer_flow *flow)
{
	struct rocesteer_net *rn = flow->rn;
	int rival, err;

	lockdep_assert_held(&rocesteer_lock);
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "device may leave meanwhile");

	if (!dev_get_by_index_rcu(rn->net, flow->key.ifindex))
		return -ENODEV;
	if (rn->nr_flows >= max_flows)
		return -ENOSPC;
	rival = flow_free_rival(rn, &flow->key);
	if (rival < 0)
		return rival;
	flow->rival = rival;
	err = flow_charge(rn, flow->qp.uid, 1);
	if (err)
		return err;

	err = xa_alloc_cyclic(&rn->flow_ids, &flow->id, flow,
			      XA_LIMIT(1, U32_MAX), &rn->next_flow_id,
			      GFP_ATOMIC);
	if (err < 0)
		goto uncharge;
	err = rhltable_insert(&rn->flows, &flow->node, flow_key_params);
	if (err)
		goto erase_id;
	rn->nr_flows++;
	flow->linked = true;
	rocesteer_job_count(rn, flow->job, 1);
	rocesteer_flow_resequence(flow, !flow->qp.running);
	return 0;

erase_id:
	xa_erase(&rn->flow_ids, flow->id);
uncharge:
	flow_charge(rn, flow->qp.uid, -1);
	return err;
}

void rocesteer_flow_unlink(struct rocesteer_flow *flow)
{
	struct rocesteer_net *rn = flow->rn;

	lockdep_assert_held(&rocesteer_lock);
	rhltable_remove(&rn->flows, &flow->node, flow_key_params);
	if (flow->qp.qp)
		rocesteer_flow_unbind(flow);
	xa_erase(&rn->flow_ids, flow->id);
	flow_charge(rn, flow->qp.uid, -1);
	rn->nr_flows--;
	flow->linked = false;
	rocesteer_job_count(rn, flow->job, -1);

	rocesteer_flow_trace_del(flow, flow->job);
	rocesteer_event_flow(flow, ROCESTEER_CMD_FLOW_DEL_NTF);
	rocesteer_flow_resequence(flow, false);
	rocesteer_flow_free(flow);
}

void rocesteer_flow_set_job(struct rocesteer_flow *flow, u32 job)
{
	struct rocesteer_net *rn = flow->rn;
	u32 old = flow->job;

	lockdep_assert_held(&rocesteer_lock);
	if (job == old)
		return;
	WRITE_ONCE(flow->job, job);
	rocesteer_job_count(rn, old, -1);
	rocesteer_job_count(rn, job, 1);
	rocesteer_flow_resequence(flow, false);
	rocesteer_flow_trace_del(flow, old);
	rocesteer_flow_announce(flow);
}

/*
 * Context: Holds rocesteer_lock, under which the flow stays. Return: the flow learnt last
 * with @key, or NULL.
 */
struct rocesteer_flow *
rocesteer_flow_find(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key)
{
	struct rhlist_head *list = rocesteer_flow_list(rn, key);

	return list ? container_of(list, struct rocesteer_flow, node) : NULL;
}
