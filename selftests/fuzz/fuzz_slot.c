// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of a group in the module for switches, kmod/reduce/slot.c, on a leaf or a root:
 * packets of any connection, PSN and shape, and poison, in any order. Each packet is held,
 * leaves or is dropped, once. A packet that leaves has the sum of all inputs at its position,
 * or on a leaf the result for it. Packets of an input's connection leave in order at first.
 *
 * The fuzzer's input has the number of inputs, packets in half of the slots, leaf or root, and
 * the first PSNs; then two bytes for each packet.
 */
#include "../host/reduce/kernel_types.h"
#include "../../kmod/reduce/slot.c"
#include "fuzz.h"

#define INPUTS_MOST	64
#define HALF_MOST	64	/* of the slots */

/* A packet that the slots were given. Memory of packets that are gone is freed. */
struct packet {
	u32 conn;
	s64 position;
	u8 payload;
	struct reduce_shape shape;
};

static struct reduce_slots slots;
static u64 nr_live;		/* packets */
static const struct packet *arriving;
static u64 nr_drops;		/* in this step */
static s64 out[INPUTS_MOST];	/* by connection: position behind all that has left */
static s64 came[INPUTS_MOST + 1];	/* position that the sender has come to */
static s64 again[INPUTS_MOST + 1];	/* position that came last, if it came again */
static s64 taken[2 * HALF_MOST];	/* by slot: position whose result is kept */

static u64 inputs_mask(void)
{
	return ~0ull >> (64 - slots.nr_inputs);
}

static void free_packet(void *packet)
{
	nr_live--;
	free(packet);
}

void reduce_slots_sum(struct reduce_slots *s, struct reduce_slot *slot)
{
	const struct packet *packet;
	u32 c;

	assert(!s->poison && !slot->summed && !slot->done && slot->inputs == inputs_mask());
	for (c = 0; c < s->nr_inputs; c++) {
		packet = slot->packet[c];
		assert(packet && packet->conn == c && packet->position == slot->position);
		assert(shape_equal(&packet->shape, &slot->shape) && packet->shape.length);
	}
}

void reduce_slots_take(struct reduce_slots *s, const struct reduce_slot *slot, const void *packet)
{
	const struct packet *p = packet;

	assert(!s->poison && s->leaf && slot->summed && !slot->done);
	assert(p->conn == s->nr_inputs && p->position == slot->position);
	assert(shape_equal(&p->shape, &slot->shape) && p->shape.length);
	taken[reduce_slots_index(s, slot->position)] = slot->position;
}

static bool has_result(const struct reduce_slots *s, const struct reduce_slot *slot)
{
	return slot->done && (!s->leaf ||
			      taken[reduce_slots_index(s, slot->position)] == slot->position);
}

/* No packet overtakes its sender or earlier packets. A result goes on as it comes. */
void reduce_slots_emit(struct reduce_slots *s, u32 c, const struct reduce_slot *slot, void *packet)
{
	struct packet *p = packet;

	assert(!s->poison && slot->summed && slot->inputs == inputs_mask());
	assert(reduce_slots_goes_up(s, c) || has_result(s, slot));
	assert(p->conn == c && p->position == slot->position);
	assert(shape_equal(&p->shape, &slot->shape));
	if (reduce_slots_comes_down(s, c)) {
		assert(p == arriving);
	} else {
		assert(p == arriving || p->position <= came[c]);
		assert(p->position <= out[c]);
		out[c] += p->position == out[c];
	}
	free_packet(p);
}

bool reduce_slots_equal(const struct reduce_slots *s, const struct reduce_slot *slot,
			const void *a, const void *b)
{
	const struct packet *p = a, *q = b;

	assert(p->conn == q->conn && p->position == q->position && slot->position == p->position);
	return p->payload == q->payload;
}

void reduce_slots_nudge(struct reduce_slots *s, u32 c, u32 psn, const void *packet)
{
	const struct packet *p = packet;

	assert(!s->poison && p->conn == c && !reduce_slots_comes_down(s, c));
	assert(psn <= ROCESTEER_PSN_MASK);
	/* The receiver expects nothing beyond the packets that came, so this is never next. */
	assert(rocesteer_psn_diff(psn, s->conn[c].psn + (u32)s->conn[c].next) > 1 << 20);
}

void reduce_slots_drop(struct reduce_slots *s, void *packet)
{
	nr_drops++;
	free_packet(packet);
}

/* The slots hold the packets that they count, and that they were given. */
static void check(void)
{
	u64 held = 0;
	u32 i, c;

	for (i = 0; i < slots.nr_slots; i++)
		for (c = 0; c < slots.nr_inputs; c++) {
			const struct packet *packet = reduce_slots_packet(&slots, i, c);

			if (!packet)
				continue;
			held++;
			assert(packet->conn == c);
			assert(reduce_slots_index(&slots, packet->position) == i);
		}
	assert(held == slots.held && held == nr_live);
	assert(!slots.poison || !held);
}

/* Return: number of inputs, mostly few. A leaf has at least one, a root two. */
static u32 begin_inputs(u8 byte)
{
	u32 least = 2 - slots.leaf;

	return least + byte % (byte & 0x80 ? INPUTS_MOST - 1 : 3);
}

static void begin_conns(u8 first)
{
	u32 c;

	for (c = 0; c < reduce_slots_conns(&slots); c++) {
		came[c] = -1;
		again[c] = -1;
		/* Some PSNs wrap soon. */
		slots.conn[c].psn = ((first & 1 << c % 8 ? 0 : 1 << 24) - 3 * c) &
				    ROCESTEER_PSN_MASK;
	}
}

static void begin(struct fuzz_input *in)
{
	u8 inputs = fuzz_u8(in), half = fuzz_u8(in);

	memset(&slots, 0, sizeof(slots));
	memset(out, 0, sizeof(out));
	memset(taken, 0xff, sizeof(taken));
	nr_live = 0;
	slots.leaf = half & 0x80;
	slots.nr_inputs = begin_inputs(inputs);
	slots.nr_slots = 2 * (1 + half % HALF_MOST);
	begin_conns(fuzz_u8(in));
	slots.slot = malloc(slots.nr_slots * reduce_slot_size(slots.nr_inputs));
	reduce_slots_init(&slots);
}

/* A sender has gone back if a packet follows one that has come again. */
static void follow(u32 c, s64 position)
{
	bool back = again[c] >= 0 && position == again[c] + 1 && position <= came[c];

	again[c] = position > came[c] || back ? -1 : position;
	if (again[c] < 0)
		came[c] = position;
}

/* A packet at @position. Most packets have the common shape of the position. */
static void receive(u32 c, s64 position, u8 what)
{
	u64 inputs = slots.conn[c].inputs;
	struct packet *packet = malloc(sizeof(*packet));
	bool poisoned = slots.poison;
	u64 live = ++nr_live;

	*packet = (struct packet) {
		.conn = c,
		.position = position,
		.payload = what == 0xf5,
		.shape = {
			.offset = position, .dma_length = 4096, .imm = what == 0xf1,
			.length = what == 0xf2 ? 0 : 64 + (what == 0xf3),
			.opcode = what == 0xf4 ? 7 : 6,
		},
	};
	nr_drops = 0;
	arriving = packet;
	if (reduce_slots_receive(&slots, c, (slots.conn[c].psn + (u32)position) &
				 ROCESTEER_PSN_MASK, &packet->shape,
				 what == 0xf6 ? REDUCE_ROUTE : REDUCE_ALIVE, packet))
		follow(c, position);
	arriving = NULL;
	/* Results that may leave do so at once, or later. */
	if (what < 0xa0)
		reduce_slots_pump(&slots, what < 0x90 ? ~0u : 1);
	assert(!poisoned || (nr_drops == 1 && nr_live == live - 1));
	assert(slots.conn[c].inputs <= inputs + 1);
	assert(slots.conn[c].next <= slots.done + slots.nr_slots / 2);
}

/* Two bytes: whose packet, and which: the next one, one nearby, or any. */
static void step(struct fuzz_input *in)
{
	u8 who = fuzz_u8(in), what = fuzz_u8(in);
	u32 c = who % reduce_slots_conns(&slots);
	s64 position;

	if (what == 0xff) {
		reduce_slots_poison(&slots, REDUCE_GONE, c);
		assert(slots.poison);
		return;
	}
	if (what < 0x80)
		position = (again[c] < 0 ? came[c] : again[c]) + 1;
	else if (what < 0xe0)
		position = slots.done + (what - 0xb0);
	else if (what < 0xf0)
		position = slots.conn[c].next + ((s64)fuzz_u8(in) << 16 | fuzz_u8(in) << 8) -
			   (1 << 23);
	else
		position = slots.conn[c].next;
	receive(c, position, what);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct fuzz_input in = { data, size };

	begin(&in);
	while (in.left) {
		step(&in);
		check();
	}
	reduce_slots_poison(&slots, REDUCE_GONE, 0);
	check();
	assert(!nr_live);
	free(slots.slot);
	return 0;
}
