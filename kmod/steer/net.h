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

#include "stats.h"

struct rocesteer_policy;

/**
 * struct rocesteer_net - what the module knows in one network namespace
 * @node: in the list of all, under rocesteer_lock
 * @net: the namespace, which outlives this
 * @conf: serialises changes made over netlink, so that the walk over the
 *	flows that a job's change entails is finished before the next change.
 *	Taken before rocesteer_lock
 * @jobs: struct rocesteer_job_rule by job number. Written under
 *	rocesteer_lock, read under RCU
 * @nr_jobs: entries of @jobs, under rocesteer_lock
 * @nr_flows: entries of @flows, under rocesteer_lock
 * @flows: struct rocesteer_flow by key, several where several queue pairs are
 *	connected to one. Written under rocesteer_lock, read under RCU
 * @flow_ids: the same flows by a number that rises: what dumps and walks go
 *	by, since it lets them go on where they stopped. Written under
 *	rocesteer_lock, read under RCU
 * @next_flow_id: cursor of @flow_ids, under rocesteer_lock
 * @users: how many of them are charged to each user, by id. Under rocesteer_lock
 * @reseqs: struct rocesteer_reseq by device and local queue pair number.
 *	Written under rocesteer_lock, read under RCU
 * @nr_hooks: jobs that need the netfilter hooks, under @conf
 * @hooks: these, which have this as their argument
 * @policy: BPF's choice of source ports for queue pairs, or NULL. Read and
 *	written under rocesteer_lock
 * @events: netlink messages to be sent, in the order of the changes, under
 *	rocesteer_lock
 * @events_lost: there was no room for one, under rocesteer_lock
 * @send_events: sends them, without rocesteer_lock
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
 * Guards all changes to jobs and flows, in all namespaces: queue pairs know no
 * namespace, and they come and go rarely compared with packets, which take no
 * lock. Taken in process context only, also with preemption or interrupts off
 * (kprobe handlers); never in softirq, hence without _bh.
 */
extern spinlock_t rocesteer_lock;
extern unsigned int rocesteer_net_id;

/**
 * rocesteer_net() - the module's part of a namespace
 * @net: namespace
 *
 * Context: Any, while @net is alive: under RCU, or with a reference.
 * Return: never NULL while the module is loaded.
 */
static inline struct rocesteer_net *rocesteer_net(const struct net *net)
{
	return net_generic(net, rocesteer_net_id);
}

/**
 * rocesteer_stats_inc() - count one event
 * @rn: namespace in which it happened
 * @c: what happened
 *
 * compat.h asks for 64 bit, where a counter is read whole.
 *
 * Context: Any.
 */
static inline void rocesteer_stats_inc(const struct rocesteer_net *rn,
				       enum rocesteer_counter c)
{
	this_cpu_inc(rn->stats->count[c]);
}

struct rocesteer_net *rocesteer_net_find(u64 cookie);
void rocesteer_net_list(struct rocesteer_net *rn);
void rocesteer_net_unlist(struct rocesteer_net *rn);

#endif /* ROCESTEER_NET_H */
