// SPDX-License-Identifier: GPL-2.0
/* Switches of slot_model.h around kmod/reduce/slot.c */
#include <stdint.h>
#include <stdio.h>

#include <rocesteer/roce.h>

#include "slot_model.h"

#define NO_INPUT	0xff

struct model_switch model_switch[MODEL_SWITCHES];

static struct model_switch *switch_of(struct reduce_slots *slots)
{
	return (void *)((u8 *)slots - offsetof(struct model_switch, slots));
}

static u32 leaf_ranks(void)
{
	return model_group.ranks / (model_group.leaves ? model_group.leaves : 1);
}

/* Number of a connection at the switch where its hop ends */
struct end {
	struct model_switch *sw;
	u32 conn;
};

static struct end hop_end(u32 rank, enum model_hop hop)
{
	u32 ranks = leaf_ranks(), leaves = model_group.leaves, leaf = rank / ranks;

	if (hop == MODEL_TO_ROOT)
		return (struct end){ &model_switch[leaves], leaf };
	if (hop == MODEL_TO_LEAF)
		return (struct end){ &model_switch[(leaf + 1) % leaves], ranks };
	return (struct end){ &model_switch[leaf], rank % ranks };
}

static enum model_hop hop_next(u32 rank, enum model_hop hop)
{
	if (hop == MODEL_TO_ROOT)
		return MODEL_TO_LEAF;
	if (hop == MODEL_UP && model_group.leaves && (rank + 1) % leaf_ranks() == 0)
		return MODEL_TO_ROOT;
	return MODEL_DOWN;
}

/* The reverse: the sender's rank, and the hop that ends here */

static u32 conn_rank(const struct model_switch *sw, u32 conn)
{
	u32 ranks = leaf_ranks(), first = (sw - model_switch) * ranks;

	if (model_is_root(sw))
		return (conn + 1) * ranks - 1;
	if (reduce_slots_comes_down(&sw->slots, conn))
		return (first ? first : model_group.ranks) - 1;
	return first + conn;
}

static enum model_hop conn_hop(const struct model_switch *sw, u32 conn)
{
	if (model_is_root(sw))
		return MODEL_TO_ROOT;
	return reduce_slots_comes_down(&sw->slots, conn) ? MODEL_TO_LEAF : MODEL_UP;
}

static void conn_push(const struct model_switch *sw, u32 conn, struct model_frame frame)
{
	u32 rank = conn_rank(sw, conn);

	model_push(rank, hop_next(rank, conn_hop(sw, conn)), frame);
}

/* Packets that the machine has: numbers that look like pointers. */

#define PACKET_IS	0x1000000u
#define PACKET_TWIN	16
#define PACKET_CONN(id)		((id) >> 18 & 7)
#define PACKET_POSITION(id)	((id) >> 8 & 0xff)
#define PACKET_INPUT(id)	((id) & 0xff)
#define PACKET_RANKS(id)	((id) >> 32 & 0xff)
#define PACKET_BIT(id)		(1u << ((id) >> PACKET_TWIN & 3))

static u64 packet_new(struct model_switch *sw, u32 conn, u32 position, struct model_payload payload)
{
	u8 *live = &sw->live[conn][position];
	u32 twin = 0;

	while (twin < 2 && *live >> twin & 1)
		twin++;
	model_check(twin < 2, "two packets of a connection at one position are enough");
	*live |= 1u << twin;
	sw->nr_live++;
	return (u64)payload.ranks << 32 | PACKET_IS | conn << 18 | twin << PACKET_TWIN |
	       position << 8 | payload.input;
}

/* Return: number of a packet that the machine has. */
static u64 packet_check(const struct model_switch *sw, const void *packet, u32 conn)
{
	u64 id = (uintptr_t)packet;
	bool is = id & PACKET_IS;

	model_check(is, "a packet has a valid number");
	model_check(!is || PACKET_CONN(id) == conn, "a packet is the connection's own");
	model_check(!is || sw->live[PACKET_CONN(id)][PACKET_POSITION(id)] & PACKET_BIT(id),
		    "a packet that is used has neither left nor been dropped");
	return id;
}

static void packet_gone(struct model_switch *sw, u64 id)
{
	sw->live[PACKET_CONN(id)][PACKET_POSITION(id)] &= ~PACKET_BIT(id);
	sw->nr_live--;
}

/* Functions that slot.c calls */

/* Ranks whose inputs are in one input of the machine, or in all of its inputs */
static u8 ranks_of_input(const struct model_switch *sw, u32 conn)
{
	u32 ranks = leaf_ranks();

	return model_is_root(sw) ? ((1u << ranks) - 1) << conn * ranks : 1u << conn_rank(sw, conn);
}

static u8 ranks_of_sum(const struct model_switch *sw)
{
	u8 ranks = 0;
	u32 c;

	for (c = 0; c < sw->slots.nr_inputs; c++)
		ranks |= ranks_of_input(sw, c);
	return ranks;
}

void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot)
{
	struct model_switch *sw = switch_of(slots);
	struct model_payload *sum = &sw->sum[reduce_slots_index(slots, slot->position)];
	u32 c, input;
	u64 id;

	sum->ranks = 0;
	for (c = 0; c < slots->nr_inputs && !model_fault; c++) {
		model_check(slot->packet[c], "a sum has the inputs of all connections");
		if (!slot->packet[c])
			return;
		id = packet_check(sw, slot->packet[c], c);
		input = PACKET_INPUT(id) & ~MODEL_FLAGS;
		if (c == 0)
			sum->input = input;
		model_check(input == sum->input, "inputs that are added up are of one position");
		model_check(!(PACKET_INPUT(id) & MODEL_OLD) || model_group.liar >= 0,
			    "no input of an earlier run is added up");
		/* A group that is loaded again in mid-run has forgotten its sums. */
		model_check(!(PACKET_INPUT(id) & MODEL_CHANGED) || model_world.broken ||
			    model_group.liar >= 0,
			    "no input is added up once its rank has the result");
		model_check(PACKET_RANKS(id) == ranks_of_input(sw, c),
			    "an input is a rank's, or of the root a part of all ranks of a leaf");
		sum->ranks |= PACKET_RANKS(id);
	}
}

void reduce_slots_take(struct reduce_slots *slots, const struct reduce_slot *slot,
		       const void *packet)
{
	struct model_switch *sw = switch_of(slots);
	u64 id = packet_check(sw, packet, slots->nr_inputs);
	struct model_payload result = { PACKET_INPUT(id), PACKET_RANKS(id) };

	model_check(slots->leaf, "only a leaf takes a result");
	model_check(slot->position == (s64)PACKET_POSITION(id), "a result is kept in its slot");
	model_check(result.ranks == model_everybody() && result.input == PACKET_POSITION(id),
		    "a leaf takes only the sum of all ranks for a result");
	sw->result[reduce_slots_index(slots, slot->position)] = result;
}

/* The sum leaves, or the result. The liar's input may be a leaf's only one. */
static struct model_payload emit_payload(const struct model_switch *sw, u32 conn,
					 const struct reduce_slot *slot)
{
	u32 index = reduce_slots_index(&sw->slots, slot->position);
	struct model_payload payload = sw->sum[index];

	if (reduce_slots_goes_up(&sw->slots, conn)) {
		model_check(slot->summed && payload.ranks == ranks_of_sum(sw) &&
			    payload.input == slot->shape.offset,
			    "a leaf sends up only the sum of all of its ranks");
		return payload;
	}
	if (sw->slots.leaf)
		payload = sw->result[index];
	model_check(slot->done && payload.ranks == model_everybody() &&
		    payload.input == slot->position,
		    "no input leaves, nor a sum that is not of all ranks");
	return payload;
}

void reduce_slots_emit(struct reduce_slots *slots, u32 conn, const struct reduce_slot *slot,
		       void *packet)
{
	struct model_switch *sw = switch_of(slots);
	u64 id = packet_check(sw, packet, conn);
	u32 position = PACKET_POSITION(id);
	struct model_frame frame = {
		.psn = model_psn(conn_rank(sw, conn), position),
		.kind = model_switch_sends(sw, conn),
	};

	if (model_fault)
		return;
	if (model_trace)
		printf("#   %u of %u leaves\n", position, conn_rank(sw, conn));
	model_check(!slots->poison, "nothing leaves once the group is poisoned");
	model_check(slot->position == (s64)position, "a packet leaves with its own sum");
	frame.payload = emit_payload(sw, conn, slot);
	model_check(sw->way[conn].arrived >= (int)position,
		    "no result overtakes a sender that has gone back");
	sw->left[conn]++;
	sw->nr_left++;
	packet_gone(sw, id);
	conn_push(sw, conn, frame);
}

bool reduce_slots_equal(const struct reduce_slots *slots, const struct reduce_slot *slot,
			const void *a, const void *b)
{
	(void)slots;
	(void)slot;
	return PACKET_INPUT((uintptr_t)a) == PACKET_INPUT((uintptr_t)b) &&
	       PACKET_RANKS((uintptr_t)a) == PACKET_RANKS((uintptr_t)b);
}

/* A nudge goes to the receiver, through the other switches. */
void reduce_slots_nudge(struct reduce_slots *slots, u32 conn, u32 psn, const void *packet)
{
	struct model_switch *sw = switch_of(slots);
	struct model_frame frame = { .psn = psn, .payload.input = NO_INPUT, .kind = MODEL_REAL };

	packet_check(sw, packet, conn);
	sw->nr_nudges++;
	if (model_trace)
		printf("#   nudge\n");
	model_check(psn <= ROCESTEER_PSN_MASK, "a PSN has 24 bits");
	conn_push(sw, conn, frame);
}

void reduce_slots_drop(struct reduce_slots *slots, void *packet)
{
	struct model_switch *sw = switch_of(slots);
	u64 id = (uintptr_t)packet;

	packet_check(sw, packet, PACKET_CONN(id));
	if (model_fault)
		return;
	packet_gone(sw, id);
	if (model_trace)
		printf("#   drops %u of %u\n", (u32)PACKET_POSITION(id),
		       conn_rank(sw, PACKET_CONN(id)));
}

/* Ends of links. */

/* Return: nudges for the arrival of an input, one for each missing packet. */
static u32 nudges(struct model_way *way, s32 position)
{
	s32 missing = __builtin_ctz(~way->came);
	bool first = !(way->came >> position & 1);

	way->came |= 1u << position;
	if (!first || position <= missing || way->asked == missing)
		return 0;
	way->asked = missing;
	return 1;
}

/* The sender goes back if a packet follows one that has come before. */
static void way_arrived(struct model_way *way, s32 position)
{
	bool again = position <= way->arrived, back = way->back >= 0 && position == way->back + 1;

	way->back = again && !back ? position : -1;
	if (!again || back)
		way->arrived = position;
}

static void check_arrival(const struct model_switch *sw, u32 nr_nudges)
{
	const struct reduce_slots *slots = &sw->slots;

	model_check(slots->held == sw->nr_live, "a packet is held, has left or was dropped");
	if (model_group.liar >= 0)
		return;
	model_check(!slots->poison || model_world.broken,
		    "hosts that do as they should do not poison the group");
	model_check(slots->held <= slots->nr_inputs * model_group.window * model_group.packets,
		    "no more is held than the windows of all inputs");
	model_check(slots->poison || sw->nr_nudges == nr_nudges,
		    "a receiver is nudged once for each packet that is missing");
}

static bool slot_is_summed(const struct model_switch *sw, u32 index)
{
	const struct reduce_slot *slot = sw->slots.slot +
					 index * reduce_slot_size(sw->slots.nr_inputs);

	return slot->summed;
}

/* The packet that waits for others, at the position of another packet, or 0 */
static u64 waiting(const struct model_switch *sw, u32 conn, u64 id)
{
	u32 index = reduce_slots_index(&sw->slots, PACKET_POSITION(id));
	u64 other = 0;

	if (!reduce_slots_comes_down(&sw->slots, conn))
		other = (uintptr_t)reduce_slots_packet(&sw->slots, index, conn);
	if (PACKET_POSITION(other) != PACKET_POSITION(id) || slot_is_summed(sw, index))
		return 0;
	return other;
}

static void switch_take(struct model_switch *sw, u32 conn, u32 rank, struct model_frame frame)
{
	s32 position = model_position(rank, frame.psn);
	bool known = position >= 0 && (u32)position < model_positions(), taken;
	struct reduce_shape shape = {
		.offset = frame.payload.input & ~MODEL_FLAGS,
		.length = !!frame.payload.ranks,
	};
	u64 id = packet_new(sw, conn, known ? position : MODEL_POSITIONS - 1, frame.payload);
	u64 other = waiting(sw, conn, id);
	u32 nr = 0;

	sw->arrivals[conn]++;
	if (known)
		way_arrived(&sw->way[conn], position);
	sw->nr_nudges = 0;
	sw->nr_left = 0;
	taken = reduce_slots_receive(&sw->slots, conn, frame.psn, &shape, REDUCE_ALIVE,
				     (void *)(uintptr_t)id);
	model_check(sw->nr_left <= 1, "a packet lets no other one leave at once");
	model_check(!other || PACKET_INPUT(other) == PACKET_INPUT(id) || sw->slots.poison,
		    "a packet that comes again with another payload poisons the group");
	/* A receiver sees for itself which results are missing. */
	if (taken && !reduce_slots_comes_down(&sw->slots, conn))
		nr = nudges(&sw->way[conn], position);
	check_arrival(sw, nr);
	sw->nr_nudges = 0;
	if (!sw->slow)
		reduce_slots_pump(&sw->slots, ~0u);
}

void model_pump(u32 index, u32 budget)
{
	if (model_trace)
		printf("# switch %u: at most %u leave\n", index, budget);
	reduce_slots_pump(&model_switch[index].slots, budget);
}

void model_switch_receive(u32 rank, enum model_hop hop, struct model_frame frame)
{
	struct end end = hop_end(rank, hop);

	if (end.sw->gone || frame.kind == MODEL_REAL)
		model_push(rank, hop_next(rank, hop), frame);
	else if (model_switch_takes(end.sw, end.conn, frame.kind))
		switch_take(end.sw, end.conn, rank, frame);
}

void model_switch_begin(struct model_switch *sw)
{
	struct reduce_slots *slots = &sw->slots;
	u32 c;

	memset(sw, 0, offsetof(struct model_switch, memory));
	slots->leaf = model_group.leaves && !model_is_root(sw);
	slots->nr_inputs = model_is_root(sw) ? model_group.leaves : leaf_ranks();
	slots->nr_slots = 2 * model_group.window * model_group.packets;
	slots->slot = sw->memory;
	for (c = 0; c < reduce_slots_conns(slots); c++) {
		sw->way[c].arrived = -1;
		sw->way[c].back = -1;
		sw->way[c].asked = -1;
		slots->conn[c].psn = model_group.psn[conn_rank(sw, c)];
	}
	reduce_slots_init(slots);
}

/* Held packets are dropped with the group. */
void model_switch_end(struct model_switch *sw)
{
	reduce_slots_poison(&sw->slots, REDUCE_GONE, 0);
	model_check(!sw->slots.held && !sw->nr_live, "a group that is removed holds nothing");
}

void model_switch_count(const struct model_switch *sw)
{
	const struct reduce_conn *conn = sw->slots.conn;
	u32 c;

	for (c = 0; !sw->slots.poison && c < reduce_slots_conns(&sw->slots); c++) {
		model_check(conn[c].inputs + conn[c].duplicates + conn[c].replays + conn[c].stale +
			    conn[c].beyond == sw->arrivals[c],
			    "each packet that came is counted once");
		model_check(conn[c].results == sw->left[c],
			    "each packet that left is counted once");
	}
}
