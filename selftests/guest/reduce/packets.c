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
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#define PACKET_ROOM	4608
#include "../../packets.h"

#define VIRTUAL		0xc00000u
#define REAL		0x128000u	/* differs from that in two bytes */
#define GROUPS		128		/* numbers that are used one after the other */
#define LIVES		4		/* groups at a time */
#define RANKS		4
#define POSITIONS	48
#define OTHERS		4		/* inputs of a rank at one position, that are remembered */
#define MTU_MOST	4096
#define TIME_SCALE	20000		/* packets within which an undisturbed group ends */

/* What a rank has sent for a position. */
struct input {
	__u32 len;
	__u8 *data;
};

/**
 * struct life - a group from when it is loaded to when it is unloaded
 * @group: its number
 * @serial: no other life has it
 * @v6: family
 * @forged: mutated packets may have the right ICRC
 * @ranks: 2..RANKS
 * @mtu: bytes
 * @packets: of a message
 * @window: messages
 * @positions: in all
 * @sent: packets, mutated ones too
 * @psn: by rank: first one
 * @next: by rank: position
 * @seen: by rank of the sender: results that left, a bit each
 * @inputs: by rank and position: how many
 * @input: the first OTHERS of them
 */
struct life {
	__u32 group;
	__u32 serial;
	bool v6;
	bool forged;
	__u32 ranks;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	__u32 positions;
	__u32 sent;
	__u32 psn[RANKS];
	__u32 next[RANKS];
	__u64 seen[RANKS];
	__u32 inputs[RANKS][POSITIONS];
	struct input input[RANKS][POSITIONS][OTHERS];
};

/**
 * struct view - a packet as a receiver sees it
 * @qpn: destination, if it is one of RC
 * @psn: 24 bits
 * @opcode: of the BTH
 * @payload: begin
 * @len: bytes of payload
 */
struct view {
	__u32 qpn;
	__u32 psn;
	__u8 opcode;
	const __u8 *payload;
	size_t len;
};

static struct life lives[LIVES];
static int ports[RANKS], nr_ports;
static const char *command;
static int plain, direct, taken;	/* sockets: what they send is cloned, is not; reads */
static struct {
	unsigned long sent, valid, mutated, forged, gso, lives, ended;
	unsigned long left, results, nudges, strangers, unsure;
} count;

/* Payloads that must not leave: 8 bytes each. There is one place for each. */
#define KNOWN	1048576u
static __u64 known[KNOWN];

static __u32 mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x >> 32;
}

/* The same for all ranks of a life at a position, or for the words of an input. */
static __u32 chance(const struct life *life, __u32 what, __u32 position, __u32 word)
{
	return mix((__u64)life->serial << 40 ^ (__u64)what << 32 ^ (__u64)position << 16 ^ word);
}

static void dump(const struct packet *p)
{
	size_t i;

	for (i = 0; i < p->len && i < 128; i++)
		fprintf(stderr, "%s%02x", i % 32 ? "" : "\n# ", p->data[i]);
	fputc('\n', stderr);
}

#define fault(p, ...) do {			\
	dump(p);				\
	errx(1, __VA_ARGS__);			\
} while (0)

/* Groups. */

static void address(char *text, const struct life *life, __u32 rank)
{
	sprintf(text, life->v6 ? "fd00::%u" : "10.0.0.%u", rank + 1);
}

static __u64 memory(const struct life *life, __u32 rank)
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
		psn = packet_below(2) ? packet_below(1 << 24) :
					(1 << 24) - 1 - packet_below(POSITIONS);
	while (any_before &&
	       abs(rocesteer_psn_diff(psn, before)) < (1 << 22) + 2 * POSITIONS);
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
	life->ranks = 2 + packet_below(nr_ports - 1);
	life->mtu = packet_below(3) ? 256 << packet_below(2) : MTU_MOST;
	life->packets = 1 + packet_below(5);
	life->window = 1 + packet_below(3);
	life->positions = POSITIONS / 2 + packet_below(POSITIONS / 2);
	for (r = 0; r < life->ranks; r++) {
		psn = &used[life->group][r];
		*psn = next_psn(*psn, serial > GROUPS);
		life->psn[r] = *psn;
	}
	load(life);
	count.lives++;
}

/* What packets are. */

/* Bytes of RETH and immediate. */
static __u32 extension(__u8 opcode)
{
	static const __u8 bytes[] = {
		[ROCESTEER_OP_RC_WRITE_FIRST] = 16, [ROCESTEER_OP_RC_WRITE_LAST_IMM] = 4,
		[ROCESTEER_OP_RC_WRITE_ONLY] = 16, [ROCESTEER_OP_RC_WRITE_ONLY + 1] = 20,
	};

	return opcode < sizeof(bytes) ? bytes[opcode] : 0;
}

/* Behind headers of extension there is another place for UDP. */
static bool find_udp(const struct packet *p, struct packet_layout *l)
{
	const __u8 *ip;
	__u8 next;
	int i;

	memset(l, 0, sizeof(*l));
	packet_layout(p, l);
	ip = p->data + l->l3;
	if (p->len < l->l3 + 40)
		return false;
	if (!l->v6)
		return p->data[l->l3 - 2] == 8 && !p->data[l->l3 - 1] && (*ip & 15) > 4 &&
		       ip[9] == IPPROTO_UDP && !(ip[6] & 0x1f) && !ip[7];
	next = ip[6];
	for (i = 0; i < 4 && (next == 0 || next == 43 || next == 44 || next == 60); i++) {
		if (l->l4 + 8 > p->len)
			return false;
		ip = p->data + l->l4;
		if (next == 44 && (ip[2] || ip[3] & 0xf8))
			return false;
		l->l4 += next == 44 ? 8 : 8 + ip[1] * 8;
		next = ip[0];
	}
	return next == IPPROTO_UDP && p->data[l->l3 - 1] == 0xdd;
}

/*
 * Return: whether a receiver, whoever it is, takes it for a packet of RC. There may be so
 * many @tags of VLANs: behind a second one the switch does not look.
 */
static bool look(const struct packet *p, int tags, struct view *view)
{
	const struct rocesteer_bth *bth;
	struct packet_layout l;
	const __u8 *udp;
	size_t at, end;

	memset(view, 0, sizeof(*view));
	if (!find_udp(p, &l) || l.l3 > ETH_HLEN + 4u * tags || l.l4 + 20 > p->len)
		return false;
	udp = p->data + l.l4;
	bth = (void *)(udp + sizeof(struct udphdr));
	if ((udp[2] << 8 | udp[3]) != ROCESTEER_ROCE_PORT ||
	    (bth->opcode & ROCESTEER_OP_SERVICE) != ROCESTEER_OP_RC)
		return false;
	view->qpn = ntohl(bth->dqpn) & ROCESTEER_QPN_MASK;
	view->psn = ntohl(bth->apsn) & ROCESTEER_PSN_MASK;
	view->opcode = bth->opcode;
	at = l.l4 + sizeof(struct udphdr) + sizeof(*bth) + extension(bth->opcode);
	end = l.l4 + (udp[4] << 8 | udp[5]);
	if (end > p->len || end < at + ROCESTEER_ICRC_SIZE + (bth->flags >> 4 & 3))
		return true;
	view->payload = p->data + at;
	view->len = end - at - ROCESTEER_ICRC_SIZE - (bth->flags >> 4 & 3);
	return true;
}

static bool is_virtual(const struct view *view)
{
	return (view->qpn & VIRTUAL) == VIRTUAL;
}

static bool icrc_is_right(const struct packet *p, struct packet_layout *l)
{
	__u32 icrc;

	if (!packet_layout(p, l))
		return false;
	icrc = packet_icrc(p, l);
	return !memcmp(p->data + l->l4 + l->len - sizeof(icrc), &icrc, sizeof(icrc));
}

static void fix_icrc(struct packet *p)
{
	struct packet_layout l;
	__u32 icrc;

	if (!packet_layout(p, &l))
		return;
	icrc = packet_icrc(p, &l);
	memcpy(p->data + l.l4 + l.len - sizeof(icrc), &icrc, sizeof(icrc));
}

static struct life *life_of(__u32 group)
{
	int i;

	for (i = 0; i < LIVES; i++)
		if (lives[i].group == group)
			return &lives[i];
	return NULL;
}

/* Payloads that must not leave. */

static __u64 *place(const __u8 *at, __u64 *value)
{
	memcpy(value, at, sizeof(*value));
	return &known[mix(*value) % KNOWN];
}

static void know(const struct view *view)
{
	__u64 value, *at;

	if (view->len < sizeof(value))
		return;
	at = place(view->payload, &value);
	*at = value;
}

static bool is_known(const __u8 *data)
{
	__u64 value, *at = place(data, &value);

	return value && *at == value;
}

/* Inputs, as the switch may take them. */

static bool is_between(const struct packet *p, const struct packet_layout *l,
		       const struct life *life, __u32 rank)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	const __u8 *ip = p->data + l->l3;
	__u8 want[32];
	int family = life->v6 ? AF_INET6 : AF_INET, size = life->v6 ? 16 : 4;

	address(from, life, rank);
	address(to, life, (rank + 1) % life->ranks);
	inet_pton(family, from, want);
	inet_pton(family, to, want + size);
	return l->v6 == life->v6 && !memcmp(ip + (life->v6 ? 8 : 12), want, 2 * size);
}

static void note_input(const struct packet *p, const struct view *view)
{
	__u32 rank = view->qpn & 0xff, position, nr;
	struct packet_layout l;
	struct input *input;
	struct life *life = life_of(view->qpn >> 8 & 0x3fff);

	if (!life || rank >= life->ranks || !view->len || !icrc_is_right(p, &l) ||
	    !is_between(p, &l, life, rank))
		return;
	position = (view->psn - life->psn[rank]) & ROCESTEER_PSN_MASK;
	if (position >= POSITIONS)
		return;
	nr = life->inputs[rank][position];
	for (input = life->input[rank][position]; nr && input->data; nr--, input++)
		if (input->len == view->len && !memcmp(input->data, view->payload, view->len))
			return;
	if (life->inputs[rank][position]++ >= OTHERS)
		return;
	input->len = view->len;
	input->data = malloc(view->len);
	memcpy(input->data, view->payload, view->len);
}

/* Is it the sum of one input each of the ranks from @rank on, and of @before? */
static bool is_sum(const struct life *life, __u32 position, __u32 rank, const __u8 *before,
		   const struct view *view)
{
	const struct input *input = life->input[rank][position];
	__u8 sum[MTU_MOST];
	__u32 i, at, a, b, bytes;

	if (rank == life->ranks)
		return !memcmp(before, view->payload, view->len);
	for (i = 0; i < OTHERS && input[i].data; i++) {
		if (input[i].len != view->len)
			continue;
		for (at = 0; at < view->len; at += bytes) {
			bytes = view->len - at < 4 ? view->len - at : 4;
			a = 0;
			b = 0;
			memcpy(&a, before + at, bytes);
			memcpy(&b, input[i].data + at, bytes);
			a += b;
			memcpy(sum + at, &a, bytes);
		}
		if (is_sum(life, position, rank + 1, sum, view))
			return true;
	}
	return false;
}

static bool is_unsure(const struct life *life, __u32 position)
{
	__u32 r;

	for (r = 0; r < life->ranks; r++)
		if (life->inputs[r][position] > OTHERS)
			return true;
	return false;
}

/* What leaves. */

static void check_result(const struct packet *p, const struct view *view)
{
	static const __u8 zero[MTU_MOST];
	struct life *life = life_of(view->qpn >> 8 & 0x7f);
	__u32 rank = view->qpn & 0xff, position;
	struct packet_layout l;

	if (!icrc_is_right(p, &l))
		fault(p, "what leaves for %06x has a wrong ICRC", view->qpn);
	if (!life || rank >= life->ranks)
		fault(p, "what leaves for %06x is of no group", view->qpn);
	rank = (rank + life->ranks - 1) % life->ranks;
	position = (view->psn - life->psn[rank]) & ROCESTEER_PSN_MASK;
	if (!view->len) {
		count.nudges++;
		if (view->opcode != ROCESTEER_OP_RC_WRITE_ONLY || position < POSITIONS)
			fault(p, "a packet without payload leaves and is no nudge");
		return;
	}
	if (position >= POSITIONS || view->len > life->mtu)
		fault(p, "a result leaves for which there was no input");
	if (is_unsure(life, position))
		count.unsure++;
	else if (!is_sum(life, position, 0, zero, view))
		fault(p, "group %u, %u ranks: result of %zu bytes at position %u for rank %u is "
		      "not the sum", life->group, life->ranks, view->len, position, rank);
	life->seen[rank] |= 1ull << position;
	count.results++;
}

static void check_packet(const struct packet *p)
{
	struct view view;
	size_t at;

	count.left++;
	for (at = ETH_HLEN + 20; at + 8 <= p->len && at < 200; at += 2)
		if (is_known(p->data + at))
			fault(p, "the payload of an input leaves");
	if (!look(p, 0, &view))	/* packet sockets take off a tag */
		return;
	if (is_virtual(&view))
		fault(p, "a packet leaves for %06x", view.qpn);
	if ((view.qpn & 0xff8000) == REAL)
		check_result(p, &view);
	else
		count.strangers++;
}

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

/* What comes. */

static void transmit(const struct packet *p, __u32 rank, bool gso)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = ports[rank % nr_ports],
	};
	/* A large packet has so many bytes in one piece, the rest in pages. */
	struct virtio_net_hdr head = { .hdr_len = 14 + packet_below(80) };
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
	if (sendmsg(packet_below(2) ? plain : direct, &msg, 0) < 0 &&
	    errno != EINVAL && errno != ENOBUFS && errno != EMSGSIZE)
		err(1, "send");
	count.sent++;
	count.gso += gso;
	drain();
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
		.apsn = htonl(packet_below(2) << 31 |
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

/* As the rank has to send it. */
static void make(struct packet *p, const struct life *life, __u32 rank, __u32 position)
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
	__u32 words = 1 + packet_below(4);

	if (!packet_layout(p, &l))
		return;
	if (l.v6) {
		resize(p, l.l4, 8);
		memset(p->data + l.l4, 0, 8);
		p->data[l.l4] = IPPROTO_UDP;
		p->data[l.l3 + 6] = headers[packet_below(sizeof(headers))];
		if (p->data[l.l3 + 6] == 44 && packet_below(2))
			p->data[l.l4 + 3] = packet_below(256);
	} else if (l.l4 - l.l3 == 20) {
		resize(p, l.l4, words * 4);
		memset(p->data + l.l4, 1, words * 4);
		p->data[l.l3] += words;
	}
}

/* What a group looks at, in particular. */
static void mutate_group(struct packet *p)
{
	struct packet_layout l;
	__u8 *ip, *bth;

	if (!packet_layout(p, &l) || l.l4 + 60 > p->len)
		return;
	ip = p->data + l.l3;
	bth = p->data + l.l4 + sizeof(struct udphdr);
	switch (packet_below(13)) {
	case 0:		/* group */
		bth[6] = packet_below(2) ? packet_below(GROUPS) : packet_below(256);
		break;
	case 1:		/* rank */
		bth[7] = packet_below(2) ? packet_below(RANKS) : packet_below(256);
		break;
	case 2:		/* the last byte of an address */
		ip[(l.v6 ? 23 : 15) + (packet_below(2) ? 0 : l.v6 ? 16 : 4)] = packet_below(6);
		break;
	case 3:
		bth[0] = packet_below(4) ? ROCESTEER_OP_RC_WRITE_FIRST + packet_below(6) :
					   packet_below(0x20);
		break;
	case 4:		/* solicited, padding, version */
		bth[1] = packet_below(2) ? packet_below(4) << 4 : packet_below(256);
		break;
	case 5:		/* RETH and immediate, or payload */
		bth[12 + packet_below(24)] ^= 1 << packet_below(8);
		break;
	case 6:		/* PSN */
		bth[11] += packet_below(9) - 4;
		break;
	case 7:
		bth[9 + packet_below(3)] = packet_below(256);
		break;
	case 8:		/* shorter, with nothing at all */
		resize(p, l.l4 + 20 + extension(bth[0]),
		       -4 * (int)packet_below((l.len - 20 - extension(bth[0])) / 4 + 1));
		break;
	case 9:		/* longer, beyond the MTU */
		resize(p, p->len, packet_below(2) ? 4 * packet_below(40) : packet_below(600));
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
		bth[7] ^= (1 + packet_below(3)) << 6;
		break;
	}
}

/* As the rank would send it, or without its payload, and then mutated. */
static void make_mutated(struct packet *p, const struct life *life, __u32 rank, __u32 position,
			 bool empty, bool right)
{
	__u32 len = length_at(life, position), n;

	make(p, life, rank, position);
	if (empty)
		memset(p->data + p->len - ROCESTEER_ICRC_SIZE - ((len + 3) & ~3), 0, len);
	for (n = 1 + packet_below(3); n; n--)
		if (packet_below(2))
			mutate_group(p);
		else
			packet_mutate(p);
	if (packet_below(16))
		packet_fix_ipv4(p);
	if (right)
		fix_icrc(p);
}

static void send_mutated(const struct life *life, __u32 rank, __u32 position)
{
	bool right = life->forged && packet_below(2);
	static struct packet p;
	__u64 state = packet_state;
	struct view view;

	make(&p, life, rank, position);
	look(&p, 1, &view);
	know(&view);
	packet_state = state;
	make_mutated(&p, life, rank, position, false, right);
	look(&p, 1, &view);
	if ((view.qpn & 0xff8000) == REAL)
		return;
	if (is_virtual(&view)) {
		note_input(&p, &view);
	} else {
		/* It passes, by rights: it must have no input's payload. */
		packet_state = state;
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
	bool gso = !packet_below(64);

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
	__u32 rank = packet_below(life->ranks), from = acked(life, rank);
	__u32 to = posted(life, rank), *next = &life->next[rank];

	life->sent++;
	if (*next >= to || !packet_below(32))
		*next = from;
	if (!packet_below(32))
		*next += packet_below(3);
	if (!packet_below(3))
		send_mutated(life, rank, *next < life->positions ? *next : 0);
	if (!packet_below(32))			/* one that has come long ago */
		send_valid(life, rank, packet_below(to));
	if (*next < to)
		send_valid(life, rank, (*next)++);
}

/* What it has let leave is looked at before it is forgotten. */
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
	packet_seed(strtoul(argv[2], NULL, 0));
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
		live(&lives[packet_below(LIVES)]);
	for (i = 0; i < LIVES; i++)
		end(&lives[i]);
	drain();
	printf("sent=%lu valid=%lu mutated=%lu forged=%lu gso=%lu lives=%lu ended=%lu left=%lu "
	       "results=%lu nudges=%lu strangers=%lu unsure=%lu\n", count.sent, count.valid,
	       count.mutated, count.forged, count.gso, count.lives, count.ended, count.left,
	       count.results, count.nudges, count.strangers, count.unsure);
	return 0;
}
