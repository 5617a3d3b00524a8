// SPDX-License-Identifier: GPL-2.0
/*
 * Send frames through the egress program on a veth and compare what comes out,
 * byte for byte.
 *
 * replay [--module] DIRECTORY
 *
 * DIRECTORY is what vectors.py wrote. With --module the programs call the
 * module, and the test fails where the module is not loaded. The test runs in a
 * network namespace of its own, which ends with the test. Output is KTAP.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tables.h"
#include "../checksum.h"
#include "../../include/rocesteer/roce.h"
#include "../../include/rocesteer/stats.h"

#define BATCH		32	/* frames in flight, fewer than a receive buffer holds */
#define FRAME_MAX	8192
#define REPLY_MS	5000
#define MOST_VERIFIED	4000	/* instructions of a program, whatever clang and kernel */

struct frame {
	size_t len;
	unsigned char data[FRAME_MAX];
};

static struct frame sent[BATCH], expected[BATCH];

static FILE *open_in(const char *dir, const char *name, size_t skip)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || fseek(f, skip, SEEK_SET))
		die(path);
	return f;
}

/* Read the next record of a pcap file, whose global header was skipped. */
static bool next_frame(FILE *f, struct frame *frame)
{
	__u32 header[4];

	if (fread(header, sizeof(header), 1, f) != 1)
		return false;
	frame->len = header[2];
	if (frame->len > FRAME_MAX || fread(frame->data, frame->len, 1, f) != 1)
		die("pcap record");
	return true;
}

#define SOURCE	{ [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 }	/* 10.0.0.1 */

static const __u8 source_v6[16] = { 0xfd, [3] = 1, [15] = 1 };

static void add_flows(struct rocesteer_bpf *skel, const char *dir, int ifindex)
{
	FILE *f = open_in(dir, "flows.txt", 0);
	unsigned int dqpn, sport, i;
	char peer[33];

	while (fscanf(f, "%32s %u %u", peer, &dqpn, &sport) == 3) {
		struct rocesteer_flow_key key = { .ifindex = ifindex,
						  .dqpn = dqpn };
		struct rocesteer_flow_path path = {
			.job = 1,
			.flags = ROCESTEER_FLOW_SHARE,
			.nr_pieces = 1,
			.piece[0] = { .end = 1, .sport = htons(sport) },
			.source = SOURCE,
		};

		for (i = 0; i < 16; i++)
			if (sscanf(peer + 2 * i, "%2hhx", &key.peer[i]) != 1)
				die("flows.txt");
		if (key.peer[0] == 0xfd)	/* the IPv6 peer */
			memcpy(path.source, source_v6, sizeof(source_v6));
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.rs_flows), &key, &path, BPF_NOEXIST))
			die("rs_flows");
	}
	fclose(f);
}

static int packet_socket(const char *dev)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1, size = 16 << 20;

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("packet socket");
	return fd;
}

/* The kernel takes the outer VLAN tag out on receive: put it back. */
static void restore_tag(struct msghdr *msg, struct frame *frame)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		const struct tpacket_auxdata *aux = (void *)CMSG_DATA(c);
		__be16 tag[2];

		if (c->cmsg_level != SOL_PACKET ||
		    c->cmsg_type != PACKET_AUXDATA ||
		    !(aux->tp_status & TP_STATUS_VLAN_VALID))
			continue;
		tag[0] = htons(aux->tp_vlan_tpid);
		tag[1] = htons(aux->tp_vlan_tci);
		memmove(frame->data + 16, frame->data + 12, frame->len - 12);
		memcpy(frame->data + 12, tag, sizeof(tag));
		frame->len += sizeof(tag);
	}
}

static bool receive(int fd, struct frame *frame)
{
	char control[256];
	struct iovec iov = { frame->data, FRAME_MAX - 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t len;

	if (poll(&p, 1, REPLY_MS) != 1)
		return false;
	len = recvmsg(fd, &msg, 0);
	if (len < 0)
		die("receive");
	frame->len = len;
	restore_tag(&msg, frame);
	return true;
}

static void explain(const struct frame *want, const struct frame *got)
{
	size_t i;

	printf("# length %zu, expected %zu\n", got->len, want->len);
	for (i = 0; i < want->len && i < got->len; i++)
		if (want->data[i] != got->data[i])
			printf("# byte %zu: %02x, expected %02x\n", i, got->data[i], want->data[i]);
}

/* Return: frames that came out wrong, or not at all. */
static unsigned int replay(const char *dir, int tx, int rx, unsigned int *total)
{
	FILE *in = open_in(dir, "in.pcap", 24), *out = open_in(dir, "out.pcap", 24);
	unsigned int wrong = 0, n, i;
	struct frame got;

	for (*total = 0;; *total += n) {
		for (n = 0; n < BATCH && next_frame(in, &sent[n]); n++) {
			if (!next_frame(out, &expected[n]))
				die("out.pcap is shorter than in.pcap");
			if (send(tx, sent[n].data, sent[n].len, 0) < 0)
				die("send");
		}
		if (!n)
			break;
		for (i = 0; i < n; i++) {
			if (!receive(rx, &got))
				die("a frame was lost");
			if (got.len == expected[i].len &&
			    !memcmp(got.data, expected[i].data, got.len))
				continue;
			if (!wrong++)
				explain(&expected[i], &got);
		}
	}
	fclose(in);
	fclose(out);
	return wrong;
}

static void sum_verdicts(struct rocesteer_bpf *skel, __u64 sum[ROCESTEER_VERDICT_MAX])
{
	int cpus = libbpf_num_possible_cpus(), cpu, v;
	__u64 (*values)[ROCESTEER_VERDICT_MAX] = calloc(cpus, sizeof(*values));
	__u32 zero = 0;

	if (!values || bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_verdicts), &zero, values))
		die("rs_verdicts");
	for (cpu = 0; cpu < cpus; cpu++)
		for (v = 0; v < ROCESTEER_VERDICT_MAX; v++)
			sum[v] += values[cpu][v];
	free(values);
}

static void report_verdicts(struct rocesteer_bpf *skel, unsigned int steered, unsigned int total)
{
	__u64 sum[ROCESTEER_VERDICT_MAX] = {}, all = 0;
	int v;

	sum_verdicts(skel, sum);
	for (v = 0; v < ROCESTEER_VERDICT_MAX; v++) {
		printf("# verdict %d: %llu\n", v, sum[v]);
		all += sum[v];
	}
	printf("%sok 2 every frame is counted once, and each valid frame as steered\n",
	       sum[ROCESTEER_VERDICT_STEERED] == steered && all == total ? "" : "not ");
}

/* Send a packet of RC flow @dqpn by UDP, as any process can, with a wrong ICRC. */
static void send_request(__u32 dqpn, __u32 psn)
{
	struct {
		struct rocesteer_bth bth;
		__be32 icrc;
	} packet = { .bth.dqpn = htonl(dqpn), .bth.apsn = htonl(psn) };

	send_by_udp(&packet, sizeof(packet));
}

/* Send such a packet by packet socket @fd, in a frame to MAC address @to. */
static void send_by_device(int fd, const char *to, const char *saddr, __u32 dqpn, __u32 psn)
{
	struct {
		struct ethhdr eth;
		struct iphdr ip;
		struct udphdr udp;
		struct rocesteer_bth bth;
		__be32 icrc;
	} __attribute__((packed)) f = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = { .version = 4, .ihl = 5, .ttl = 64,
			.protocol = IPPROTO_UDP,
			.tot_len = htons(sizeof(f) - sizeof(f.eth)),
			.saddr = inet_addr(saddr),
			.daddr = inet_addr("10.0.0.2") },
		.udp = { .source = htons(0xc000),
			 .dest = htons(ROCESTEER_ROCE_PORT),
			 .len = htons(sizeof(f.udp) + sizeof(f.bth) + sizeof(f.icrc)) },
		.bth = { .dqpn = htonl(dqpn), .apsn = htonl(psn) },
	};

	if (sscanf(to, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &f.eth.h_dest[0],
		   &f.eth.h_dest[1], &f.eth.h_dest[2], &f.eth.h_dest[3],
		   &f.eth.h_dest[4], &f.eth.h_dest[5]) != 6)
		die(to);
	f.ip.check = htons(~checksum_add(0, &f.ip, sizeof(f.ip)));
	if (send(fd, &f, sizeof(f), 0) < 0)
		die("send");
}

static __u64 verdict(struct rocesteer_bpf *skel, enum rocesteer_verdict which)
{
	__u64 sum[ROCESTEER_VERDICT_MAX] = {};

	sum_verdicts(skel, sum);
	return sum[which];
}

/* Packets that a process sends by UDP make no flow, and change no flow. */
static void report_process(struct rocesteer_bpf *skel, __u32 ifindex, int tx)
{
	struct rocesteer_flow_path flow = { .job = 1, .nr_pieces = 1,
					    .flags = ROCESTEER_FLOW_SHARE,
					    .piece[0] = { .end = 1 }, .source = SOURCE };
	struct rocesteer_flow_key key = { .ifindex = ifindex, .dqpn = 2,
					  .peer = { [10] = 0xff, [11] = 0xff,
						    [12] = 10, [15] = 2 } };
	int flows = bpf_map__fd(skel->maps.rs_flows);
	__u32 job = 1;

	if (bpf_map_update_elem(bpf_map__fd(skel->maps.rs_devices), &ifindex,
				&job, BPF_ANY) ||
	    bpf_map_update_elem(flows, &key, &flow, BPF_ANY))
		die("tables");
	send_request(1, 0);
	printf("%sok 4 a packet that a process sends by UDP makes no flow\n",
	       verdict(skel, ROCESTEER_VERDICT_USER) == 1 ? "" : "not ");
	send_by_device(tx, "02:00:00:00:00:02", "10.0.0.1", key.dqpn, 100);
	send_request(key.dqpn, 100 + (1 << 22));
	if (bpf_map_lookup_elem(flows, &key, &flow))
		die("rs_flows");
	printf("%sok 5 a packet that a process sends by UDP does not move the PSN of a flow\n",
	       flow.psns[ROCESTEER_REQUESTS].next == 101 &&
	       verdict(skel, ROCESTEER_VERDICT_USER) == 2 ? "" : "not ");
}

/* Packets that a container behind a veth sends are forwarded, and make no flow. */
static void report_container(struct rocesteer_bpf *skel)
{
	int container, tries = 5000;

	if (system("ip link add host0 address 02:00:00:00:00:03 type veth peer container0") ||
	    system("ip link set host0 up; ip link set container0 up") ||
	    system("ip addr add 10.1.0.1/24 dev host0") ||
	    system("sysctl -qw net.ipv4.ip_forward=1"))
		die("container");
	container = packet_socket("container0");
	send_by_device(container, "02:00:00:00:00:03", "10.1.0.2", 1, 0);
	while (!verdict(skel, ROCESTEER_VERDICT_FORWARDED) && tries--)
		usleep(1000);
	printf("%sok 6 a forwarded packet makes no flow\n",
	       verdict(skel, ROCESTEER_VERDICT_FORWARDED) == 1 ? "" : "not ");
	close(container);
}

/* Each program is verified by itself, and stays far from any limit of the verifier. */
static void report_sizes(struct rocesteer_bpf *skel)
{
	struct bpf_prog_info info;
	struct bpf_program *prog;
	bool ok = true;
	__u32 len;

	bpf_object__for_each_program(prog, skel->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (bpf_prog_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			die("program info");
		printf("# %s: %u instructions verified\n",
		       bpf_program__name(prog), info.verified_insns);
		ok &= info.verified_insns <= MOST_VERIFIED;
	}
	printf("%sok 3 no program takes more than %d verified instructions\n",
	       ok ? "" : "not ", MOST_VERIFIED);
}

int main(int argc, char **argv)
{
	bool module = argc == 3 && !strcmp(argv[1], "--module");
	unsigned int wrong, total;
	struct rocesteer_bpf *skel;
	int ifindex, tx, rx;

	if (argc != 2 + module) {
		fprintf(stderr, "usage: replay [--module] DIRECTORY\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n", module ? 7 : 6);
	if (unshare(CLONE_NEWNET) ||
	    system("sysctl -qw net.ipv6.conf.default.disable_ipv6=1") ||
	    system("ip link add in0 mtu 9000 type veth peer out0 mtu 9000") ||
	    system("ip link set in0 up; ip link set out0 up") ||
	    system("ip addr add 10.0.0.1/24 dev in0") ||
	    system("ip neigh add 10.0.0.2 dev in0 lladdr 02:00:00:00:00:02"))
		die("network namespace");
	ifindex = if_nametoindex("in0");
	skel = load_unpinned(module);
	if (!skel)
		die("load");
	add_flows(skel, argv[argc - 1], ifindex);
	skel->links.rocesteer_egress =
		bpf_program__attach_tcx(skel->progs.rocesteer_egress, ifindex, NULL);
	if (!skel->links.rocesteer_egress)
		die("attach");
	tx = packet_socket("in0");
	rx = packet_socket("out0");
	wrong = replay(argv[argc - 1], tx, rx, &total);
	printf("# %u of %u frames came out wrong\n", wrong, total);
	printf("%sok 1 every frame leaves with the bytes that vectors.py expects\n",
	       wrong || !total ? "not " : "");
	report_verdicts(skel, count_flows(skel), total);
	report_sizes(skel);
	report_process(skel, ifindex, tx);
	report_container(skel);
	if (module)
		printf("%sok 7 the module is loaded\n",
		       access("/sys/kernel/btf/rocesteer", F_OK) ? "not " : "");
	rocesteer_bpf__destroy(skel);
	close(tx);
	close(rx);
	return 0;
}
