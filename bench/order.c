// SPDX-License-Identifier: GPL-2.0
/*
 * What restoring the order costs a packet that is received.
 *
 *	order DEVICE SELF PEER QPN ON OFF
 *
 * QPN is a queue pair of rxe on DEVICE, from SELF to PEER. Of the shell commands
 * ON has a job resequence it, OFF ends that. The kernel itself makes frames and
 * has the device receive them (XDP live frames). Their ICRC is wrong: rxe drops
 * them when it has found the queue pair, so that no more than the way there is
 * measured. The second run of a case counts: the first one allocates.
 *
 * Prints JSON: nanoseconds a packet beyond those without a job.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "order.skel.h"
#include "../include/rocesteer/roce.h"
#include "../include/rocesteer/types.h"

#define FRAMES	4000
#define PAYLOAD	64

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	unsigned char payload[PAYLOAD + ROCESTEER_ICRC_SIZE];
} __attribute__((packed));

/* The first, without a job, is what the others are measured from. */
static struct {
	const char *name;
	unsigned int paths;
	unsigned int swap;
	unsigned int ns;
} cases[] = {
	{ "no_job", 1, 0, 0 },
	{ "whole", 1, 0, 0 },
	{ "in_order", 4, 0, 0 },
	{ "swapped", 4, 1, 0 },
};

#define NR_CASES	4

static void die(const char *what)
{
	fprintf(stderr, "order: %s: %s\n", what, strerror(errno));
	exit(1);
}

static __u16 ip_sum(struct iphdr ip)
{
	__u16 word[10];
	__u32 sum = 0;
	int i;

	memcpy(word, &ip, sizeof(word));
	for (i = 0; i < 10; i++)
		sum += word[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

static void frame_make(struct frame *f, const char *dev, const char *self,
		       const char *peer)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFHWADDR, &ifr))
		die(dev);
	memcpy(f->eth.h_dest, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	f->eth.h_proto = htons(ETH_P_IP);
	f->ip.version = 4;
	f->ip.ihl = 5;
	f->ip.ttl = 64;
	f->ip.protocol = IPPROTO_UDP;
	f->ip.tot_len = htons(sizeof(*f) - sizeof(f->eth));
	f->ip.saddr = inet_addr(peer);
	f->ip.daddr = inet_addr(self);
	f->ip.check = ip_sum(f->ip);
	f->udp.dest = htons(ROCESTEER_ROCE_PORT);
	f->udp.len = htons(sizeof(*f) - sizeof(f->eth) - sizeof(f->ip));
	f->bth.opcode = 0x07;	/* RDMA WRITE Middle */
	f->bth.pkey = htons(0xffff);
}

static void measure(struct order_bpf *skel, int ifindex, struct frame *f, int i)
{
	struct xdp_md ctx = {
		.data_end = sizeof(*f),
		.ingress_ifindex = ifindex,
	};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = f,
		.data_size_in = sizeof(*f),
		.ctx_in = &ctx,
		.ctx_size_in = sizeof(ctx),
		.repeat = FRAMES,
		.flags = BPF_F_TEST_XDP_LIVE_FRAMES,
	};
	int prog = bpf_program__fd(skel->progs.make_frame), run;

	skel->bss->paths = cases[i].paths;
	skel->bss->swap = cases[i].swap;
	for (run = 0; run < 2; run++)
		if (bpf_prog_test_run_opts(prog, &opts))
			die("run");
	cases[i].ns = opts.duration;
}

static void command(const char *line)
{
	if (system(line))
		die(line);
}

int main(int argc, char **argv)
{
	struct order_bpf *skel = order_bpf__open_and_load();
	static struct frame frame;
	int ifindex, prog, i;

	if (argc != 7 || !skel)
		die("usage: order DEVICE SELF PEER QPN ON OFF");
	ifindex = if_nametoindex(argv[1]);
	prog = bpf_program__fd(skel->progs.make_frame);
	frame_make(&frame, argv[1], argv[2], argv[3]);
	skel->bss->qpn = strtoul(argv[4], NULL, 0);
	/* Only a device that has a program receives such frames. */
	if (bpf_xdp_attach(ifindex, prog, 0, NULL))
		die("attach");

	measure(skel, ifindex, &frame, 0);
	command(argv[5]);
	for (i = 1; i < NR_CASES; i++)
		measure(skel, ifindex, &frame, i);
	command(argv[6]);
	bpf_xdp_detach(ifindex, 0, NULL);

	printf("{\"receive_ns\": {\"no_job\": %u", cases[0].ns);
	for (i = 1; i < NR_CASES; i++)
		printf(", \"%s\": %d", cases[i].name,
		       (int)(cases[i].ns - cases[0].ns));
	puts("}}");
	return 0;
}
