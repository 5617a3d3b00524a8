// SPDX-License-Identifier: GPL-2.0
/*
 * Which class rocesteer_chunk gives a packet, checked with frames through BPF_PROG_TEST_RUN,
 * tables of its own; chunks_steered.c goes on with flows that are steered. Output is KTAP.
 */
#include <sched.h>

#include "chunks.h"
#include "../random.h"

#define OTHER_JOB	8
#define BASE		0xfffffffff000ull	/* of the ranges */
#define RANGE		0x10000			/* bytes of each */
#define RANGES		48
#define CLASSES		4
#define ECN		2

struct rocesteer_bpf *skel;
const struct steering *steering;

/* A result that is checked in each way of sending */
#define sent_result(ok, name, ...) \
	ktap_result(ok, name "%s", ##__VA_ARGS__, steering ? steering->how : "")

struct frame6 {
	struct ethhdr eth;
	struct ipv6hdr ip;
	struct roce roce;
} __attribute__((packed));

struct rocesteer_flow_key flow_key(__u32 dqpn)
{
	return flow_key_to(2, dqpn);
}

/* Chunk c is written to range c; its stage has this class and dimension. */
__u8 class_of(__u32 job, __u32 chunk)
{
	return 1 + (job + chunk) % CLASSES;
}

static __u8 dimension_of(__u32 chunk)
{
	return chunk % 2;
}

static __u8 dscp_of(__u8 class)
{
	return 8 * class + 1;
}

static __u8 stage_of(__u32 chunk)
{
	return chunk % ROCESTEER_MAX_STAGES;
}

/* Where packets are counted: each job has ten counters. */
static __u32 count_of(__u32 job, __u16 class, __u16 dimension)
{
	return 10 * job + (class ? 2 * class + dimension : 0);
}

/* Add a range to each chunk of @job. @gap: bytes between two ranges, of no chunk. */
static void add_ranges(__u32 job, const __u8 peer[16], __u64 gap)
{
	struct rocesteer_peer_key pkey = { .job = job, .ifindex = IFINDEX };
	struct rocesteer_ranges ranges = { .peer = peer[15], .nr = RANGES };
	struct rocesteer_range_key key = { .job = job, .peer = peer[15] };
	__u32 i;

	memcpy(pkey.addr, peer, 16);
	for (i = 0; i < RANGES; i++) {
		__u8 class = class_of(job, i), dimension = dimension_of(i);
		struct rocesteer_range range = {
			.start = BASE + i * (RANGE + gap), .length = RANGE,
			.chunk = i, .stage = stage_of(i),
			.tag = { .class = class, .dimension = dimension, .dscp = dscp_of(class),
				 .count = count_of(job, class, dimension) },
		};

		key.index = i;
		put(skel->maps.rs_ranges, &key, &range);
	}
	put(skel->maps.rs_range_peers, &pkey, &ranges);
}

static void add_job(__u32 job)
{
	struct rocesteer_chunk_job owner = {
		.nr_chunks = RANGES, .nr_classes = CLASSES,
		.none = { .dimension = ROCESTEER_NO_DIMENSION, .dscp = ROCESTEER_NO_DSCP,
			  .count = count_of(job, 0, 0) },
	};

	put(skel->maps.rs_chunk_jobs, &job, &owner);
}

void begin(void)
{
	struct rocesteer_flow_path flow = { .job = OTHER_JOB, .nr_pieces = 1 };
	struct rocesteer_flow_key key = flow_key(99);
	__u32 ifindex = IFINDEX, job = JOB;

	rocesteer_bpf__destroy(skel);
	skel = load_unpinned(false);
	if (!skel)
		die("load");
	put(skel->maps.rs_devices, &ifindex, &job);
	put(skel->maps.rs_flows, &key, &flow);
	add_job(JOB);
	add_job(OTHER_JOB);
	add_ranges(JOB, key.peer, 0);
	add_ranges(OTHER_JOB, key.peer, 0);
	if (steering)
		steering->begin();
}

static void make_roce(struct roce *roce, __u32 dqpn, __u8 opcode, __u32 psn, __u64 va, __u32 length)
{
	roce->udp.source = htons(ROCESTEER_SPORT_MIN);
	roce->udp.dest = htons(ROCESTEER_ROCE_PORT);
	roce->udp.len = htons(sizeof(*roce));
	roce->bth.opcode = opcode;
	roce->bth.dqpn = htonl(dqpn);
	roce->bth.apsn = htonl(psn & ROCESTEER_PSN_MASK);
	roce->reth.va[0] = htonl(va >> 32);
	roce->reth.va[1] = htonl(va);
	roce->reth.length = htonl(length);
}

/* Class and DSCP of a packet; @class is -1 where fields other than the DSCP were changed. */
struct got {
	int class;
	__u8 dscp;
};

/* Send a frame that device @from received. Return: the priority that the frame left with. */
static int run_forwarded(__u32 from, void *in, void *out, size_t size)
{
	const struct __sk_buff before = { .ingress_ifindex = from };
	static struct __sk_buff after;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in,
		    .data_size_in = size, .data_out = out,
		    .data_size_out = size, .ctx_in = &before,
		    .ctx_size_in = sizeof(before), .ctx_out = &after,
		    .ctx_size_out = sizeof(after));

	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.rocesteer_chunk), &opts))
		die("test run");
	return after.priority;
}

static int run(void *in, void *out, size_t size)
{
	return run_forwarded(0, in, out, size);
}

static struct frame4 make_frame(__u32 dqpn, __u8 opcode, __u32 psn, __u64 va, __u32 length)
{
	struct frame4 frame = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .tos = 0x20 | ECN, .id = 1,
			.protocol = IPPROTO_UDP, .saddr = htonl(0x0a000001),
			.daddr = htonl(0x0a000002),
			.tot_len = htons(sizeof(frame) - sizeof(frame.eth)) },
	};

	make_roce(&frame.roce, dqpn, opcode, psn, va, length);
	frame.ip.check = htons(~checksum_add(0, &frame.ip, sizeof(frame.ip)));
	return frame;
}

/* What a frame got; the fields that steering changes may differ. */
static struct got compare(const struct frame4 *in, const struct frame4 *out, int class)
{
	struct got got = { class, out->ip.tos >> 2 };
	struct frame4 same = *out;

	if (checksum_add(0, &out->ip, sizeof(out->ip)) != 0xffff || (out->ip.tos & 3) != ECN)
		got.class = -1;
	same.ip.tos = in->ip.tos;
	same.ip.check = in->ip.check;
	if (steering) {
		same.roce.udp.source = in->roce.udp.source;
		same.roce.bth.dqpn &= htonl(ROCESTEER_QPN_MASK);
		same.roce.icrc = in->roce.icrc;
	}
	if (memcmp(in, &same, sizeof(same)))
		got.class = -1;
	return got;
}

static struct got forward_packet(__u32 from, __u32 dqpn, __u8 opcode, __u32 psn,
				 __u64 va, __u32 length)
{
	struct frame4 in = make_frame(dqpn, opcode, psn, va, length), out = in;
	int class = steering ? steering->send(&out, dqpn) :
			       run_forwarded(from, &in, &out, sizeof(in));

	return compare(&in, &out, class);
}

static struct got send_packet(__u32 dqpn, __u8 opcode, __u32 psn, __u64 va, __u32 length)
{
	return forward_packet(0, dqpn, opcode, psn, va, length);
}

static __u64 address(__u32 chunk)
{
	return BASE + chunk * RANGE;
}

static bool is_class(struct got got, int class)
{
	return got.class == class && got.dscp == (class ? dscp_of(class) : 8);
}

bool has_class(__u32 dqpn, __u8 opcode, __u32 psn, int class)
{
	/* MIDDLE and LAST have no RETH: bytes in its place must not matter. */
	return is_class(send_packet(dqpn, opcode, psn, address(psn % RANGES), 1), class);
}

bool begins(__u32 dqpn, __u32 psn, __u32 chunk, __u32 packets, int class)
{
	return is_class(send_packet(dqpn, FIRST, psn, address(chunk), packets * MTU), class);
}

/* Send a whole message to a chunk. Return: whether all packets were given @class. */
static bool whole(__u32 dqpn, __u32 psn, __u32 chunk, __u32 packets, int class)
{
	bool ok = begins(dqpn, psn, chunk, packets, class);
	__u32 i;

	for (i = 1; i < packets; i++)
		ok &= has_class(dqpn, i == packets - 1 ? LAST_IMM : MIDDLE, psn + i, class);
	return ok;
}

struct rocesteer_count counted(__u32 job, __u16 class, __u16 dimension)
{
	__u32 at = count_of(job, class, dimension);
	int cpu, cpus = libbpf_num_possible_cpus();
	struct rocesteer_count all[cpus], sum = {};

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_chunk_sums), &at, all))
		die("rs_chunk_sums");
	for (cpu = 0; cpu < cpus; cpu++) {
		sum.messages += all[cpu].messages;
		sum.packets += all[cpu].packets;
		sum.bytes += all[cpu].bytes;
	}
	return sum;
}

static struct rocesteer_tags tags_of(__u32 dqpn)
{
	struct rocesteer_flow_key key = flow_key(dqpn);
	struct rocesteer_tags tags = {};

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_tags), &key, &tags);
	return tags;
}

/* A flow's packets of a class: most in its tags, some in the entry of its path. */
static __u64 packets_of(__u32 dqpn, __u8 class)
{
	struct rocesteer_flow_key key = flow_key(dqpn);
	struct rocesteer_flow_path flow = {};

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_flows), &key, &flow);
	return tags_of(dqpn).packets[class] +
	       (flow.message.tag.class == class ? flow.tagged : 0);
}

static void test_address(void)
{
	bool ok = true;
	__u32 i;

	begin();
	for (i = 0; i < RANGES; i++) {
		int class = class_of(JOB, i);

		ok &= is_class(send_packet(1, ONLY, i, address(i), 1), class);
		ok &= is_class(send_packet(1, ONLY_IMM, i, address(i) + RANGE - MTU, MTU), class);
	}
	ktap_result(ok, "a WRITE has the class and DSCP of the chunk at its address");
	ktap_result(is_class(send_packet(1, ONLY, 0, address(0) - 1, 1), 0) &&
		    is_class(send_packet(1, ONLY, 0, address(RANGES), 1), 0) &&
		    is_class(send_packet(1, ONLY, 0, 0, MTU), 0) &&
		    is_class(send_packet(1, ONLY, 0, ~0ull, MTU), 0),
		    "a WRITE to an address in no chunk's range has no class");
	ktap_result(is_class(send_packet(1, ONLY, 0, address(1) - 1, 2), 0) &&
		    is_class(send_packet(1, FIRST, 0, address(1), RANGE + 1), 0) &&
		    is_class(send_packet(1, FIRST, 0, address(1), ~0u), 0) &&
		    is_class(send_packet(1, ONLY, 0, address(1), 0), 0),
		    "a WRITE that is not all in one chunk's range has no class");
	begin();
	add_ranges(JOB, flow_key(1).peer, 100);
	ktap_result(is_class(send_packet(1, ONLY, 0, BASE + RANGE + 99, 1), 0) &&
		    is_class(send_packet(1, ONLY, 0, BASE + RANGE + 100, 1), class_of(JOB, 1)),
		    "a WRITE between the ranges of two chunks has no class");
}

void test_messages(void)
{
	__u32 i, round;
	bool ok = true;

	begin();
	ok = whole(1, 100, 5, 10, class_of(JOB, 5)) &&
	     whole(1, 110, 6, 2, class_of(JOB, 6));
	sent_result(ok, "all packets of a message have the class of its chunk");
	sent_result(has_class(1, MIDDLE, 104, class_of(JOB, 5)) &&
		    has_class(1, LAST, 109, class_of(JOB, 5)) &&
		    begins(1, 110, 6, 2, class_of(JOB, 6)) &&
		    has_class(1, LAST, 111, class_of(JOB, 6)) &&
		    has_class(1, MIDDLE, 112, 0),
		    "a message that is sent again from its middle keeps its class");
	sent_result(whole(1, ROCESTEER_PSN_MASK - 3, 7, 8, class_of(JOB, 7)) &&
		    has_class(1, MIDDLE, ROCESTEER_PSN_MASK, class_of(JOB, 7)) &&
		    has_class(1, LAST, 3, class_of(JOB, 7)) &&
		    has_class(1, MIDDLE, 4, 0), "a message keeps its class where the PSN wraps");
	sent_result(whole(1, 100, 8, 6, class_of(JOB, 8)) &&
		    whole(1, 107, 9, 3, class_of(JOB, 9)) &&
		    has_class(1, MIDDLE, 104, class_of(JOB, 8)) &&
		    has_class(1, MIDDLE, 108, class_of(JOB, 9)),
		    "a message with the PSNs of earlier messages has the class of its own chunk");
	sent_result(whole(1, 2000, 3, 5, class_of(JOB, 3)) &&
		    begins(1, 2000, RANGES, 5, 0) &&
		    has_class(1, MIDDLE, 2001, 0) && has_class(1, LAST, 2004, 0),
		    "a message without a class takes none from earlier messages with its PSNs");

	begin();
	for (i = 0; i < ROCESTEER_MAX_MESSAGES; i++)
		ok &= begins(1, 10 * i, i % RANGES, 10, class_of(JOB, i % RANGES));
	for (i = 0; i < ROCESTEER_MAX_MESSAGES; i++)
		ok &= has_class(1, MIDDLE, 10 * i + 1 + i % 8, class_of(JOB, i % RANGES));
	sent_result(ok,
		    "a flow may have %u messages in flight, all with their classes",
		    ROCESTEER_MAX_MESSAGES);
	sent_result(begins(1, 10 * i, 0, 10, class_of(JOB, 0)) &&
		    has_class(1, MIDDLE, 5, 0) &&
		    has_class(1, MIDDLE, 15, class_of(JOB, 1)),
		    "a message too many in flight makes the flow forget the class of its first");

	begin();
	for (i = 0; i < 40; i++)
		ok &= begins(1, 4 * i, i, 4, class_of(JOB, i));
	for (round = 0; round < 3; round++) {
		ok &= has_class(1, MIDDLE, 1, class_of(JOB, 0));
		for (i = 1; i < 40; i++)
			ok &= begins(1, 4 * i, i, 4, class_of(JOB, i));
	}
	sent_result(ok, "messages that are sent again and again take no more room");
}

static void test_jobs(void)
{
	bool ok;

	begin();
	ok = whole(1, 0, 4, 5, class_of(JOB, 4)) &&
	     whole(99, 0, 4, 5, class_of(OTHER_JOB, 4));
	ktap_result(ok && has_class(1, MIDDLE, 2, class_of(JOB, 4)) &&
		    has_class(99, MIDDLE, 2, class_of(OTHER_JOB, 4)),
		    "flows of two jobs have the classes of their own chunks");
	ktap_result(counted(JOB, class_of(JOB, 4), 0).packets == 6 &&
		    counted(OTHER_JOB, class_of(OTHER_JOB, 4), 0).packets == 6 &&
		    !counted(JOB, class_of(OTHER_JOB, 4), 0).packets,
		    "packets of two jobs with the same addresses are counted apart");
}

void test_counts(void)
{
	const size_t size = sizeof(struct frame4);
	struct rocesteer_count even, odd, none;

	begin();
	whole(1, 0, 2, 5, 0);
	whole(1, 5, 3, 2, 0);
	has_class(1, MIDDLE, 3, 0);
	send_packet(1, ONLY, 7, 0, 1);
	send_packet(1, READ, 8, address(0), 1);
	even = counted(JOB, class_of(JOB, 2), 0);
	odd = counted(JOB, class_of(JOB, 3), 1);
	none = counted(JOB, 0, ROCESTEER_NO_DIMENSION);
	sent_result(even.messages == 1 && even.packets == 6 &&
		    even.bytes == 6 * size && odd.messages == 1 &&
		    odd.packets == 2 && none.messages == 1 &&
		    none.packets == 2 && none.bytes == 2 * size,
		    "messages, packets and bytes are counted by class and dimension");
	sent_result(tags_of(1).job == JOB && packets_of(1, 0) == 2 &&
		    packets_of(1, class_of(JOB, 2)) == 6 &&
		    packets_of(1, class_of(JOB, 3)) == 2,
		    "packets of each flow are counted by class");
}

static void test_others(void)
{
	struct rocesteer_flow_path flow = { .job = 1234, .nr_pieces = 1 };
	struct rocesteer_flow_key key = flow_key(50), next;
	bool ok;

	begin();
	ok = has_class(1, ROCESTEER_OP_RC_ACK, 0, 0) &&
	     has_class(1, 0x0e, 0, 0) && has_class(1, 0x64, 0, 0);
	ktap_result(ok && bpf_map_get_next_key(bpf_map__fd(skel->maps.rs_tags),
					       NULL, &next),
		    "responses and packets of other services have no class, and make no tags");
	put(skel->maps.rs_flows, &key, &flow);
	ok = is_class(send_packet(50, ONLY, 0, address(0), 1), 0);
	ktap_result(ok && bpf_map_get_next_key(bpf_map__fd(skel->maps.rs_tags),
					       NULL, &next),
		    "a WRITE of a job without chunks has no class, and makes no tags");
	ktap_result(has_class(1, SEND_MIDDLE, 3, 0) &&
		    begins(1, 0, 1, 9, class_of(JOB, 1)) &&
		    has_class(1, SEND_MIDDLE, 3, 0),
		    "a SEND has no class, even with the PSN of a WRITE that has one");
}

/* Send a WRITE of flow @dqpn by UDP, as any process can, with a wrong ICRC. */
static void send_write(__u32 dqpn, __u32 psn, __u64 va, __u32 length)
{
	struct roce roce = {};

	make_roce(&roce, dqpn, FIRST, psn, va, length);
	send_by_udp(&roce.bth, sizeof(roce) - sizeof(roce.udp));
}

/* Only packets of a flow's own queue pair make or change the tags of the flow. */
static void test_senders(void)
{
	struct rocesteer_tags before, after;

	begin();
	ktap_result(is_class(forward_packet(1, 1, FIRST, 0, address(2), 3 * MTU),
			     0) && !tags_of(1).next,
		    "a forwarded packet has no class, and makes no tags");
	begins(1, 0, 5, 3, class_of(JOB, 5));
	ktap_result(is_class(forward_packet(1, 1, FIRST, 0, address(2), 3 * MTU),
			     0) &&
		    is_class(forward_packet(1, 1, MIDDLE, 1, 0, 0), 0) &&
		    has_class(1, MIDDLE, 1, class_of(JOB, 5)),
		    "a forwarded packet does not change the class of a known flow");

	begin();
	if (unshare(CLONE_NEWNET) || system("ip addr add 10.0.0.2/32 dev lo") ||
	    system("ip link set lo up"))
		die("network namespace");
	skel->links.rocesteer_chunk =
		bpf_program__attach_tcx(skel->progs.rocesteer_chunk, IFINDEX, NULL);
	if (!skel->links.rocesteer_chunk)
		die("attach");
	begins(1, 0, 5, 3, class_of(JOB, 5));
	before = tags_of(1);
	send_write(1, 0, address(2), 3 * MTU);
	after = tags_of(1);
	ktap_result(before.next == 1 && !memcmp(&before, &after, sizeof(after)),
		    "a packet that a process sends by UDP does not change the tags of a flow");
}

static void test_ipv6(void)
{
	struct frame6 in = {
		.eth.h_proto = htons(ETH_P_IPV6),
		.ip = { .version = 6, .priority = 0, .hop_limit = 64,
			.flow_lbl = { 0x2a, 0xbc, 0xde },
			.nexthdr = IPPROTO_UDP,
			.payload_len = htons(sizeof(in.roce)) },
	}, out;
	__u8 class = class_of(JOB, 3);
	int got;

	begin();
	in.ip.daddr.s6_addr[0] = 0xfd;
	in.ip.daddr.s6_addr[15] = 2;
	add_ranges(JOB, in.ip.daddr.s6_addr, 0);
	make_roce(&in.roce, 1, ONLY, 0, address(3), 1);
	got = run(&in, &out, sizeof(in));
	in.ip.priority = dscp_of(class) >> 2;
	in.ip.flow_lbl[0] |= dscp_of(class) << 6;
	ktap_result(got == class && !memcmp(&in, &out, sizeof(in)),
		    "in IPv6 a class's DSCP is in the traffic class, and nothing else changes");
}

/* The class that each PSN should have, from all packets that were sent. */
static __u8 model[ROCESTEER_PSN_MASK + 1];

/* Go back to a PSN of a message in flight, and send all packets from there again. */
static bool go_back(__u32 psn, const __u32 *first, __u32 nr)
{
	__u32 from = first[nr - 4 + random_below(4)] + random_below(3), at;
	bool ok = true;

	if (((psn - from) & ROCESTEER_PSN_MASK) > 1000)
		return true;
	for (at = from & ROCESTEER_PSN_MASK; at != psn;
	     at = (at + 1) & ROCESTEER_PSN_MASK)
		if (!(model[at] & 0x80))
			ok &= has_class(1, MIDDLE, at, model[at]);
	return ok;
}

void test_random(void)
{
	__u32 psn = ROCESTEER_PSN_MASK - 20000, packets = 0, nr = 0, i;
	static __u32 first[20000];
	bool ok = true;

	begin();
	while (packets < 40000) {
		__u32 chunk = random_below(RANGES + 4);
		__u32 n = 1 + random_below(8);
		__u8 class = chunk < RANGES ? class_of(JOB, chunk) : 0;

		for (i = 0; i < n; i++)	/* the high bit: the packet has a RETH */
			model[(psn + i) & ROCESTEER_PSN_MASK] =
				i ? class : class | 0x80;
		ok &= n > 1 ? whole(1, psn, chunk, n, class) :
			      is_class(send_packet(1, ONLY, psn, address(chunk), 1), class);
		first[nr++] = psn;
		psn = (psn + n) & ROCESTEER_PSN_MASK;
		packets += n;
		if (nr > 4 && !random_below(10))
			ok &= go_back(psn, first, nr);
	}
	sent_result(ok,
		    "random messages have their classes through go-back-N and a wrap of the PSN");
}

int main(void)
{
	ktap_begin();
	test_address();
	test_messages();
	test_jobs();
	test_counts();
	test_others();
	test_ipv6();
	test_senders();
	test_random();
	chunks_steered();
	rocesteer_bpf__destroy(skel);
	return ktap_end();
}
