// SPDX-License-Identifier: GPL-2.0
/*
 * How long a function of the kernel takes, for bench/reduce, which attaches these to it.
 * Calls repeat after a period; the least time of each counts, as an interrupt may have come
 * in the others.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MOST	8

__u64 period = 1;
__u64 calls;
__u64 least[MOST];
static __u64 began;

SEC("fentry")
int BPF_PROG(enter)
{
	began = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit")
int BPF_PROG(leave)
{
	__u64 took = bpf_ktime_get_ns() - began;
	__u64 i = calls++ % period;

	if (i < MOST && (!least[i] || took < least[i]))
		least[i] = took;
	return 0;
}

char _license[] SEC("license") = "GPL";
