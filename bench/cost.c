// SPDX-License-Identifier: GPL-2.0
/*
 * What the egress program costs a packet, against its peers in the same run.
 *
 * cost [--module]
 *
 * RoCE v2 frames of 256, 1,024 and 4,096 bytes of payload are sent to a dummy
 * device, or a veth where the kernel has none, in a network namespace of its
 * own, through a raw socket: linear as rxe's are, and without a hash as long as it
 * is not connected. Each program in turn is attached to its egress. The kernel's
 * own run-time statistics (bpf_stats) give the time in the program, less that of
 * an empty one: the clock. Rounds of all programs alternate and the least of them
 * counts, so that what else the machine does hits no program alone. The ICRC from
 * scratch is libdeflate's CRC-32 over the same frame, timed in user space in the
 * same rounds.
 *
 * The time of the whole send is there too, as the difference to a device with
 * nothing attached: the only figure that tc's own pedit action has.
 *
 * Prints JSON; bench/run makes the table. With --module, in the guest, where a
 * nanosecond is an instruction, the egress program is also measured calling the
 * module, and pedit beside it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <json-c/json.h>
#include <libdeflate.h>

#include "peers.skel.h"
#include "tagging.h"
#include "../include/rocesteer/types.h"
#include "../selftests/bpf/unpinned.h"

#define SELF	"10.0.0.1"
#define PEER	"10.0.0.2"
#define WRITE_FIRST	0x06
#define WRITE_MIDDLE	0x07
#define PACKETS	4000	/* a round */
#define ROUNDS	40
#define GUEST_ROUNDS	3	/* where time is instructions */

static const int payloads[] = { 256, 1024, 4096 };
#define NR_PAYLOADS	3

/* The first two subjects are what the others are measured from. */
enum { NOTHING, EMPTY };

#define PEDIT	"tc qdisc add dev in0 clsact && tc filter add dev in0 egress " \
		"matchall action pedit ex munge udp sport set 49443"

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	unsigned char payload[4096 + ROCESTEER_ICRC_SIZE];
} __attribute__((packed));

/**
 * struct subject - one row of the table
 * @name: its key in the output
 * @prog: the program, or -1
 * @attach: command that attaches what is not a program, or NULL
 * @opcode: of its packets, where it is not WRITE_MIDDLE
 * @run: least time of a run of the program by payload, in ns
 * @send: least time of a send
 */
struct subject {
	const char *name;
	int prog;
	const char *attach;
	__u8 opcode;
	double run[NR_PAYLOADS];
	double send[NR_PAYLOADS];
};

static void die(const char *what)
{
	fprintf(stderr, "cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t make_frame(struct frame *f, int payload)
{
	const struct rocesteer_reth reth = tagging_reth();
	size_t udp = sizeof(f->udp) + sizeof(f->bth) + payload +
		     ROCESTEER_ICRC_SIZE;
	int i;

	memset(f, 0, sizeof(*f));
	memset(f->eth.h_dest, 2, ETH_ALEN);
	f->eth.h_proto = htons(ETH_P_IP);
	f->ip.version = 4;
	f->ip.ihl = 5;
	f->ip.ttl = 64;
	f->ip.protocol = IPPROTO_UDP;
	f->ip.tot_len = htons(sizeof(f->ip) + udp);
	f->ip.saddr = inet_addr(SELF);
	f->ip.daddr = inet_addr(PEER);
	f->udp.source = htons(ROCESTEER_SPORT_MIN);
	f->udp.dest = htons(ROCESTEER_ROCE_PORT);
	f->udp.len = htons(udp);
	f->bth.dqpn = htonl(0x11);
	for (i = 0; i < payload; i++)
		f->payload[i] = 7 * i + 3;
	memcpy(f->payload, &reth, sizeof(reth));
	return sizeof(f->eth) + sizeof(f->ip) + udp;
}

static struct rocesteer_flow_key flow_key(int ifindex)
{
	struct rocesteer_flow_key key = { .ifindex = ifindex, .dqpn = 0x11 };
	__be32 peer = inet_addr(PEER);

	memset(key.peer + 10, 0xff, 2);
	memcpy(key.peer + 12, &peer, 4);
	return key;
}

/* With a flow in that many pieces, none when 0. */
static struct rocesteer_bpf *load(bool module, int ifindex, __u32 pieces)
{
	struct rocesteer_flow_key key = flow_key(ifindex);
	struct rocesteer_flow_path path = {
		.flags = ROCESTEER_FLOW_SHARE,
		.nr_pieces = pieces,
		.psns[ROCESTEER_REQUESTS].next = ROCESTEER_PSN_NONE,
	};
	struct rocesteer_bpf *skel = load_unpinned(module);
	__u32 i;

	if (!skel)
		die("load");
	for (i = 0; i < pieces; i++) {
		path.piece[i].end = i + 1;
		path.piece[i].path = i;
		path.piece[i].sport = htons(0xc123 + i);
	}
	if (pieces && bpf_map_update_elem(bpf_map__fd(skel->maps.rs_flows),
					  &key, &path, BPF_NOEXIST))
		die("rs_flows");
	return skel;
}

static double run_time(int prog, __u64 *runs)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_prog_get_info_by_fd(prog, &info, &len))
		die("program info");
	*runs = info.run_cnt;
	return info.run_time_ns;
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

/* One round of a subject. */
static void measure(struct subject *s, int p, int ifindex, int fd,
		    struct frame *f, size_t len)
{
	static __u32 psn;	/* rises, as that of a flow does */
	const struct sockaddr_in peer = { .sin_family = AF_INET,
					  .sin_addr.s_addr = inet_addr(PEER) };
	__u64 before = 0, after = 0;
	double ran = 0, start, sent;
	int link = -1, i;

	if (s->prog >= 0) {
		link = bpf_link_create(s->prog, ifindex, BPF_TCX_EGRESS, NULL);
		if (link < 0)
			die("attach");
		ran = run_time(s->prog, &before);
	}
	if (s->attach && system(s->attach))
		die(s->attach);
	f->bth.opcode = s->opcode ?: WRITE_MIDDLE;
	start = now();
	for (i = 0; i < PACKETS; i++) {
		f->bth.apsn = htonl(psn++ & ROCESTEER_PSN_MASK);
		if (sendto(fd, &f->ip, len - sizeof(f->eth), 0,
			   (const struct sockaddr *)&peer, sizeof(peer)) < 0)
			die("sendto");
	}
	sent = now() - start;
	least(&s->send[p], sent / PACKETS);
	if (s->attach && system("tc qdisc del dev in0 clsact"))
		die("tc");
	if (s->prog < 0)
		return;
	ran = run_time(s->prog, &after) - ran;
	close(link);
	if (after == before)
		die("the program did not run");
	least(&s->run[p], ran / (after - before));
}

/* CRC-32 from scratch over what the ICRC covers. */
static double recompute(const struct frame *f, size_t len)
{
	double start = now();
	__u32 crc = 0;
	int i;

	for (i = 0; i < PACKETS; i++) {
		crc = libdeflate_crc32(crc, &f->ip, len - sizeof(f->eth) -
				       ROCESTEER_ICRC_SIZE);
		asm volatile("" : "+r"(crc));
	}
	return (now() - start) / PACKETS;
}

/* Times by payload, less those of a baseline. */
static void add_row(struct json_object *part, const char *name,
		    const double *ns, const double *less)
{
	struct json_object *row = json_object_new_object();
	char key[16];
	int p;

	for (p = 0; p < NR_PAYLOADS; p++) {
		double value = ns[p] - (less ? less[p] : 0);

		snprintf(key, sizeof(key), "%d", payloads[p]);
		json_object_object_add(row, key, json_object_new_double(value));
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
				i == EMPTY ? NULL : subjects[EMPTY].run);
		add_row(sent, subjects[i].name, subjects[i].send,
			i == NOTHING ? NULL : subjects[NOTHING].send);
	}
	add_row(run, "recompute", scratch, NULL);
	json_object_object_add(root, "run_ns", run);
	json_object_object_add(root, "send_ns", sent);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
}

static int egress(bool module, int ifindex, __u32 pieces)
{
	return bpf_program__fd(load(module, ifindex, pieces)->progs.rocesteer_egress);
}

/* The program that tags packets; the flow's job has chunks, or another. */
static int tags(int ifindex, bool chunks)
{
	struct rocesteer_flow_key key = flow_key(ifindex);
	struct rocesteer_bpf *skel = load(false, ifindex, 1);

	if (tagging_tables(skel, &key) || (chunks && tagging_flow(skel, &key)))
		die("tables of chunks");
	return bpf_program__fd(skel->progs.rocesteer_chunk);
}

int main(int argc, char **argv)
{
	bool module = argc == 2 && !strcmp(argv[1], "--module");
	double scratch[NR_PAYLOADS] = {};
	int stats, fd, ifindex, nr, r, p, i;
	struct peers_bpf *peers;
	static struct frame f;

	if (unshare(CLONE_NEWNET) ||
	    system("ip link add in0 mtu 9000 type dummy 2>/dev/null || "
		   "ip link add in0 mtu 9000 type veth peer out0 mtu 9000") ||
	    system("ip link set in0 up; ip link set out0 up 2>/dev/null || :") ||
	    system("ip addr add " SELF "/24 dev in0") ||
	    system("ip neigh add " PEER " dev in0 lladdr 02:00:00:00:00:02"))
		die("network namespace");
	ifindex = if_nametoindex("in0");
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	peers = peers_bpf__open_and_load();
	if (fd < 0 || stats < 0 || !peers)
		die("set up");

	struct subject subjects[] = {
		[NOTHING] = { "nothing", -1 },
		[EMPTY] = { "empty", bpf_program__fd(peers->progs.nothing) },
		{ "port_only", bpf_program__fd(peers->progs.port_only) },
		{ "port_direct", bpf_program__fd(peers->progs.port_direct) },
		{ "idle", egress(false, ifindex, 0) },
		{ "steer", egress(false, ifindex, 1) },
		{ "split", egress(false, ifindex, 4) },
		{ "tag_none", tags(ifindex, false) },
		{ "tag", tags(ifindex, true) },
		{ "tag_first", tags(ifindex, true), .opcode = WRITE_FIRST },
		{ "steer_module", module ? egress(true, ifindex, 1) : -1 },
		{ "pedit", -1, PEDIT },
	};

	nr = module ? 12 : 10;
	for (r = 0; r < (module ? GUEST_ROUNDS : ROUNDS); r++) {
		for (p = 0; p < NR_PAYLOADS; p++) {
			size_t len = make_frame(&f, payloads[p]);

			for (i = 0; i < nr; i++)
				measure(&subjects[i], p, ifindex, fd, &f, len);
			least(&scratch[p], recompute(&f, len));
		}
	}
	print(subjects, nr, scratch);
	return 0;
}
