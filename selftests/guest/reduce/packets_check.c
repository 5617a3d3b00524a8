// SPDX-License-Identifier: GPL-2.0
/* Packets that leave the switch: none is an input, and results are sums of inputs. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "packets_life.h"

/* Payloads that must not leave: 8 bytes each. There is one place for each. */
#define KNOWN	1048576u
static __u64 known[KNOWN];

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

/* Bytes of RETH and immediate. */
__u32 extension(__u8 opcode)
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
bool look(const struct packet *p, int tags, struct view *view)
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

bool is_virtual(const struct view *view)
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

void know(const struct view *view)
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

void note_input(const struct packet *p, const struct view *view)
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

/* Return: whether it is the sum of @before and one input of each rank from @rank on. */
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

/* Packets that leave. */

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

void check_packet(const struct packet *p)
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
