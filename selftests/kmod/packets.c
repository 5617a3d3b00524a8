// SPDX-License-Identifier: GPL-2.0
/*
 * Send valid and mutated RC packets to queue pairs, and as if from there:
 *
 *	packets COUNT SEED DEVICE MAC QPN NUMBER PSN ADDRESS...
 *
 * DEVICE is a wire to MAC, whose queue pairs are the NUMBER from QPN on; the four
 * addresses are the peer's and theirs in IPv4, then in IPv6. Of 16 packets one goes
 * the other way, from a raw socket of ours. Some are sent in fragments.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <linux/if_packet.h>

#include "../packets.h"

#define BATCH	64

static struct packet_world world = { .paths = true, .room = 1200 };
static struct packet packet[BATCH];
static int wire, raw4, raw6;

static void addresses(char **argv)
{
	int i;

	for (i = 0; i < 4; i++)
		if (inet_pton(i < 2 ? AF_INET : AF_INET6, argv[i],
			      i < 2 ? world.v4[i] : world.v6[i - 2]) != 1)
			errx(2, "%s: not an address", argv[i]);
}

static void open_wire(const char *device)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(device),
	};
	int on = 1;

	wire = socket(AF_PACKET, SOCK_RAW, 0);
	raw4 = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_RAW);
	raw6 = socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_RAW);
	if (wire < 0 || raw4 < 0 || raw6 < 0 ||
	    bind(wire, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(wire, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		err(2, "sockets for %s", device);
}

/* The two ends are exchanged: what the queue pair sends, some of it refused here. */
static void send_out(const struct packet *p)
{
	struct sockaddr_in to4 = { .sin_family = AF_INET };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	struct packet_layout l;
	struct packet q = *p;

	packet_layout(&q, &l);
	if (l.l4 >= q.len)
		return;
	memcpy(&to4.sin_addr, world.v4[0], 4);
	memcpy(&to6.sin6_addr, world.v6[0], 16);
	if (l.v6) {
		memcpy(q.data + l.l3 + 8, world.v6[1], 16);
		memcpy(q.data + l.l3 + 24, world.v6[0], 16);
		sendto(raw6, q.data + l.l3, q.len - l.l3, 0, (void *)&to6,
		       sizeof(to6));
	} else {
		memcpy(q.data + l.l3 + 12, world.v4[1], 4);
		memcpy(q.data + l.l3 + 16, world.v4[0], 4);
		sendto(raw4, q.data + l.l3, q.len - l.l3, 0, (void *)&to4,
		       sizeof(to4));
	}
}

/* The packet in two fragments, @p has the second. Return: false where it has none. */
static bool cut(struct packet *first, struct packet *p)
{
	size_t head, at;
	__u8 option[8] = { IPPROTO_UDP };
	struct packet_layout l = {};

	if (!packet_layout(p, &l) || l.l4 + l.len != p->len || l.len < 32)
		return false;
	at = 8 * (1 + packet_below(l.len / 8 - 2));
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

/*
 * rxe (rxe_rcv() of 7.2) lets go of a queue pair before it has looked for one, where a
 * datagram is shorter than a BTH or came by another device than its address is of. What
 * it takes for the queue pair is in skb->cb: the IP layer's, and 0 only in IPv4 without
 * options. Such a packet ends the kernel, with the module or without.
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
	       (length < 8 + sizeof(struct rocesteer_bth) || l.l3 != ETH_HLEN);
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
		/* One that is too short for the device is left out. */
		at += sent > 0 ? sent : errno == EINVAL;
	}
}

int main(int argc, char **argv)
{
	unsigned long count, i;
	unsigned int n = 0, m;

	if (argc != 12)
		errx(2, "usage: packets COUNT SEED DEVICE MAC QPN NUMBER PSN ADDRESS...");
	count = strtoul(argv[1], NULL, 0);
	packet_seed(strtoul(argv[2], NULL, 0));
	open_wire(argv[3]);
	if (sscanf(argv[4], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &world.mac[0],
		   &world.mac[1], &world.mac[2], &world.mac[3], &world.mac[4],
		   &world.mac[5]) != 6)
		errx(2, "%s: not a MAC address", argv[4]);
	world.mac[6] = 2;	/* ours, whatever it is */
	world.qpn = strtoul(argv[5], NULL, 0);
	world.qpns = strtoul(argv[6], NULL, 0);
	world.psn = strtoul(argv[7], NULL, 0);
	addresses(argv + 8);
	for (i = 0; i < count; i++) {
		struct packet *p = &packet[n];

		packet_make(p, &world);
		for (m = packet_below(2) ? 0 : packet_below(4); m; m--)
			packet_mutate(p);
		if (packet_below(16))
			packet_fix_ipv4(p);
		if (kills_rxe(p))
			continue;
		if (!packet_below(16)) {
			send_out(p);
			continue;
		}
		if (!packet_below(32) && n + 2 <= BATCH) {
			struct packet first;

			if (cut(&first, p)) {
				packet_fix_ipv4(p);
				packet_fix_ipv4(&first);
				packet[n + 1] = first;
				n++;
			}
		}
		if (++n >= BATCH - 1) {
			flush(n);
			n = 0;
		}
	}
	flush(n);
	return 0;
}
