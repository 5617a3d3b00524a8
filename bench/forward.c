// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of forwarding for a switch.
 *
 *	forward DEVICE SINK
 *
 * The kernel itself makes frames and sends them from DEVICE, a veth, to the switch (XDP live
 * frames), which receives them as it receives those of a NIC, by NAPI and GRO. All of them
 * leave through SINK. They are UDP, or RoCE v2 to a real queue pair.
 *
 * Prints JSON: nanoseconds a packet, from DEVICE to behind SINK.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "forward.skel.h"
#include "frame.h"
#include "sink.h"

#define FRAMES	12000	/* of a round; below 64 times the TTL, since frames come again */
#define ROUNDS	3	/* the least counts: the first one allocates */
#define PAYLOAD	64

static const struct {
	const char *name;
	__u16 port;
} kinds[] = {
	{ "udp", 4792 },
	{ "roce", ROCESTEER_ROCE_PORT },
};

#define NR_KINDS	2

static void die(const char *what)
{
	fprintf(stderr, "forward: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int measure(int prog, const char *sink, struct frame *f, size_t len)
{
	unsigned long before = sink_packets(sink);
	unsigned int least = ~0u;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		struct bpf_test_run_opts opts = {
			.sz = sizeof(opts),
			.data_in = f,
			.data_size_in = len,
			.repeat = FRAMES,
			.flags = BPF_F_TEST_XDP_LIVE_FRAMES,
		};

		if (bpf_prog_test_run_opts(prog, &opts))
			die("run");
		if (opts.duration < least)
			least = opts.duration;
	}
	sink_expect(sink, before + ROUNDS * FRAMES);
	return least;
}

int main(int argc, char **argv)
{
	struct forward_bpf *skel = forward_bpf__open_and_load();
	struct frame frame;
	int prog, i;
	size_t len;

	if (argc != 3 || !skel)
		die("usage: forward DEVICE SINK");
	skel->bss->device = if_nametoindex(argv[1]);
	prog = bpf_program__fd(skel->progs.send_frame);
	len = frame_make(&frame, PAYLOAD, "10.0.0.2", "10.0.1.2");
	frame.bth.dqpn = htonl(17);
	/* A frame that was freed comes again, as its forwarding has left it. */
	frame.ip.ttl = 255;
	frame.ip.check = frame_ip_sum(frame.ip);
	for (i = 0; i < NR_KINDS; i++) {
		frame.udp.dest = htons(kinds[i].port);
		printf("%s\"%s\": %u", i ? ", " : "{", kinds[i].name,
		       measure(prog, argv[2], &frame, len));
	}
	puts("}");
	return 0;
}
