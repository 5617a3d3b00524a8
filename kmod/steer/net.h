/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_NET_H
#define ROCESTEER_NET_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
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
struct rocesteer_reseq;

/**
 * struct rocesteer_stats - per-CPU counters of a network namespace
 * @count: by ROCESTEER_A_STATS_*
 * @depth: how many packets wait when one begins to: 2^i at most
 * @wait: how long packets waited: 2^i * 1024 ns at most, or more in the last one
 */
struct rocesteer_stats {
	u64 count[ROCESTEER_A_STATS_MAX + 1];
	u64 depth[ROCESTEER_DEPTH_BUCKETS];
	u64 wait[ROCESTEER_WAIT_BUCKETS];
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
 * @recent_reseqs: those of @reseqs that are found first. Written under rocesteer_lock, read
 *	under RCU
 * @hook_users: jobs that need @hook, under @conf
 * @hook: netfilter hook of the resequencer; priv is this struct
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
	struct rocesteer_reseq __rcu *recent_reseqs[64];
	u32 hook_users;
	struct nf_hook_ops hook;
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

/* The smallest i with @value <= 2^i, or @most. */
static inline u32 rocesteer_stats_bucket(u64 value, u32 most)
{
	return value ? min_t(u32, fls64(value - 1), most) : 0;
}

/* A packet waits, and with it @depth in all. Context: any. */
static inline void rocesteer_stats_depth(const struct rocesteer_net *rn, u32 depth)
{
	this_cpu_add(rn->stats->count[ROCESTEER_A_STATS_RESEQ_DEPTH_SUM], depth);
	this_cpu_inc(rn->stats->depth[rocesteer_stats_bucket(depth,
							     ROCESTEER_DEPTH_BUCKETS - 1)]);
}

/* Packets have waited for @ns nanoseconds. Context: any. */
static inline void rocesteer_stats_wait(const struct rocesteer_net *rn, u64 ns)
{
	this_cpu_add(rn->stats->count[ROCESTEER_A_STATS_RESEQ_WAIT_SUM], ns);
	this_cpu_inc(rn->stats->wait[rocesteer_stats_bucket(DIV_ROUND_UP_ULL(ns, 1024),
							    ROCESTEER_WAIT_BUCKETS - 1)]);
}

struct rocesteer_net *rocesteer_net_find(u64 cookie);
void rocesteer_net_list(struct rocesteer_net *rn);
void rocesteer_net_unlist(struct rocesteer_net *rn);

#endif /* ROCESTEER_NET_H */
