// SPDX-License-Identifier: GPL-2.0
/* Tell the module which packets queue pairs will receive, as rocesteer_egress does. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include "../../../bpf/lib/parse.bpf.h"

extern __s64 bpf_rocesteer_flow_answers(struct __sk_buff *skb,
					const struct rocesteer_flow_key *key,
					__u32 key__sz) __ksym;

SEC("tc")
int tell_answers(struct __sk_buff *skb)
{
	struct packet pkt;

	if (parse_roce(skb, &pkt, false) == CONTINUE && is_rc(&pkt) &&
	    opcode_tells_answers(pkt.opcode))
		bpf_rocesteer_flow_answers(skb, &pkt.key, sizeof(pkt.key));
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
