// SPDX-License-Identifier: GPL-2.0
/*
 * Send valid and mutated RC packets to queue pairs, and in their name:
 *
 *	packets all|responses COUNT SEED DEVICE MAC QPN NUMBER PSN ADDRESS...
 *
 * DEVICE is a wire to MAC, which has NUMBER queue pairs from QPN on, and as many behind
 * them in VLAN 7. The addresses are those of the peer and of the queue pairs in IPv4, then
 * in IPv6, then the same in the VLAN. One packet in 16 goes the other way, from a raw
 * socket. Some are sent in fragments, some in runs without a gap, which GRO may aggregate.
 * Prints the number of requests sent, by kind.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <linux/if_packet.h>

#include "../../packets.h"

#define BATCH	64

static struct packet_world worlds[] = {
	{ .paths = true, .room = 1200 },
	{ .paths = true, .room = 1200, .tagged = true },
};

static struct packet packet[BATCH];
static unsigned long requests[4];	/* IPv4, IPv6, then in the VLAN */
static int wire, raw4, raw6;

static void addresses(struct packet_world *world, char **argv)
{
	int i;

	for (i = 0; i < 4; i++)
		if (inet_pton(i < 2 ? AF_INET : AF_INET6, argv[i],
			      i < 2 ? world->v4[i] : world->v6[i - 2]) != 1)
			errx(2, "%s: not an address", argv[i]);
}

static void open_wire(const char *device)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(device),
	};
	int on = 1;	/* a mark as well: not to be mutated by mangle */

	wire = socket(AF_PACKET, SOCK_RAW, 0);
	raw4 = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_RAW);
	raw6 = socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_RAW);
	if (wire < 0 || raw4 < 0 || raw6 < 0 ||
	    bind(wire, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(raw4, SOL_SOCKET, SO_MARK, &on, sizeof(on)) ||
	    setsockopt(raw6, SOL_SOCKET, SO_MARK, &on, sizeof(on)) ||
	    setsockopt(wire, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		err(2, "sockets for %s", device);
}

/* Send a packet in the name of the queue pair; the raw socket refuses some. */
static void send_out(const struct packet *p, const struct packet_world *world)
{
	struct sockaddr_in to4 = { .sin_family = AF_INET };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	struct packet_layout l;
	struct packet q = *p;

	packet_layout(&q, &l);
	if (l.l4 >= q.len)
		return;
	memcpy(&to4.sin_addr, world->v4[0], 4);
	memcpy(&to6.sin6_addr, world->v6[0], 16);
	if (l.v6) {
		memcpy(q.data + l.l3 + 8, world->v6[1], 16);
		memcpy(q.data + l.l3 + 24, world->v6[0], 16);
		sendto(raw6, q.data + l.l3, q.len - l.l3, 0, (void *)&to6, sizeof(to6));
	} else {
		memcpy(q.data + l.l3 + 12, world->v4[1], 4);
		memcpy(q.data + l.l3 + 16, world->v4[0], 4);
		sendto(raw4, q.data + l.l3, q.len - l.l3, 0, (void *)&to4, sizeof(to4));
	}
}

/* Split a packet into two fragments; @p gets the second. Return: false if it is too short. */
static bool cut(struct packet *first, struct packet *p)
{
	size_t head, at;
	__u8 option[8] = { IPPROTO_UDP };
	struct packet_layout l = {};

	if (!packet_layout(p, &l) || l.l4 + l.len != p->len || l.len < 32)
		return false;
	at = 8 * (1 + random_below(l.len / 8 - 2));
	*first = *p;
	first->len = l.l4 + at;
	head = l.l4;
	if (l.v6) {		/* with a header of their own */
		memmove(first->data + head + 8, first->data + head, at);
		memcpy(first->data + head, option, 8);
		first->data[head + 3] = 1;
		first->data[l.l3 + 6] = 44;
		first->data[l.l3 + 4] = (at + 8) >> 8;
		first->data[l.l3 + 5] = at + 8;
		first->len += 8;
		option[2] = at >> 8;
		option[3] = at;
		memmove(p->data + head + 8, p->data + head + at, l.len - at);
		memcpy(p->data + head, option, 8);
		p->data[l.l3 + 6] = 44;
		p->data[l.l3 + 4] = (l.len - at + 8) >> 8;
		p->data[l.l3 + 5] = l.len - at + 8;
		p->len = head + 8 + l.len - at;
	} else {
		memmove(p->data + head, p->data + head + at, l.len - at);
		p->len = head + l.len - at;
		first->data[l.l3 + 6] = 0x20;
		first->data[l.l3 + 7] = 0;
		p->data[l.l3 + 6] = at / 8 >> 8;
		p->data[l.l3 + 7] = at / 8;
		first->data[l.l3 + 2] = (first->len - l.l3) >> 8;
		first->data[l.l3 + 3] = first->len - l.l3;
		p->data[l.l3 + 2] = (p->len - l.l3) >> 8;
		p->data[l.l3 + 3] = p->len - l.l3;
	}
	return true;
}

/* Does a packet go to an address of the receiving device? */
static bool is_to_its_device(const struct packet *p, const struct packet_layout *l)
{
	bool tagged = l->l3 == ETH_HLEN + 4 && p->data[12] == 0x81 &&
		      (p->data[14] & 0x0f) == 0 && p->data[15] == 7;
	const __u8 *to = p->data + l->l3 + (l->v6 ? 24 : 16);

	return (tagged || l->l3 == ETH_HLEN) &&
	       !memcmp(to, l->v6 ? worlds[tagged].v6[1] : worlds[tagged].v4[1], l->v6 ? 16 : 4);
}

/*
 * rxe_rcv() of 7.2 drops a reference to a queue pair that it has not looked up, if a
 * datagram is shorter than a BTH or its address belongs to another device. The pointer is
 * in skb->cb, which the IP layer has used; it is NULL only in IPv4 without options. Such a
 * packet crashes the kernel, with or without the module.
 */
static bool kills_rxe(const struct packet *p)
{
	struct packet_layout l = {};
	size_t length;

	packet_layout(p, &l);
	if (l.l4 + sizeof(struct udphdr) > p->len)
		return false;
	length = p->data[l.l4 + 4] << 8 | p->data[l.l4 + 5];
	return (l.v6 || l.l4 - l.l3 > sizeof(struct iphdr)) &&
	       (length < 8 + sizeof(struct rocesteer_bth) || !is_to_its_device(p, &l));
}

/*
 * rxe_completer() of 7.2 warns of unexpected responses, except complete data,
 * acknowledgments, NAKs and RNR NAKs. Others get a wrong ICRC, which rxe checks first.
 */
static void spare_rxe(struct packet *p)
{
	const struct rocesteer_bth *bth;
	struct packet_layout l;
	__u8 type;

	if (!packet_layout(p, &l))
		return;
	bth = (void *)(p->data + l.l4 + sizeof(struct udphdr));
	type = *(__u8 *)(bth + 1) >> 5;		/* of the syndrome */
	if (bth->opcode >= ROCESTEER_OP_RC_RESPONSE &&
	    bth->opcode <= ROCESTEER_OP_RC_ATOMIC_ACK &&
	    (bth->opcode != ROCESTEER_OP_RC_ACK ||
	     (type != ROCESTEER_AETH_ACK >> 5 && type != ROCESTEER_AETH_RNR >> 5 &&
	      type != ROCESTEER_AETH_NAK >> 5)))
		p->data[l.l4 + l.len - 1] ^= 0x80;
}

/* Count packets that may be taken for requests. */
static void note_request(const struct packet *p)
{
	struct packet_layout l = {};
	const __u8 *udp = p->data;
	__u8 opcode;

	packet_layout(p, &l);
	udp += l.l4;
	if (l.l4 + sizeof(struct udphdr) >= p->len || (udp[2] << 8 | udp[3]) != ROCESTEER_ROCE_PORT)
		return;
	opcode = udp[sizeof(struct udphdr)];
	requests[l.v6 + 2 * (l.l3 > ETH_HLEN)] +=
		opcode < ROCESTEER_OP_RC_RESPONSE ||
		(opcode > ROCESTEER_OP_RC_ATOMIC_ACK && opcode < 0x20);
}

static void flush(unsigned int n)
{
	struct mmsghdr msg[BATCH] = {};
	struct iovec iov[BATCH];
	unsigned int i, at = 0;
	int sent;

	for (i = 0; i < n; i++) {
		iov[i] = (struct iovec) { packet[i].data, packet[i].len };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	while (at < n) {
		sent = sendmmsg(wire, msg + at, n - at, 0);
		if (sent < 0 && errno != ENOBUFS && errno != EINTR && errno != EINVAL)
			err(1, "send");
		/* A packet that is too short for the device is left out. */
		at += sent > 0 ? sent : errno == EINVAL;
	}
}

/* Set a UDP checksum, without which GRO aggregates nothing, or none. */
static void fix_udp(struct packet *p, const struct packet_layout *l, bool has_one)
{
	__u32 sum;

	p->data[l->l4 + 6] = 0;
	p->data[l->l4 + 7] = 0;
	if (!has_one)
		return;
	sum = checksum_add(IPPROTO_UDP + l->len, p->data + l->l3 + (l->v6 ? 8 : 12),
			   l->v6 ? 32 : 8);
	sum = checksum_add(sum, p->data + l->l4, l->len);
	sum = ~sum & 0xffff ?: 0xffff;
	p->data[l->l4 + 6] = sum >> 8;
	p->data[l->l4 + 7] = sum;
}

/*
 * Put a run of WRITEs of 0 bytes, or of READ data, behind the last one to this queue pair.
 * Return: number of packets.
 */
static unsigned int make_run(struct packet *p, const struct packet_world *world)
{
	static __u32 done[256];
	__u32 apsn, psn, icrc, n = 2 + random_below(BATCH / 4 - 2), i;
	bool has_checksum = random_below(2);
	struct rocesteer_bth *bth;
	struct packet_layout l;

	do
		packet_make(p, world);
	while (!packet_layout(p, &l) || !is_to_its_device(p, &l) ||
	       p->len != l.l4 + ROCESTEER_MIN_UDP_LEN + 16);
	bth = (void *)(p->data + l.l4 + sizeof(struct udphdr));
	bth->opcode = world->responses ? ROCESTEER_OP_RC_READ_ONLY :
					 ROCESTEER_OP_RC_WRITE_ONLY;
	bth->flags = 0;
	memset(bth + 1, 0, 16);
	psn = done[ntohl(bth->dqpn) & 255];
	done[ntohl(bth->dqpn) & 255] += n;
	packet_fix_ipv4(p);
	for (i = 0; i < n; i++) {
		p[i] = *p;
		bth = (void *)(p[i].data + l.l4 + sizeof(struct udphdr));
		apsn = world->psn + 100 + psn + i;
		bth->apsn = htonl(apsn | (world->responses ? 0 : 1u << 31));
		icrc = packet_icrc(&p[i], &l);
		memcpy(p[i].data + p->len - sizeof(icrc), &icrc, sizeof(icrc));
		fix_udp(&p[i], &l, has_checksum);
		note_request(&p[i]);
	}
	return n;
}

/* Put a packet, maybe mutated, or its two fragments. Return: number of packets. */
static unsigned int make_some(struct packet *p, const struct packet_world *world)
{
	struct packet first;
	unsigned int m;

	if (!random_below(64))
		return make_run(p, world);
	packet_make(p, world);
	spare_rxe(p);
	for (m = random_below(2) ? 0 : random_below(4); m; m--)
		packet_mutate(p);
	if (random_below(16))
		packet_fix_ipv4(p);
	if (kills_rxe(p))
		return 0;
	if (!random_below(16)) {
		send_out(p, world);
		return 0;
	}
	note_request(p);
	if (random_below(32) || !cut(&first, p))
		return 1;
	p[1] = *p;
	p[0] = first;
	packet_fix_ipv4(&p[0]);
	packet_fix_ipv4(&p[1]);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int n = 0, i;
	unsigned long count;

	if (argc != 17)
		errx(2, "usage: packets all|responses COUNT SEED DEVICE MAC QPN NUMBER PSN "
			"ADDRESS...");
	count = strtoul(argv[2], NULL, 0);
	random_seed(strtoul(argv[3], NULL, 0));
	open_wire(argv[4]);
	for (i = 0; i < 2; i++) {
		struct packet_world *world = &worlds[i];

		if (sscanf(argv[5], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &world->mac[0],
			   &world->mac[1], &world->mac[2], &world->mac[3],
			   &world->mac[4], &world->mac[5]) != 6)
			errx(2, "%s: not a MAC address", argv[5]);
		world->mac[6] = 2;	/* ours, whatever it is */
		world->responses = !strcmp(argv[1], "responses");
		world->qpns = strtoul(argv[7], NULL, 0);
		world->qpn = strtoul(argv[6], NULL, 0) + i * world->qpns;
		world->psn = strtoul(argv[8], NULL, 0);
		addresses(world, argv + 9 + 4 * i);
	}
	while (count--) {
		n += make_some(&packet[n], &worlds[!random_below(3)]);
		if (n > BATCH * 3 / 4) {
			flush(n);
			n = 0;
		}
	}
	flush(n);
	printf("four=%lu six=%lu four7=%lu six7=%lu\n", requests[0], requests[1],
	       requests[2], requests[3]);
	return 0;
}
