// SPDX-License-Identifier: GPL-2.0
/* The priority of the last packet that left: behind the programs that are tested. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

__u32 priority;

SEC("tcx/egress")
int seen(struct __sk_buff *skb)
{
	priority = skb->priority;
	return TCX_NEXT;
}

char _license[] SEC("license") = "GPL";
