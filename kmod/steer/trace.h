/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints. BPF programs attach to them by name: the prototypes are an interface. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocesteer

#if !defined(ROCESTEER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCESTEER_TRACE_H

#include <linux/tracepoint.h>

#include <rocesteer/types.h>

DECLARE_EVENT_CLASS(rocesteer_flow,
		    TP_PROTO(u64 netns_cookie,
			     const struct rocesteer_flow_key *key, u32 job),
		    TP_ARGS(netns_cookie, key, job),
		    TP_STRUCT__entry(__field(u64, netns_cookie)
				     __field(u32, ifindex)
				     __field(u32, dqpn)
				     __field(u32, job)
				     __array(u8, peer, 16)),
		    TP_fast_assign(__entry->netns_cookie = netns_cookie;
				   __entry->ifindex = key->ifindex;
				   __entry->dqpn = key->dqpn;
				   __entry->job = job;
				   memcpy(__entry->peer, key->peer, 16);),
		    TP_printk("netns_cookie=%llu ifindex=%u peer=%pI6c dqpn=0x%06x job=%u",
			      __entry->netns_cookie, __entry->ifindex,
			      __entry->peer, __entry->dqpn, __entry->job)
);

/*
 * A flow was registered, or got a queue pair or another job; job 0 for none. @dqpn has the rival
 * number in bits 31..24, as in struct rocesteer_flow_key.
 */
DEFINE_EVENT(rocesteer_flow, rocesteer_flow_add,
	     TP_PROTO(u64 netns_cookie,
		      const struct rocesteer_flow_key *key, u32 job),
	     TP_ARGS(netns_cookie, key, job)
);

/*
 * A flow was removed or got another job; @job is the old one. A flow without a job may be
 * steered by the job of its device.
 */
DEFINE_EVENT(rocesteer_flow, rocesteer_flow_del,
	     TP_PROTO(u64 netns_cookie,
		      const struct rocesteer_flow_key *key, u32 job),
	     TP_ARGS(netns_cookie, key, job)
);

#endif /* ROCESTEER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
