// SPDX-License-Identifier: GPL-2.0
/* How a flow goes around a dead path, and when a flow moves to another. */
#include "flows.h"

#define DETOUR		200000000	/* ns that a path is avoided */
#define TOGETHER	25000000	/* ns, less than the silence between two losses */

static __u64 rounds(__u32 dqpn)
{
	struct rocesteer_flow_path flow = flow_entry(dqpn);
	__u64 sum = 0;
	int p;

	for (p = 0; p < PATHS; p++)
		sum += flow.rounds[p];
	return sum;
}

static void go_back(__u32 dqpn, __u32 from, __u32 to)
{
	for (; from != to; from++)
		send_packet(dqpn, WRITE_MIDDLE, from);
}

static void test_rounds(void)
{
	begin(ROCESTEER_RESEQ_NONE);
	go_back(1, 0, 50);
	send_packet(1, READ_REQUEST, 50);	/* of ten packets */
	go_back(1, 60, 80);
	ktap_result(!rounds(1),
		    "PSNs that go on, or skip the packets of a READ, begin no round of go-back-N");
	go_back(1, 40, 50);
	send_packet(1, READ_REQUEST, 50);
	go_back(1, 60, 90);
	ktap_result(rounds(1) == 1,
		    "a return to an earlier PSN is one round of go-back-N, however long");
	go_back(1, 45, 90);
	ktap_result(rounds(1) == 2 && !flow_entry(1).detour.until,
		    "a second loss at another PSN is a second round, and the flow keeps its path");
}

/*
 * Return: whether @most ns have passed since @then, so that a test has to be repeated.
 * A machine that stalls gets 20 repetitions; on a machine that is too slow checks fail.
 */
static bool was_late(__u64 then, __u64 most)
{
	static unsigned int times;

	return now() - then >= most && times++ < 20;
}

static void test_detour(void)
{
	int home, away, other, next, last, events;
	__u64 then, until;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		go_back(1, 0, 50);
		go_back(2, 0, 50);
		take_events();
		home = send_packet(1, WRITE_MIDDLE, 50);
		then = now();
		go_back(1, 20, 51);
		go_back(1, 20, 51);
		away = send_packet(1, WRITE_MIDDLE, 51);
		events = take_events();
		other = send_packet(2, WRITE_MIDDLE, 50);
		go_back(1, 20, 51);
		next = send_packet(1, WRITE_MIDDLE, 52);
		last = send_packet(1, WRITE_MIDDLE, 53);
		until = flow_entry(1).detour.until;
	} while (was_late(then, DETOUR));
	ktap_result(home == 2 && away >= 0 && away != home,
		    "a flow leaves a path that lost the same packet twice");
	ktap_result(events == 1 &&
		    last_event.type == ROCESTEER_EVENT_DETOUR &&
		    last_event.path == (__u32)home && last_event.key.dqpn == 1,
		    "a detour is reported to user space once, with the path and the flow");
	ktap_result(other == 3,
		    "a flow keeps its path while a flow of another path is on a detour");
	ktap_result(next != away && last != home,
		    "a flow takes another path when its packet is lost on the detour as well");
	ktap_result(until > then + DETOUR && until <= now() + DETOUR,
		    "a detour around a path that loses packets is for 200 ms");
	while (now() <= until)
		;
	ktap_result(send_packet(1, WRITE_MIDDLE, 54) == home,
		    "a flow is back on its path when its detour is over");
}

static bool says_paths(__u32 dqpn, unsigned int paths)
{
	return out.bth.dqpn == htonl((paths - 1) << 24 | dqpn);
}

static void test_detour_split(void)
{
	static const __u32 alike[] = { 1, 1, 1, 1 };
	bool before, shared, other, again, planned;
	__u64 then, until;
	int away;

	do {
		begin(ROCESTEER_RESEQ_ALL);
		send_packet(1, WRITE_MIDDLE, 0);
		send_packet(2, WRITE_MIDDLE, 0);
		if (set_pieces(1, 4, alike) || set_pieces(2, 2, alike))
			die("set_flow");
		go_back(1, 1, 50);
		go_back(2, 1, 50);
		before = says_paths(2, 2);
		then = now();
		go_back(1, 20, 50);
		go_back(1, 20, 50);
		away = send_packet(1, WRITE_MIDDLE, 52);
		send_packet(1, WRITE_MIDDLE, 53);
		shared = away > 0 && says_paths(1, 3);
		until = flow_entry(1).detour.until;
		go_back(2, 20, 50);
		go_back(2, 20, 50);
		away = send_packet(2, WRITE_MIDDLE, 52);
		other = away > 1 && says_paths(2, 2);
	} while (was_late(then, DETOUR));
	ktap_result(before && shared,
		    "the number of paths in packets is one less while a detour joins two pieces");
	ktap_result(other,
		    "a detour to a path without a piece keeps the number of paths in packets");
	while (now() <= until)
		;
	send_packet(1, WRITE_MIDDLE, 56);
	send_packet(1, WRITE_MIDDLE, 57);
	again = says_paths(1, 4);
	do {
		if (set_pieces(1, 4, alike))
			die("set_flow");
		then = now();
		go_back(1, 20, 58);
		go_back(1, 20, 58);
		shared = says_paths(1, 3);
		if (set_pieces(1, 3, alike))
			die("set_flow");
		send_packet(1, WRITE_MIDDLE, 58);
		planned = says_paths(1, 3);
	} while (was_late(then, DETOUR));
	ktap_result(again && shared && planned,
		    "the number of paths in packets is the plan's after a detour or by a new plan");
}

static void test_detour_at_once(void)
{
	struct rocesteer_flow_path flow;
	struct rocesteer_flow_key key;
	__u64 then, before, after;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		go_back(4, 0, 50);
		key = flow_key(4);
		flow = flow_entry(4);
		flow.acked = 19;
		flow.resent[ROCESTEER_REQUESTS].again =
			30 | ROCESTEER_PSN_ASKED;
		put(skel->maps.rs_flows, &key, &flow);
		go_back(4, 30, 50);
		before = flow_entry(4).detour.until;
		then = now();
		go_back(4, 20, 50);
		after = flow_entry(4).detour.until;
	} while (was_late(then, DETOUR));
	ktap_result(!before && after,
		    "where NAKs are seen, one round of go-back-N without a NAK begins a detour");
}

static void test_detour_down(void)
{
	int home, away;
	__u64 then;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		home = send_packet(3, WRITE_MIDDLE, 50);
		set_down(~(1 << home));
		then = now();
		go_back(3, 20, 51);
		go_back(3, 20, 51);
		away = send_packet(3, WRITE_MIDDLE, 51);
	} while (was_late(then, DETOUR));
	ktap_result(home >= 0 && away >= 0 && away != home,
		    "where no other path is up, a detour tries a path that is held down");
}

static void test_two_paths(void)
{
	struct rocesteer_group_key key = group_key();
	struct rocesteer_group group;
	int home, away, back;
	__u64 then;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		group = group_entry();
		group.nr_paths = 2;
		group.first = 0;
		put(skel->maps.rs_groups, &key, &group);
		go_back(1, 0, 50);
		home = send_packet(1, WRITE_MIDDLE, 50);
		then = now();
		go_back(1, 20, 51);
		go_back(1, 20, 51);
		away = send_packet(1, WRITE_MIDDLE, 51);
		go_back(1, 20, 52);
		back = send_packet(1, WRITE_MIDDLE, 52);
	} while (was_late(then, DETOUR));
	ktap_result(home == 0 && away == 1 && back == home,
		    "where both of two paths lose a packet, its flow is on its own path again");
}

/* Wait for longer than a peer repeats packets along with a lost one. */
static void fall_silent(void)
{
	__u64 then = now() + 50000000;

	while (now() <= then)
		;
}

static void test_acks(void)
{
	int home, near, away;
	__u64 then;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		then = now();
		home = send_packet(1, ROCESTEER_OP_RC_ACK, 10);
		send_packet(1, ROCESTEER_OP_RC_ACK, 20);
		send_packet(1, ROCESTEER_OP_RC_ACK, 20);
		near = send_packet(1, ROCESTEER_OP_RC_ACK, 20);
	} while (was_late(then, TOGETHER));
	fall_silent();
	send_packet(1, ROCESTEER_OP_RC_ACK, 20);
	away = send_packet(1, ROCESTEER_OP_RC_ACK, 20);
	ktap_result(home == 2 && away >= 0 && away != home,
		    "ACKs that are repeated after a silence change their path");
	ktap_result(near == home,
		    "ACKs that are repeated at once, along with a lost packet, keep their path");
}

static void test_acks_again(void)
{
	int home, near, away;
	__u64 then;

	do {
		begin(ROCESTEER_RESEQ_NONE);
		then = now();
		home = send_packet(2, ROCESTEER_OP_RC_ACK, 10);
		send_packet(2, ROCESTEER_OP_RC_ACK, 10);
		near = send_packet(2, ROCESTEER_OP_RC_ACK, 10);
	} while (was_late(then, TOGETHER));
	fall_silent();
	send_packet(2, ROCESTEER_OP_RC_ACK, 11);
	send_packet(2, ROCESTEER_OP_RC_ACK, 11);
	away = send_packet(2, ROCESTEER_OP_RC_ACK, 11);
	ktap_result(near == home && away >= 0 && away != home,
		    "ACKs change their path with the second burst that is repeated at once");
}

/* A flow that is not split waits to move to path 0, as its peer does not resequence. */
static void wait_to_move(__u32 dqpn, __u32 acked)
{
	struct rocesteer_flow_path flow = flow_entry(dqpn);
	struct rocesteer_flow_key key = flow_key(dqpn);

	flow.flags |= ROCESTEER_FLOW_RESEQ_AUTO | ROCESTEER_FLOW_VARIES;
	flow.acked = acked;
	flow.next = (struct rocesteer_piece) {
		.end = 1, .path = 0, .sport = htons(FIRST_PORT),
	};
	put(skel->maps.rs_flows, &key, &flow);
}

static void test_move(void)
{
	int waits, moves;
	__u64 then;

	begin(ROCESTEER_RESEQ_NONE);
	send_packet(1, WRITE_MIDDLE, 10);
	wait_to_move(1, 9);
	waits = send_packet(1, WRITE_MIDDLE, 11);
	wait_to_move(1, 11);
	moves = send_packet(1, WRITE_MIDDLE, 12);
	ktap_result(waits == 2 && moves == 0,
		    "a flow that is not split moves when all its requests are acknowledged");
	do {
		begin(ROCESTEER_RESEQ_NONE);
		then = now();
		send_packet(2, READ_MIDDLE, 10);
		wait_to_move(2, ROCESTEER_PSN_NONE);
		waits = send_packet(2, READ_MIDDLE, 11);
	} while (was_late(then, TOGETHER));
	fall_silent();
	moves = send_packet(2, READ_MIDDLE, 12);
	ktap_result(waits == 2 && moves == 0,
		    "a flow that sends READ data moves when it has been silent");
	do {
		begin(ROCESTEER_RESEQ_NONE);
		then = now();
		send_packet(3, WRITE_MIDDLE, 10);
		send_packet(3, READ_MIDDLE, 20);
		wait_to_move(3, 10);
		waits = send_packet(3, WRITE_MIDDLE, 11);
	} while (was_late(then, TOGETHER));
	wait_to_move(3, 11);
	fall_silent();
	moves = send_packet(3, READ_MIDDLE, 21);
	ktap_result(waits == 2 && moves == 0,
		    "a flow with requests and READ data moves once acknowledged and silent");
}

void flows_detour(void)
{
	test_rounds();
	test_detour();
	test_detour_split();
	test_detour_at_once();
	test_detour_down();
	test_two_paths();
	test_acks();
	test_acks_again();
	test_move();
}
