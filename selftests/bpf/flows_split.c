// SPDX-License-Identifier: GPL-2.0
/* Plans for flows, and how a split flow is shared out by PSN. */

#include "flows.h"

static void test_refused(void)
{
	static const __u32 alike[ROCESTEER_MAX_PATHS + 1] = { 1, 1, 1, 1 };
	struct rocesteer_flow_path before, after;

	begin(ROCESTEER_RESEQ_NONE);
	send_packet(1, WRITE_MIDDLE, 0);
	before = flow_entry(1);
	ktap_result(set_pieces(1, 4, alike) == -EPERM,
		    "a plan to split a flow that is not resequenced is refused");
	ktap_result(set_pieces(2, 1, alike) == -ENOENT &&
		    set_pieces(1, 0, alike) == -EINVAL &&
		    set_pieces(1, ROCESTEER_MAX_PATHS + 1, alike) == -EINVAL,
		    "plans for an unknown flow, of no piece, or of too many pieces are refused");
	ktap_result(set_piece(1, PATHS, FIRST_PORT) == -EINVAL &&
		    set_piece(1, 0, FIRST_PORT + PATHS) == -EINVAL &&
		    set_piece(1, 0, FIRST_PORT + 1) == -EINVAL &&
		    set_piece(1, 0, 0) == -EINVAL,
		    "a plan with an unknown path, or a port that is not the path's, is refused");
	after = flow_entry(1);
	ktap_result(!memcmp(&before, &after, sizeof(before)),
		    "a refused plan does not change the flow");
	ktap_result(!set_pieces(1, 1, alike) && group_entry().flows[0] == 1 &&
		    !group_entry().flows[2] &&
		    send_packet(1, WRITE_MIDDLE, 1) == 0,
		    "a flow that is not split moves to its planned path, and its share as well");
}

static void test_pieces(void)
{
	static const __u32 uneven[] = { 3, 1, 2 };
	static const __u32 alike[] = { 1, 1, 1, 1 };
	int per_path[PATHS], first, i, exact = 0;

	begin(ROCESTEER_RESEQ_ALL);
	send_packet(1, WRITE_MIDDLE, 0);
	if (set_pieces(1, 3, uneven))
		die("set_flow");
	for (i = 0; i < 20; i++) {
		send_many(1, 1 + 60 * i, 60, per_path);
		exact += per_path[0] == 30 && per_path[1] == 10 &&
			 per_path[2] == 20;
	}
	ktap_result(exact == 20,
		    "each piece of a split flow carries exactly its part of the packets");

	first = send_packet(1, WRITE_MIDDLE, 5000);
	send_packet(1, WRITE_MIDDLE, 5001);
	ktap_result(first == send_packet(1, WRITE_MIDDLE, 5000),
		    "a packet that is sent again takes the same path again");

	if (set_pieces(1, 4, alike))
		die("set_flow");
	send_many(1, ROCESTEER_PSN_MASK - 1999, 4000, per_path);
	ktap_result(per_path[0] == 1000 && per_path[1] == 1000 &&
		    per_path[2] == 1000 && per_path[3] == 1000,
		    "a split flow's packets are shared out evenly where the 24-bit PSN wraps");
	ktap_result(out.bth.dqpn == htonl(3 << 24 | 1) &&
		    udp_sum(&out) == 0xffff,
		    "a split flow's packet carries the number of paths, and a right UDP checksum");
	ktap_result(send_packet(1, ROCESTEER_OP_RC_ACK, 7) == 0 &&
		    send_packet(1, ROCESTEER_OP_RC_ACK, 8) == 0 &&
		    out.bth.dqpn == htonl(1),
		    "ACKs of a split flow stay on one path, and carry no number of paths");

	begin(ROCESTEER_RESEQ_ALL);
	send_packet(1, READ_MIDDLE, 0);
	if (set_pieces(1, 3, uneven))
		die("set_flow");
	for (i = 0; i < 60; i++)
		exact -= send_packet(1, READ_MIDDLE, 6 + i) ==
			 (i % 6 < 3 ? 0 : i % 6 < 4 ? 1 : 2);
	ktap_result(exact == -40 && out.bth.dqpn == htonl(2 << 24 | 1),
		    "READ data of a split flow is shared out like requests");
}

static void test_bits(void)
{
	static const __u32 alike[] = { 1, 1, 1, 1 };
	struct rocesteer_flow_path flow;
	struct rocesteer_flow_key key;
	bool requests, acks;

	begin_table(ROCESTEER_RESEQ_ALL, 0, 0, 0x0c);
	send_packet(1, WRITE_MIDDLE, 0);
	flow = flow_entry(1);
	flow.flags |= ROCESTEER_FLOW_LOCAL_RESEQ;
	key = flow_key(1);
	put(skel->maps.rs_flows, &key, &flow);
	if (set_pieces(1, 3, alike))
		die("set_flow");
	send_packet(1, WRITE_MIDDLE, 1);
	requests = out.bth.dqpn == htonl(0x08 << 24 | 1);
	send_packet(1, ROCESTEER_OP_RC_ACK, 1);
	acks = out.bth.dqpn == htonl(0x0c << 24 | 1);
	if (set_pieces(1, 4, alike))
		die("set_flow");
	send_packet(1, WRITE_MIDDLE, 2);
	ktap_result(requests && out.bth.dqpn == htonl(0x0c << 24 | 1),
		    "the number of a flow's paths is in the BTH bits that were chosen for it");
	ktap_result(acks,
		    "an ACK of a queue pair that is resequenced has all the chosen BTH bits set");
}

static void test_spread(void)
{
	struct rocesteer_group_key gkey = group_key();
	struct rocesteer_group group;
	int per_path[PATHS], p, exact = 0;
	__u32 run;

	begin_job(ROCESTEER_SPLIT_ALL, ROCESTEER_DEAL_LEAST);
	send_many(1, 5001, 40 * PATHS, per_path);
	for (p = 0; p < PATHS; p++)
		exact += per_path[p] == 40;
	ktap_result(exact == PATHS && flow_entry(1).piece[0].path == 2,
		    "a flow that may be split is on all paths, from the group's first path on");

	set_down(1 << 3);
	send_many(2, 1, 60, per_path);
	set_down(0);
	ktap_result(per_path[0] == 20 && per_path[1] == 20 && per_path[2] == 20,
		    "a new flow that is split has no piece on a path that is down");

	group = group_entry();
	group.weight[0] = 2;
	put(skel->maps.rs_groups, &gkey, &group);
	send_many(3, 1, 50, per_path);
	ktap_result(per_path[0] == 20 && per_path[1] == 10 && per_path[2] == 10 &&
		    per_path[3] == 10,
		    "a path with twice the weight carries twice the packets of a split flow");

	group.weight[0] = 4000;
	for (p = 1; p < PATHS; p++)
		group.weight[p] = 1000;
	put(skel->maps.rs_groups, &gkey, &group);
	send_many(4, 1, 280, per_path);
	run = flow_entry(4).piece[PATHS - 1].end;
	ktap_result(per_path[0] == 160 && per_path[1] == 40 && run == 28,
		    "few packets of a split flow in a row take one path, for any large weights");
	send_packet(ROCESTEER_QPN_REDUCE - 1, WRITE_MIDDLE, 1);
	send_packet(ROCESTEER_QPN_REDUCE, WRITE_MIDDLE, 1);
	ktap_result(flow_entry(ROCESTEER_QPN_REDUCE - 1).nr_pieces == PATHS &&
		    flow_entry(ROCESTEER_QPN_REDUCE).nr_pieces == 1,
		    "a flow to a queue pair number of a group that is summed is whole");
}

/* The job plans ports for queue pairs; each frame has the port ROCESTEER_SPORT_MIN. */
static void test_queue_pairs(void)
{
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1,
				     .actuator = ROCESTEER_ACTUATOR_QP };
	struct rocesteer_flow_path flow = {
		.source = SOURCE,
		.job = JOB,
		.flags = ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_QP,
		.nr_pieces = 1,
		.piece[0] = { .end = 1, .path = 1 },
	};
	static const __u32 alone[] = { 1 };
	struct rocesteer_flow_key key;
	__u32 number = JOB;

	begin(ROCESTEER_RESEQ_NONE);
	put(skel->maps.rs_jobs, &number, &job);
	ktap_result(send_packet(1, WRITE_MIDDLE, 0) == FAILED &&
		    verdicts(ROCESTEER_VERDICT_UNPLANNED) == 1 && !flow_entry(1).job,
		    "where a job steers queue pairs, a packet without a plan leaves as it came");
	key = flow_key(2);
	flow.piece[0].sport = htons(ROCESTEER_SPORT_MIN);
	put(skel->maps.rs_flows, &key, &flow);
	key = flow_key(3);
	flow.piece[0].sport = htons(FIRST_PORT + 1);
	put(skel->maps.rs_flows, &key, &flow);
	ktap_result(send_packet(2, WRITE_MIDDLE, 0) == FAILED &&
		    verdicts(ROCESTEER_VERDICT_ON_PLAN) == 1 &&
		    flow_entry(2).sent[1].packets == 1,
		    "a packet that a queue pair sends by its planned port is counted as on plan");
	ktap_result(send_packet(3, WRITE_MIDDLE, 0) == FAILED &&
		    verdicts(ROCESTEER_VERDICT_OFF_PLAN) == 1,
		    "a packet off its queue pair's plan is counted, and its port is not rewritten");
	ktap_result(set_pieces(2, 1, alone) == -EBUSY,
		    "a plan of pieces for the flow of a queue pair is refused");
}

void flows_split(void)
{
	test_refused();
	test_pieces();
	test_bits();
	test_spread();
	test_queue_pairs();
}
