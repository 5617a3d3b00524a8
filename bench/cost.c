// SPDX-License-Identifier: GPL-2.0
/*
 * What the egress program costs a packet, against its peers in the same run.
 *
 * cost [--module]
 *
 * RoCE v2 frames of 256, 1,024 and 4,096 bytes of payload are sent over a veth
 * in a network namespace of its own, through a raw socket, which makes them
 * linear as rxe's are; each program in turn is attached to its
 * egress. The kernel's own run-time statistics (bpf_stats) give the time in
 * the program, less that of an empty one: the clock. Rounds of all programs
 * alternate and the least of them counts, so that what else the machine does
 * hits no program alone. The ICRC from scratch is libdeflate's CRC-32 over the
 * same frame, timed in user space in the same rounds.
 *
 * Prints JSON; bench/run makes the table. With --module the egress program is
 * measured calling the module, and in BPF alone, and nothing else.
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
#include "rocesteer.skel.h"
#include "../include/rocesteer/icrc.h"
#include "../include/rocesteer/types.h"

#define SELF	"10.0.0.1"
#define PEER	"10.0.0.2"
#define PACKETS	4000	/* a round */
#define ROUNDS	15

static const int payloads[] = { 256, 1024, 4096 };
#define NR_PAYLOADS	3

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	unsigned char payload[4096 + ROCESTEER_ICRC_SIZE];
} __attribute__((packed));

/* One column of the table. */
struct subject {
	const char *name;
	int prog;
	double ns[NR_PAYLOADS];
};

static void die(const char *what)
{
	fprintf(stderr, "cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t make_frame(struct frame *f, int payload)
{
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
	f->bth.opcode = 0x07;	/* RDMA WRITE Middle */
	f->bth.dqpn = htonl(0x11);
	for (i = 0; i < payload; i++)
		f->payload[i] = 7 * i + 3;
	return sizeof(f->eth) + sizeof(f->ip) + udp;
}

static struct rocesteer_bpf *load(bool module, int ifindex, bool flow)
{
	struct rocesteer_flow_key key = { .ifindex = ifindex, .dqpn = 0x11 };
	struct rocesteer_flow_path path = { .sport = htons(0xc123) };
	struct rocesteer_bpf *skel = rocesteer_bpf__open();
	struct bpf_map *map;
	__be32 peer = inet_addr(PEER);

	if (!skel)
		die("open");
	bpf_object__for_each_map(map, skel->obj)
		bpf_map__set_pin_path(map, NULL);
	rocesteer_icrc_init(skel->rodata->rs_icrc);
	skel->rodata->rs_use_module = module;
	bpf_program__set_autoload(skel->progs.rocesteer_flow_del, false);
	if (rocesteer_bpf__load(skel))
		die("load");
	memset(key.peer + 10, 0xff, 2);
	memcpy(key.peer + 12, &peer, 4);
	if (flow && bpf_map_update_elem(bpf_map__fd(skel->maps.rs_flows), &key,
					&path, BPF_NOEXIST))
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

/* Mean time of one run of the program over a round. */
static double measure(struct subject *s, int ifindex, int fd,
		      const struct frame *f, size_t len)
{
	int link = bpf_link_create(s->prog, ifindex, BPF_TCX_EGRESS, NULL);
	__u64 before, after;
	double start, end;
	int i;

	if (link < 0)
		die("attach");
	start = run_time(s->prog, &before);
	for (i = 0; i < PACKETS; i++)
		if (send(fd, &f->ip, len - sizeof(f->eth), 0) < 0)
			die("send");
	end = run_time(s->prog, &after);
	close(link);
	if (after == before)
		die("the program did not run");
	return (end - start) / (after - before);
}

/* CRC-32 from scratch over what the ICRC covers. */
static double recompute(const struct frame *f, size_t len)
{
	struct timespec a, b;
	__u32 crc = 0;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < PACKETS; i++) {
		crc = libdeflate_crc32(crc, &f->ip, len - sizeof(f->eth) -
				       ROCESTEER_ICRC_SIZE);
		asm volatile("" : "+r"(crc));
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / PACKETS;
}

static void least(double *ns, double value)
{
	if (!*ns || value < *ns)
		*ns = value;
}

static struct json_object *to_json(const struct subject *s, double clock[])
{
	struct json_object *o = json_object_new_object();
	char key[16];
	int p;

	for (p = 0; p < NR_PAYLOADS; p++) {
		snprintf(key, sizeof(key), "%d", payloads[p]);
		json_object_object_add(o, key, json_object_new_double(
				       s->ns[p] - (clock ? clock[p] : 0)));
	}
	return o;
}

int main(int argc, char **argv)
{
	bool module = argc == 2 && !strcmp(argv[1], "--module");
	struct json_object *root = json_object_new_object();
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = inet_addr(PEER) };
	struct subject subjects[5] = {}, scratch = { .name = "recompute" };
	int stats, fd, ifindex, nr = 0, r, p, i;
	struct peers_bpf *peers;
	static struct frame f;

	if (unshare(CLONE_NEWNET) ||
	    system("ip link add in0 mtu 9000 type veth peer out0 mtu 9000 && "
		   "ip link set in0 up && ip link set out0 up && "
		   "ip addr add " SELF "/24 dev in0 && "
		   "ip neigh add " PEER " dev in0 lladdr 02:00:00:00:00:02"))
		die("network namespace");
	ifindex = if_nametoindex("in0");
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	peers = peers_bpf__open_and_load();
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    stats < 0 || !peers)
		die("set up");
	subjects[nr++] = (struct subject){
		.name = "clock", .prog = bpf_program__fd(peers->progs.nothing) };
	subjects[nr++] = (struct subject){
		.name = "port_only",
		.prog = bpf_program__fd(peers->progs.port_only) };
	subjects[nr++] = (struct subject){
		.name = "idle", .prog = bpf_program__fd(
			load(false, ifindex, false)->progs.rocesteer_egress) };
	subjects[nr++] = (struct subject){
		.name = "steer", .prog = bpf_program__fd(
			load(false, ifindex, true)->progs.rocesteer_egress) };
	if (module)
		subjects[nr++] = (struct subject){
			.name = "steer_module", .prog = bpf_program__fd(
			load(true, ifindex, true)->progs.rocesteer_egress) };
	for (r = 0; r < ROUNDS; r++) {
		for (p = 0; p < NR_PAYLOADS; p++) {
			size_t len = make_frame(&f, payloads[p]);

			for (i = 0; i < nr; i++)
				least(&subjects[i].ns[p],
				      measure(&subjects[i], ifindex, fd, &f,
					      len));
			least(&scratch.ns[p], recompute(&f, len));
		}
	}
	json_object_object_add(root, "clock", to_json(&subjects[0], NULL));
	for (i = 1; i < nr; i++)
		json_object_object_add(root, subjects[i].name,
				       to_json(&subjects[i], subjects[0].ns));
	json_object_object_add(root, scratch.name, to_json(&scratch, NULL));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	return 0;
}
