// SPDX-License-Identifier: GPL-2.0
/*
 * How the egress program deals flows to paths, shares packets out by PSN and goes
 * around a dead path, with frames through BPF_PROG_TEST_RUN and tables of its own.
 * Output is KTAP.
 *
 *	flows [IFINDEX QPN]
 *
 * With arguments: what the ingress program learns about the flow of queue pair QPN of
 * device IFINDEX, which the module resequences and which is connected to 10.0.0.2.
 */
#include <time.h>

#include "flows.h"
#include "../checksum.h"

const __u8 leaf[16] = { [15] = 9 };
const __u8 source[16] = SOURCE;
__u8 host = 2;
struct rocesteer_bpf *skel;
struct frame out;
struct rocesteer_event last_event;
static struct ring_buffer *events;
static unsigned int nr_events;

static int on_event(void *ctx, void *data, size_t size)
{
	(void)ctx;
	if (size != sizeof(last_event))
		return -1;
	memcpy(&last_event, data, size);
	nr_events++;
	return 0;
}

/* Events since the last call; the last of them is in last_event. */
unsigned int take_events(void)
{
	nr_events = 0;
	if (ring_buffer__consume(events) < 0)
		die("rs_events");
	return nr_events;
}

struct rocesteer_flow_key flow_key(__u32 dqpn)
{
	return flow_key_to(host, dqpn);
}

/* One's complement sum of the UDP datagram and its pseudo header; 0xffff: right. */
__u32 udp_sum(const struct frame *f)
{
	size_t len = ntohs(f->udp.len);

	return checksum_add(checksum_add(len + IPPROTO_UDP, &f->udp, len), &f->ip.saddr, 8);
}

/* A packet from and to 0.0.0.0, without a checksum. */
struct frame frame_of(__u32 dqpn, __u8 opcode, __u32 psn)
{
	return (struct frame) {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = { .version = 4, .ihl = 5, .ttl = 64,
			.protocol = IPPROTO_UDP,
			.tot_len = htons(sizeof(struct frame) - sizeof(struct ethhdr)) },
		.udp = { .source = htons(ROCESTEER_SPORT_MIN),
			 .dest = htons(ROCESTEER_ROCE_PORT),
			 .len = htons(sizeof(struct frame) - sizeof(struct ethhdr) -
				      sizeof(struct iphdr)) },
		.bth = { .opcode = opcode, .dqpn = htonl(dqpn),
			 .apsn = htonl(psn & ROCESTEER_PSN_MASK) },
	};
}

/* Send one packet, received by device @from. Return: the path it left by, or FAILED. */
int forward_packet(__u32 from, __u32 dqpn, __u8 opcode, __u32 psn)
{
	struct __sk_buff ctx = { .ingress_ifindex = from };
	struct frame in = frame_of(dqpn, opcode, psn);
	unsigned int path;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = &in,
		    .data_size_in = sizeof(in), .data_out = &out,
		    .data_size_out = sizeof(out), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));

	in.ip.daddr = htonl(0x0a000000 | host);
	in.udp.check = htons(~udp_sum(&in));
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.rocesteer_egress), &opts))
		die("test run");
	path = ntohs(out.udp.source) - FIRST_PORT;
	return path < PATHS ? (int)path : FAILED;
}

int send_packet(__u32 dqpn, __u8 opcode, __u32 psn)
{
	return forward_packet(0, dqpn, opcode, psn);
}

struct rocesteer_flow_path flow_entry(__u32 dqpn)
{
	struct rocesteer_flow_key key = flow_key(dqpn);
	struct rocesteer_flow_path flow = {};

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_flows), &key, &flow);
	return flow;
}

struct rocesteer_group_key group_key(void)
{
	struct rocesteer_group_key key = { .job = JOB, .ifindex = IFINDEX };

	memcpy(key.leaf, leaf, sizeof(leaf));
	return key;
}

struct rocesteer_group group_entry(void)
{
	struct rocesteer_group_key key = group_key();
	struct rocesteer_group group = {};

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_groups), &key, &group);
	return group;
}

/*
 * A job that has the device, one peer, one group; no flow. The table has room for
 * @nr_flows flows and is swept every @sweep_ns; the bits @bth_paths carry the number of
 * a flow's paths. 0: the default.
 */
void begin_table(__u8 reseq, __u32 nr_flows, __u64 sweep_ns, __u32 bth_paths)
{
	struct rocesteer_peer_key pkey = { .job = JOB, .ifindex = IFINDEX };
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1,
				     .reseq = reseq };
	struct rocesteer_group group = { .nr_paths = PATHS, .first = 2 };
	struct rocesteer_flow_key flow = flow_key(0);
	struct rocesteer_group_key gkey = group_key();
	struct rocesteer_peer peer = { .nr_paths = PATHS };
	struct rocesteer_source_key skey = { .job = JOB, .ifindex = IFINDEX };
	struct rocesteer_source mapped = { .mapped = 1 };
	__u32 number = JOB, ifindex = IFINDEX, p;

	rocesteer_bpf__destroy(skel);
	ring_buffer__free(events);
	skel = load_table(false, nr_flows, sweep_ns, bth_paths);
	if (!skel)
		die("load");
	events = ring_buffer__new(bpf_map__fd(skel->maps.rs_events), on_event, NULL, NULL);
	if (!events)
		die("ring buffer");
	memcpy(pkey.addr, flow.peer, sizeof(pkey.addr));
	memcpy(pkey.source, source, sizeof(source));
	memcpy(skey.addr, source, sizeof(source));
	memcpy(peer.leaf, leaf, sizeof(leaf));
	for (p = 0; p < PATHS; p++) {
		peer.sport[p] = htons(FIRST_PORT + p);
		group.weight[p] = 1;
	}
	put(skel->maps.rs_peers, &pkey, &peer);
	put(skel->maps.rs_sources, &skey, &mapped);
	put(skel->maps.rs_groups, &gkey, &group);
	put(skel->maps.rs_jobs, &number, &job);
	put(skel->maps.rs_devices, &ifindex, &number);
}

void begin(__u8 reseq)
{
	begin_table(reseq, 0, 0, 0);
}

/* Begin with a job that splits, or deals, in this way. */
void begin_job(enum rocesteer_split split, enum rocesteer_deal deal)
{
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1, .split = split,
				     .deal = deal,
				     .reseq = split ? ROCESTEER_RESEQ_ALL :
							ROCESTEER_RESEQ_NONE };
	__u32 number = JOB;

	begin(job.reseq);
	put(skel->maps.rs_jobs, &number, &job);
}

int run(struct bpf_program *prog, const void *ctx, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = size);

	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts))
		die("syscall program");
	return opts.retval;
}

/* Plan @nr pieces for a flow, piece i on path i with @packets[i] packets a round. */
int set_pieces(__u32 dqpn, __u32 nr, const __u32 *packets)
{
	struct rocesteer_set_flow set = { .key = flow_key(dqpn), .job = JOB,
					  .nr_pieces = nr };
	__u32 end = 0, i;

	for (i = 0; i < nr && i < ROCESTEER_MAX_PATHS; i++) {
		end += packets[i];
		set.piece[i].end = end;
		set.piece[i].path = i;
		set.piece[i].sport = htons(FIRST_PORT + i);
	}
	return run(skel->progs.rocesteer_set_flow, &set, sizeof(set));
}

int set_piece(__u32 dqpn, __u16 path, __u16 sport)
{
	struct rocesteer_set_flow set = {
		.key = flow_key(dqpn), .job = JOB, .nr_pieces = 1,
		.piece[0] = { .end = 1, .path = path, .sport = htons(sport) },
	};

	return run(skel->progs.rocesteer_set_flow, &set, sizeof(set));
}

void set_down(__u64 down)
{
	struct rocesteer_set_group set = { .key = group_key(), .down = down };

	if (run(skel->progs.rocesteer_set_group, &set, sizeof(set)))
		die("set_group");
}

__u64 verdicts(enum rocesteer_verdict verdict)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	struct rocesteer_verdicts all[cpus];
	__u64 sum = 0;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_verdicts), &zero, all))
		die("rs_verdicts");
	for (cpu = 0; cpu < cpus; cpu++)
		sum += ((__u64 *)&all[cpu])[verdict];
	return sum;
}

/* Send @nr packets from @psn on, and count them by path. */
void send_many(__u32 dqpn, __u32 psn, int nr, int per_path[PATHS])
{
	int i, path;

	memset(per_path, 0, PATHS * sizeof(*per_path));
	for (i = 0; i < nr; i++) {
		path = send_packet(dqpn, WRITE_MIDDLE, psn + i);
		if (path >= 0)
			per_path[path]++;
	}
}

__u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	ktap_begin();
	if (argc == 3) {
		flows_told(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
	} else {
		flows_deal();
		flows_split();
		flows_detour();
		flows_table();
	}
	ring_buffer__free(events);
	rocesteer_bpf__destroy(skel);
	return ktap_end();
}
