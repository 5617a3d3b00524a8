/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_NET_H
#define REDUCE_NET_H

#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

/**
 * enum reduce_counter - what becomes of packets to a virtual queue pair number that no
 * group takes
 *
 * Each is a netlink attribute of the same name; rocesteer_reduce.yaml says what it counts.
 */
enum reduce_counter {
	REDUCE_COUNT_UNKNOWN,
	REDUCE_COUNT_ADDRESS,
	REDUCE_COUNT_OPCODE,
	REDUCE_COUNT_LENGTH,
	REDUCE_COUNT_ICRC,
	REDUCE_COUNT_GSO,
	REDUCE_COUNT_NO_MEMORY,
	REDUCE_COUNT_POISONED,
	REDUCE_COUNT_INTEGER,
	REDUCE_COUNT_MISPLACED,
	REDUCE_COUNT_MAX,
};

/* Of one CPU. */
struct reduce_stats {
	u64 count[REDUCE_COUNT_MAX];
};

/**
 * struct reduce_net - what the module knows in one network namespace
 * @net: the namespace, which outlives this
 * @conf: serialises changes over netlink
 * @groups: struct reduce_group by number. Written under @conf, read under RCU
 * @nr_groups: entries of @groups, under @conf
 * @hooks: of netfilter
 * @hooked: they are registered, under @conf
 * @stats: counters
 */
struct reduce_net {
	struct net *net;
	struct mutex conf;	/* see above */
	struct xarray groups;
	u32 nr_groups;
	struct nf_hook_ops hooks[2];
	bool hooked;
	struct reduce_stats __percpu *stats;
};

extern unsigned int reduce_net_id;

/**
 * reduce_net() - the module's part of a namespace
 * @net: namespace
 *
 * Context: Any, while @net is alive. Return: never NULL while the module is loaded.
 */
static inline struct reduce_net *reduce_net(const struct net *net)
{
	return net_generic(net, reduce_net_id);
}

/* Count one event. Context: any. */
static inline void reduce_count(const struct reduce_net *rn, enum reduce_counter c)
{
	this_cpu_inc(rn->stats->count[c]);
}

#endif /* REDUCE_NET_H */
