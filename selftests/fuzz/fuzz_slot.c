// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of a group of the module for switches, kmod/reduce/slot.c: packets of any rank
 * with any PSN and shape, and poison, in any order. Each packet is held, leaves or is
 * dropped, exactly once; what leaves has the sum of all ranks at its position. For the first
 * time the results of a connection leave one position after the other.
 *
 * An input is: ranks, packets in half of the slots, where PSNs begin; then, by two bytes,
 * what comes.
 */
#include "../user/kernel_types.h"
#include "../../kmod/reduce/slot.c"
#include "fuzz.h"

#define RANKS_MOST	64
#define HALF_MOST	64	/* of the slots */

/* A packet that the slots were given. The memory of those that are gone is no more. */
struct packet {
	u32 rank;
	s64 position;
	struct reduce_shape shape;
};

static struct reduce_slots slots;
static u64 nr_live;		/* packets */
static u64 nr_drops;		/* in this step */
static s64 out[RANKS_MOST];	/* by rank: position behind all results that have left */
static s64 came[RANKS_MOST];	/* position that came last */

static u64 ranks_mask(void)
{
	return ~0ull >> (64 - slots.nr_ranks);
}

static void free_packet(void *packet)
{
	nr_live--;
	free(packet);
}

void reduce_slots_sum(struct reduce_slots *s, struct reduce_slot *slot)
{
	const struct packet *packet;
	u32 r;

	assert(!s->poison && !slot->done && slot->ranks == ranks_mask());
	for (r = 0; r < s->nr_ranks; r++) {
		packet = slot->packet[r];
		assert(packet && packet->rank == r && packet->position == slot->position);
		assert(shape_equal(&packet->shape, &slot->shape) && packet->shape.length);
	}
}

/* No result overtakes its sender, nor the results before it. */
void reduce_slots_emit(struct reduce_slots *s, u32 rank, const struct reduce_slot *slot,
		       void *packet)
{
	struct packet *p = packet;

	assert(!s->poison && slot->done && slot->ranks == ranks_mask());
	assert(p->rank == rank && p->position == slot->position);
	assert(shape_equal(&p->shape, &slot->shape));
	assert(p->position <= came[rank] && p->position <= out[rank]);
	out[rank] += p->position == out[rank];
	free_packet(p);
}

void reduce_slots_nudge(struct reduce_slots *s, u32 rank, u32 psn, const void *packet)
{
	const struct packet *p = packet;

	assert(!s->poison && p->rank == rank);
	assert(psn <= ROCESTEER_PSN_MASK);
	/* The receiver expects nothing beyond what has come: the PSN is never the next one. */
	assert(rocesteer_psn_diff(psn, s->conn[rank].psn + (u32)s->conn[rank].next) > 1 << 20);
}

void reduce_slots_drop(struct reduce_slots *s, void *packet)
{
	(void)s;
	nr_drops++;
	free_packet(packet);
}

/* What the slots hold is what they say, and what they were given. */
static void check(void)
{
	u64 held = 0;
	u32 i, r;

	for (i = 0; i < slots.nr_slots; i++)
		for (r = 0; r < slots.nr_ranks; r++) {
			const struct packet *packet = reduce_slots_packet(&slots, i, r);

			if (!packet)
				continue;
			held++;
			assert(packet->rank == r);
			assert(reduce_slots_index(&slots, packet->position) == i);
		}
	assert(held == slots.held && held == nr_live);
	assert(!slots.poison || !held);
}

static void begin(struct fuzz_input *in)
{
	u32 r, half, first;

	memset(&slots, 0, sizeof(slots));
	memset(out, 0, sizeof(out));
	nr_live = 0;
	slots.nr_ranks = fuzz_u8(in);
	slots.nr_ranks = slots.nr_ranks & 0x80 ? 2 + slots.nr_ranks % (RANKS_MOST - 1) :
						 2 + slots.nr_ranks % 3;
	half = 1 + fuzz_u8(in) % HALF_MOST;
	slots.nr_slots = 2 * half;
	first = fuzz_u8(in);
	for (r = 0; r < slots.nr_ranks; r++) {
		came[r] = -1;
		/* Some wrap soon. */
		slots.conn[r].psn = ((first & 1 << r % 8 ? 0 : 1 << 24) - 3 * r) &
				    ROCESTEER_PSN_MASK;
	}
	slots.slot = malloc(slots.nr_slots * reduce_slot_size(slots.nr_ranks));
	reduce_slots_init(&slots);
}

/* At @position. Most packets have the shape that all have there. */
static void receive(u32 rank, s64 position, u8 what)
{
	u64 inputs = slots.conn[rank].inputs;
	struct packet *packet = malloc(sizeof(*packet));
	bool poisoned = slots.poison;
	u64 live = ++nr_live;

	*packet = (struct packet) {
		.rank = rank,
		.position = position,
		.shape = {
			.offset = position, .dma_length = 4096, .imm = what == 0xf1,
			.length = what == 0xf2 ? 0 : 64 + (what == 0xf3),
			.opcode = what == 0xf4 ? 7 : 6,
		},
	};
	came[rank] = position;
	nr_drops = 0;
	reduce_slots_receive(&slots, rank, (slots.conn[rank].psn + (u32)position) &
			     ROCESTEER_PSN_MASK, &packet->shape, packet);
	assert(!poisoned || (nr_drops == 1 && nr_live == live - 1));
	assert(slots.conn[rank].inputs <= inputs + 1);
	assert(slots.conn[rank].next <= slots.done + slots.nr_slots / 2);
}

/* Two bytes: whose packet, and which. Behind what came last; about there; anywhere. */
static void step(struct fuzz_input *in)
{
	u8 who = fuzz_u8(in), what = fuzz_u8(in);
	u32 rank = who % slots.nr_ranks;
	s64 position;

	if (what == 0xff) {
		reduce_slots_poison(&slots, REDUCE_GONE, rank);
		assert(slots.poison);
		return;
	}
	if (what < 0x80)
		position = came[rank] + 1;
	else if (what < 0xe0)
		position = slots.done + (what - 0xb0);
	else if (what < 0xf0)
		position = slots.conn[rank].next + ((s64)fuzz_u8(in) << 16 | fuzz_u8(in) << 8) -
			   (1 << 23);
	else
		position = slots.conn[rank].next;
	receive(rank, position, what);
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
