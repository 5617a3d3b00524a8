// SPDX-License-Identifier: GPL-2.0
/*
 * Send valid and mutated WRITE packets of groups to a switch that sums, and look at all
 * that leaves:
 *
 *	packets COUNT SEED ROCESTEER PORT...
 *
 * PORTs are wires to the switch, where the command ROCESTEER has its groups. Groups come
 * and go. Their ranks send as hosts do, but go back, leave packets out and repeat others
 * at random. Half of the groups get mutated packets that have the right ICRC as well: these
 * may be poisoned. The others have to come to their end.
 *
 * Each input is random, so that its payload can be known. What leaves must be
 *
 *	- no payload of a packet that came for a virtual queue pair number, and no such number;
 *	- to the queue pairs of a group: with the right ICRC, the sum of what its ranks have
 *	  sent for this position.
 *
 * Prints what there was, by words NAME=NUMBER; exits 1 at the first fault.
 */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "packets_life.h"

struct life lives[LIVES];
struct count count;
static int ports[RANKS], nr_ports;
static const char *command;
static int plain, direct, taken;	/* sockets: what they send is cloned, is not; reads */

/* Groups. */

void address(char *text, const struct life *life, __u32 rank)
{
	sprintf(text, life->v6 ? "fd00::%u" : "10.0.0.%u", rank + 1);
}

__u64 memory(const struct life *life, __u32 rank)
{
	return (__u64)chance(life, 1, rank, 0) << 12;
}

static void load(struct life *life)
{
	char line[200], text[INET6_ADDRSTRLEN];
	FILE *to;
	__u32 r;

	snprintf(line, sizeof(line), "%s reduce load -", command);
	to = popen(line, "w");
	if (!to)
		err(2, "popen");
	fprintf(to, "{\"group\":%u,\"type\":\"int32\",\"op\":\"sum\",\"mtu\":%u,\"packets\":%u,"
		"\"window\":%u,\"ranks\":[", life->group, life->mtu, life->packets, life->window);
	for (r = 0; r < life->ranks; r++) {
		address(text, life, r);
		fprintf(to, "%s{\"address\":\"%s\",\"qpn\":%u,\"psn\":%u,\"va\":%llu}",
			r ? "," : "", text, REAL | life->group << 8 | r, life->psn[r],
			(unsigned long long)memory(life, r));
	}
	fputs("]}\n", to);
	if (pclose(to))
		errx(1, "%s: a group was not loaded", line);
}

static void unload(const struct life *life)
{
	char line[200];

	snprintf(line, sizeof(line), "%s reduce unload %u", command, life->group);
	if (system(line))
		errx(1, "%s: failed", line);
}

static __u32 used[GROUPS][RANKS];	/* first PSNs of the last life that had the number */

/* A switch refuses PSNs that are near those of the last life. */
static __u32 next_psn(__u32 before, bool any_before)
{
	__u32 psn;

	do
		psn = random_below(2) ? random_below(1 << 24) :
					(1 << 24) - 1 - random_below(POSITIONS);
	while (any_before && abs(rocesteer_psn_diff(psn, before)) < (1 << 22) + 2 * POSITIONS);
	return psn;
}

static void begin(struct life *life)
{
	static __u32 serial;
	__u32 r, *psn;

	memset(life, 0, sizeof(*life));
	life->serial = ++serial;
	life->group = serial % GROUPS;
	life->v6 = serial >> 1 & 1;
	life->forged = serial & 1;
	life->ranks = 2 + random_below(nr_ports - 1);
	life->mtu = random_below(3) ? 256 << random_below(2) : MTU_MOST;
	life->packets = 1 + random_below(5);
	life->window = 1 + random_below(3);
	life->positions = POSITIONS / 2 + random_below(POSITIONS / 2);
	for (r = 0; r < life->ranks; r++) {
		psn = &used[life->group][r];
		*psn = next_psn(*psn, serial > GROUPS);
		life->psn[r] = *psn;
	}
	load(life);
	count.lives++;
}

/* Packets that come to the switch, and that leave. */

static bool is_port(int index)
{
	int i;

	for (i = 0; i < nr_ports; i++)
		if (ports[i] == index)
			return true;
	return false;
}

/* Read all that has left. */
static void drain(void)
{
	static struct packet p;
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t len;

	for (;;) {
		size = sizeof(from);
		len = recvfrom(taken, p.data, sizeof(p.data), 0, (void *)&from, &size);
		if (len < 0 && errno == EAGAIN)
			return;
		if (len < 0)
			err(1, "receive");
		p.len = len;
		if (from.sll_pkttype != PACKET_OUTGOING && is_port(from.sll_ifindex))
			check_packet(&p);
	}
}

static void transmit(const struct packet *p, __u32 rank, bool gso)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = ports[rank % nr_ports],
	};
	/* A large packet has so many bytes in one piece, the rest in pages. */
	struct virtio_net_hdr head = { .hdr_len = 14 + random_below(80) };
	struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)p->data, p->len } };
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = iov, .msg_iovlen = 2,
	};
	struct packet_layout l;

	if (gso && packet_layout(p, &l)) {
		head.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		head.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
		head.hdr_len = l.l4 + sizeof(struct udphdr);
		head.gso_size = 1 + l.len / 3;
		head.csum_start = l.l4;
		head.csum_offset = 6;
	}
	if (head.hdr_len > p->len)
		head.hdr_len = p->len;
	if (sendmsg(random_below(2) ? plain : direct, &msg, 0) < 0 &&
	    errno != EINVAL && errno != ENOBUFS && errno != EMSGSIZE)
		err(1, "send");
	count.sent++;
	count.gso += gso;
	drain();
}

static void send_mutated(const struct life *life, __u32 rank, __u32 position)
{
	bool right = life->forged && random_below(2);
	static struct packet p;
	__u64 state = random_state;
	struct view view;

	make(&p, life, rank, position);
	look(&p, 1, &view);
	know(&view);
	random_state = state;
	make_mutated(&p, life, rank, position, false, right);
	look(&p, 1, &view);
	if ((view.qpn & 0xff8000) == REAL)
		return;
	if (is_virtual(&view)) {
		note_input(&p, &view);
	} else {
		/* The packet may pass, so it must not have an input's payload. */
		random_state = state;
		make_mutated(&p, life, rank, position, true, right);
		look(&p, 1, &view);
		if (is_virtual(&view))
			return;
	}
	count.mutated++;
	count.forged += right;
	transmit(&p, rank, false);
}

static void send_valid(struct life *life, __u32 rank, __u32 position)
{
	static struct packet p;
	struct view view;
	bool gso = !random_below(64);

	make(&p, life, rank, position);
	look(&p, 1, &view);
	know(&view);
	note_input(&p, &view);
	count.valid++;
	transmit(&p, rank, gso);
}

/* Lives. */

/* Positions before which the results of a rank's connection have left. */
static __u32 acked(const struct life *life, __u32 rank)
{
	return __builtin_ctzll(~life->seen[rank]);
}

/* Position behind all that a rank may send: it has the results that its window asks for. */
static __u32 posted(const struct life *life, __u32 rank)
{
	__u32 has = acked(life, (rank + life->ranks - 1) % life->ranks);
	__u32 behind = has == life->positions ? has :
		       (has / life->packets + life->window) * life->packets;

	return behind < life->positions ? behind : life->positions;
}

static bool has_ended(const struct life *life)
{
	__u32 r;

	for (r = 0; r < life->ranks; r++)
		if (acked(life, r) < life->positions)
			return false;
	return true;
}

static void step(struct life *life)
{
	__u32 rank = random_below(life->ranks), from = acked(life, rank);
	__u32 to = posted(life, rank), *next = &life->next[rank];

	life->sent++;
	if (*next >= to || !random_below(32))
		*next = from;
	if (!random_below(32))
		*next += random_below(3);
	if (!random_below(3))
		send_mutated(life, rank, *next < life->positions ? *next : 0);
	if (!random_below(32))			/* one that has come long ago */
		send_valid(life, rank, random_below(to));
	if (*next < to)
		send_valid(life, rank, (*next)++);
}

/* All that has left is looked at before the inputs are forgotten. */
static void end(struct life *life)
{
	__u32 r, p, i;

	unload(life);
	drain();
	for (r = 0; r < RANKS; r++)
		for (p = 0; p < POSITIONS; p++)
			for (i = 0; i < OTHERS; i++)
				free(life->input[r][p][i].data);
}

/* A group that may be poisoned is given up. */
static void live(struct life *life)
{
	step(life);
	if (has_ended(life))
		count.ended++;
	else if (!life->forged && life->sent > TIME_SCALE)
		errx(1, "group %u, which nobody has disturbed, does not come to its end",
		     life->group);
	else if (!life->forged || life->sent < 6 * POSITIONS)
		return;
	end(life);
	begin(life);
}

static int open_socket(int protocol)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(protocol));

	if (fd < 0)
		err(2, "packet socket");
	return fd;
}

static void open_sockets(void)
{
	int on = 1, bytes = 16 << 20;

	plain = open_socket(0);
	direct = open_socket(0);
	taken = open_socket(ETH_P_ALL);
	if (setsockopt(plain, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(direct, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(direct, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) ||
	    setsockopt(taken, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(2, "packet sockets");
}

int main(int argc, char **argv)
{
	unsigned long sends;
	int i;

	if (argc < 6 || argc > 4 + RANKS)
		errx(2, "usage: packets COUNT SEED ROCESTEER PORT PORT...");
	sends = strtoul(argv[1], NULL, 0);
	random_seed(strtoul(argv[2], NULL, 0));
	command = argv[3];
	for (i = 4; i < argc; i++) {
		ports[nr_ports] = if_nametoindex(argv[i]);
		if (!ports[nr_ports++])
			err(2, "%s", argv[i]);
	}
	open_sockets();
	for (i = 0; i < LIVES; i++)
		begin(&lives[i]);
	while (count.sent < sends)
		live(&lives[random_below(LIVES)]);
	for (i = 0; i < LIVES; i++)
		end(&lives[i]);
	drain();
	printf("sent=%lu valid=%lu mutated=%lu forged=%lu gso=%lu lives=%lu ended=%lu left=%lu "
	       "results=%lu nudges=%lu strangers=%lu unsure=%lu\n", count.sent, count.valid,
	       count.mutated, count.forged, count.gso, count.lives, count.ended, count.left,
	       count.results, count.nudges, count.strangers, count.unsure);
	return 0;
}
