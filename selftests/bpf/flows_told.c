// SPDX-License-Identifier: GPL-2.0
/* The ingress program learns from the peer about a flow that the module resequences. */
#include "flows.h"

#define TOLD_DQPN	7
#define TOLD_LAST	0x20	/* PSN of the last request, the first ones wrap */
#define TOLD_WINDOW	0x10000
#define PROMISE		(ROCESTEER_BTH_PATHS << ROCESTEER_BTH_SHIFT)

static __u32 told_ifindex, told_qpn;

/* The queue pair gets an ACK or READ from 10.0.0.@from, whose host resequences or not. */
static struct rocesteer_flow_path told(__u8 from, __u8 opcode, __u32 psn, bool restores)
{
	struct rocesteer_flow_key key = flow_key(TOLD_DQPN);
	struct rocesteer_flow_path flow = {};
	struct __sk_buff ctx = { .ifindex = told_ifindex };
	struct frame in = frame_of(told_qpn, opcode, psn);

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = &in,
		    .data_size_in = sizeof(in), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));

	in.ip.saddr = htonl(0x0a000000 | from);
	if (restores && opcode == ROCESTEER_OP_RC_ACK)
		in.bth.dqpn |= htonl(PROMISE);
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.rocesteer_ingress), &opts))
		die("test run");
	key.ifindex = told_ifindex;
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_flows), &key, &flow))
		die("rs_flows");
	return flow;
}

/* A flow that is split as long as its peer resequences. */
static struct rocesteer_flow_path told_begin(void)
{
	struct rocesteer_flow_path flow = {
		.source = SOURCE,
		.flags = ROCESTEER_FLOW_RESEQ_AUTO | ROCESTEER_FLOW_PEER_RESEQ |
			 ROCESTEER_FLOW_VARIES,
		.nr_pieces = PATHS, .job = JOB, .acked = TOLD_LAST - 1,
		.psns = { [0 ... ROCESTEER_PSNS_MAX - 1] = {
			.next = TOLD_LAST + 1, .last = TOLD_LAST + 1,
		} },
		.resent = { [0 ... ROCESTEER_PSNS_MAX - 1] = {
			.repeats = ROCESTEER_PSN_NONE,
		} },
	};
	struct rocesteer_flow_key key = flow_key(TOLD_DQPN);
	__u32 p;

	for (p = 0; p < PATHS; p++)
		flow.piece[p] = (struct rocesteer_piece) {
			.end = p + 1, .path = p, .sport = htons(FIRST_PORT + p),
		};
	key.ifindex = told_ifindex;
	put(skel->maps.rs_flows, &key, &flow);
	return flow;
}

void flows_told(__u32 ifindex, __u32 qpn)
{
	static const __u32 far[] = {
		TOLD_LAST + 1, TOLD_LAST - TOLD_WINDOW, TOLD_LAST + TOLD_WINDOW,
		TOLD_LAST + (1 << 20), TOLD_LAST - (1 << 20), TOLD_LAST + (1 << 23),
	};
	struct rocesteer_flow_path was, flow;
	bool same = true;
	__u32 i;

	told_ifindex = ifindex;
	told_qpn = qpn;
	skel = load_table(true, 0, 0, 0);
	if (!skel)
		die("load");
	was = told_begin();
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		flow = told(2, ROCESTEER_OP_RC_ACK, far[i], false);
		same &= !memcmp(&flow, &was, sizeof(flow));
	}
	flow = told(2, READ_REQUEST, TOLD_LAST + (1 << 20), false);
	same &= !memcmp(&flow, &was, sizeof(flow));
	flow = told(3, ROCESTEER_OP_RC_ACK, TOLD_LAST, false);
	same &= !memcmp(&flow, &was, sizeof(flow));
	ktap_result(same,
		    "an ACK or READ with a far PSN, or from another peer, does not change a flow");

	flow = told(2, ROCESTEER_OP_RC_ACK, TOLD_LAST - TOLD_WINDOW + 1, true);
	same = flow.acked == ((TOLD_LAST - TOLD_WINDOW + 1) & ROCESTEER_PSN_MASK);
	flow = told(2, ROCESTEER_OP_RC_ACK, TOLD_LAST, true);
	ktap_result(same && flow.acked == TOLD_LAST && flow.flags == was.flags &&
		    flow.nr_pieces == PATHS,
		    "an ACK of a peer that resequences is noted, and the flow stays split");
	flow = told(2, ROCESTEER_OP_RC_ACK, TOLD_LAST - 2, false);
	ktap_result(flow.acked == TOLD_LAST - 2 && flow.nr_pieces == 1 &&
		    !(flow.flags & ROCESTEER_FLOW_PEER_RESEQ),
		    "an ACK without the bits of a peer that resequences makes a flow one piece");
	told_begin();
	flow = told(2, READ_REQUEST, TOLD_LAST, false);
	ktap_result(flow.acked == was.acked && flow.nr_pieces == 1 &&
		    !(flow.flags & ROCESTEER_FLOW_PEER_RESEQ),
		    "a READ without the bits of a peer that resequences makes a flow one piece");
}
