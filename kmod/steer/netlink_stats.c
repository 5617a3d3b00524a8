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

/* The same of one of the buckets at @offset in struct rocesteer_stats. */
static u64 nl_stats_bucket(const struct rocesteer_net *rn, size_t offset, int i)
{
	const u64 *bucket;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		bucket = (void *)per_cpu_ptr(rn->stats, cpu) + offset;
		sum += READ_ONCE(bucket[i]);
	}
	return sum;
}

static int nl_stats_put_buckets(struct sk_buff *msg, const struct rocesteer_net *rn, int attr,
				size_t offset, int nr)
{
	int i, err = 0;

	for (i = 0; i < nr && !err; i++)
		err = nla_put_uint(msg, attr, nl_stats_bucket(rn, offset, i));
	return err;
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

static int nl_stats_put(struct sk_buff *msg, const struct rocesteer_net *rn, int attr)
{
	switch (attr) {
	case ROCESTEER_A_STATS_RESEQ_DEPTH:
		return nl_stats_put_buckets(msg, rn, attr,
					    offsetof(struct rocesteer_stats, depth),
					    ROCESTEER_DEPTH_BUCKETS);
	case ROCESTEER_A_STATS_RESEQ_WAIT:
		return nl_stats_put_buckets(msg, rn, attr,
					    offsetof(struct rocesteer_stats, wait),
					    ROCESTEER_WAIT_BUCKETS);
	default:
		/* nla_put_uint() puts an u32 if the value fits. */
		return nla_put_uint(msg, attr, nl_stats_value(rn, attr));
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
	for (attr = 1; attr <= ROCESTEER_A_STATS_MAX && !err; attr++)
		err = nl_stats_put(msg, rn, attr);
	return rocesteer_nl_reply_end(info, msg, hdr, err);
}
