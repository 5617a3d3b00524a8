// SPDX-License-Identifier: GPL-2.0
/* The source port of a queue pair that is being connected: kmod/steer/policy.c asks. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "rocesteer/policy.h"
#include "lib/deal.bpf.h"

/* A listed flow may be known, and have its share. */
SEC("struct_ops/source_port")
__be16 BPF_PROG(rocesteer_source_port, const struct rocesteer_flow_key *asked,
		__u32 claimed, __u32 options, const struct in6_addr *local)
{
	__u32 job = claimed ?: device_job(asked->ifindex);
	struct rocesteer_flow_path *flow;
	struct rocesteer_flow_key key;
	struct source source;
	__u64 state = 0;

	if (!job || !steers_qp(job, options & ROCESTEER_QP_SOFTWARE) ||
	    (options & ROCESTEER_QP_LABELLED && keeps_labels(job)))
		return 0;
	bpf_probe_read_kernel(&key, sizeof(key), asked);
	bpf_probe_read_kernel(&source, sizeof(source), local);
	if (is_observed(&key, job, source.addr))
		return 0;
	flow = find_flow(&key, &state);
	if (!flow) {
		if (enter_flow(&key, job, ROCESTEER_FLOW_QP, 0, &source) != CONTINUE)
			return 0;
		flow = find_flow(&key, &state);
	}
	if (!flow || flow->job != job || !same_addr(flow->source, source.addr) ||
	    !change_flags(flow, &state, 0, ROCESTEER_FLOW_QP))
		return 0;
	flow->nr_pieces = 1;
	if (take_share(&key)) {
		forget_flow(&key);
		return 0;
	}
	return flow->piece[0].sport;
}

/* User space fills in the namespace. */
SEC(".struct_ops.link")
struct rocesteer_policy rs_policy = {
	.source_port = (void *)rocesteer_source_port,
};
