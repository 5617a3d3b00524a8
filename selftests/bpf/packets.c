// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that were valid, and what mutations made of them, through the programs by
 * BPF_PROG_TEST_RUN:
 *
 *	packets [--module] [COUNT [SEED]]
 *
 * What is not steered leaves byte for byte as it came. What is steered differs in its
 * source port, the bits that say to how many paths it is dealt, and the checksums of
 * both, which stay as right or wrong as they were. Each is counted once. Several
 * processes with different seeds use several CPUs. Output is KTAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <zlib.h>

#include <bpf/bpf.h>

#include "unpinned.h"
#include "../user/ktap.h"
#include "../../include/rocesteer/types.h"

#define JOB		7
#define PATHS		4
#define IFINDEX		1	/* what BPF_PROG_TEST_RUN gives a frame */
#define FIRST_PORT	0xc100	/* of path 0 */
#define PACKET_MAX	3400	/* no more fits into the page of a test run */
#define BATCH		4096	/* packets between two looks at the counters */
#define BATCHES		64	/* then the tables are made anew */
#define SHOWN		5	/* failures */

#define HEADERS		120	/* at most this is before the payload */

static const __u8 leaf[16] = { [15] = 9 };
static struct rocesteer_bpf *skel;
static bool with_module;
static __u64 state;		/* of the random numbers */
static unsigned int failures;

struct packet {
	size_t len;
	__u8 data[4096];
};

static struct packet in, out;

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Below @n: as selftests/random.h, but for a seed. */
static __u32 below(__u32 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 33) % n;
}

static void put(struct bpf_map *map, const void *key, const void *value)
{
	if (bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY))
		die(bpf_map__name(map));
}

/* A job that has the device, and paths to a peer of either family; no flow. */
static void begin(__u8 ordered)
{
	static const __u8 addrs[][16] = {
		{ [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 },
		{ 0xfd, [15] = 2 },
	};
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1,
				     .split = ROCESTEER_SPLIT_WRAP,
				     .ordered = ordered };
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
		put(skel->maps.rs_peers, &key, &peer);
	}
	put(skel->maps.rs_groups, &gkey, &group);
	put(skel->maps.rs_jobs, &number, &job);
	put(skel->maps.rs_devices, &ifindex, &number);
}

/* Where the headers of a packet are; what is steered has been found to be valid. */
struct layout {
	bool v6;
	size_t l3, l4, len;
};

static bool find_layout(const struct packet *p, struct layout *l)
{
	const __u8 *proto = p->data + 12;
	int tags;

	for (tags = 0; tags < 2 && ((proto[0] == 0x81 && !proto[1]) ||
				    (proto[0] == 0x88 && proto[1] == 0xa8)); tags++)
		proto += 4;
	l->l3 = proto + 2 - p->data;
	l->v6 = proto[0] == 0x86;
	l->l4 = l->l3 + (l->v6 ? 40 : (p->data[l->l3] & 15) * 4);
	if (l->l4 + sizeof(struct udphdr) > p->len)
		return false;
	l->len = p->data[l->l4 + 4] << 8 | p->data[l->l4 + 5];
	return l->len >= ROCESTEER_MIN_UDP_LEN && l->l4 + l->len <= p->len;
}

/* The ICRC as the IB spec has it, from the whole packet: annex A17.3.3. */
static __u32 icrc(const struct packet *p, const struct layout *l)
{
	static __u8 text[8 + sizeof(p->data)];
	__u8 *ip = text + 8, *udp = ip + (l->l4 - l->l3);
	size_t len = l->l4 - l->l3 + l->len - ROCESTEER_ICRC_SIZE;

	memset(text, 0xff, 8);
	memcpy(ip, p->data + l->l3, len);
	if (l->v6) {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;
	} else {
		ip[1] = 0xff;
		ip[8] = 0xff;
		ip[10] = 0xff;
		ip[11] = 0xff;
	}
	udp[6] = 0xff;
	udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return crc32(0, text, 8 + len);
}

static __u32 stored_icrc(const struct packet *p, const struct layout *l)
{
	__u32 word;

	memcpy(&word, p->data + l->l4 + l->len - sizeof(word), sizeof(word));
	return word;
}

/* One's complement sum of the UDP datagram, folded; 0xffff is 0. */
static __u32 udp_sum(const struct packet *p, const struct layout *l)
{
	__u32 sum = 0;
	size_t i;

	for (i = 0; i < l->len; i += 2)
		sum += p->data[l->l4 + i] << 8 | p->data[l->l4 + i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum % 0xffff;
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

/* What of the packet may differ, does so rightly. */
static void check_steered(void)
{
	struct layout l;
	struct packet same;
	__u8 *now, *was;
	__u16 sport;

	if (out.len != in.len || !find_layout(&in, &l))
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
	if ((stored_icrc(&in, &l) ^ icrc(&in, &l)) !=
	    (stored_icrc(&out, &l) ^ icrc(&out, &l)))
		return fail("the ICRC is wrong");
	if ((was[6] || was[7]) &&
	    (udp_sum(&in, &l) != udp_sum(&out, &l) || !(now[6] || now[7])))
		return fail("the UDP checksum is wrong");
}

static void append(const void *data, size_t len)
{
	memcpy(in.data + in.len, data, len);
	in.len += len;
}

static const __u8 mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };
static const __u8 other[16] = { 0xfd, [15] = 1 }, peer6[16] = { 0xfd, [15] = 2 };

static void append_ip(bool v6, size_t udp_len)
{
	static const __u32 no_operation[10] = { [0 ... 9] = 0x01010101 };
	__u8 words = below(4) ? 0 : below(11);
	struct ipv6hdr ip6 = {
		.version = 6, .priority = below(16), .hop_limit = 64,
		.nexthdr = IPPROTO_UDP, .payload_len = htons(udp_len),
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5 + words, .tos = below(256), .ttl = 64,
		.protocol = IPPROTO_UDP, .tot_len = htons(20 + words * 4 + udp_len),
		.saddr = htonl(0x0a000001), .daddr = htonl(0x0a000002),
	};

	if (v6) {
		memcpy(&ip6.saddr, below(8) ? other : mapped, 16);
		memcpy(&ip6.daddr, below(8) ? peer6 : mapped, 16);
		append(&ip6, sizeof(ip6));
	} else {
		append(&ip, sizeof(ip));
		append(no_operation, words * 4);
	}
}

/* A valid packet of one of some flows, its ICRC included. */
static void make(void)
{
	bool v6 = below(5) < 2;
	__u32 tags = below(8) ? 0 : 1 + below(2), i;
	size_t payload = 4 * (below(16) ? below(17) : below(PACKET_MAX / 4 - 40));
	struct udphdr udp = {
		.source = htons(0xd000 + below(4096)),
		.dest = htons(ROCESTEER_ROCE_PORT),
		.check = below(4) ? 0 : 1 + below(0xffff),
	};
	struct rocesteer_bth bth = {
		.opcode = below(0x20), .flags = below(4) << 6, .pkey = 0xffff,
		.dqpn = htonl(below(64)),
		.apsn = htonl(below(2) << 31 | below(512)),
	};
	struct layout l;
	__u32 word;

	in.len = 12;
	for (i = 0; i < 12; i++)
		in.data[i] = i;
	udp.len = htons(sizeof(udp) + sizeof(bth) + payload + sizeof(word));
	for (i = 0; i < tags; i++)
		append(below(2) ? "\x81\x00\x00\x07" : "\x88\xa8\x00\x07", 4);
	append(v6 ? "\x86\xdd" : "\x08\x00", 2);
	append_ip(v6, ntohs(udp.len));
	append(&udp, sizeof(udp));
	append(&bth, sizeof(bth));
	memset(in.data + in.len, below(256), payload);
	in.len += payload + sizeof(word);
	find_layout(&in, &l);
	word = icrc(&in, &l);
	memcpy(in.data + in.len - sizeof(word), &word, sizeof(word));
}

/* Bytes, lengths, tags, fragments, options, addresses, whatever they may be. */
static void mutate(void)
{
	size_t head = in.len < HEADERS ? in.len : HEADERS;
	struct layout l = {};

	find_layout(&in, &l);
	switch (below(12)) {
	case 0:
		in.data[below(head)] ^= 1 << below(8);
		break;
	case 1:
		in.data[below(head)] = below(256);
		break;
	case 2:
		in.data[below(in.len)] = below(256);
		break;
	case 3:		/* truncated */
		in.len = ETH_HLEN + below(in.len - ETH_HLEN + 1);
		break;
	case 4:		/* padded */
		in.len += below(64);
		break;
	case 5:		/* UDP length */
		in.data[l.l4 + 4 + below(2)] += below(16) - 8;
		break;
	case 6:		/* IP length */
		in.data[l.l3 + (l.v6 ? 4 : 2) + below(2)] += below(16) - 8;
		break;
	case 7:		/* a fragment */
		if (l.v6)
			in.data[l.l3 + 6] = 44;
		else
			in.data[l.l3 + 6 + below(2)] = below(256);
		break;
	case 8:		/* IHL or version */
		in.data[l.l3] = below(256);
		break;
	case 9:		/* an IPv4 address in IPv6, or half of one */
		memcpy(in.data + l.l3 + (below(2) ? 8 : 24), mapped,
		       below(2) ? 16 : 12);
		break;
	case 10:	/* another opcode, QPN or PSN */
		in.data[l.l4 + 8] = below(256);
		in.data[l.l4 + 8 + 5 + below(7)] = below(256);
		break;
	case 11:	/* the type of what follows a tag, or of the frame */
		memcpy(in.data + 12, below(2) ? "\x81\x00" : "\x86\xdd", 2);
		break;
	}
	if (in.len > PACKET_MAX)
		in.len = PACKET_MAX;
}

/* Might it have the port of its path already? */
static bool may_be_right(void)
{
	size_t i;

	for (i = 12; i + 1 < in.len && i < HEADERS; i++)
		if (in.data[i] == FIRST_PORT >> 8 && in.data[i + 1] < PATHS)
			return true;
	return false;
}

/* Return: false where the kernel does not run it, as its IP header is not whole. */
static bool run(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in.data,
		    .data_size_in = in.len, .data_out = out.data,
		    .data_size_out = sizeof(out.data));
	struct __sk_buff skb = { .gso_size = 1024, .gso_segs = 2 };

	if (!below(64)) {
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

static __u64 total_steered, total_sent;

static void batch(__u32 count)
{
	__u64 steered, all, steered_now, all_now, seen, seen_now;
	__u32 sent = 0, received = 0, changed = 0, maybe = 0, i, n;
	bool same, egress;

	steered = sum_counters(skel->maps.rs_verdicts, ROCESTEER_STEERED,
			       ROCESTEER_VERDICT_MAX, &all);
	sum_counters(skel->maps.rs_observed, 0, ROCESTEER_OBSERVED_MAX, &seen);
	for (i = 0; i < count;) {
		make();
		for (n = below(4); n; n--)
			mutate();
		egress = below(4);
		if (!run(egress ? skel->progs.rocesteer_egress :
				  skel->progs.rocesteer_ingress))
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
	steered_now = sum_counters(skel->maps.rs_verdicts, ROCESTEER_STEERED,
				   ROCESTEER_VERDICT_MAX, &all_now);
	sum_counters(skel->maps.rs_observed, 0, ROCESTEER_OBSERVED_MAX, &seen_now);
	if (all_now - all != sent)
		fail("not each was counted once");
	if (seen_now - seen > received)
		fail("one that was received was counted twice");
	if (changed > steered_now - steered ||
	    steered_now - steered > changed + maybe)
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
	state = 0x2545f4914f6cdd1d ^ (argc > 2 ? strtoull(argv[2], NULL, 0) << 32 : 0);
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
	ktap_result(!failures, "what is not steered stays as it is, the rest is right");
	ktap_result(total_steered > total_sent / 8, "enough of them are steered");
	rocesteer_bpf__destroy(skel);
	return ktap_end();
}
