// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU counters of a network namespace.
 *
 * No u64_stats_sync: compat.h asks for 64 bit, where a counter is read whole.
 */
#include <net/netlink.h>
#include <uapi/linux/rocesteer.h>

#include "net.h"

static const int attrs[ROCESTEER_COUNT_MAX] = {
	[ROCESTEER_COUNT_LEARNT] = ROCESTEER_A_STATS_LEARNT,
	[ROCESTEER_COUNT_UNTAGGED] = ROCESTEER_A_STATS_UNTAGGED,
	[ROCESTEER_COUNT_REMOVED] = ROCESTEER_A_STATS_REMOVED,
	[ROCESTEER_COUNT_DUPLICATE] = ROCESTEER_A_STATS_DUPLICATE,
	[ROCESTEER_COUNT_FULL] = ROCESTEER_A_STATS_FULL,
	[ROCESTEER_COUNT_NO_MEMORY] = ROCESTEER_A_STATS_NO_MEMORY,
	[ROCESTEER_COUNT_RESEQ_HELD] = ROCESTEER_A_STATS_RESEQ_HELD,
	[ROCESTEER_COUNT_RESEQ_FILLED] = ROCESTEER_A_STATS_RESEQ_FILLED,
	[ROCESTEER_COUNT_RESEQ_LOST] = ROCESTEER_A_STATS_RESEQ_LOST,
	[ROCESTEER_COUNT_RESEQ_TIMEOUT] = ROCESTEER_A_STATS_RESEQ_TIMEOUT,
	[ROCESTEER_COUNT_RESEQ_NAK] = ROCESTEER_A_STATS_RESEQ_NAK,
	[ROCESTEER_COUNT_RESEQ_BEHIND] = ROCESTEER_A_STATS_RESEQ_BEHIND,
	[ROCESTEER_COUNT_RESEQ_RESYNC] = ROCESTEER_A_STATS_RESEQ_RESYNC,
	[ROCESTEER_COUNT_RESEQ_OUT_OF_WINDOW] =
		ROCESTEER_A_STATS_RESEQ_OUT_OF_WINDOW,
	[ROCESTEER_COUNT_RESEQ_NO_MEMORY] = ROCESTEER_A_STATS_RESEQ_NO_MEMORY,
	[ROCESTEER_COUNT_RESEQ_DROPPED] = ROCESTEER_A_STATS_RESEQ_DROPPED,
	[ROCESTEER_COUNT_RESEQ_FOREIGN] = ROCESTEER_A_STATS_RESEQ_FOREIGN,
	[ROCESTEER_COUNT_QP_STEERED] = ROCESTEER_A_STATS_QP_STEERED,
	[ROCESTEER_COUNT_QP_OWN_LABEL] = ROCESTEER_A_STATS_QP_OWN_LABEL,
	[ROCESTEER_COUNT_RESEQ_GSO] = ROCESTEER_A_STATS_RESEQ_GSO,
};

/**
 * rocesteer_stats_inc() - count one event
 * @rn: namespace in which it happened
 * @c: what happened
 *
 * Context: Any with preemption off.
 */
void rocesteer_stats_inc(struct rocesteer_net *rn, enum rocesteer_counter c)
{
	u64_stats_inc(&this_cpu_ptr(rn->stats)->count[c]);
}

/**
 * rocesteer_stats_fill() - put all counters into a netlink message
 * @rn: namespace
 * @skb: message
 *
 * Context: Any. CPUs count on meanwhile: each value was true at some moment
 * during the call.
 * Return: 0, or -EMSGSIZE when @skb has no room.
 */
int rocesteer_stats_fill(struct rocesteer_net *rn, struct sk_buff *skb)
{
	int c, cpu;

	for (c = 0; c < ROCESTEER_COUNT_MAX; c++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += u64_stats_read(&per_cpu_ptr(rn->stats,
							   cpu)->count[c]);
		/* Not nla_put_u64_64bit(): the family has no pad attribute. */
		if (nla_put(skb, attrs[c], sizeof(sum), &sum))
			return -EMSGSIZE;
	}
	return 0;
}
