// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of summing for the switch.
 *
 *	reduce DEVICE SINK
 *
 * Packets of the ranks of a group, one after the other, are sent from DEVICE to a port of a
 * bridge, and their results leave through SINK. The packets are in one piece, as those of rxe
 * are, or their payload is in pages, as many NICs receive them. Programs at the entry and the
 * exit of a function of rocesteer_reduce.ko tell how long the function takes, less what they
 * tell of a function that does nothing.
 *
 * Prints JSON: nanoseconds a packet; of crc, a payload.
 */
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <libdeflate.h>

#include "frame.h"
#include "reduce.skel.h"
#include "sink.h"

#define VIRTUAL		0xc00000
#define POSITIONS	50	/* of a measurement */
#define LINEAR		128	/* as many drivers copy for the headers of a packet in pages */
#define TINY_RUNS	50	/* of a function that does nothing */

static const struct load {
	const char *name;
	unsigned int ranks;
	int payload;
} loads[] = {
	{ "2 ranks", 2, 4096 },
	{ "4 ranks", 4, 4096 },
	{ "8 ranks", 8, 4096 },
	{ "8, 1024 B", 8, 1024 },
};

#define READ	"reduce_packet_read", "reduce_packet_icrc_is_right"
#define SLOT	"reduce_slots_receive", "reduce_emit_begin"

static const struct row {
	const char *name;
	const char *type;
	const char *function;
	const char *and;	/* another function, whose time is added; NULL: none */
	bool of_slot;	/* called once for a slot, not for each packet */
	bool pages;	/* of packets in pages, which sockets make of long ones only */
} rows[] = {
	{ "crc", "int32", "reduce_packet_crc", .of_slot = true },
	{ "read", "int32", READ },
	{ "read_pages", "int32", READ, .pages = true },
	{ "int32", "int32", SLOT },
	{ "fp32", "fp32", SLOT },
	{ "bf16", "bf16", SLOT },
	{ "fp16", "fp16", SLOT },
	{ "all", "int32", "reduce_receive" },
};

#define NR_LOADS	4
#define NR_ROWS		8

static void die(const char *what)
{
	fprintf(stderr, "reduce: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int group;	/* its number: PSNs of a group may not come again */

static void group_load(const char *type, const struct load *load)
{
	FILE *f = popen("rocesteer reduce load - >&2", "w");
	unsigned int r;

	group++;
	if (!f)
		die("rocesteer");
	fprintf(f, "{\"group\": %u, \"type\": \"%s\", \"op\": \"sum\", \"mtu\": %d, "
		"\"packets\": 40, \"window\": 2, \"ranks\": [", group, type, load->payload);
	for (r = 0; r < load->ranks; r++)
		fprintf(f, "%s{\"address\": \"10.0.0.%u\", \"qpn\": %u, \"psn\": 0, \"va\": 0}",
			r ? ", " : "", r + 1, r + 17);
	fputs("]}\n", f);
	if (pclose(f))
		die("load a group");
}

/*
 * The ICRC is a CRC-32 over the packet, with all ones for what changes on the way, and
 * eight bytes of ones before, here in the place of the MAC header.
 */
static void frame_seal(struct frame *f, size_t len)
{
	size_t covered = len - sizeof(f->eth) - ROCESTEER_ICRC_SIZE;
	struct frame masked;
	__u32 icrc;

	memcpy(&masked, f, len);
	memset(&masked.eth, 0xff, sizeof(masked.eth));
	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	masked.ip.check = 0xffff;
	masked.udp.check = 0xffff;
	masked.bth.dqpn |= htonl(0xff000000);
	icrc = libdeflate_crc32(0, (unsigned char *)&masked.ip - 8, 8 + covered);
	memcpy((unsigned char *)&f->ip + covered, &icrc, sizeof(icrc));
}

/* The first @linear bytes are in the socket buffer itself. */
static void send_frame(int fd, struct frame *f, size_t len, size_t linear)
{
	struct virtio_net_hdr hdr = { .hdr_len = linear };
	const struct iovec part[] = { { &hdr, sizeof(hdr) }, { f, len } };

	if (writev(fd, part, 2) != (ssize_t)(sizeof(hdr) + len))
		die("send");
}

static void frame_of_rank(struct frame *f, size_t len, const struct load *load,
			  unsigned int rank, __u32 psn)
{
	f->ip.saddr = htonl(0x0a000001 + rank);
	f->ip.daddr = htonl(0x0a000001 + (rank + 1) % load->ranks);
	f->ip.check = frame_ip_sum(f->ip);
	f->bth.dqpn = htonl(VIRTUAL | group << 8 | rank);
	f->bth.apsn = htonl(psn);
	frame_seal(f, len);
}

/* Positions of all ranks. Exits where a result does not leave. */
static void send_all(int fd, const char *sink, const struct row *row, const struct load *load)
{
	static struct frame f;
	size_t len = frame_make(&f, load->payload, "10.0.0.1", "10.0.0.2");
	size_t linear = row->pages ? LINEAR : len;
	unsigned long before = sink_packets(sink);
	unsigned int rank;
	__u32 psn;

	for (psn = 0; psn < POSITIONS; psn++) {
		for (rank = 0; rank < load->ranks; rank++) {
			frame_of_rank(&f, len, load, rank, psn);
			send_frame(fd, &f, len, linear);
		}
	}
	sink_expect(sink, before + POSITIONS * load->ranks);
}

/* The programs at a function whose calls repeat themselves after @period of them. */
static struct reduce_bpf *attach(const char *function, __u32 period)
{
	struct reduce_bpf *skel = reduce_bpf__open();

	if (!skel)
		die("BPF");
	skel->data->period = period;
	if (bpf_program__set_attach_target(skel->progs.enter, 0, function) ||
	    bpf_program__set_attach_target(skel->progs.leave, 0, function) ||
	    reduce_bpf__load(skel) || reduce_bpf__attach(skel))
		die(function);
	return skel;
}

/* Return: of a call, on average. */
static double took(struct reduce_bpf *skel, unsigned int calls)
{
	double sum = 0;
	__u32 i;

	if (skel->bss->calls != calls)
		die("calls of the function are not as many as expected");
	for (i = 0; i < skel->data->period; i++)
		sum += skel->bss->least[i];
	sum /= skel->data->period;
	reduce_bpf__destroy(skel);
	return sum;
}

/* Time of a function that only adds one to its argument. */
static double tiny(void)
{
	struct reduce_bpf *skel = attach("bpf_fentry_test1", 1);
	struct bpf_test_run_opts opts = { .sz = sizeof(opts) };
	int i;

	for (i = 0; i < TINY_RUNS; i++)
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.enter), &opts))
			die("bpf_fentry_test1");
	return took(skel, TINY_RUNS);
}

static double measure(int fd, const char *sink, const struct row *row, const struct load *load,
		      const char *function)
{
	__u32 period = row->of_slot ? 1 : load->ranks;
	struct reduce_bpf *skel;
	char unload[64];
	double ns;

	group_load(row->type, load);
	skel = attach(function, period);
	send_all(fd, sink, row, load);
	ns = took(skel, POSITIONS * period);
	snprintf(unload, sizeof(unload), "rocesteer reduce unload %u >&2", group);
	if (system(unload))
		die("unload the group");
	return ns;
}

/* Raw frames of a device that receives none here */
static int raw_socket(const char *device)
{
	const struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(device),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)&to, sizeof(to)))
		die(device);
	return fd;
}

int main(int argc, char **argv)
{
	int fd, r, l;
	double less, ns;

	if (argc != 3) {
		fputs("usage: reduce DEVICE SINK\n", stderr);
		return 2;
	}
	fd = raw_socket(argv[1]);
	less = tiny();
	printf("{\"sum_ns\": {");
	for (r = 0; r < NR_ROWS; r++) {
		printf("%s\"%s\": {", r ? ", " : "", rows[r].name);
		for (l = 0; l < NR_LOADS; l++) {
			if (rows[r].pages && loads[l].payload != 4096)
				continue;
			ns = measure(fd, argv[2], &rows[r], &loads[l], rows[r].function) - less;
			if (rows[r].and)
				ns += measure(fd, argv[2], &rows[r], &loads[l], rows[r].and) - less;
			printf("%s\"%s\": %.0f", l ? ", " : "", loads[l].name, ns);
		}
		printf("}");
	}
	puts("}}");
	return 0;
}
