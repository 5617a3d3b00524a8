// SPDX-License-Identifier: GPL-2.0
/* A walk through all reachable states of slot_model.h */
#include <stdio.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "slot_walk.h"

#define STATES_BITS	22
#define STATES_MAX	(3u << (STATES_BITS - 2))
#define STATE_MAX	4000
#define PATH_STEPS	1200

struct walk_stat walk_stat;

static struct bounds left;
static u64 *states;	/* hashes of those that were met; bit 0: on the path to here */
static struct {
	const char *what;
	u32 rank;
} path[PATH_STEPS];

static u32 path_length;

/**
 * struct copy - save or restore a state
 * @to: the next piece goes there
 * @from: the next piece comes from there; otherwise NULL
 */
struct copy {
	u8 *to;
	const u8 *from;
};

static void copy_piece(struct copy *copy, void *data, size_t size)
{
	if (copy->from) {
		memcpy(data, copy->from, size);
		copy->from += size;
	} else {
		memcpy(copy->to, data, size);
		copy->to += size;
	}
}

static void copy_link(struct copy *copy, struct model_link *link)
{
	copy_piece(copy, &link->nr, sizeof(link->nr));
	copy_piece(copy, link->frame, link->nr * sizeof(link->frame[0]));
}

static void copy_world(struct copy *copy)
{
	struct model_conn *conn = model_world.conn;
	u32 hop, hops = model_hops();

	copy_piece(copy, &left, sizeof(left));
	copy_piece(copy, &model_world, offsetof(struct model_world, conn));
	for (; conn < model_world.conn + model_group.ranks; conn++) {
		copy_piece(copy, conn, offsetof(struct model_conn, link));
		for (hop = 0; hop < hops; hop++)
			copy_link(copy, &conn->link[hop]);
	}
}

/* Counters are no part of a state. */
static void copy_slots(struct copy *copy, struct reduce_slots *slots)
{
	u32 c;

	copy_piece(copy, slots, offsetof(struct reduce_slots, conn));
	for (c = 0; c < reduce_slots_conns(slots); c++)
		copy_piece(copy, &slots->conn[c], offsetof(struct reduce_conn, inputs));
	copy_piece(copy, slots->slot, slots->nr_slots * reduce_slot_size(slots->nr_inputs));
}

static void copy_switch(struct copy *copy, struct model_switch *sw)
{
	u32 conns = reduce_slots_conns(&sw->slots);
	size_t payloads = sw->slots.nr_slots * sizeof(sw->sum[0]);

	copy_slots(copy, &sw->slots);
	copy_piece(copy, &sw->gone, sizeof(sw->gone));
	copy_piece(copy, &sw->nr_live, sizeof(sw->nr_live));
	copy_piece(copy, sw->sum, payloads);
	if (sw->slots.leaf)
		copy_piece(copy, sw->result, payloads);
	copy_piece(copy, sw->way, conns * sizeof(sw->way[0]));
	copy_piece(copy, sw->live, conns * sizeof(sw->live[0]));
}

static void copy_state(struct copy *copy)
{
	u32 i;

	copy_world(copy);
	for (i = 0; i < model_switches(); i++)
		copy_switch(copy, &model_switch[i]);
}

/* Return: bytes, a multiple of those of a word. */
static size_t state_save(u8 *to)
{
	struct copy copy = { .to = to };
	size_t size;

	copy_state(&copy);
	size = copy.to - to;
	memset(copy.to, 0, -size % sizeof(u64));
	return size + -size % sizeof(u64);
}

static void state_load(const u8 *from)
{
	struct copy copy = { .from = from };

	copy_state(&copy);
}

/* 63 bits: two of 3 10^6 states have one hash with a probability of 10^-6. */
static u64 state_hash(const u64 *state, size_t size)
{
	u64 lane[4] = { 1, 2, 3, 4 }, hash = 0;
	size_t i;

	for (i = 0; i < size / 8; i++) {
		lane[i & 3] = (lane[i & 3] ^ state[i]) * 0xd6e8feb86659fd93;
		lane[i & 3] ^= lane[i & 3] >> 32;
	}
	for (i = 0; i < 4; i++) {
		hash = (hash ^ lane[i]) * 0xd6e8feb86659fd93;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

static u64 *state_find(u64 hash)
{
	u64 i = hash >> (64 - STATES_BITS);

	while (states[i] && (states[i] | 1) != hash)
		i = (i + 1) & ((1u << STATES_BITS) - 1);
	return &states[i];
}

static void walk(void);

/* Walk on after a step, and restore the state before it. */
static void walk_on(const u8 *state, const char *what, u32 rank)
{
	path[path_length].what = what;
	path[path_length++].rank = rank;
	walk_stat.steps++;
	if (model_fault)
		return;
	walk();
	if (model_fault)
		return;
	path_length--;
	state_load(state);
}

static const char * const deliver[MODEL_HOPS] = {
	">switch", "switch>", "<ack", ">root", ">leaf",
};

static const char * const twice[MODEL_HOPS] = {
	">>switch", "switch>>", "<<ack", ">>root", ">>leaf",
};

static const char * const lose[MODEL_HOPS] = {
	"x switch", "switch x", "x ack", "x root", "x leaf",
};

static void walk_hop(const u8 *state, u32 rank, enum model_hop hop)
{
	model_deliver(rank, hop, false);
	walk_on(state, deliver[hop], rank);
	if (left.losses && !model_fault) {
		left.losses--;
		model_lose(rank, hop);
		walk_on(state, lose[hop], rank);
	}
	if (left.late && model_can_copy(rank, hop) && !model_fault) {
		left.late--;
		model_copy(rank, hop);
		walk_on(state, "copy", rank);
	}
	if (left.twins && !model_fault) {
		left.twins--;
		model_deliver(rank, hop, true);
		walk_on(state, twice[hop], rank);
	}
}

/* Return: whether there was a step that needs no timer. */
static bool walk_rank(const u8 *state, u32 rank)
{
	bool any = model_can_send(rank);
	enum model_hop hop;

	if (any) {
		model_send(rank);
		walk_on(state, "send", rank);
	}
	for (hop = MODEL_UP; hop < model_hops() && !model_fault; hop++)
		if (model_can_deliver(rank, hop)) {
			any = true;
			walk_hop(state, rank, hop);
		}
	if (model_can_deliver_late(rank) && !model_fault) {
		any = true;
		model_deliver_late(rank);
		walk_on(state, "late", rank);
	}
	if (left.timers && model_can_time_out(rank) && !model_fault) {
		left.timers--;
		model_time_out(rank);
		walk_on(state, "timer", rank);
	}
	return any;
}

/* A switch loses its module, or gets it back. */
static void walk_module(const u8 *state, u32 index)
{
	if (model_switch[index].gone) {
		model_load(index);
		walk_on(state, "load", index);
	} else if (left.unloads) {
		left.unloads--;
		model_unload(index);
		walk_on(state, "unload", index);
	}
}

/* No packet is on its way. */
static void walk_end(const u8 *state)
{
	if (model_finished()) {
		model_end();
		state_load(state);
	} else if (!model_world.broken && model_time_out_all()) {
		walk_on(state, "timers of all hosts and switches", 0);
	}
}

/*
 * Walk on from the present state. A step back to a state that led here is a run that never
 * ends, as losses and timers are bounded.
 */
static void walk(void)
{
	u8 state[STATE_MAX] __aligned(8);
	size_t size = state_save(state);
	u64 *found, hash = state_hash((u64 *)state, size);
	bool any = false;
	u32 i;

	found = state_find(hash);
	if (*found == hash)
		model_fault = "each run ends";
	if (*found || model_fault)
		return;
	if (++walk_stat.states == STATES_MAX || path_length == PATH_STEPS) {
		model_fault = "the states are too many for this test";
		return;
	}
	*found = hash;
	walk_stat.longest = max(walk_stat.longest, path_length);
	for (i = 0; i < model_group.ranks && !model_fault; i++)
		any |= walk_rank(state, i);
	for (i = 0; i < model_switches() && !model_fault; i++)
		walk_module(state, i);
	if (!any && !model_fault)
		walk_end(state);
	*found &= ~1ull;
}

void walk_print(void)
{
	u32 i;

	for (i = 0; i < path_length; i++)
		printf("# %u %s\n", path[i].rank, path[i].what);
}

bool walk_all(const struct least *least)
{
	u8 lengths[MODEL_POSITIONS];

	memset(lengths, least->packets, sizeof(lengths));
	model_group = (struct model_group){
		.ranks = least->ranks,
		.leaves = least->leaves,
		.window = least->window,
		.packets = least->packets,
		.messages = least->messages,
		.psn = { 0xffffff, 7, 0xfffffe },
		.liar = -1,
	};
	states = mmap(NULL, sizeof(*states) << STATES_BITS, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (states == MAP_FAILED) {
		model_fault = "no memory for the states";
		return false;
	}
	left = least->bounds;
	walk_stat = (struct walk_stat){ 0 };
	path_length = 0;
	model_begin(lengths);
	walk();
	munmap(states, sizeof(*states) << STATES_BITS);
	return !model_fault;
}
