// SPDX-License-Identifier: GPL-2.0
/*
 * Send RC packets in any order, from any address.
 *
 *	inject SOURCE DESTINATION
 *
 * Reads a command a line:
 *
 *	to QPN			destination of the following packets
 *	memory ADDRESS RKEY	memory of the following READ requests
 *	write PSN SPORT PATHS	a WRITE of 0 bytes, which needs no memory
 *	broken PSN SPORT PATHS	the same with a wrong ICRC
 *	read PSN SPORT PATHS LENGTH
 *	ack PSN SPORT PATHS SYNDROME
 *	data PSN SPORT PATHS	the response to a READ of 12 bytes
 *	bits BITS		bth_paths of the module
 *	checksum 0|1		UDP checksum of the following packets; rxe sends none
 *	echo WORD		print it: everything before has been sent
 *
 * PATHS is the number of paths that the packet carries. Requests ask for an acknowledgment.
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
#include <unistd.h>

#include "../../checksum.h"
#include "../../../include/rocesteer/icrc.h"
#include "../../../include/rocesteer/types.h"

#define OP_WRITE_ONLY	0x0a
#define OP_READ_ONLY	0x10	/* response */
#define ACK_REQUEST	0x80000000u

struct packet {
	__u8 ip[sizeof(struct ip6_hdr)];	/* its end, where it is IPv4 */
	struct udphdr udp;
	struct rocesteer_bth bth;
	struct rocesteer_reth reth;	/* or an AETH and 12 bytes */
	__u32 icrc;
} __attribute__((packed));

#define UDP_LEN	(sizeof(struct packet) - offsetof(struct packet, udp))

static struct sockaddr_storage destination;
static struct packet packet;
static unsigned int ip_len, checksum, bits = ROCESTEER_BTH_PATHS;
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
	if (!inet_pton(AF_INET, from, &header->saddr) || !inet_pton(AF_INET, to, &addr->sin_addr))
		return -1;
	header->daddr = addr->sin_addr.s_addr;
	header->version = 4;
	header->ihl = 5;
	header->tot_len = htons(ip_len + UDP_LEN);
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
	header->ip6_plen = htons(UDP_LEN);
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
			state = rocesteer_crc32_shift(state ^ (*byte >> i & 1));
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
	masked.udp.check = 0xffff;
	masked.bth.dqpn |= htonl(~ROCESTEER_QPN_MASK);
	return ~crc(crc(~0u, lrh, sizeof(lrh)), header, ip_len + UDP_LEN - sizeof(masked.icrc));
}

/* RFC 768. The addresses are the end of the IP header, whichever it is. */
static __u16 udp_checksum(void)
{
	unsigned int addresses = ip_len == sizeof(struct iphdr) ? 8 : 32;
	__u32 sum = checksum_add(IPPROTO_UDP + UDP_LEN,
				 packet.ip + sizeof(packet.ip) - addresses, addresses + UDP_LEN);

	return htons(~sum & 0xffff ?: 0xffff);
}

static __u8 opcode(const char *name)
{
	if (!strcmp(name, "read"))
		return ROCESTEER_OP_RC_READ;
	if (!strcmp(name, "ack"))
		return ROCESTEER_OP_RC_ACK;
	if (!strcmp(name, "data"))
		return OP_READ_ONLY;
	return OP_WRITE_ONLY;
}

/* @more: bytes that a READ asks for; an acknowledgment's syndrome */
static void packet_send(int fd, const char *name, int psn, unsigned int sport,
			unsigned int paths, unsigned int more)
{
	struct packet sent = packet;

	packet.udp.source = htons(sport);
	packet.bth.opcode = opcode(name);
	packet.bth.dqpn |= htonl(rocesteer_bth_paths(bits, paths - 1));
	packet.bth.apsn = htonl(psn & ROCESTEER_PSN_MASK);
	if (packet.bth.opcode == ROCESTEER_OP_RC_ACK || packet.bth.opcode == OP_READ_ONLY) {
		packet.reth.va[0] = htonl(more << 24);
	} else {
		packet.bth.apsn |= htonl(ACK_REQUEST);
		packet.reth.length = htonl(more);
	}
	packet.icrc = htole32(icrc() ^ !strcmp(name, "broken"));
	if (checksum)
		packet.udp.check = udp_checksum();
	if (sendto(fd, ip, ip_len + UDP_LEN, 0, (void *)&destination,
		   ip_len == sizeof(struct iphdr) ? sizeof(struct sockaddr_in) :
		   sizeof(struct sockaddr_in6)) < 0)
		err(1, "send");
	packet = sent;
}

static void memory_set(__u64 va, unsigned int rkey)
{
	packet.reth.va[0] = htonl(va >> 32);
	packet.reth.va[1] = htonl(va);
	packet.reth.rkey = htonl(rkey);
}

static void obey(int fd, const char *line)
{
	unsigned int sport, paths, number, length = 0;
	unsigned long long va;
	char word[16];
	int psn;

	if (sscanf(line, "to %u", &number) == 1)
		packet.bth.dqpn = htonl(number);
	else if (sscanf(line, "memory %lli %u", &va, &number) == 2)
		memory_set(va, number);
	else if (sscanf(line, "bits %u", &number) == 1)
		bits = number;
	else if (sscanf(line, "checksum %u", &number) == 1)
		checksum = number;
	else if (sscanf(line, "echo %15s", word) == 1)
		puts(word);
	else if (sscanf(line, "%15s %i %u %u %u", word, &psn, &sport, &paths, &length) >= 4)
		packet_send(fd, word, psn, sport, paths, length);
	else
		errx(2, "not a command: %s", line);
}

int main(int argc, char **argv)
{
	char line[80];
	int fd;

	if (argc != 3)
		errx(2, "usage: inject SOURCE DESTINATION");
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Inherited pipes to other helpers, which wait for them to close */
	close_range(3, ~0U, 0);
	fd = ipv4_open(argv[1], argv[2]);
	if (fd < 0)
		fd = ipv6_open(argv[1], argv[2]);
	if (fd < 0)
		err(2, "raw socket");
	packet.udp.dest = htons(ROCESTEER_ROCE_PORT);
	packet.udp.len = htons(UDP_LEN);
	packet.bth.pkey = htons(0xffff);
	while (fgets(line, sizeof(line), stdin))
		obey(fd, line);
	return 0;
}
