/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_NET_H
#define ROCESTEER_NET_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue_types.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <uapi/linux/rocesteer.h>

struct rocesteer_policy;

/* Per-CPU counters of a network namespace, by ROCESTEER_A_STATS_* */
struct rocesteer_stats {
	u64 count[ROCESTEER_A_STATS_MAX + 1];
};

/**
 * struct rocesteer_net - state of a network namespace
 * @node: in the list of all namespaces, under rocesteer_lock
 * @net: the namespace, which outlives this
 * @conf: serialises changes by netlink, including the walk over all flows when a job
 *	changes. rocesteer_lock nests in it
 * @jobs: struct rocesteer_job_rule by job number. Written under rocesteer_lock, read
 *	under RCU
 * @nr_jobs: entries of @jobs, under rocesteer_lock
 * @nr_flows: entries of @flows, under rocesteer_lock
 * @flows: struct rocesteer_flow by key; several if several queue pairs are connected to
 *	one. Written under rocesteer_lock, read under RCU
 * @flow_ids: the same flows by a rising number, so that dumps and walks can resume.
 *	Written under rocesteer_lock, read under RCU
 * @next_flow_id: cursor of @flow_ids, under rocesteer_lock
 * @users: flows charged to each uid, under rocesteer_lock
 * @reseqs: struct rocesteer_reseq by device and local queue pair number. Written under
 *	rocesteer_lock, read under RCU
 * @nr_hooks: jobs that need @hooks, under @conf
 * @hooks: netfilter hooks of the resequencer; priv is this struct
 * @policy: struct_ops policy that chooses source ports of queue pairs, or NULL. Under
 *	rocesteer_lock
 * @events: netlink messages to send, in the order of the changes, under rocesteer_lock
 * @events_lost: an event was dropped, under rocesteer_lock
 * @send_events: sends @events, without rocesteer_lock
 * @stats: counters
 */
struct rocesteer_net {
	struct list_head node;
	struct net *net;
	struct mutex conf;	/* see above */
	struct xarray jobs;
	u32 nr_jobs;
	u32 nr_flows;
	struct rhltable flows;
	struct xarray flow_ids;
	u32 next_flow_id;
	struct xarray users;
	struct rhashtable reseqs;
	u32 nr_hooks;
	struct nf_hook_ops hooks[2];
	const struct rocesteer_policy *policy;
	struct sk_buff_head events;
	bool events_lost;
	struct work_struct send_events;
	struct rocesteer_stats __percpu *stats;
};

/*
 * Guards all changes of jobs and flows in all namespaces: the index by queue pair is
 * global, and changes are rare compared with packets, which do not take this lock. Taken
 * in process context only, also with preemption or interrupts off (kprobe handlers);
 * never in softirq, hence no _bh.
 */
extern spinlock_t rocesteer_lock;
extern unsigned int rocesteer_net_id;

/* Context: any, while @net is alive. Return: never NULL while the module is loaded. */
static inline struct rocesteer_net *rocesteer_net(const struct net *net)
{
	return net_generic(net, rocesteer_net_id);
}

/* Context: any. A 64-bit host, see compat.h, reads a counter without tearing. */
static inline void rocesteer_stats_inc(const struct rocesteer_net *rn, int attr)
{
	this_cpu_inc(rn->stats->count[attr]);
}

struct rocesteer_net *rocesteer_net_find(u64 cookie);
void rocesteer_net_list(struct rocesteer_net *rn);
void rocesteer_net_unlist(struct rocesteer_net *rn);

#endif /* ROCESTEER_NET_H */
