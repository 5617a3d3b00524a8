// SPDX-License-Identifier: GPL-2.0
/* Packets of ranks, and what mutations make of them. */
#include "packets_life.h"

static void fix_icrc(struct packet *p)
{
	struct packet_layout l;
	__u32 icrc;

	if (!packet_layout(p, &l))
		return;
	icrc = packet_icrc(p, &l);
	memcpy(p->data + l.l4 + l.len - sizeof(icrc), &icrc, sizeof(icrc));
}

static __u8 opcode_at(const struct life *life, __u32 position)
{
	__u32 message = position / life->packets, last = (message + 1) * life->packets;
	bool imm = chance(life, 2, message, 0) % 3 == 0;

	if (last > life->positions)
		last = life->positions;
	if (position % life->packets == 0)
		return position + 1 == last ? ROCESTEER_OP_RC_WRITE_ONLY + imm :
					      ROCESTEER_OP_RC_WRITE_FIRST;
	return position + 1 == last ? ROCESTEER_OP_RC_WRITE_LAST_IMM - !imm :
				      ROCESTEER_OP_RC_WRITE_FIRST + 1;
}

/* An element is not sent in part, but where the switch may be told anything. */
static __u32 length_at(const struct life *life, __u32 position)
{
	__u32 most = chance(life, 3, position, 0) % 4 ? 64 : life->mtu;
	bool odd = life->forged && chance(life, 5, position, 0) % 32 == 0;

	return 4 + 4 * (chance(life, 4, position, 0) % (most / 4)) - odd;
}

static void append_ip(struct packet *p, const struct life *life, __u32 rank, __u32 len)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	struct ipv6hdr ip6 = {
		.version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP, .payload_len = htons(len),
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.frag_off = htons(0x4000), .tot_len = htons(sizeof(ip) + len),
	};

	address(from, life, rank);
	address(to, life, (rank + 1) % life->ranks);
	if (life->v6) {
		inet_pton(AF_INET6, from, &ip6.saddr);
		inet_pton(AF_INET6, to, &ip6.daddr);
		packet_append(p, &ip6, sizeof(ip6));
	} else {
		inet_pton(AF_INET, from, &ip.saddr);
		inet_pton(AF_INET, to, &ip.daddr);
		packet_append(p, &ip, sizeof(ip));
	}
}

static void append_headers(struct packet *p, const struct life *life, __u32 rank, __u32 position,
			   __u32 len)
{
	__u8 mac[12] = { 2, [5] = (rank + 1) % life->ranks + 1, [6] = 2, [11] = rank + 1 };
	__u8 opcode = opcode_at(life, position);
	__u64 va = memory(life, (rank + 1) % life->ranks) + position * life->mtu;
	struct udphdr udp = {
		.source = htons(0xc000 + rank), .dest = htons(ROCESTEER_ROCE_PORT),
	};
	struct rocesteer_bth bth = {
		.opcode = opcode, .flags = (-len & 3) << 4, .pkey = 0xffff,
		.dqpn = htonl(VIRTUAL | life->group << 8 | rank),
		.apsn = htonl(random_below(2) << 31 |
			      ((life->psn[rank] + position) & ROCESTEER_PSN_MASK)),
	};
	struct rocesteer_reth reth = {
		.va = { htonl(va >> 32), htonl(va) }, .rkey = htonl(rank), .length = htonl(9999),
	};
	__be32 imm = htonl(position);
	__u32 ext = extension(opcode), padded = (len + 3) & ~3;

	packet_append(p, mac, sizeof(mac));
	packet_append(p, life->v6 ? "\x86\xdd" : "\x08\x00", 2);
	udp.len = htons(sizeof(udp) + sizeof(bth) + ext + padded + ROCESTEER_ICRC_SIZE);
	append_ip(p, life, rank, ntohs(udp.len));
	packet_append(p, &udp, sizeof(udp));
	packet_append(p, &bth, sizeof(bth));
	if (ext >= sizeof(reth))
		packet_append(p, &reth, sizeof(reth));
	if (ext % sizeof(reth))
		packet_append(p, &imm, sizeof(imm));
}

/* Make the packet that a rank has to send for a position. */
void make(struct packet *p, const struct life *life, __u32 rank, __u32 position)
{
	__u32 len = length_at(life, position), i, word = 0;

	memset(p, 0, sizeof(*p));
	append_headers(p, life, rank, position, len);
	for (i = 0; i < len; i += sizeof(word)) {
		word = chance(life, 8 + rank, position, i);
		if (len - i < sizeof(word))	/* padding is 0 */
			word &= ~0u >> 8 * (4 - (len - i));
		packet_append(p, &word, sizeof(word));
	}
	packet_append(p, &word, ROCESTEER_ICRC_SIZE);
	packet_fix_ipv4(p);
	fix_icrc(p);
}

/* Bytes behind the IP header come or go, lengths follow. */
static void resize(struct packet *p, size_t at, int by)
{
	struct packet_layout l;
	__u8 *ip, *udp;
	__u32 len;

	if (!packet_layout(p, &l) || at > p->len || (by < 0 && at - by > p->len) ||
	    p->len + by > sizeof(p->data) - 256)
		return;
	if (by < 0)
		memmove(p->data + at, p->data + at - by, p->len - at + by);
	else
		memmove(p->data + at + by, p->data + at, p->len - at);
	p->len += by;
	ip = p->data + l.l3;
	len = p->len - l.l3 - (l.v6 ? 40 : 0);
	ip[l.v6 ? 4 : 2] = len >> 8;
	ip[l.v6 ? 5 : 3] = len;
	if (at <= l.l4)
		return;
	udp = p->data + l.l4;
	udp[4] = (p->len - l.l4) >> 8;
	udp[5] = p->len - l.l4;
}

/* Options of IPv4; of IPv6 a header of extension, fragments' as well. */
static void insert_option(struct packet *p)
{
	static const __u8 headers[] = { 0, 43, 44, 60 };
	struct packet_layout l;
	__u32 words = 1 + random_below(4);

	if (!packet_layout(p, &l))
		return;
	if (l.v6) {
		resize(p, l.l4, 8);
		memset(p->data + l.l4, 0, 8);
		p->data[l.l4] = IPPROTO_UDP;
		p->data[l.l3 + 6] = headers[random_below(sizeof(headers))];
		if (p->data[l.l3 + 6] == 44 && random_below(2))
			p->data[l.l4 + 3] = random_below(256);
	} else if (l.l4 - l.l3 == 20) {
		resize(p, l.l4, words * 4);
		memset(p->data + l.l4, 1, words * 4);
		p->data[l.l3] += words;
	}
}

/* Mutate a field that a group looks at. */
static void mutate_group(struct packet *p)
{
	struct packet_layout l;
	__u8 *ip, *bth;

	if (!packet_layout(p, &l) || l.l4 + 60 > p->len)
		return;
	ip = p->data + l.l3;
	bth = p->data + l.l4 + sizeof(struct udphdr);
	switch (random_below(13)) {
	case 0:		/* group */
		bth[6] = random_below(2) ? random_below(GROUPS) : random_below(256);
		break;
	case 1:		/* rank */
		bth[7] = random_below(2) ? random_below(RANKS) : random_below(256);
		break;
	case 2:		/* the last byte of an address */
		ip[(l.v6 ? 23 : 15) + (random_below(2) ? 0 : l.v6 ? 16 : 4)] = random_below(6);
		break;
	case 3:
		bth[0] = random_below(4) ? ROCESTEER_OP_RC_WRITE_FIRST + random_below(6) :
					   random_below(0x20);
		break;
	case 4:		/* solicited, padding, version */
		bth[1] = random_below(2) ? random_below(4) << 4 : random_below(256);
		break;
	case 5:		/* RETH and immediate, or payload */
		bth[12 + random_below(24)] ^= 1 << random_below(8);
		break;
	case 6:		/* PSN */
		bth[11] += random_below(9) - 4;
		break;
	case 7:
		bth[9 + random_below(3)] = random_below(256);
		break;
	case 8:		/* shorter, with nothing at all */
		resize(p, l.l4 + 20 + extension(bth[0]),
		       -4 * (int)random_below((l.len - 20 - extension(bth[0])) / 4 + 1));
		break;
	case 9:		/* longer, beyond the MTU */
		resize(p, p->len, random_below(2) ? 4 * random_below(40) : random_below(600));
		break;
	case 10:
		insert_option(p);
		break;
	case 11:	/* a tag of a VLAN */
		if (p->len + 4 > sizeof(p->data) - 128)
			break;
		memmove(p->data + 16, p->data + 12, p->len - 12);
		memcpy(p->data + 12, "\x81\x00\x00\x07", 4);
		p->len += 4;
		break;
	case 12:	/* kind: what a leaf or a root sends */
		bth[7] ^= (1 + random_below(3)) << 6;
		break;
	}
}

/* Make the packet that a rank has to send, or that packet @empty of payload, and mutate it. */
void make_mutated(struct packet *p, const struct life *life, __u32 rank, __u32 position,
		  bool empty, bool right)
{
	__u32 len = length_at(life, position), n;

	make(p, life, rank, position);
	if (empty)
		memset(p->data + p->len - ROCESTEER_ICRC_SIZE - ((len + 3) & ~3), 0, len);
	for (n = 1 + random_below(3); n; n--)
		if (random_below(2))
			mutate_group(p);
		else
			packet_mutate(p);
	if (random_below(16))
		packet_fix_ipv4(p);
	if (right)
		fix_icrc(p);
}
