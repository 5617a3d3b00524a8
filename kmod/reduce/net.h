/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_NET_H
#define REDUCE_NET_H

#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <uapi/linux/rocesteer_reduce.h>

/* Per-CPU counters of a network namespace, by ROCESTEER_REDUCE_A_STATS_* */
struct reduce_stats {
	u64 count[ROCESTEER_REDUCE_A_STATS_MAX + 1];
};

/**
 * struct reduce_net - state of a network namespace
 * @net: the namespace, which outlives this
 * @conf: serialises changes by netlink
 * @groups: struct reduce_group by number. Written under @conf, read under RCU
 * @past: struct reduce_past by number, of groups that are or were loaded. Under @conf
 * @bytes: memory that is charged for @groups
 * @announce: tells listeners of poisoned groups
 * @nr_groups: entries of @groups, under @conf
 * @hooks: netfilter hooks
 * @hooked: @hooks are registered, under @conf
 * @stats: counters
 */
struct reduce_net {
	struct net *net;
	struct mutex conf;	/* see above */
	struct xarray groups;
	struct xarray past;
	atomic64_t bytes;
	struct work_struct announce;
	u32 nr_groups;
	struct nf_hook_ops hooks[3];
	bool hooked;
	struct reduce_stats __percpu *stats;
};

extern unsigned int reduce_net_id;

/* Context: any, while @net is alive. Return: never NULL while the module is loaded. */
static inline struct reduce_net *reduce_net(const struct net *net)
{
	return net_generic(net, reduce_net_id);
}

/* Context: any. */
static inline void reduce_count(const struct reduce_net *rn, int attr)
{
	this_cpu_inc(rn->stats->count[attr]);
}

#endif /* REDUCE_NET_H */
