// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that were valid, and what mutations made of them, through the programs by
 * BPF_PROG_TEST_RUN:
 *
 *	packets [--module] [COUNT [SEED]]
 *
 * A packet that is not steered leaves byte for byte as it came. A steered packet differs
 * in its source port, the bits that carry the number of the flow's paths, and the UDP
 * checksum and ICRC over both, which stay as right or wrong as they were. Each packet is
 * counted once. The program for chunks gives a packet the DSCP of its chunk, or changes
 * nothing. Several processes with different seeds use several CPUs. Output is KTAP.
 */
#include <time.h>
#include <linux/if_ether.h>
#include <linux/ipv6.h>

#include "tables.h"
#include "../packets.h"
#include "../../include/rocesteer/chunk.h"
#include "../../include/rocesteer/stats.h"

#define CLASS		1
#define DSCP		46	/* of its only class of chunks */
#define BATCH		4096	/* packets between two looks at the counters */
#define BATCHES		64	/* then the tables are made anew */
#define SHOWN		5	/* failures */

static const __u8 leaf[16] = { [15] = 9 };
static struct rocesteer_bpf *skel;
static bool with_module;
static unsigned int failures;

static const struct packet_world world = {
	.v4 = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } },
	.v6 = { { 0xfd, [15] = 1 }, { 0xfd, [15] = 2 } },
	.qpns = 64,
	.room = PACKET_MAX,
};

static struct packet in, out;

/* Nearly all addresses of a peer are of the job's only chunk. */
static void add_range(const struct rocesteer_peer_key *peer)
{
	struct rocesteer_range range = { .start = 1, .length = -2ull,
					 .tag = { .class = CLASS, .dscp = DSCP } };
	struct rocesteer_range_key key = { .job = peer->job };
	struct rocesteer_ranges ranges = { .nr = 1 };

	put(skel->maps.rs_ranges, &key, &range);
	put(skel->maps.rs_range_peers, peer, &ranges);
}

static void add_chunk(void)
{
	struct rocesteer_chunk_job owner = { .nr_chunks = 1, .nr_classes = CLASS,
					     .none.dscp = ROCESTEER_NO_DSCP };
	__u32 job = JOB;

	put(skel->maps.rs_chunk_jobs, &job, &owner);
}

/*
 * A job that has the device, a chunk, and paths to a peer of either family; no flow.
 */
static void begin(__u8 reseq)
{
	static const __u8 addrs[][16] = {
		{ [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 },
		{ 0xfd, [15] = 2 },
	};
	static const __u8 sources[][16] = {
		{ [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 },
		{ 0xfd, [15] = 1 },
	};
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1,
				     .split = ROCESTEER_SPLIT_ALL,
				     .reseq = reseq };
	struct rocesteer_group_key gkey = { .job = JOB, .ifindex = IFINDEX };
	struct rocesteer_group group = { .nr_paths = PATHS };
	struct rocesteer_peer peer = { .nr_paths = PATHS };
	__u32 number = JOB, ifindex = IFINDEX, p;

	rocesteer_bpf__destroy(skel);
	skel = load_unpinned(with_module);
	if (!skel)
		die("load");
	memcpy(gkey.leaf, leaf, sizeof(leaf));
	memcpy(peer.leaf, leaf, sizeof(leaf));
	for (p = 0; p < PATHS; p++) {
		peer.sport[p] = htons(FIRST_PORT + p);
		group.weight[p] = 1;
	}
	for (p = 0; p < sizeof(addrs) / sizeof(addrs[0]); p++) {
		struct rocesteer_peer_key key = { .job = JOB, .ifindex = IFINDEX };

		memcpy(key.addr, addrs[p], sizeof(key.addr));
		add_range(&key);
		memcpy(key.source, sources[p], sizeof(key.source));
		put(skel->maps.rs_peers, &key, &peer);
	}
	add_chunk();
	put(skel->maps.rs_groups, &gkey, &group);
	put(skel->maps.rs_jobs, &number, &job);
	put(skel->maps.rs_devices, &ifindex, &number);
}

static __u32 stored_icrc(const struct packet *p, const struct packet_layout *l)
{
	__u32 word;

	memcpy(&word, p->data + l->l4 + l->len - sizeof(word), sizeof(word));
	return word;
}

/* One's complement sum of the UDP datagram, folded; 0xffff is 0. */
static __u32 udp_sum(const struct packet *p, const struct packet_layout *l)
{
	return checksum_add(0, p->data + l->l4, l->len) % 0xffff;
}

static void dump(const char *what, const struct packet *p)
{
	size_t i;

	printf("# %s: ", what);
	for (i = 0; i < p->len; i++)
		printf("%02x", p->data[i]);
	printf("\n");
}

static void fail(const char *what)
{
	if (failures++ >= SHOWN)
		return;
	printf("# %s\n", what);
	dump("in ", &in);
	dump("out", &out);
}

/* A steered packet differs in no other field than may be, and its checksums fit. */
static void check_steered(void)
{
	struct packet_layout l;
	struct packet same;
	__u8 *now, *was;
	__u16 sport;

	if (out.len != in.len || !packet_layout(&in, &l))
		return fail("steered, but not valid");
	was = in.data + l.l4;
	now = out.data + l.l4;
	sport = now[0] << 8 | now[1];
	if (sport < FIRST_PORT || sport >= FIRST_PORT + PATHS)
		return fail("the source port is not that of a path");
	memcpy(&same, &out, sizeof(same.len) + out.len);
	memcpy(same.data + l.l4, was, 2);
	memcpy(same.data + l.l4 + l.len - 4, was + l.len - 4, 4);
	same.data[l.l4 + 12] = (now[12] & ~0x3f) | (was[12] & 0x3f);
	if (was[6] || was[7])
		memcpy(same.data + l.l4 + 6, was + 6, 2);
	if (memcmp(same.data, in.data, in.len))
		return fail("more has changed than may");
	if ((stored_icrc(&in, &l) ^ packet_icrc(&in, &l)) !=
	    (stored_icrc(&out, &l) ^ packet_icrc(&out, &l)))
		return fail("the ICRC is wrong");
	if ((was[6] || was[7]) && (udp_sum(&in, &l) != udp_sum(&out, &l) || !(now[6] || now[7])))
		return fail("the UDP checksum is wrong");
}

/* One's complement sum of an IPv4 header, as udp_sum(). */
static __u32 ip_sum(const struct packet *p, const struct packet_layout *l)
{
	return checksum_add(0, p->data + l->l3, l->l4 - l->l3) % 0xffff;
}

/* A marked packet has the DSCP, and but for the IP checksum nothing else is new. */
static void check_marked(void)
{
	struct packet_layout l;
	struct packet same;
	__u8 *ip;

	if (out.len != in.len || !packet_layout(&in, &l))
		return fail("marked, but not valid");
	memcpy(&same, &in, sizeof(same.len) + in.len);
	ip = same.data + l.l3;
	if (l.v6) {
		ip[0] = (ip[0] & 0xf0) | DSCP >> 2;
		ip[1] = (ip[1] & 0x3f) | (DSCP << 6 & 0xff);
	} else {
		ip[1] = (ip[1] & 3) | DSCP << 2;
		memcpy(ip + 10, out.data + l.l3 + 10, 2);
		if (ip_sum(&in, &l) != ip_sum(&out, &l))
			return fail("the checksum of the IP header is wrong");
	}
	if (memcmp(same.data, out.data, out.len))
		fail("more is marked than may");
}

/* Return: whether the packet may have come with the port of its path. */
static bool may_be_right(void)
{
	size_t i;

	for (i = 12; i + 1 < in.len && i < PACKET_HEADERS; i++)
		if (in.data[i] == FIRST_PORT >> 8 && in.data[i + 1] < PATHS)
			return true;
	return false;
}

/* Return: false where the kernel does not run a packet whose IP header is not whole. */
static bool run(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in.data,
		    .data_size_in = in.len, .data_out = out.data,
		    .data_size_out = sizeof(out.data));
	struct __sk_buff skb = { .gso_size = 1024, .gso_segs = 2 };

	if (!random_below(64)) {
		opts.ctx_in = &skb;
		opts.ctx_size_in = sizeof(skb);
	}
	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts)) {
		if (errno == EINVAL && in.len < ETH_HLEN + sizeof(struct ipv6hdr))
			return false;
		die("test run");
	}
	out.len = opts.data_size_out;
	return true;
}

static __u64 sum_counters(struct bpf_map *map, __u32 which, __u32 nr, __u64 *all)
{
	static __u64 *values;
	int cpus = libbpf_num_possible_cpus(), cpu;
	__u32 zero = 0, i;
	__u64 sum = 0;

	if (!values)
		values = calloc(cpus, 64 * sizeof(*values));
	if (!values || bpf_map_lookup_elem(bpf_map__fd(map), &zero, values))
		die("counters");
	*all = 0;
	for (cpu = 0; cpu < cpus; cpu++) {
		for (i = 0; i < nr; i++)
			*all += values[cpu * nr + i];
		sum += values[cpu * nr + which];
	}
	return sum;
}

static __u64 total_steered, total_sent, total_tagged, total_marked;

/* Run the program for chunks. Return: false as run(). */
static bool tag(void)
{
	if (!run(skel->progs.rocesteer_chunk))
		return false;
	total_tagged++;
	if (out.len == in.len && !memcmp(out.data, in.data, in.len))
		return true;
	total_marked++;
	check_marked();
	return true;
}

static void batch(__u32 count)
{
	__u64 steered, all, steered_now, all_now, seen, seen_now;
	__u32 sent = 0, received = 0, changed = 0, maybe = 0, i, n;
	bool same, egress;

	steered = sum_counters(skel->maps.rs_verdicts, ROCESTEER_VERDICT_STEERED,
			       ROCESTEER_VERDICT_MAX, &all);
	sum_counters(skel->maps.rs_observed, 0, ROCESTEER_OBSERVED_MAX, &seen);
	for (i = 0; i < count;) {
		packet_make(&in, &world);
		for (n = random_below(4); n; n--)
			packet_mutate(&in);
		/* A longer packet does not fit into the page of a test run. */
		if (in.len > PACKET_MAX)
			in.len = PACKET_MAX;
		if (!random_below(4)) {
			i += tag();
			continue;
		}
		egress = random_below(4);
		if (!run(egress ? skel->progs.rocesteer_egress : skel->progs.rocesteer_ingress))
			continue;
		i++;
		same = out.len == in.len && !memcmp(out.data, in.data, in.len);
		sent += egress;
		received += !egress;
		changed += egress && !same;
		maybe += egress && same && may_be_right();
		if (!same && egress)
			check_steered();
		if (!same && !egress)
			fail("what was received has changed");
	}
	steered_now = sum_counters(skel->maps.rs_verdicts, ROCESTEER_VERDICT_STEERED,
				   ROCESTEER_VERDICT_MAX, &all_now);
	sum_counters(skel->maps.rs_observed, 0, ROCESTEER_OBSERVED_MAX, &seen_now);
	if (all_now - all != sent)
		fail("not each was counted once");
	if (seen_now - seen > received)
		fail("one that was received was counted twice");
	if (changed > steered_now - steered || steered_now - steered > changed + maybe)
		fail("steered are not those that changed");
	total_steered += changed;
	total_sent += sent;
}

int main(int argc, char **argv)
{
	__u64 count = 200000, left;
	struct timespec from, to;
	double seconds;
	__u32 n = 0;

	if (argc > 1 && !strcmp(argv[1], "--module")) {
		with_module = true;
		argc--;
		argv++;
	}
	if (argc > 1)
		count = strtoull(argv[1], NULL, 0);
	random_seed(argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
	ktap_begin();
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (left = count; left; n++) {
		__u32 now = left < BATCH ? left : BATCH;

		if (n % BATCHES == 0)
			begin(n / BATCHES % 3);
		batch(now);
		left -= now;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	seconds = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	printf("# %llu packets, %llu of them sent, %llu changed, %.0f a second\n",
	       count, total_sent, total_steered, count / seconds);
	printf("# %llu to the program for chunks, %llu marked\n", total_tagged, total_marked);
	ktap_result(!failures,
		    "a mutated packet leaves unchanged but for the fields that steering may change");
	ktap_result(total_steered > total_sent / 8,
		    "more than one in eight of the packets sent are steered");
	ktap_result(total_marked > total_tagged / 64,
		    "more than one in 64 packets to the program for chunks get the chunk's DSCP");
	rocesteer_bpf__destroy(skel);
	return ktap_end();
}
