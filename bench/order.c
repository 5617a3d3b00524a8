// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of restoring the order for a received packet.
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
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "frame.h"
#include "order.skel.h"

#define FRAMES	4000
#define PAYLOAD	64

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

/* The MAC address of a device. */
static void frame_to(struct frame *f, const char *dev)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFHWADDR, &ifr))
		die(dev);
	memcpy(f->eth.h_dest, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
}

static void measure(struct order_bpf *skel, int ifindex, struct frame *f, size_t len, int i)
{
	struct xdp_md ctx = {
		.data_end = len,
		.ingress_ifindex = ifindex,
	};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = f,
		.data_size_in = len,
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
	size_t len;

	if (argc != 7 || !skel)
		die("usage: order DEVICE SELF PEER QPN ON OFF");
	ifindex = if_nametoindex(argv[1]);
	prog = bpf_program__fd(skel->progs.make_frame);
	len = frame_make(&frame, PAYLOAD, argv[3], argv[2]);
	frame_to(&frame, argv[1]);
	skel->bss->qpn = strtoul(argv[4], NULL, 0);
	/* Only a device that has a program receives such frames. */
	if (bpf_xdp_attach(ifindex, prog, 0, NULL))
		die("attach");

	measure(skel, ifindex, &frame, len, 0);
	command(argv[5]);
	for (i = 1; i < NR_CASES; i++)
		measure(skel, ifindex, &frame, len, i);
	command(argv[6]);
	bpf_xdp_detach(ifindex, 0, NULL);

	printf("{\"receive_ns\": {\"no_job\": %u", cases[0].ns);
	for (i = 1; i < NR_CASES; i++)
		printf(", \"%s\": %d", cases[i].name, (int)(cases[i].ns - cases[0].ns));
	puts("}}");
	return 0;
}
