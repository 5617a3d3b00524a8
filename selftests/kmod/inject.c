// SPDX-License-Identifier: GPL-2.0
/*
 * Send RC request packets as given, whatever order or address they have.
 *
 *	inject SOURCE DESTINATION QPN [ADDRESS RKEY]
 *
 * Reads one packet a line: "write PSN SPORT PATHS", a WRITE of nothing, which
 * needs no memory, or "read PSN SPORT PATHS LENGTH", of ADDRESS. PATHS is what
 * the packet says of its flow. Each asks for an acknowledgment.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../include/rocesteer/icrc.h"
#include "../../include/rocesteer/types.h"

#define OP_WRITE_ONLY	0x0a
#define ACK_REQUEST	0x80000000u

/* Everything from UDP on; IP goes before it. */
struct request {
	struct udphdr udp;
	struct rocesteer_bth bth;
	struct rocesteer_reth reth;
	__u32 icrc;
} __attribute__((packed));

struct packet {
	__u8 ip[sizeof(struct ip6_hdr)];	/* its end, where it is IPv4 */
	struct request req;
};

static struct sockaddr_storage destination;
static struct packet packet;
static unsigned int ip_len;
static __u8 *ip;

/* Fill in the IP header. Return: a raw socket for it. */
static int ipv4_open(const char *from, const char *to)
{
	struct sockaddr_in *addr = (void *)&destination;
	struct iphdr *header;

	ip_len = sizeof(*header);
	ip = packet.ip + sizeof(packet.ip) - ip_len;
	header = (void *)ip;
	addr->sin_family = AF_INET;
	if (!inet_pton(AF_INET, from, &header->saddr) ||
	    !inet_pton(AF_INET, to, &addr->sin_addr))
		return -1;
	header->daddr = addr->sin_addr.s_addr;
	header->version = 4;
	header->ihl = 5;
	header->tot_len = htons(ip_len + sizeof(packet.req));
	header->id = htons(1);	/* 0 would have the kernel choose one */
	header->frag_off = htons(IP_DF);
	header->ttl = 64;
	header->protocol = IPPROTO_UDP;
	return socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
}

static int ipv6_open(const char *from, const char *to)
{
	struct sockaddr_in6 *addr = (void *)&destination;
	struct ip6_hdr *header;

	ip_len = sizeof(*header);
	ip = packet.ip;
	header = (void *)ip;
	addr->sin6_family = AF_INET6;
	if (!inet_pton(AF_INET6, from, &header->ip6_src) ||
	    !inet_pton(AF_INET6, to, &addr->sin6_addr))
		errx(2, "%s, %s: not two addresses of one family", from, to);
	header->ip6_dst = addr->sin6_addr;
	header->ip6_vfc = 6 << 4;
	header->ip6_plen = htons(sizeof(packet.req));
	header->ip6_nxt = IPPROTO_UDP;
	header->ip6_hlim = 64;
	return socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
}

static __u32 crc(__u32 state, const void *data, size_t len)
{
	const __u8 *byte = data;
	int i;

	for (; len--; byte++)
		for (i = 0; i < 8; i++)
			state = rocesteer_crc32_shift(state ^
						      (*byte >> i & 1));
	return state;
}

/* IB spec, annex A17.3.3: with what routers may change set to ones */
static __u32 icrc(void)
{
	static const __u8 lrh[8] = { [0 ... 7] = 0xff };
	struct packet masked = packet;
	__u8 *header = masked.ip + (ip - packet.ip);

	if (ip_len == sizeof(struct iphdr)) {
		struct iphdr *v4 = (void *)header;

		v4->tos = 0xff;
		v4->ttl = 0xff;
		v4->check = 0xffff;
	} else {
		struct ip6_hdr *v6 = (void *)header;

		v6->ip6_flow = htonl(6u << 28 | 0x0fffffff);
		v6->ip6_hlim = 0xff;
	}
	masked.req.udp.check = 0xffff;
	masked.req.bth.dqpn |= htonl(~ROCESTEER_QPN_MASK);
	return ~crc(crc(~0u, lrh, sizeof(lrh)), header,
		    ip_len + offsetof(struct request, icrc));
}

static void request_send(int fd, const char *op, unsigned int psn,
			 unsigned int sport, unsigned int paths,
			 unsigned int length)
{
	struct request *req = &packet.req;

	req->udp.source = htons(sport);
	req->bth.opcode = strcmp(op, "read") ? OP_WRITE_ONLY :
			  ROCESTEER_OP_RC_READ;
	req->bth.dqpn &= htonl(ROCESTEER_QPN_MASK);
	req->bth.dqpn |= htonl((paths - 1) << ROCESTEER_BTH_PATHS_SHIFT);
	req->bth.apsn = htonl(ACK_REQUEST | (psn & ROCESTEER_PSN_MASK));
	req->reth.length = htonl(length);
	req->icrc = htole32(icrc());
	if (sendto(fd, ip, ip_len + sizeof(*req), 0, (void *)&destination,
		   ip_len == sizeof(struct iphdr) ? sizeof(struct sockaddr_in) :
		   sizeof(struct sockaddr_in6)) < 0)
		err(1, "send");
}

int main(int argc, char **argv)
{
	unsigned int sport, paths, length;
	char line[80], op[8];
	int fd, psn;

	if (argc != 4 && argc != 6)
		errx(2, "usage: inject SOURCE DESTINATION QPN [ADDRESS RKEY]");
	fd = ipv4_open(argv[1], argv[2]);
	if (fd < 0)
		fd = ipv6_open(argv[1], argv[2]);
	if (fd < 0)
		err(2, "raw socket");
	packet.req.udp.dest = htons(ROCESTEER_ROCE_PORT);
	packet.req.udp.len = htons(sizeof(packet.req));
	packet.req.bth.pkey = htons(0xffff);
	packet.req.bth.dqpn = htonl(strtoul(argv[3], NULL, 0));
	if (argc == 6) {
		__u64 va = strtoull(argv[4], NULL, 0);

		packet.req.reth.va[0] = htonl(va >> 32);
		packet.req.reth.va[1] = htonl(va);
		packet.req.reth.rkey = htonl(strtoul(argv[5], NULL, 0));
	}

	while (fgets(line, sizeof(line), stdin)) {
		length = 0;
		if (sscanf(line, "%7s %i %u %u %u", op, &psn, &sport, &paths,
			   &length) < 4)
			errx(2, "not a packet: %s", line);
		request_send(fd, op, psn, sport, paths, length);
	}
	return 0;
}
