// SPDX-License-Identifier: GPL-2.0
/* Counters: requests. */
#include "net.h"
#include "netlink-gen.h"
#include "netlink_priv.h"
#include "qp_kprobe.h"
#include "reseq_window.h"

/* Other CPUs may be counting: the value is one that the counter had during the call. */
static u64 nl_stats_sum(const struct rocesteer_net *rn, int attr)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(rn->stats, cpu)->count[attr]);
	return sum;
}

static u64 nl_stats_value(const struct rocesteer_net *rn, int attr)
{
	switch (attr) {
	case ROCESTEER_A_STATS_JOBS:
		return READ_ONCE(rn->nr_jobs);
	case ROCESTEER_A_STATS_FLOWS:
		return READ_ONCE(rn->nr_flows);
	case ROCESTEER_A_STATS_RESEQ_BYTES:
		return rocesteer_window_bytes();
	case ROCESTEER_A_STATS_KPROBES:
		return rocesteer_qp_kprobe_test();
	default:
		return nl_stats_sum(rn, attr);
	}
}

int rocesteer_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct sk_buff *msg;
	int attr, err = 0;
	void *hdr;

	msg = rocesteer_nl_reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	/* nla_put_uint() puts an u32 if the value fits. */
	for (attr = 1; attr <= ROCESTEER_A_STATS_MAX && !err; attr++)
		err = nla_put_uint(msg, attr, nl_stats_value(rn, attr));
	return rocesteer_nl_reply_end(info, msg, hdr, err);
}
