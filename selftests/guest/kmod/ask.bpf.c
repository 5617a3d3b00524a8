// SPDX-License-Identifier: GPL-2.0
/* Trace the result of bpf_rocesteer_flow_job() for each RC packet. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include "../../../bpf/lib/parse.bpf.h"

extern __s64 bpf_rocesteer_flow_job(struct __sk_buff *skb,
				    const struct rocesteer_flow_key *key,
				    __u32 key__sz) __ksym;

SEC("tc")
int report_job(struct __sk_buff *skb)
{
	struct packet pkt;

	if (parse_roce(skb, &pkt, false) == CONTINUE)
		bpf_printk("rs-ask: %lld.", bpf_rocesteer_flow_job(skb, &pkt.key, sizeof(pkt.key)));
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
