/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: what becomes of packets and slots, for perf, bpftrace and trace-cmd. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocesteer_reduce

#if !defined(REDUCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define REDUCE_TRACE_H

#include <linux/tracepoint.h>

/* The sum of a slot is complete. */
TRACE_EVENT(rocesteer_reduce_slot,
	    TP_PROTO(u32 group, s64 position, u64 held),
	    TP_ARGS(group, position, held),
	    TP_STRUCT__entry(__field(u32, group)
			     __field(s64, position)
			     __field(u64, held)),
	    TP_fast_assign(__entry->group = group;
			   __entry->position = position;
			   __entry->held = held;),
	    TP_printk("group=%u position=%lld held=%llu", __entry->group,
		      __entry->position, __entry->held)
);

/* The receiver of a rank's packets is made to ask for the input that is missing. */
TRACE_EVENT(rocesteer_reduce_nudge,
	    TP_PROTO(u32 group, u32 rank, s64 position),
	    TP_ARGS(group, rank, position),
	    TP_STRUCT__entry(__field(u32, group)
			     __field(u32, rank)
			     __field(s64, position)),
	    TP_fast_assign(__entry->group = group;
			   __entry->rank = rank;
			   __entry->position = position;),
	    TP_printk("group=%u rank=%u position=%lld", __entry->group, __entry->rank,
		      __entry->position)
);

/* A packet to a virtual queue pair number is dropped; reason: ROCESTEER_REDUCE_A_STATS_*. */
TRACE_EVENT(rocesteer_reduce_drop,
	    TP_PROTO(u64 netns_cookie, u32 dqpn, u32 reason),
	    TP_ARGS(netns_cookie, dqpn, reason),
	    TP_STRUCT__entry(__field(u64, netns_cookie)
			     __field(u32, dqpn)
			     __field(u32, reason)),
	    TP_fast_assign(__entry->netns_cookie = netns_cookie;
			   __entry->dqpn = dqpn;
			   __entry->reason = reason;),
	    TP_printk("netns_cookie=%llu dqpn=0x%06x reason=%u", __entry->netns_cookie,
		      __entry->dqpn, __entry->reason)
);

/* A group is poisoned; reason: enum reduce_poison. */
TRACE_EVENT(rocesteer_reduce_poison,
	    TP_PROTO(u32 group, u32 reason, u32 rank, s64 done),
	    TP_ARGS(group, reason, rank, done),
	    TP_STRUCT__entry(__field(u32, group)
			     __field(u32, reason)
			     __field(u32, rank)
			     __field(s64, done)),
	    TP_fast_assign(__entry->group = group;
			   __entry->reason = reason;
			   __entry->rank = rank;
			   __entry->done = done;),
	    TP_printk("group=%u reason=%u rank=%u done=%lld", __entry->group,
		      __entry->reason, __entry->rank, __entry->done)
);

#endif /* REDUCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
