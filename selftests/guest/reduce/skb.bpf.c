// SPDX-License-Identifier: GPL-2.0
/* Packets with data: what memory they are charged with, and their time stamps. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#define DATA	1000	/* bytes of a packet with data, at least */

/* Packets that were grown, packets that leave, and those that leave with a time stamp */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, __u64);
} skbs SEC(".maps");

static void count(__u32 key)
{
	__u64 *value = bpf_map_lookup_elem(&skbs, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
}

/* A packet keeps the room it was grown to, as in drivers that have a page for each packet. */
SEC("tc")
int grow(struct __sk_buff *skb)
{
	__u32 len = skb->len;

	if (len > DATA && len < 1400 && !bpf_skb_change_tail(skb, 4500, 0) &&
	    !bpf_skb_change_tail(skb, len, 0))
		count(0);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int stamped(struct __sk_buff *skb)
{
	if (skb->len > DATA) {
		count(1);
		if (skb->tstamp)
			count(2);
	}
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
