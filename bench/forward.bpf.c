// SPDX-License-Identifier: GPL-2.0
/* Sends the frames of bench/forward over a link. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

__u32 device;

SEC("xdp")
int send_frame(struct xdp_md *ctx)
{
	return bpf_redirect(device, 0);
}

char _license[] SEC("license") = "GPL";
