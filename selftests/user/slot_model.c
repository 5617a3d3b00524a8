// SPDX-License-Identifier: GPL-2.0
/* Hosts, links and a switch around kmod/reduce/slot.c: slot_model.h says what they are. */
#include <stdint.h>
#include <stdio.h>

#include <rocesteer/roce.h>

#include "slot_model.h"

#define NO_INPUT	0xff

struct model_group model_group;
struct model_world model_world;
struct reduce_slots model_slots;
u64 model_slot_memory[MODEL_SLOTS * (sizeof(struct reduce_slot) / 8 + MODEL_RANKS)];
const char *model_fault;
bool model_trace;

static void fault_unless(bool ok, const char *what)
{
	if (ok || model_fault)
		return;
	model_fault = what;
	if (model_trace)
		printf("#   %s\n", what);
}

static u32 positions(void)
{
	return model_group.start[model_group.messages];
}

static u8 everybody(void)
{
	return (1u << model_group.ranks) - 1;
}

static u32 psn_of(u32 rank, u32 position)
{
	return (model_group.psn[rank] + position) & ROCESTEER_PSN_MASK;
}

static s32 position_of(u32 rank, u32 psn)
{
	return rocesteer_psn_diff(psn, model_group.psn[rank]);
}

/* Links. A packet that finds one full is lost. */

static void link_push(u32 rank, enum model_hop hop, struct model_frame frame)
{
	struct model_link *link = &model_world.conn[rank].link[hop];

	if (link->nr < MODEL_QUEUE)
		link->frame[link->nr++] = frame;
	else
		model_world.lost = true;
}

static void link_pop(struct model_link *link)
{
	link->nr--;
	memmove(link->frame, link->frame + 1, link->nr * sizeof(link->frame[0]));
	memset(link->frame + link->nr, 0, sizeof(link->frame[0]));
}

/* Packets that the machine has: numbers that look like pointers. */

#define PACKET_IS	0x1000000u
#define PACKET_TWIN	16
#define PACKET_RANK(id)		((id) >> 18 & 7)
#define PACKET_POSITION(id)	((id) >> 8 & 0xff)
#define PACKET_INPUT(id)	((id) & 0xff)
#define PACKET_BIT(id)		(1u << ((id) >> PACKET_TWIN & 3))

static u32 packet_new(u32 rank, u32 position, u32 input)
{
	u8 *live = &model_world.live[rank][position];
	u32 twin = 0;

	while (twin < 2 && *live >> twin & 1)
		twin++;
	fault_unless(twin < 2, "two packets of a rank at one position are enough");
	*live |= 1u << twin;
	model_world.nr_live++;
	return PACKET_IS | rank << 18 | twin << PACKET_TWIN | position << 8 | input;
}

/* Return: number of a packet that the machine has. */
static u32 packet_check(const void *packet, u32 rank)
{
	u32 id = (uintptr_t)packet;
	bool is = id & PACKET_IS;

	fault_unless(is, "a packet is one");
	fault_unless(!is || PACKET_RANK(id) == rank, "a packet is the rank's own");
	fault_unless(!is || model_world.live[PACKET_RANK(id)][PACKET_POSITION(id)] &
		     PACKET_BIT(id), "a packet that is used has neither left nor been dropped");
	return id;
}

static void packet_gone(u32 id)
{
	model_world.live[PACKET_RANK(id)][PACKET_POSITION(id)] &= ~PACKET_BIT(id);
	model_world.nr_live--;
}

/* What slot.c calls. */

void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot)
{
	u32 index = reduce_slots_index(slots, slot->position);
	u32 r, id;

	model_world.sum[index].ranks = 0;
	for (r = 0; r < slots->nr_ranks && !model_fault; r++) {
		fault_unless(slot->packet[r], "a sum has the inputs of all ranks");
		if (!slot->packet[r])
			return;
		id = packet_check(slot->packet[r], r);
		if (r == 0)
			model_world.sum[index].input = PACKET_INPUT(id);
		fault_unless(PACKET_INPUT(id) == model_world.sum[index].input,
			     "inputs that are added up are of one position");
		model_world.sum[index].ranks |= 1u << r;
	}
}

void reduce_slots_emit(struct reduce_slots *slots, u32 rank, const struct reduce_slot *slot,
		       void *packet)
{
	u32 index = reduce_slots_index(slots, slot->position);
	u32 id = packet_check(packet, rank);
	u32 position = PACKET_POSITION(id);
	struct model_frame frame = {
		.psn = psn_of(rank, position),
		.input = model_world.sum[index].input,
		.ranks = model_world.sum[index].ranks,
		.length = 1,
	};

	if (model_fault)
		return;
	if (model_trace)
		printf("#   result %u leaves for %u\n", position,
		       (rank + 1) % model_group.ranks);
	fault_unless(!slots->poison, "nothing leaves once the group is poisoned");
	fault_unless(slot->position == (s64)position, "a packet leaves with its own sum");
	fault_unless(slot->done && frame.ranks == everybody() && frame.input == position,
		     "no input leaves, nor a sum that is not of all ranks");
	fault_unless(model_world.conn[rank].arrived >= (int)position,
		     "no result overtakes a sender that has gone back");
	packet_gone(id);
	link_push(rank, MODEL_DOWN, frame);
}

void reduce_slots_nudge(struct reduce_slots *slots, u32 rank, u32 psn, const void *packet)
{
	struct model_frame frame = { .psn = psn, .input = NO_INPUT };

	(void)slots;
	packet_check(packet, rank);
	model_world.nr_nudges++;
	if (model_trace)
		printf("#   nudge\n");
	fault_unless(psn <= ROCESTEER_PSN_MASK, "a PSN has 24 bits");
	link_push(rank, MODEL_DOWN, frame);
}

void reduce_slots_drop(struct reduce_slots *slots, void *packet)
{
	u32 id = (uintptr_t)packet;

	(void)slots;
	packet_check(packet, PACKET_RANK(id));
	if (model_fault)
		return;
	packet_gone(id);
	if (model_trace)
		printf("#   drops %u of %u\n", PACKET_POSITION(id), PACKET_RANK(id));
}

/* Ends of links. */

/* Return: nudges that the arrival of a packet is worth: one for each that is missing. */
static u32 nudges(struct model_conn *conn, s32 position)
{
	s32 missing = __builtin_ctzll(~conn->came);
	bool first = !(conn->came >> position & 1);

	conn->came |= 1ull << position;
	if (!first || position <= missing || conn->asked == missing)
		return 0;
	conn->asked = missing;
	return 1;
}

static void switch_receive(u32 rank, struct model_frame frame)
{
	struct model_conn *conn = &model_world.conn[rank];
	s32 position = position_of(rank, frame.psn);
	bool known = position >= 0 && (u32)position < positions();
	struct reduce_shape shape = {
		.offset = frame.input,
		.length = frame.length,
	};
	u32 id = packet_new(rank, known ? position : MODEL_POSITIONS - 1, frame.input);
	u32 nr = 0;

	if (known) {
		conn->arrived = position;
		nr = nudges(conn, position);
	}
	model_world.nr_nudges = 0;
	reduce_slots_receive(&model_slots, rank, frame.psn, &shape, (void *)(uintptr_t)id);
	fault_unless(model_slots.held == model_world.nr_live,
		     "a packet is held, has left or was dropped");
	if (model_group.liar >= 0)
		return;
	fault_unless(!model_slots.poison,
		     "hosts that do as they should do not poison the group");
	fault_unless(model_slots.held <= model_group.ranks * model_group.window *
		     model_group.packets,
		     "no more is held than the windows of all ranks");
	fault_unless(model_world.nr_nudges == nr,
		     "a receiver is nudged once for each packet that is missing");
}

static void host_answer(u32 rank, bool nak)
{
	struct model_frame frame = {
		.psn = psn_of(rank, model_world.conn[rank].expected),
		.nak = nak,
	};

	link_push(rank, MODEL_BACK, frame);
}

static bool ends_message(u32 position)
{
	return model_group.complete[position + 1] != model_group.complete[position];
}

/* The receiver of @rank's connection. */
static void host_receive(u32 rank, struct model_frame frame)
{
	struct model_conn *conn = &model_world.conn[rank];
	s32 ahead = position_of(rank, frame.psn) - conn->expected;

	if (ahead < 0) {
		host_answer(rank, false);
	} else if (ahead > 0) {
		if (!conn->naked)
			host_answer(rank, true);
		conn->naked = true;
	} else {
		fault_unless(frame.input == conn->expected && frame.ranks == everybody(),
			     "what a host accepts is the sum of all ranks at this position");
		conn->naked = false;
		conn->expected++;
		if (!model_group.ack_ends || ends_message(conn->expected - 1))
			host_answer(rank, false);
	}
}

static void host_acknowledged(u32 rank, struct model_frame frame)
{
	struct model_conn *conn = &model_world.conn[rank];
	s32 position = position_of(rank, frame.psn);

	if (position < conn->acked)
		return;
	conn->acked = position;
	if (frame.nak || conn->next < position)
		conn->next = position;
}

/* Steps. */

/* Position behind all that @rank may send: it has received what its window asks for. */
static u32 posted(u32 rank)
{
	u32 before = (rank ? rank : model_group.ranks) - 1;
	u32 messages = model_group.complete[model_world.conn[before].expected] +
		       model_group.window;

	return model_group.start[messages < model_group.messages ? messages :
				 model_group.messages];
}

bool model_can_send(u32 rank)
{
	const struct model_conn *conn = &model_world.conn[rank];

	return conn->next < posted(rank) && conn->link[MODEL_UP].nr < MODEL_QUEUE;
}

static void send_frame(u32 rank, struct model_frame frame)
{
	if (model_trace)
		printf("# %u sends %d\n", rank, position_of(rank, frame.psn));
	link_push(rank, MODEL_UP, frame);
}

void model_send(u32 rank)
{
	struct model_conn *conn = &model_world.conn[rank];
	struct model_frame frame = {
		.psn = psn_of(rank, conn->next),
		.input = conn->next,
		.ranks = 1u << rank,
		.length = 1,
	};

	conn->next++;
	send_frame(rank, frame);
}

void model_lie(u32 rank, u32 lie)
{
	struct model_conn *conn = &model_world.conn[rank];
	struct model_frame frame = {
		.psn = psn_of(rank, conn->next),
		.input = conn->next,
		.ranks = 1u << rank,
		.length = 1,
	};

	switch (lie % 3) {
	case 0:
		frame.length = 0;
		break;
	case 1:
		frame.input = (conn->next + 1 + lie / 3) % positions();
		break;
	default:
		lie /= 3;
		frame.psn = psn_of(rank, lie & 1 ? lie % positions() : lie | 1u << 20);
	}
	send_frame(rank, frame);
}

bool model_can_deliver(u32 rank, enum model_hop hop)
{
	return model_world.conn[rank].link[hop].nr;
}

void model_deliver(u32 rank, enum model_hop hop, bool again)
{
	static void (*const receive[])(u32 rank, struct model_frame frame) = {
		[MODEL_UP] = switch_receive,
		[MODEL_DOWN] = host_receive,
		[MODEL_BACK] = host_acknowledged,
	};
	struct model_link *link = &model_world.conn[rank].link[hop];
	struct model_frame frame = link->frame[0];

	if (!again)
		link_pop(link);
	if (model_trace)
		printf("# %u %s %d\n", rank,
		       hop == MODEL_UP ? "> switch" : hop == MODEL_DOWN ? "switch >" :
		       frame.nak ? "< nak" : "< ack", position_of(rank, frame.psn));
	receive[hop](rank, frame);
}

void model_lose(u32 rank, enum model_hop hop)
{
	model_world.lost = true;
	if (model_trace)
		printf("# %u: lost %s\n", rank,
		       hop == MODEL_UP ? "before" : hop == MODEL_DOWN ? "behind" : "ack");
	link_pop(&model_world.conn[rank].link[hop]);
}

bool model_can_time_out(u32 rank)
{
	const struct model_conn *conn = &model_world.conn[rank];

	return conn->acked < conn->next;
}

void model_time_out(u32 rank)
{
	if (model_trace)
		printf("# %u: timer\n", rank);
	model_world.conn[rank].next = model_world.conn[rank].acked;
}

bool model_time_out_all(void)
{
	bool any = false;
	u32 r;

	for (r = 0; r < model_group.ranks; r++)
		if (model_can_time_out(r)) {
			model_time_out(r);
			any = true;
		}
	fault_unless(any, "who waits has a timer");
	fault_unless(model_world.lost || model_group.liar >= 0,
		     "no timer is needed where nothing is lost");
	return any;
}

/* A run. */

void model_begin(const u8 *lengths)
{
	struct model_group *group = &model_group;
	u32 m, p, r;

	for (m = 0; m < group->messages; m++) {
		group->start[m + 1] = group->start[m] + lengths[m];
		for (p = group->start[m]; p < group->start[m + 1]; p++)
			group->complete[p] = m;
	}
	group->complete[positions()] = m;
	memset(&model_world, 0, sizeof(model_world));
	memset(&model_slots, 0, sizeof(model_slots));
	model_slots.nr_ranks = group->ranks;
	model_slots.nr_slots = 2 * group->window * group->packets;
	model_slots.slot = model_slot_memory;
	for (r = 0; r < group->ranks; r++) {
		model_world.conn[r].arrived = -1;
		model_world.conn[r].asked = -1;
		model_slots.conn[r].psn = group->psn[r];
	}
	reduce_slots_init(&model_slots);
	model_fault = NULL;
}

bool model_finished(void)
{
	u32 r;

	for (r = 0; r < model_group.ranks; r++)
		if (model_world.conn[r].acked < positions())
			return false;
	return true;
}

/* All packets that are held are dropped with the group. */
void model_end(void)
{
	if (model_fault)
		return;
	reduce_slots_poison(&model_slots, REDUCE_GONE, 0);
	fault_unless(!model_slots.held && !model_world.nr_live,
		     "a group that is removed holds nothing");
}
