// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of the egress program for a packet, against its peers in the same run.
 *
 * cost [--guest]
 *
 * RoCE v2 frames of one flow, with 256, 1,024 and 4,096 bytes of payload, and of 4,096
 * flows in turn, with 1,024, are sent to a dummy device, or a veth where the kernel has
 * none, in a network namespace of its own. Each flow has a raw socket, as each queue pair
 * of rxe has a socket: frames are linear as rxe's are, and without a hash as long as the
 * socket is not connected. Each program in turn is attached to the egress of the device; the
 * program that steers also with the one of chunks behind. The kernel's own run-time statistics
 * (bpf_stats) give the time in the programs, less that of empty ones: the clock. Rounds of all
 * programs alternate and the least of them counts, so that what else the machine does hits no
 * program alone.
 * The ICRC from scratch is libdeflate's CRC-32 over the same frame, timed in user space
 * in the same rounds.
 *
 * The time of the whole send is there too, as the difference to a device with
 * nothing attached: the only figure that tc's own pedit action has. It is taken without
 * the statistics, which cost more than some of the programs.
 *
 * Prints JSON; bench/run makes the table. With --guest, where a nanosecond is an
 * instruction, pedit is measured beside the programs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <json-c/json.h>
#include <libdeflate.h>

#include "frame.h"
#include "peers.skel.h"
#include "tagging.h"
#include "../include/rocesteer/stats.h"
#include "../selftests/bpf/unpinned.h"

#define SELF	"10.0.0.1"
#define PEER	"10.0.0.2"
#define WRITE_FIRST	0x06
#define PACKETS	4000	/* a round */
#define ROUNDS	40
#define GUEST_ROUNDS	3	/* where time is instructions */

#define FIRST_QPN	0x11
#define MANY_FLOWS	4096

/**
 * struct load - what is sent
 * @name: key in the output
 * @payload: bytes of a packet
 * @flows: that send in turn
 */
static const struct load {
	const char *name;
	int payload;
	unsigned int flows;
} loads[] = {
	{ "256 B", 256, 1 },
	{ "1024 B", 1024, 1 },
	{ "4096 B", 4096, 1 },
	{ "4096 flows", 1024, MANY_FLOWS },
};

#define NR_LOADS	4

/* The first two subjects are what the others are measured from. */
enum { NOTHING, EMPTY };

#define PEDIT	"tc qdisc add dev in0 clsact && tc filter add dev in0 egress " \
		"matchall action pedit ex munge udp sport set 49443"

/**
 * struct subject - one row of the table
 * @name: its key in the output
 * @prog: the program, or -1
 * @behind: the program that runs behind it, or 0
 * @attach: command that attaches what is not a program, or NULL
 * @first: its packets are the first of their messages
 * @run: least time of a run of the program by load, in ns
 * @send: least time of a send
 */
struct subject {
	const char *name;
	int prog;
	int behind;
	const char *attach;
	bool first;
	double run[NR_LOADS];
	double send[NR_LOADS];
};

static void die(const char *what)
{
	fprintf(stderr, "cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t make_frame(struct frame *f, int payload)
{
	size_t len = frame_make(f, payload, SELF, PEER);

	f->bth.dqpn = htonl(FIRST_QPN);
	return len;
}

/* An IPv4 address as the programs have addresses; the other bytes of @to are zero. */
static void set_addr(__u8 *to, const char *addr)
{
	const __be32 ip = inet_addr(addr);

	memset(to + 10, 0xff, 2);
	memcpy(to + 12, &ip, sizeof(ip));
}

static struct rocesteer_flow_key flow_key(int ifindex, unsigned int flow)
{
	struct rocesteer_flow_key key = { .ifindex = ifindex,
					  .dqpn = FIRST_QPN + flow };

	set_addr(key.peer, PEER);
	return key;
}

/* Load the programs with flows in so many pieces; 0: without flows. */
static struct rocesteer_bpf *load(int ifindex, __u32 pieces)
{
	struct rocesteer_flow_path path = {
		.flags = ROCESTEER_FLOW_SHARE | (pieces > 1 ? ROCESTEER_FLOW_VARIES : 0),
		.nr_pieces = pieces,
		.bth_paths = pieces ? htonl((pieces - 1) << ROCESTEER_BTH_SHIFT) : 0,
		.psns[ROCESTEER_REQUESTS].next = ROCESTEER_PSN_NONE,
		.job = TAG_JOB,
	};
	struct rocesteer_bpf *skel = load_unpinned(false);
	__u32 i;

	if (!skel)
		die("load");
	set_addr(path.source, SELF);
	for (i = 0; i < pieces; i++) {
		path.piece[i].end = i + 1;
		path.piece[i].path = i;
		path.piece[i].sport = htons(0xc123 + i);
	}
	for (i = 0; pieces && i < MANY_FLOWS; i++) {
		struct rocesteer_flow_key key = flow_key(ifindex, i);

		if (bpf_map_update_elem(bpf_map__fd(skel->maps.rs_flows), &key, &path, BPF_NOEXIST))
			die("rs_flows");
	}
	return skel;
}

/* Load the programs with observed flows whose path is known. */
static struct rocesteer_bpf *load_observed(int ifindex)
{
	struct rocesteer_bpf *skel = load(ifindex, 1);
	int fd = bpf_map__fd(skel->maps.rs_flows);
	struct rocesteer_flow_path path;
	unsigned int i;

	for (i = 0; i < MANY_FLOWS; i++) {
		struct rocesteer_flow_key key = flow_key(ifindex, i);

		if (bpf_map_lookup_elem(fd, &key, &path))
			die("rs_flows");
		path.flags |= ROCESTEER_FLOW_OBSERVED;
		path.piece[0].sport = htons(ROCESTEER_SPORT_MIN);
		if (bpf_map_update_elem(fd, &key, &path, BPF_EXIST))
			die("rs_flows");
	}
	return skel;
}

/* How long a program has run so far, and how often. */
static double prog_time(int prog, __u64 *runs)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_prog_get_info_by_fd(prog, &info, &len))
		die("program info");
	*runs = info.run_cnt;
	return info.run_time_ns;
}

static double run_time(const struct subject *s, __u64 *runs)
{
	__u64 behind;

	return (s->behind ? prog_time(s->behind, &behind) : 0) + prog_time(s->prog, runs);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void least(double *ns, double value)
{
	if (!*ns || value < *ns)
		*ns = value;
}

static int sockets[MANY_FLOWS];

static void open_sockets(unsigned int nr)
{
	while (nr--) {
		sockets[nr] = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
		if (sockets[nr] < 0)
			die("socket");
	}
}

static void close_sockets(unsigned int nr)
{
	while (nr--)
		close(sockets[nr]);
}

/* What each packet of a round is. */
enum packets {
	ENDLESS,	/* the first packet of a message that does not end */
	FIRST,		/* the first packet of the next message */
	MIDDLE,
};

/* A round of sends. Return: how long one took. */
static double send_round(struct frame *f, const struct load *load, size_t len,
			 enum packets packets)
{
	static __u32 psn, round;	/* rise, as those of a flow do */
	const struct sockaddr_in peer = { .sin_family = AF_INET,
					  .sin_addr.s_addr = inet_addr(PEER) };
	__u32 step = 1, i;
	double start = now();

	if (packets == FIRST)	/* more PSNs than the message has packets */
		step = 2 * TAG_LENGTH / load->payload;
	round += PACKETS / load->flows + 1;
	f->bth.opcode = packets == MIDDLE ? FRAME_WRITE_MIDDLE : WRITE_FIRST;
	for (i = 0; i < PACKETS; i++) {
		const struct rocesteer_reth reth = packets == ENDLESS ? tagging_endless() :
						   tagging_reth(round + i / load->flows);

		memcpy(f->payload, &reth, sizeof(reth));
		f->bth.dqpn = htonl(FIRST_QPN + i % load->flows);
		f->bth.apsn = htonl(psn & ROCESTEER_PSN_MASK);
		psn += step;
		if (sendto(sockets[i % load->flows], &f->ip, len - sizeof(f->eth), 0,
			   (const struct sockaddr *)&peer, sizeof(peer)) < 0)
			die("sendto");
	}
	return (now() - start) / PACKETS;
}

/* Likewise, with the kernel's statistics. Return: how long the programs took. */
static double run_round(const struct subject *s, struct frame *f, const struct load *load,
			size_t len, enum packets packets)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	__u64 before, after;
	double ran;

	if (stats < 0)
		die("statistics");
	ran = run_time(s, &before);
	send_round(f, load, len, packets);
	ran = run_time(s, &after) - ran;
	close(stats);
	if (after == before)
		die("the program did not run");
	return ran / (after - before);
}

static int attach(int prog, int ifindex)
{
	int link = bpf_link_create(prog, ifindex, BPF_TCX_EGRESS, NULL);

	if (link < 0)
		die("attach");
	return link;
}

/* One round of a subject, with sockets that no other subject has seen. */
static void measure(struct subject *s, int l, int ifindex, struct frame *f, size_t len)
{
	enum packets packets = s->first ? FIRST : MIDDLE;
	int link = s->prog >= 0 ? attach(s->prog, ifindex) : -1;
	int behind = s->behind ? attach(s->behind, ifindex) : -1;

	open_sockets(loads[l].flows);
	if (s->attach && system(s->attach))
		die(s->attach);
	send_round(f, &loads[l], len, ENDLESS);	/* the sockets become known */
	least(&s->send[l], send_round(f, &loads[l], len, packets));
	if (s->prog >= 0)
		least(&s->run[l], run_round(s, f, &loads[l], len, packets));
	if (s->attach && system("tc qdisc del dev in0 clsact"))
		die("tc");
	close_sockets(loads[l].flows);
	close(link);
	close(behind);
}

/* CRC-32 from scratch over what the ICRC covers. */
static double recompute(const struct frame *f, size_t len)
{
	double start = now();
	__u32 crc = 0;
	int i;

	for (i = 0; i < PACKETS; i++) {
		crc = libdeflate_crc32(crc, &f->ip, len - sizeof(f->eth) - ROCESTEER_ICRC_SIZE);
		asm volatile("" : "+r"(crc));
	}
	return (now() - start) / PACKETS;
}

/* Times by load, less those of a baseline, for each of @times programs. */
static void add_row(struct json_object *part, const char *name,
		    const double *ns, const double *less, int times)
{
	struct json_object *row = json_object_new_object();
	int l;

	for (l = 0; l < NR_LOADS; l++) {
		double value = ns[l] - (less ? less[l] * times : 0);

		json_object_object_add(row, loads[l].name, json_object_new_double(value));
	}
	json_object_object_add(part, name, row);
}

static void print(const struct subject *subjects, int nr, const double *scratch)
{
	struct json_object *root = json_object_new_object();
	struct json_object *run = json_object_new_object();
	struct json_object *sent = json_object_new_object();
	int i;

	for (i = 0; i < nr; i++) {
		if (subjects[i].prog >= 0)
			add_row(run, subjects[i].name, subjects[i].run,
				i == EMPTY ? NULL : subjects[EMPTY].run,
				subjects[i].behind ? 2 : 1);
		add_row(sent, subjects[i].name, subjects[i].send,
			i == NOTHING ? NULL : subjects[NOTHING].send, 1);
	}
	add_row(run, "recompute", scratch, NULL, 1);
	json_object_object_add(root, "run_ns", run);
	json_object_object_add(root, "send_ns", sent);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
}

/* The programs that steer, whole flows and split ones */
static struct rocesteer_bpf *steering[2];

static int egress(int ifindex, __u32 pieces)
{
	struct rocesteer_bpf *skel = load(ifindex, pieces);

	if (pieces)
		steering[pieces > 1] = skel;
	return bpf_program__fd(skel->progs.rocesteer_egress);
}

/* Fail where the packets that were measured were not steered. */
static void check_steered(struct rocesteer_bpf *skel)
{
	int cpus = libbpf_num_possible_cpus();
	struct rocesteer_verdicts verdicts[cpus];
	__u64 steered = 0;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_verdicts), &zero, verdicts))
		die("rs_verdicts");
	while (cpus--)
		steered += verdicts[cpus].steered;
	errno = EPROTO;
	if (!steered)
		die("no packet was steered");
}

/* Steer flows of a job, and tag their packets if the job has chunks. */
static struct subject tagging(const char *name, int ifindex, bool chunks, bool first)
{
	struct rocesteer_bpf *skel = load(ifindex, 1);
	struct rocesteer_flow_key key = flow_key(ifindex, 0);

	if (chunks && tagging_tables(skel, &key))
		die("tables of chunks");
	return (struct subject){
		.name = name,
		.prog = bpf_program__fd(skel->progs.rocesteer_egress),
		.behind = bpf_program__fd(skel->progs.rocesteer_chunk),
		.first = first,
	};
}

/* The peer that looks flows up */
static int lookup(struct peers_bpf *peers, int ifindex)
{
	const __u64 none = 0;
	unsigned int i;

	for (i = 0; i < MANY_FLOWS; i++) {
		struct rocesteer_flow_key key = flow_key(ifindex, i);

		if (bpf_map_update_elem(bpf_map__fd(peers->maps.flows), &key, &none, BPF_NOEXIST))
			die("flows");
	}
	return bpf_program__fd(peers->progs.lookup);
}

int main(int argc, char **argv)
{
	bool guest = argc == 2 && !strcmp(argv[1], "--guest");
	double scratch[NR_LOADS] = {};
	const struct rlimit files = { 2 * MANY_FLOWS, 2 * MANY_FLOWS };
	int ifindex, nr, r, l, i;
	struct peers_bpf *peers;
	static struct frame f;

	if (setrlimit(RLIMIT_NOFILE, &files) || unshare(CLONE_NEWNET) ||
	    system("ip link add in0 mtu 9000 type dummy 2>/dev/null || "
		   "ip link add in0 mtu 9000 type veth peer out0 mtu 9000") ||
	    system("ip link set in0 up; ip link set out0 up 2>/dev/null || :") ||
	    system("ip addr add " SELF "/24 dev in0") ||
	    system("ip neigh add " PEER " dev in0 lladdr 02:00:00:00:00:02"))
		die("network namespace");
	ifindex = if_nametoindex("in0");
	peers = peers_bpf__open_and_load();
	if (!peers)
		die("set up");

	struct subject subjects[] = {
		[NOTHING] = { "nothing", -1 },
		[EMPTY] = { "empty", bpf_program__fd(peers->progs.nothing) },
		{ "port_only", bpf_program__fd(peers->progs.port_only) },
		{ "port_direct", bpf_program__fd(peers->progs.port_direct) },
		{ "lookup", lookup(peers, ifindex) },
		{ "idle", egress(ifindex, 0) },
		{ "observe", bpf_program__fd(load_observed(ifindex)->progs.rocesteer_egress) },
		{ "steer", egress(ifindex, 1) },
		{ "split", egress(ifindex, 4) },
		tagging("tag_none", ifindex, false, false),
		tagging("tag", ifindex, true, false),
		tagging("tag_first", ifindex, true, true),
		{ "pedit", -1, .attach = PEDIT },
	};

	nr = sizeof(subjects) / sizeof(*subjects) - !guest;
	for (r = 0; r < (guest ? GUEST_ROUNDS : ROUNDS); r++) {
		for (l = 0; l < NR_LOADS; l++) {
			size_t len = make_frame(&f, loads[l].payload);

			for (i = 0; i < nr; i++)
				measure(&subjects[i], l, ifindex, &f, len);
			least(&scratch[l], recompute(&f, len));
		}
	}
	check_steered(steering[0]);
	check_steered(steering[1]);
	print(subjects, nr, scratch);
	return 0;
}
