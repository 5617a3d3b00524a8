// SPDX-License-Identifier: GPL-2.0
/* Counters: requests. */
#include "net.h"
#include "netlink-gen.h"
#include "netlink_priv.h"
#include "qp_kprobe.h"
#include "reseq_window.h"

static const int nl_stats_attrs[ROCESTEER_COUNT_MAX] = {
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
	[ROCESTEER_COUNT_UNKNOWN_SENDER] = ROCESTEER_A_STATS_UNKNOWN_SENDER,
	[ROCESTEER_COUNT_QP_LANE_LABEL] = ROCESTEER_A_STATS_QP_LANE_LABEL,
	[ROCESTEER_COUNT_QP_CM_LABEL] = ROCESTEER_A_STATS_QP_CM_LABEL,
};

/* CPUs count on meanwhile: each value was true at some moment during the call. */
static int nl_stats_fill(struct sk_buff *skb, const struct rocesteer_net *rn)
{
	int c, cpu;

	for (c = 0; c < ROCESTEER_COUNT_MAX; c++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(rn->stats, cpu)->count[c]);
		if (nla_put_uint(skb, nl_stats_attrs[c], sum))
			return -EMSGSIZE;
	}
	return 0;
}

int rocesteer_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = rocesteer_nl_reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	err = nla_put_u32(msg, ROCESTEER_A_STATS_JOBS,
			  READ_ONCE(rn->nr_jobs)) ?:
	      nla_put_u32(msg, ROCESTEER_A_STATS_FLOWS,
			  READ_ONCE(rn->nr_flows)) ?:
	      nla_put_u32(msg, ROCESTEER_A_STATS_PROBES,
			  rocesteer_qp_kprobe_test()) ?:
	      nl_stats_fill(msg, rn) ?:
	      nla_put_uint(msg, ROCESTEER_A_STATS_RESEQ_BYTES,
			   rocesteer_window_bytes());
	return rocesteer_nl_reply_end(info, msg, hdr, err);
}
