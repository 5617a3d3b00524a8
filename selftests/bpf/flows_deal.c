// SPDX-License-Identifier: GPL-2.0
/* To which path the egress program deals a flow, and which flows it enters. */
#include <linux/ipv6.h>

#include "flows.h"
#include "../../include/rocesteer/flow.h"

static void test_deal(void)
{
	int paths[6], i;
	struct rocesteer_group group;

	begin(ROCESTEER_RESEQ_NONE);
	for (i = 0; i < 6; i++)
		paths[i] = send_packet(i, WRITE_MIDDLE, 100);
	group = group_entry();
	ktap_result(paths[0] == 2 && paths[1] == 3 && paths[2] == 0 &&
		    paths[3] == 1 && paths[4] == 2 && paths[5] == 3 &&
		    group.flows[0] == 1 && group.flows[2] == 2,
		    "flows are dealt in turn from the group's first path on");
	ktap_result(take_events() == 6 &&
		    last_event.type == ROCESTEER_EVENT_SHARE &&
		    last_event.job == JOB && last_event.key.dqpn == 5 &&
		    last_event.path == 3 && !memcmp(last_event.leaf, leaf, 16),
		    "each flow that takes a share is reported to user space");
}

/* Send an IPv6 packet to queue pair 1. Return: whether @verdict was counted. */
static bool sends_v6(const char *saddr, const char *daddr, enum rocesteer_verdict verdict)
{
	struct {
		struct ethhdr eth;
		struct ipv6hdr ip;
		struct udphdr udp;
		struct rocesteer_bth bth;
		__u8 payload[64];
		__u32 icrc;
	} __attribute__((packed)) in = {
		.eth.h_proto = htons(ETH_P_IPV6),
		.ip = { .version = 6, .nexthdr = IPPROTO_UDP,
			.payload_len = htons(sizeof(in) - sizeof(in.eth) - sizeof(in.ip)) },
		.udp = { .source = htons(ROCESTEER_SPORT_MIN),
			 .dest = htons(ROCESTEER_ROCE_PORT),
			 .len = in.ip.payload_len },
		.bth = { .opcode = WRITE_MIDDLE, .dqpn = htonl(1) },
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = &in, .data_size_in = sizeof(in));
	__u64 before = verdicts(verdict);

	inet_pton(AF_INET6, saddr, &in.ip.saddr);
	inet_pton(AF_INET6, daddr, &in.ip.daddr);
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.rocesteer_egress), &opts))
		die("test run");
	return verdicts(verdict) == before + 1;
}

/* IPv4 peers are v4-mapped in the tables: on the wire such an address is of no peer. */
static void test_v4mapped(void)
{
	begin(ROCESTEER_RESEQ_NONE);
	send_packet(1, WRITE_MIDDLE, 100);
	ktap_result(sends_v6("fe80::1", "::ffff:10.0.0.2", ROCESTEER_VERDICT_FOREIGN) &&
		    sends_v6("::ffff:10.0.0.1", "fe80::2", ROCESTEER_VERDICT_FOREIGN) &&
		    sends_v6("fe80::1", "fe80::2", ROCESTEER_VERDICT_OTHER_SOURCE) &&
		    flow_entry(1).psns[ROCESTEER_REQUESTS].next == 101,
		    "IPv6 packets to a v4-mapped address are of no IPv4 flow");
}

static void test_forwarded(void)
{
	struct rocesteer_flow_path listed = {
		.source = SOURCE, .job = JOB, .nr_pieces = 1, .flags = ROCESTEER_FLOW_SHARE,
		.piece[0] = { .end = 1, .path = 1,
			      .sport = htons(FIRST_PORT + 1) },
	};
	struct rocesteer_flow_key key = flow_key(2);
	int unknown, known, forwarded;

	begin(ROCESTEER_RESEQ_NONE);
	unknown = forward_packet(IFINDEX, 1, WRITE_MIDDLE, 0);
	known = send_packet(1, WRITE_MIDDLE, 100);
	forwarded = forward_packet(IFINDEX, 1, WRITE_MIDDLE, 200);
	ktap_result(unknown == FAILED && known == 2 && forwarded == FAILED &&
		    verdicts(ROCESTEER_VERDICT_FORWARDED) == 2 &&
		    flow_entry(1).psns[ROCESTEER_REQUESTS].next == 101,
		    "a forwarded packet makes no flow, and does not move the PSN of a known flow");
	put(skel->maps.rs_flows, &key, &listed);
	ktap_result(forward_packet(IFINDEX, 2, WRITE_MIDDLE, 0) == 1,
		    "a forwarded packet is steered where its job lists the flow");
}

static void test_share(void)
{
	int ack, request;

	begin(ROCESTEER_RESEQ_NONE);
	ack = send_packet(1, ROCESTEER_OP_RC_ACK, 5);
	ktap_result(ack == 2 && !group_entry().flows[2] && !take_events(),
		    "a flow that only acknowledges has a path and no share");
	request = send_packet(1, WRITE_MIDDLE, 100);
	ktap_result(request == 2 && group_entry().flows[2] == 1 &&
		    take_events() == 1,
		    "a flow that only acknowledged takes a share with its first request");
	ktap_result(send_packet(2, READ_MIDDLE, 9) == 3 &&
		    group_entry().flows[3] == 1, "a flow that sends READ data takes a share");
}

static int forget(__u32 dqpn)
{
	struct rocesteer_flow_key key = flow_key(dqpn);

	return run(skel->progs.rocesteer_forget, &key, sizeof(key));
}

static void observe_group(__u32 observe)
{
	struct rocesteer_set_observe set = { .key = group_key(), .observe = observe };

	if (run(skel->progs.rocesteer_set_observe, &set, sizeof(set)))
		die("set_observe");
}

/* The flow has sent so many packets on the path, with so many rounds of go-back-N. */
static bool has_sent(__u32 dqpn, __u32 path, __u64 packets, __u64 rounds)
{
	struct rocesteer_flow_path flow = flow_entry(dqpn);
	struct rocesteer_ended_path sent = rocesteer_sent_on(&flow, path);

	return sent.packets == packets && sent.bytes == packets * sizeof(struct frame) &&
	       sent.rounds == rounds;
}

/* The port of send_packet() is of no path: it leaves as it came. */
static void test_observe(void)
{
	struct rocesteer_flow_path flow;

	begin(ROCESTEER_RESEQ_ALL);
	observe_group(1);
	ktap_result(send_packet(1, WRITE_MIDDLE, 0) == FAILED &&
		    out.udp.source == htons(ROCESTEER_SPORT_MIN) && out.bth.dqpn == htonl(1) &&
		    send_packet(1, WRITE_MIDDLE, 1) == FAILED &&
		    send_packet(1, ROCESTEER_OP_RC_ACK, 9) == FAILED &&
		    verdicts(ROCESTEER_VERDICT_OBSERVED) == 3 &&
		    !verdicts(ROCESTEER_VERDICT_STEERED),
		    "a packet of an observed flow leaves as it came");
	flow = flow_entry(1);
	ktap_result(take_events() == 1 && last_event.type == ROCESTEER_EVENT_SHARE &&
		    last_event.path == ROCESTEER_PATH_UNKNOWN && flow.nr_pieces == 1 &&
		    flow.piece[0].path == ROCESTEER_PATH_UNKNOWN &&
		    flow.piece[0].sport == htons(ROCESTEER_SPORT_MIN) && has_sent(1, 0, 3, 0) &&
		    !group_entry().flows[0],
		    "the path of an observed flow is asked for once, and no group counts it before");
	ktap_result(set_piece(1, PATHS, ROCESTEER_SPORT_MIN) == -EINVAL &&
		    set_piece(1, 3, FIRST_PORT + 3) == -EINVAL &&
		    !set_piece(1, 3, ROCESTEER_SPORT_MIN) && group_entry().flows[3] == 1 &&
		    has_sent(1, 3, 3, 0) && has_sent(1, 0, 0, 0),
		    "an observed flow gets a path for its own port, and what it sent counts there");
	send_packet(1, WRITE_MIDDLE, 2);
	send_packet(1, WRITE_MIDDLE, 0);
	send_packet(1, WRITE_MIDDLE, 1);
	send_packet(1, WRITE_MIDDLE, 0);
	send_packet(1, WRITE_MIDDLE, 0);
	ktap_result(has_sent(1, 3, 8, 3) && !flow_entry(1).detour.until && !take_events() &&
		    flow_entry(1).psns[ROCESTEER_REQUESTS].next == 3,
		    "rounds of an observed flow are counted, and lead to no detour");
	ktap_result(!set_piece(1, 0, ROCESTEER_SPORT_MIN) && !group_entry().flows[3] &&
		    group_entry().flows[0] == 1 && has_sent(1, 3, 8, 3),
		    "an observed flow whose port takes another path now keeps what it sent before");
	observe_group(0);
	ktap_result(send_packet(1, WRITE_MIDDLE, 3) == FAILED &&
		    send_packet(2, WRITE_MIDDLE, 0) >= 0 && !forget(1) &&
		    send_packet(1, WRITE_MIDDLE, 4) >= 0,
		    "a flow of a group that is steered again is steered once it was forgotten");
}

static void test_weights(void)
{
	struct rocesteer_group_key key = group_key();
	struct rocesteer_group group;
	int i;

	begin(ROCESTEER_RESEQ_NONE);
	group = group_entry();
	group.weight[1] = 3;
	put(skel->maps.rs_groups, &key, &group);
	for (i = 0; i < 12; i++)
		send_packet(i, WRITE_MIDDLE, 0);
	group = group_entry();
	ktap_result(group.flows[0] == 2 && group.flows[1] == 6 &&
		    group.flows[2] == 2 && group.flows[3] == 2,
		    "a path of three times the weight gets three times the flows");
}

static void test_home(void)
{
	struct rocesteer_group_key key = group_key();
	struct rocesteer_group group;
	int i, home = 0;

	begin(ROCESTEER_RESEQ_NONE);
	group = group_entry();
	group.weight[1] = ROCESTEER_WEIGHT_HOME;
	put(skel->maps.rs_groups, &key, &group);
	for (i = 0; i < 1000; i++)
		home += send_packet(i, WRITE_MIDDLE, 0) == 1;
	ktap_result(home == 1000, "all flows take the path that is their home");
	set_down(1 << 1);
	for (i = 1000; i < 1003; i++)
		send_packet(i, WRITE_MIDDLE, 0);
	group = group_entry();
	ktap_result(group.flows[0] == 1 && group.flows[1] == 1000 &&
		    group.flows[2] == 1 && group.flows[3] == 1,
		    "while the home path is down, new flows are dealt over the other paths");
}

static void test_down(void)
{
	int i, on_down = 0;

	begin(ROCESTEER_RESEQ_NONE);
	set_down(1 << 2 | 1 << 3);
	for (i = 0; i < 8; i++)
		on_down += send_packet(i, WRITE_MIDDLE, 0) >= 2;
	ktap_result(!on_down && group_entry().flows[0] == 4,
		    "no flow is dealt to a path that is down");
	set_down(0xf);
	ktap_result(send_packet(8, WRITE_MIDDLE, 0) == FAILED,
		    "with all paths down, a packet of a new flow leaves as it came");
	set_down(0);
	ktap_result(send_packet(8, WRITE_MIDDLE, 1) >= 2,
		    "a flow without a path is dealt when a path is up again");
}

static struct rocesteer_peer peer_entry(struct rocesteer_peer_key *key)
{
	struct rocesteer_flow_key flow = flow_key(0);
	struct rocesteer_peer peer = {};

	*key = (struct rocesteer_peer_key) { .job = JOB, .ifindex = IFINDEX };
	memcpy(key->addr, flow.peer, sizeof(key->addr));
	memcpy(key->source, source, sizeof(source));
	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_peers), key, &peer);
	return peer;
}

static __u32 peer_flows(__u32 path)
{
	struct rocesteer_peer_key key;

	return peer_entry(&key).flows[path];
}

/* Another host under the same leaf, with the same ports. */
static void add_host(__u8 number)
{
	struct rocesteer_peer_key key;
	struct rocesteer_peer peer = peer_entry(&key);

	memset(peer.flows, 0, sizeof(peer.flows));
	key.addr[15] = number;
	put(skel->maps.rs_peers, &key, &peer);
}

static void test_place(void)
{
	int paths[2][PATHS], i, in_turn = 0;
	struct rocesteer_set_peer set = {};

	begin_job(ROCESTEER_SPLIT_NONE, ROCESTEER_DEAL_PLACE);
	add_host(3);
	for (i = 0; i < PATHS; i++) {
		host = 2;
		paths[0][i] = send_packet(1 + i, WRITE_MIDDLE, 1);
		host = 3;
		paths[1][i] = send_packet(1 + i, WRITE_MIDDLE, 1);
	}
	host = 2;
	for (i = 0; i < PATHS; i++)
		in_turn += paths[0][i] == (2 + i) % PATHS && paths[1][i] == paths[0][i];
	ktap_result(in_turn == PATHS,
		    "flows dealt by place take all paths to each peer in turn, from the host's on");
	ktap_result(group_entry().flows[2] == 2 && peer_flows(2) == 1,
		    "flows dealt by place are counted by group and by peer");
	if (set_piece(1, 1, FIRST_PORT + 1))
		die("set_flow");
	ktap_result(!peer_flows(2) && peer_flows(1) == 2,
		    "a flow that moves to another path is counted on that path");
	set.peer = peer_entry(&set.key);
	memset(set.peer.sport, 0, sizeof(set.peer.sport));
	set.peer.sport[2] = htons(FIRST_PORT + 2);
	set.peer.hop = 7;
	set.peer.leaf_hop = 9;
	set.peer.flows[1] = 0;
	ktap_result(!run(skel->progs.rocesteer_set_peer, &set, sizeof(set)) &&
		    peer_flows(1) == 2 && send_packet(9, WRITE_MIDDLE, 1) == 2 &&
		    peer_entry(&set.key).hop == 7 && peer_entry(&set.key).leaf_hop == 9,
		    "a peer that gets other ports and distances keeps its counts of flows");
	set.key.addr[15] = 9;
	ktap_result(run(skel->progs.rocesteer_set_peer, &set, sizeof(set)) == -ENOENT,
		    "new ports for a peer that the job does not have are refused");
}

static void test_paths(void)
{
	static struct rocesteer_set_paths set;
	struct rocesteer_group group;

	begin(ROCESTEER_RESEQ_NONE);
	send_packet(1, WRITE_MIDDLE, 0);
	set.key = group_key();
	set.nr_paths = PATHS - 1;
	set.down = 1 << 1;
	set.weight[2] = 5;
	set.router[2][15] = 1;
	set.leaf[2][15] = 2;
	set.via[2][15] = 3;
	ktap_result(!run(skel->progs.rocesteer_set_paths, &set, sizeof(set)),
		    "a group gets other paths");
	group = group_entry();
	ktap_result(group.nr_paths == PATHS - 1 && group.down == 1 << 1 &&
		    !memcmp(group.weight, set.weight, sizeof(set.weight)) &&
		    !memcmp(group.router, set.router, sizeof(set.router)) &&
		    !memcmp(group.leaf, set.leaf, sizeof(set.leaf)) &&
		    !memcmp(group.via, set.via, sizeof(set.via)) &&
		    group.flows[0] + group.flows[1] + group.flows[2] + group.flows[3] == 1,
		    "they are those that were asked for, and counts of flows stay");
	set.nr_paths = 0;
	ktap_result(run(skel->progs.rocesteer_set_paths, &set, sizeof(set)) == -EINVAL,
		    "a group without paths is refused");
}

/* The path for a queue pair, or packets; loads are the flows on path 0, 1, ... */
static unsigned int lightest(const __u32 to_peer[PATHS], const __u32 in_group[PATHS],
			     enum rocesteer_deal deal, bool queue_pair)
{
	static struct rocesteer_group group;
	static struct rocesteer_peer peer;
	__u32 by = rocesteer_deal_by(deal, queue_pair), p, best = 0;

	memcpy(peer.flows, to_peer, PATHS * sizeof(__u32));
	memcpy(group.flows, in_group, PATHS * sizeof(__u32));
	for (p = 1; p < PATHS; p++)
		if (rocesteer_path_load(&group, &peer, p, by) <
		    rocesteer_path_load(&group, &peer, best, by))
			best = p;
	return best;
}

static void test_deal_by(void)
{
	static const __u32 to_peer[PATHS] = { 1, 0, 0, 1 }, in_group[PATHS] = { 3, 9, 8, 1 };

	ktap_result(lightest(to_peer, in_group, ROCESTEER_DEAL_LEAST, true) == 2,
		    "queue pairs are dealt by the peer's flows, then by the group's flows");
	ktap_result(lightest(to_peer, in_group, ROCESTEER_DEAL_LEAST, false) == 3 &&
		    lightest(to_peer, in_group, ROCESTEER_DEAL_PLACE, false) == 1 &&
		    lightest(to_peer, in_group, ROCESTEER_DEAL_PLACE, true) == 1,
		    "packets are dealt by the group's flows, and by the peer's where places deal");
}

static void put_ports(__u32 dqpn, __u16 first)
{
	struct rocesteer_qpn_key key = { .dqpn = dqpn };
	struct rocesteer_ports ports = {};
	__u32 p;

	peer_entry(&key.peer);
	for (p = 0; p < PATHS; p++)
		ports.sport[p] = htons(first + p);
	put(skel->maps.rs_qpns, &key, &ports);
}

static bool is_asked(__u32 dqpn)
{
	struct rocesteer_qpn_key key = { .dqpn = dqpn };
	struct rocesteer_ports ports = {};

	peer_entry(&key.peer);
	return !bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_qpns), &key, &ports) &&
	       !ports.sport[0];
}

/* The peer is taken out of the job's port map. */
static void test_unknown_peer(void)
{
	struct rocesteer_peer_key key;

	begin(ROCESTEER_RESEQ_NONE);
	peer_entry(&key);
	bpf_map__delete_elem(skel->maps.rs_peers, &key, sizeof(key), 0);
	send_packet(1, WRITE_MIDDLE, 1);
	send_packet(2, WRITE_MIDDLE, 1);
	ktap_result(verdicts(ROCESTEER_VERDICT_NO_PEER) == 2 && !count_flows(skel),
		    "packets to a peer without a port map leave as they came");
	ktap_result(take_events() == 1 && last_event.type == ROCESTEER_EVENT_PEER &&
		    last_event.job == JOB && !memcmp(last_event.key.peer, key.addr, 16) &&
		    !memcmp(last_event.leaf, key.source, 16),
		    "a peer without a port map is reported to user space once, with the source");
}

/* Where switches hash the destination QPN each queue pair needs ports of its own. */
static void test_qpn_hash(void)
{
	struct rocesteer_peer_key key;
	struct rocesteer_peer peer;
	int per_path[PATHS];
	__u16 sport;

	begin_job(ROCESTEER_SPLIT_ALL, ROCESTEER_DEAL_LEAST);
	peer = peer_entry(&key);
	peer.qpn_hash = 1;
	put(skel->maps.rs_peers, &key, &peer);
	send_packet(1, WRITE_MIDDLE, 1);
	sport = out.udp.source;
	send_packet(1, WRITE_MIDDLE, 2);
	ktap_result(sport == htons(ROCESTEER_SPORT_MIN) && out.udp.source == sport &&
		    verdicts(ROCESTEER_VERDICT_NO_PATH) == 2 && !count_flows(skel) && is_asked(1),
		    "a packet leaves as it came while its hashed queue pair has no ports");
	ktap_result(take_events() == 1 && last_event.type == ROCESTEER_EVENT_QPN &&
		    last_event.key.dqpn == 1 && !memcmp(last_event.leaf, leaf, 16),
		    "a hashed queue pair without ports is reported to user space once");
	put_ports(1, 51000);
	send_many(1, 3, 4 * PATHS, per_path);
	sport = flow_entry(1).piece[0].sport;
	ktap_result(sport == htons(51000 + flow_entry(1).piece[0].path) &&
		    flow_entry(1).nr_pieces == PATHS &&
		    flow_entry(1).piece[1].sport ==
			    htons(51000 + flow_entry(1).piece[1].path),
		    "with its ports known, a flow to a hashed queue pair is split over all paths");
	ktap_result(set_piece(1, 1, FIRST_PORT + 1) == -EINVAL &&
		    !set_piece(1, 1, 51001),
		    "a plan is accepted only with the ports of its hashed queue pair");
	send_packet(2, WRITE_MIDDLE, 1);
	ktap_result(is_asked(2), "each hashed queue pair of a peer waits for ports of its own");
}

void flows_deal(void)
{
	test_deal();
	test_v4mapped();
	test_forwarded();
	test_share();
	test_observe();
	test_weights();
	test_home();
	test_down();
	test_place();
	test_paths();
	test_deal_by();
	test_unknown_peer();
	test_qpn_hash();
}
