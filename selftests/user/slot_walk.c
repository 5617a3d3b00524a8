// SPDX-License-Identifier: GPL-2.0
/* A walk through all states of slot_model.h that a group can come to. */
#include <stdio.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "slot_walk.h"

#define STATES_BITS	21
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

/* What a state consists of. */
struct piece {
	void *data;
	size_t size;
};

#define PIECES	5

static void pieces(struct piece piece[PIECES])
{
	u32 r, ranks = model_group.ranks;

	/* Counters do not count. */
	for (r = 0; r < ranks; r++)
		memset(&model_slots.conn[r].inputs, 0, sizeof(model_slots.conn[r]) -
		       offsetof(struct reduce_conn, inputs));
	piece[0] = (struct piece){ &left, sizeof(left) };
	piece[1] = (struct piece){ &model_slots, offsetof(struct reduce_slots, conn[ranks]) };
	piece[2] = (struct piece){ model_slot_memory,
				   model_slots.nr_slots * reduce_slot_size(ranks) };
	piece[3] = (struct piece){ &model_world.conn, offsetof(struct model_world, conn[ranks]) };
	piece[4] = (struct piece){ &model_world.sum, sizeof(model_world) -
				   offsetof(struct model_world, sum) };
}

static size_t state_save(u8 *to)
{
	struct piece piece[PIECES];
	u8 *start = to;
	u32 i;

	pieces(piece);
	for (i = 0; i < PIECES; i++) {
		memcpy(to, piece[i].data, piece[i].size);
		to += piece[i].size;
	}
	return to - start;
}

static void state_load(const u8 *from)
{
	struct piece piece[PIECES];
	u32 i;

	pieces(piece);
	for (i = 0; i < PIECES; i++) {
		memcpy(piece[i].data, from, piece[i].size);
		from += piece[i].size;
	}
}

/* 63 bits: that two of 10^6 states have one hash has a chance of one in 10^7. */
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

/* Go on from a step, and come back to what was before it. */
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

static void walk_hop(const u8 *state, u32 rank, enum model_hop hop)
{
	static const char * const deliver[] = { ">switch", "switch>", "<ack" };
	static const char * const twice[] = { ">>switch", "switch>>", "<<ack" };
	static const char * const lose[] = { "x switch", "switch x", "x ack" };

	model_deliver(rank, hop, false);
	walk_on(state, deliver[hop], rank);
	if (left.losses && !model_fault) {
		left.losses--;
		model_lose(rank, hop);
		walk_on(state, lose[hop], rank);
	}
	if (left.twins && !model_fault) {
		left.twins--;
		model_deliver(rank, hop, true);
		walk_on(state, twice[hop], rank);
	}
}

/* Return: there was a step that needs no timer. */
static bool walk_rank(const u8 *state, u32 rank)
{
	bool any = model_can_send(rank);
	enum model_hop hop;

	if (any) {
		model_send(rank);
		walk_on(state, "send", rank);
	}
	for (hop = MODEL_UP; hop < MODEL_HOPS && !model_fault; hop++)
		if (model_can_deliver(rank, hop)) {
			any = true;
			walk_hop(state, rank, hop);
		}
	if (left.timers && model_can_time_out(rank) && !model_fault) {
		left.timers--;
		model_time_out(rank);
		walk_on(state, "timer", rank);
	}
	return any;
}

/*
 * From the present state on. A step back to a state that led here is a run that need not
 * end: losses and timers are bounded, so nothing else had to happen in it.
 */
static void walk(void)
{
	u8 state[STATE_MAX] __aligned(8);
	size_t size = state_save(state);
	u64 *found, hash = state_hash((u64 *)state, size);
	bool any = false;
	u32 r;

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
	for (r = 0; r < model_group.ranks && !model_fault; r++)
		any |= walk_rank(state, r);
	if (!any && !model_fault) {
		if (model_finished()) {
			model_end();
			state_load(state);
		} else if (model_time_out_all()) {
			walk_on(state, "and all: timers", 0);
		}
	}
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
