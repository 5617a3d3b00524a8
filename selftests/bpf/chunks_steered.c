// SPDX-License-Identifier: GPL-2.0
/*
 * Which class rocesteer_egress and rocesteer_chunk give the packets of flows that are steered.
 * Each queue pair has a raw socket, by which the programs know its packets, and sends over the
 * loopback device of a network namespace.
 */
#include <net/if.h>
#include <sched.h>
#include <sys/time.h>
#include <linux/if_packet.h>

#include "chunks.h"
#include "seen.skel.h"

#define MAX_QPS	128

static const __u8 leaf[16] = { [15] = 9 };
static struct seen_bpf *seen;
static int sockets[MAX_QPS], captured;

static int new_socket(int domain, int type, int protocol)
{
	int fd = socket(domain, type, protocol);

	if (fd < 0)
		die("socket");
	return fd;
}

/* The next frame that leaves */
static void capture(struct frame4 *frame)
{
	struct sockaddr_ll from;
	socklen_t len;

	do {
		len = sizeof(from);
		if (recvfrom(captured, frame, sizeof(*frame), 0, (void *)&from, &len) < 0)
			die("no packet leaves");
	} while (from.sll_pkttype != PACKET_OUTGOING);
}

static int send_steered(struct frame4 *frame, __u32 dqpn)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_addr.s_addr = frame->ip.daddr };

	if (!sockets[dqpn])
		sockets[dqpn] = new_socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (sendto(sockets[dqpn], &frame->ip, sizeof(*frame) - sizeof(frame->eth), 0,
		   (const void *)&to, sizeof(to)) < 0)
		die("sendto");
	capture(frame);
	return seen->bss->priority;
}

/* Give the job that has the device paths to the peer. */
static void add_paths(__u8 split)
{
	struct rocesteer_job job = { .ifindex = IFINDEX, .all = 1, .split = split,
				     .reseq = split ? ROCESTEER_RESEQ_ALL : ROCESTEER_RESEQ_NONE };
	struct rocesteer_peer_key key = { .job = JOB, .ifindex = IFINDEX,
					  .source = { [10] = 0xff, [11] = 0xff, [12] = 10,
						      [15] = 1 } };
	struct rocesteer_group_key gkey = { .job = JOB, .ifindex = IFINDEX };
	struct rocesteer_group group = { .nr_paths = PATHS };
	struct rocesteer_peer peer = { .nr_paths = PATHS };
	__u32 number = JOB, p;

	memcpy(key.addr, flow_key(0).peer, sizeof(key.addr));
	memcpy(gkey.leaf, leaf, sizeof(leaf));
	memcpy(peer.leaf, leaf, sizeof(leaf));
	for (p = 0; p < PATHS; p++) {
		peer.sport[p] = htons(FIRST_PORT + p);
		group.weight[p] = 1;
	}
	put(skel->maps.rs_peers, &key, &peer);
	put(skel->maps.rs_groups, &gkey, &group);
	put(skel->maps.rs_jobs, &number, &job);
}

static struct bpf_link *attached(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_tcx(prog, IFINDEX, NULL);

	if (!link)
		die("attach");
	return link;
}

static void begin_steered(__u8 split)
{
	int i;

	for (i = 0; i < MAX_QPS; i++)
		if (sockets[i])
			close(sockets[i]);
	memset(sockets, 0, sizeof(sockets));
	add_paths(split);
	bpf_link__destroy(seen->links.seen);
	skel->links.rocesteer_egress = attached(skel->progs.rocesteer_egress);
	skel->links.rocesteer_chunk = attached(skel->progs.rocesteer_chunk);
	seen->links.seen = attached(seen->progs.seen);
}

static void begin_whole(void)
{
	begin_steered(ROCESTEER_SPLIT_NONE);
}

static void begin_split(void)
{
	begin_steered(ROCESTEER_SPLIT_ALL);
}

/* A network namespace whose loopback device has both ends */
static void set_up(void)
{
	const struct sockaddr_ll loopback = { .sll_family = AF_PACKET, .sll_ifindex = IFINDEX,
					      .sll_protocol = htons(ETH_P_ALL) };
	const struct sockaddr_in receiver = { .sin_family = AF_INET,
					      .sin_port = htons(ROCESTEER_ROCE_PORT) };
	const struct timeval patience = { .tv_sec = 10 };

	if (unshare(CLONE_NEWNET) || system("ip addr add 10.0.0.2/32 dev lo") ||
	    system("ip link set lo up"))
		die("network namespace");
	/* Nobody answers that the port is not reachable. */
	if (bind(new_socket(AF_INET, SOCK_DGRAM, 0), (const void *)&receiver, sizeof(receiver)))
		die("bind");
	captured = new_socket(AF_PACKET, SOCK_RAW, 0);
	if (bind(captured, (const void *)&loopback, sizeof(loopback)) ||
	    setsockopt(captured, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die("capture");
	seen = seen_bpf__open_and_load();
	if (!seen)
		die("seen");
}

static struct rocesteer_flow_path flow_entry(__u32 dqpn)
{
	struct rocesteer_flow_path flow = {};
	struct rocesteer_flow_key key = flow_key(dqpn);

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_flows), &key, &flow);
	return flow;
}

/* Who tags a packet, as far as the tables tell. */
static void test_who(void)
{
	bool ok;

	begin();
	ok = begins(1, 0, 4, 20, class_of(JOB, 4)) && !flow_entry(1).tagged;
	ktap_result(ok && has_class(1, MIDDLE, 1, class_of(JOB, 4)) && flow_entry(1).tagged == 1 &&
		    has_class(1, LAST, 19, class_of(JOB, 4)) && flow_entry(1).tagged == 2,
		    "the program that steers tags packets, once a flow has begun a message");
	ktap_result(begins(1, 20, 5, 2, class_of(JOB, 5)) && flow_entry(1).tagged == 1 &&
		    flow_entry(1).message.psn == 20 && flow_entry(1).message.packets == 2,
		    "the program that steers finds the chunk of a flow's next message");
	ktap_result(has_class(1, MIDDLE, 7, class_of(JOB, 4)) && flow_entry(1).tagged == 1,
		    "rocesteer_chunk tags a packet that is sent again");
}

/* Take the job's chunks away, as chunk unload does. */
static void take_chunks(void)
{
	struct rocesteer_flow_key key = flow_key(1);
	__u32 job = JOB;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &key, .ctx_size_in = sizeof(key));

	bpf_map_delete_elem(bpf_map__fd(skel->maps.rs_chunk_jobs), &job);
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.rocesteer_untag), &opts))
		die("untag");
}

static void test_unload(void)
{
	__u32 class = class_of(JOB, 4);
	bool ok;

	begin();
	ok = begins(1, 0, 4, 20, class) && has_class(1, MIDDLE, 1, class);
	take_chunks();
	ktap_result(ok && has_class(1, MIDDLE, 2, 0) && begins(1, 20, 4, 20, 0) &&
		    has_class(1, MIDDLE, 21, 0) && counted(JOB, class, 0).packets == 2,
		    "packets of a job whose chunks are gone have no class, and are not counted");
}

void chunks_steered(void)
{
	static const struct steering ways[] = {
		{ ", of a flow that is steered", begin_whole, send_steered },
		{ ", of a flow that is split", begin_split, send_steered },
	};
	unsigned int i;

	set_up();
	for (i = 0; i < 2; i++) {
		steering = &ways[i];
		test_messages();
		test_counts();
		test_random();
		ktap_result(flow_entry(1).nr_pieces == (i ? PATHS : 1),
			    "these flows are on %s", i ? "all paths" : "one path");
	}
	steering = &ways[0];
	test_who();
	test_unload();
	steering = NULL;
	seen_bpf__destroy(seen);
}
