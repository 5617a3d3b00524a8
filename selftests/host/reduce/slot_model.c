// SPDX-License-Identifier: GPL-2.0
/* Hosts and links of slot_model.h, and their steps */
#include <stdio.h>

#include <rocesteer/roce.h>

#include "slot_model.h"

struct model_group model_group;
struct model_world model_world;
const char *model_fault;
bool model_trace;

void model_check(bool ok, const char *what)
{
	if (ok || model_fault)
		return;
	model_fault = what;
	if (model_trace)
		printf("#   %s\n", what);
}

u32 model_positions(void)
{
	return model_group.start[model_group.messages];
}

u8 model_everybody(void)
{
	return (1u << model_group.ranks) - 1;
}

u32 model_psn(u32 rank, u32 position)
{
	return (model_group.psn[rank] + position) & ROCESTEER_PSN_MASK;
}

s32 model_position(u32 rank, u32 psn)
{
	return rocesteer_psn_diff(psn, model_group.psn[rank]);
}

/* Links. A full link loses packets. */

void model_push(u32 rank, enum model_hop hop, struct model_frame frame)
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
}

/* Hosts. */

static void host_answer(u32 rank, bool nak)
{
	struct model_frame frame = {
		.psn = model_psn(rank, model_world.conn[rank].expected),
		.kind = nak ? MODEL_NAK : MODEL_ACK,
	};

	model_push(rank, MODEL_BACK, frame);
}

static bool ends_message(u32 position)
{
	return model_group.complete[position + 1] != model_group.complete[position];
}

static bool whole_sum(struct model_frame frame, s32 position)
{
	return frame.payload.ranks == model_everybody() && frame.payload.input == position;
}

/* The receiver of @rank's connection. */
static void host_receive(u32 rank, struct model_frame frame)
{
	struct model_conn *conn = &model_world.conn[rank];
	s32 position = model_position(rank, frame.psn);
	s32 ahead = position - conn->expected;

	if (!model_host_takes(frame.kind))
		return;
	model_check(!frame.payload.ranks || whole_sum(frame, position),
		    "no input comes to a queue pair, nor a part of a sum");
	if (ahead < 0) {
		host_answer(rank, false);
	} else if (ahead > 0) {
		if (!conn->naked)
			host_answer(rank, true);
		conn->naked = true;
	} else {
		model_check(whole_sum(frame, position),
			    "a host accepts only the sum of all ranks at its position");
		conn->naked = false;
		conn->expected++;
		if (!model_group.ack_ends || ends_message(conn->expected - 1))
			host_answer(rank, false);
	}
}

static void host_acknowledged(u32 rank, struct model_frame frame)
{
	struct model_conn *conn = &model_world.conn[rank];
	s32 position = model_position(rank, frame.psn);

	if (position < conn->acked)
		return;
	conn->acked = position;
	if (frame.kind == MODEL_NAK || conn->next < position)
		conn->next = position;
}

/* Steps. */

/* End of the positions that @rank may send, by its window */
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
		printf("# %u sends %d\n", rank, model_position(rank, frame.psn));
	model_push(rank, MODEL_UP, frame);
}

static struct model_frame input_frame(u32 rank)
{
	u32 before = (rank ? rank : model_group.ranks) - 1;
	u8 next = model_world.conn[rank].next;
	u8 changed = next < model_world.conn[before].expected ? MODEL_CHANGED : 0;

	return (struct model_frame){
		.psn = model_psn(rank, next),
		.payload = { next | changed, 1u << rank },
		.kind = MODEL_INPUT,
	};
}

void model_send(u32 rank)
{
	send_frame(rank, input_frame(rank));
	model_world.conn[rank].next++;
}

void model_lie(u32 rank, u32 lie)
{
	struct model_frame frame = input_frame(rank);
	u32 kind = lie % 5;

	lie /= 5;
	switch (kind) {
	case 0:
		frame.payload.ranks = 0;
		break;
	case 1:
		frame.payload.input = ((frame.payload.input & ~MODEL_FLAGS) + 1 + lie) %
				      model_positions();
		break;
	case 2:
		frame.kind = lie & 1 ? MODEL_PART : MODEL_RESULT;
		break;
	case 3:
		frame.payload.input |= MODEL_OLD;
		break;
	default:
		frame.psn = model_psn(rank, lie & 1 ? lie % model_positions() : lie | 1u << 20);
	}
	send_frame(rank, frame);
}

static const char * const hop_names[] = {
	[MODEL_UP] = "to the switch",
	[MODEL_DOWN] = "to the receiver",
	[MODEL_BACK] = "acknowledgment",
	[MODEL_TO_ROOT] = "to the root",
	[MODEL_TO_LEAF] = "to the leaf",
};

static void trace_frame(u32 rank, enum model_hop hop, const char *what)
{
	struct model_frame frame = model_world.conn[rank].link[hop].frame[0];

	printf("# %u %s: %s%d%s\n", rank, hop_names[hop], what,
	       model_position(rank, frame.psn), frame.kind == MODEL_NAK ? " nak" : "");
}

void model_deliver(u32 rank, enum model_hop hop, bool again)
{
	struct model_link *link = &model_world.conn[rank].link[hop];
	struct model_frame frame = link->frame[0];

	if (model_trace)
		trace_frame(rank, hop, "");
	if (!again)
		link_pop(link);
	if (hop == MODEL_DOWN)
		host_receive(rank, frame);
	else if (hop == MODEL_BACK)
		host_acknowledged(rank, frame);
	else
		model_switch_receive(rank, hop, frame);
}

void model_lose(u32 rank, enum model_hop hop)
{
	model_world.lost = true;
	if (model_trace)
		trace_frame(rank, hop, "lost ");
	link_pop(&model_world.conn[rank].link[hop]);
}

static bool hop_ends_at_switch(enum model_hop hop)
{
	return hop != MODEL_DOWN && hop != MODEL_BACK;
}

bool model_can_copy(u32 rank, enum model_hop hop)
{
	const struct model_conn *conn = &model_world.conn[rank];

	return hop_ends_at_switch(hop) && !conn->copied && conn->link[hop].nr &&
	       conn->link[hop].frame[0].kind != MODEL_REAL;
}

void model_copy(u32 rank, enum model_hop hop)
{
	struct model_conn *conn = &model_world.conn[rank];

	if (model_trace)
		trace_frame(rank, hop, "copy of ");
	conn->late = conn->link[hop].frame[0];
	conn->late_hop = hop;
	conn->copied = true;
}

bool model_can_deliver_late(u32 rank)
{
	return model_world.conn[rank].late.kind != MODEL_REAL;
}

void model_deliver_late(u32 rank)
{
	struct model_conn *conn = &model_world.conn[rank];
	struct model_frame frame = conn->late;

	if (model_trace)
		printf("# %u %s: late %d\n", rank, hop_names[conn->late_hop],
		       model_position(rank, frame.psn));
	conn->late = (struct model_frame) { .kind = MODEL_REAL };
	model_switch_receive(rank, conn->late_hop, frame);
}

void model_deliver_old(u32 rank, u32 position)
{
	struct model_frame frame = {
		.psn = (model_group.old_psn[rank] + position) & ROCESTEER_PSN_MASK,
		.payload = { position | MODEL_OLD, 1u << rank },
		.kind = MODEL_INPUT,
	};

	if (model_trace)
		printf("# %u %s: old %u\n", rank, hop_names[MODEL_UP], position);
	model_switch_receive(rank, MODEL_UP, frame);
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
	model_check(any, "a rank that waits has a timer");
	model_check(model_world.lost || model_world.broken || model_group.liar >= 0,
		    "no timer is needed where nothing is lost");
	return any;
}

void model_unload(u32 index)
{
	struct model_switch *sw = &model_switch[index];

	if (model_trace)
		printf("# switch %u: without module\n", index);
	model_switch_end(sw);
	model_switch_begin(sw);
	sw->gone = true;
	model_world.broken = true;
}

void model_load(u32 index)
{
	if (model_trace)
		printf("# switch %u: with module\n", index);
	model_switch[index].gone = false;
}

/* A run. */

void model_begin(const u8 *lengths)
{
	struct model_group *group = &model_group;
	u32 i, p;

	for (i = 0; i < group->messages; i++) {
		group->start[i + 1] = group->start[i] + lengths[i];
		for (p = group->start[i]; p < group->start[i + 1]; p++)
			group->complete[p] = i;
	}
	group->complete[model_positions()] = i;
	memset(&model_world, 0, sizeof(model_world));
	for (i = 0; i < model_switches(); i++)
		model_switch_begin(&model_switch[i]);
	model_fault = NULL;
}

bool model_finished(void)
{
	u32 r;

	for (r = 0; r < model_group.ranks; r++)
		if (model_world.conn[r].acked < model_positions())
			return false;
	return true;
}

static u32 poisoned(void)
{
	u32 i, nr = 0;

	for (i = 0; i < model_switches(); i++)
		nr += !!model_switch[i].slots.poison;
	return nr;
}

bool model_all_poisoned(void)
{
	return poisoned() == model_switches();
}

bool model_one_poisoned(void)
{
	return poisoned();
}

void model_end(void)
{
	u32 i;

	for (i = 0; i < model_switches() && !model_fault; i++)
		model_switch_end(&model_switch[i]);
}
