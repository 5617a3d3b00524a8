// SPDX-License-Identifier: GPL-2.0
/* Runs of slot_model.h at random. */
#include "slot_walk.h"

static u64 random_state;
static u64 arrivals[MODEL_RANKS];	/* at the switch, by rank */

/* splitmix64 */
static u32 below(u32 n)
{
	u64 z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z >> 32) * n >> 32;
}

/**
 * struct weather - how a run goes
 * @loss: of 1024 packets
 * @twin: of 1024 packets: come twice
 * @timer: of 1024 steps: a timer fires too early
 * @lie: of 1024 packets of the liar: are not what they should be
 * @calm: step from which nothing of this happens any more
 * @slow: steps of these numbers wait, sixteen times as long
 */
struct weather {
	u32 loss;
	u32 twin;
	u32 timer;
	u32 lie;
	u32 calm;
	u32 slow;
};

static void random_group(u8 *lengths)
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
	group->messages = 2 * group->window + 1 + below(group->window + 1);
	for (i = 0; i < group->messages; i++)
		lengths[i] = below(2) ? group->packets : 1 + below(group->packets);
	for (i = 0; i < group->ranks; i++)
		group->psn[i] = below(2) ? below(1 << 24) : 0xffffff - below(16);
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
		.lie = 20,
		.calm = below(2) ? 1000 : below(500),
		.slow = below(2) ? below(1u << 31) & below(1u << 31) : 0,
	};

	return weather;
}

static void random_deliver(const struct weather *weather, u32 rank, enum model_hop hop)
{
	u32 luck = below(1024);

	if (luck < weather->loss) {
		model_lose(rank, hop);
		return;
	}
	arrivals[rank] += hop == MODEL_UP;
	model_deliver(rank, hop, luck - weather->loss < weather->twin);
}

/* Steps of a rank: it sends, and packets of its connection arrive. */
#define KINDS	(1 + MODEL_HOPS)

/* Return: it was possible. */
static bool random_try(const struct weather *weather, u32 step)
{
	u32 rank = step / KINDS, kind = step % KINDS;

	if (kind < MODEL_HOPS) {
		if (!model_can_deliver(rank, kind))
			return false;
		if (!(weather->slow >> step & 1) || !below(16))
			random_deliver(weather, rank, kind);
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

static void random_step(const struct weather *weather)
{
	u32 ranks = model_group.ranks;
	u32 steps = ranks * KINDS;
	u32 i, first = below(steps), rank = below(ranks);

	if (weather->timer && below(1024) < weather->timer && model_can_time_out(rank))
		model_time_out(rank);
	for (i = 0; i < steps; i++)
		if (random_try(weather, (first + i) % steps))
			return;
	model_time_out_all();
}

#define STEPS_MAX	100000

/* Each packet has been counted. */
static void random_check(void)
{
	const struct reduce_conn *conn;
	u32 r;

	if (model_fault || model_slots.poison)
		return;
	for (r = 0; r < model_group.ranks; r++) {
		conn = &model_slots.conn[r];
		if (conn->inputs + conn->duplicates + conn->replays + conn->stale != arrivals[r])
			model_fault = "each packet that came is counted once";
	}
}

u32 random_run(u64 number)
{
	u8 lengths[MODEL_POSITIONS];
	struct weather weather;
	u32 steps;

	random_state = number * 0xd6e8feb86659fd93;
	random_group(lengths);
	weather = random_weather();
	memset(arrivals, 0, sizeof(arrivals));
	model_begin(lengths);
	for (steps = 0; !model_fault && !model_finished() && !model_slots.poison; steps++) {
		if (steps == weather.calm)
			weather = (struct weather){ 0 };
		if (steps == STEPS_MAX)
			model_fault = "a run ends when nothing is lost any more";
		random_step(&weather);
	}
	random_check();
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
