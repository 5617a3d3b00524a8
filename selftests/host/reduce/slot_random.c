// SPDX-License-Identifier: GPL-2.0
/* Random runs of slot_model.h */
#include "slot_walk.h"

static u64 random_state;

/* splitmix64 */
static u64 random_bits(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static u32 below(u32 n)
{
	return (random_bits() >> 32) * n >> 32;
}

/**
 * struct weather - faults of a run
 * @loss: of 1024 packets
 * @twin: of 1024 packets: arrive twice
 * @timer: of 1024 steps: a timer fires too early
 * @late: of 1024 packets: a copy comes later
 * @old: of 1024 steps: a packet of an earlier run comes
 * @lie: of 1024 packets of the liar: are not what they should be
 * @calm: step from which nothing of this happens any more
 * @slow: steps of these numbers wait, sixteen times as long
 * @unload: step before which switches lose their modules
 * @load: step before which these switches get their modules back
 * @unloaded: these switches, a bit each
 */
struct weather {
	u32 loss;
	u32 twin;
	u32 timer;
	u32 late;
	u32 old;
	u32 lie;
	u32 calm;
	u64 slow;
	u32 unload;
	u32 load;
	u32 unloaded;
};

/* Most trees have one or two ranks at each leaf. */
static void random_tree(struct model_group *group)
{
	group->leaves = below(2) ? 2 : 2 + below(MODEL_LEAVES - 1);
	group->ranks = group->leaves * (1 + below(below(2) ? 2 : MODEL_RANKS / group->leaves));
}

/* A switch refuses a run whose PSNs are not apart from those of the run before. */
static void random_psn(u32 rank)
{
	struct model_group *group = &model_group;
	u32 old = below(2) ? below(1 << 24) : 0xffffff - below(16);
	u32 used = old + below(MODEL_POSITIONS);

	group->old_psn[rank] = old;
	do
		group->psn[rank] = below(2) ? below(1 << 24) : (old + below(16)) & 0xffffff;
	while (!reduce_psn_is_apart(group->psn[rank], used));
}

static void random_group(u8 *lengths, bool tree)
{
	struct model_group *group = &model_group;
	u32 i;

	*group = (struct model_group){
		.ranks = 2 + below(below(4) ? 3 : 7),
		.window = 1 + below(2),
		.packets = 1 + below(3),
		.ack_ends = below(2),
		.liar = -1,
	};
	if (tree)
		random_tree(group);
	group->messages = 2 * group->window + 1 + below(group->window + 1);
	for (i = 0; i < group->messages; i++)
		lengths[i] = below(2) ? group->packets : 1 + below(group->packets);
	for (i = 0; i < group->ranks; i++)
		random_psn(i);
	if (!below(16))
		group->liar = below(group->ranks);
}

static struct weather random_weather(void)
{
	static const u8 losses[] = { 0, 1, 10, 51, 102 };
	struct weather weather = {
		.loss = losses[below(sizeof(losses))],
		.twin = losses[below(sizeof(losses))],
		.timer = losses[below(sizeof(losses))],
		.late = losses[below(sizeof(losses))],
		.old = losses[below(sizeof(losses))],
		.lie = 20,
		.calm = below(2) ? 1000 : below(500),
	};

	if (below(2))
		weather.slow = random_bits() & random_bits();
	if (model_group.leaves && model_group.liar < 0 && !below(8)) {
		weather.unloaded = 1 + below((1u << model_switches()) - 1);
		weather.unload = below(200);
		weather.load = weather.unload + 1 + below(200);
	}
	return weather;
}

/* Modules are still removed and loaded. */
static void random_calm(struct weather *weather)
{
	*weather = (struct weather){
		.unload = weather->unload,
		.load = weather->load,
		.unloaded = weather->unloaded,
	};
}

static void random_deliver(const struct weather *weather, u32 rank, enum model_hop hop)
{
	u32 luck = below(1024);

	if (weather->late && below(1024) < weather->late && model_can_copy(rank, hop))
		model_copy(rank, hop);
	if (luck < weather->loss) {
		model_lose(rank, hop);
		return;
	}
	model_deliver(rank, hop, luck - weather->loss < weather->twin);
}

/*
 * Let a packet of a rank's connection arrive at the end of a hop, or after the last hop let
 * the rank send one. Return: whether this was possible.
 */
static bool random_try(const struct weather *weather, u32 rank, u32 hop)
{
	if (hop < model_hops()) {
		if (!model_can_deliver(rank, hop))
			return false;
		if (!(weather->slow >> (rank * (MODEL_HOPS + 1) + hop) & 1) || !below(16))
			random_deliver(weather, rank, hop);
		return true;
	}
	if (!model_can_send(rank))
		return false;
	if (rank == (u32)model_group.liar && below(1024) < weather->lie)
		model_lie(rank, below(1u << 24));
	else
		model_send(rank);
	return true;
}

static void random_timer(const struct weather *weather)
{
	u32 rank = below(model_group.ranks);

	if (weather->timer && below(1024) < weather->timer && model_can_time_out(rank))
		model_time_out(rank);
}

/* In the end late packets arrive, and switches send the packets that they hold. */
static bool random_rest(const struct weather *weather, bool must)
{
	u32 rank = below(model_group.ranks), i;
	bool any = false;

	if (weather->old && below(1024) < weather->old)
		model_deliver_old(rank, below(MODEL_POSITIONS));
	for (i = 0; i < model_switches(); i++)
		if (model_switch[i].slots.pending && (must || !below(4))) {
			model_pump(i, 1 + below(3));
			any = true;
		}
	for (i = 0; i < model_group.ranks; i++)
		if (model_can_deliver_late(i) && (must || !below(32))) {
			model_deliver_late(i);
			any = true;
		}
	return any;
}

/* The first possible step from a random one on */
static void random_step(const struct weather *weather)
{
	u32 ranks = model_group.ranks, hops = model_hops();
	u32 i, rank = below(ranks), hop = below(hops + 1);

	random_timer(weather);
	random_rest(weather, false);
	for (i = 0; i < ranks * (hops + 1); i++) {
		if (random_try(weather, rank, hop))
			return;
		if (++hop > hops) {
			hop = 0;
			rank = rank + 1 < ranks ? rank + 1 : 0;
		}
	}
	if (!random_rest(weather, true))
		model_time_out_all();
}

/* Steps of a run, and further steps of a run that need not end */
#define STEPS_MAX	100000
#define STEPS_MORE	400

static void random_unload(const struct weather *weather, u32 step)
{
	u32 i;

	for (i = 0; i < model_switches(); i++) {
		if (!(weather->unloaded >> i & 1))
			continue;
		if (step == weather->unload)
			model_unload(i);
		else if (step == weather->load)
			model_load(i);
	}
}

/* Count the steps of a run that need not end. Return: whether it is over. */
static bool random_over(u32 *more)
{
	*more += model_world.broken || model_one_poisoned();
	return *more == STEPS_MORE || model_all_poisoned();
}

/* Return: steps. */
static u32 random_steps(struct weather weather)
{
	bool ends = model_group.liar < 0 && !weather.unloaded;
	u32 step, more = 0;

	for (step = 0; !model_fault && !model_finished(); step++) {
		if (step == STEPS_MAX)
			model_fault = "a run ends when nothing is lost any more";
		if (!ends && random_over(&more))
			break;
		if (step == weather.calm)
			random_calm(&weather);
		if (weather.unloaded)
			random_unload(&weather, step);
		random_step(&weather);
	}
	return step;
}

/* Every fourth run has a tree. */
u32 random_run(u64 number)
{
	u8 lengths[MODEL_POSITIONS];
	u32 steps, i;

	random_state = number * 0xd6e8feb86659fd93;
	random_group(lengths, number % 4 == 3);
	model_begin(lengths);
	for (i = 0; i < model_switches(); i++)
		model_switch[i].slow = below(2);
	steps = random_steps(random_weather());
	for (i = 0; i < model_switches(); i++)
		model_switch_count(&model_switch[i]);
	model_end();
	return steps;
}

u64 random_runs(u64 end, u64 *steps, u32 *longest)
{
	u64 number;
	u32 n;

	for (number = 0; number < end; number++) {
		n = random_run(number);
		*steps += n;
		*longest = max(*longest, n);
		if (model_fault)
			break;
	}
	return number;
}
