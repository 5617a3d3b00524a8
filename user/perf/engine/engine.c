// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "engine_priv.h"

static bool is_received(const struct work *work)
{
	return work->begun && work->index == work->exchanges;
}

static bool is_done(const struct work *work)
{
	return is_received(work) && !work->unsent;
}

static __u32 member(const struct engine *engine, const struct work *work)
{
	return layout_member(engine->layout, engine->rank, work->stage.dim);
}

/* Copy the blocks of a member to a place, or from there. */
static void copy_blocks(struct engine *engine, const struct work *work, __u32 member, __u64 place,
			bool pack)
{
	const struct layout *layout = engine->layout;
	__u64 run = (work->range.to - work->range.from) / layout->ranks *
		    layout_stride(layout, work->stage.dim);
	__u64 at = work->range.from + member * run;

	for (; at < work->range.to; at += run * work->members, place += run)
		memcpy(engine->window + (pack ? place : at) * ELEMENT,
		       engine->window + (pack ? at : place) * ELEMENT, run * ELEMENT);
}

/* Pack the blocks for other members: received blocks take their place. */
static void pack(struct engine *engine, const struct work *work)
{
	__u32 i;

	for (i = 0; i < work->members; i++)
		if (i != member(engine, work))
			copy_blocks(engine, work, i,
				    layout_place(engine->layout, work->chunk, work->stage.leg,
						 work->members + i), true);
}

/* Add a received range, or take a sum or blocks; a gathered range is in its place already. */
static void take(struct engine *engine, struct work *work, __u32 index)
{
	struct chunk_exchange x = engine_exchange(engine->layout, engine->rank, work, index);
	struct range range = layout_parts(work->range, x.of, x.receive, x.parts);
	__u64 staged;

	work->left--;
	if (index >= work->reduces)
		return;
	staged = layout_place(engine->layout, work->chunk, work->stage.leg, x.staged);
	if (work->stage.swap)
		copy_blocks(engine, work, x.receive, staged, false);
	else if (work->stage.sum)
		memcpy(engine->window + range.from * ELEMENT,
		       engine->window + staged * ELEMENT, (range.to - range.from) * ELEMENT);
	else
		data_add(engine->type, engine->window + range.from * ELEMENT,
			 engine->window + staged * ELEMENT, range.to - range.from);
}

/* Send the messages of the step, and take those that have arrived before. */
static int step_begin(struct engine *engine, struct work *work)
{
	__u32 i, end = work->index + work->width, me = member(engine, work);

	work->left = 0;
	for (i = work->index; i < end; i++) {
		struct message message = engine_message(engine->layout, engine->rank, work, i);
		int ret;

		work->left += message.source != me;
		if (message.member == me)
			continue;
		work->unsent++;
		ret = engine->write(engine->arg, &message);
		if (ret)
			return ret;
	}
	for (i = work->index; i < end; i++)
		if (work->arrived[i])
			take(engine, work, i);
	return 0;
}

/* Go through the steps, as far as messages have come. */
static int work_proceed(struct engine *engine, struct work *work)
{
	int ret;

	while (!work->left) {
		work->index += work->width;
		if (is_received(work)) {
			engine->reached[work->chunk]++;
			return 0;
		}
		ret = step_begin(engine, work);
		if (ret)
			return ret;
	}
	return 0;
}

static int work_begin(struct engine *engine, struct work *work)
{
	int ret;

	work->begun = true;
	work->unsent = 0;
	work->from = clock_ns();
	if (work->stage.swap)
		pack(engine, work);
	ret = step_begin(engine, work);
	return ret ?: work_proceed(engine, work);
}

/* Return: 1 when a stage has begun, 0 when none could, or a negative errno. */
static int line_proceed(struct engine *engine, struct line *line)
{
	bool sums = true;	/* the next stage that switches sum may begin */
	__u32 i;

	while (line->received < line->nr && is_received(line->work[line->received]))
		line->received++;
	while (line->done < line->received && is_done(line->work[line->done]))
		line->done++;
	for (i = line->received; i < line->nr && i - line->received < engine->in_flight; i++) {
		struct work *work = line->work[i];

		if (work->begun)
			continue;
		if ((sums || !work->stage.sum) && engine->reached[work->chunk] == work->number)
			return work_begin(engine, work) ?: 1;
		sums &= !work->stage.sum;
	}
	return 0;
}

/* A stage that begins in one dimension may end at once, and another one begin in the next. */
static int proceed(struct engine *engine)
{
	int ret, any;
	__u32 k;

	do {
		any = 0;
		for (k = 0; k < engine->layout->plan->of.dims; k++) {
			ret = line_proceed(engine, &engine->line[k]);
			if (ret < 0)
				return ret;
			any |= ret;
		}
	} while (any);
	return 0;
}

int engine_start(struct engine *engine)
{
	return proceed(engine);
}

static struct work *work_find(const struct engine *engine, __u32 id)
{
	__u32 stage = id >> INDEX_BITS & ((1u << STAGE_BITS) - 1);
	__u32 chunk = id >> (INDEX_BITS + STAGE_BITS);

	if (chunk >= engine->layout->plan->of.chunks || stage >= engine->layout->stages)
		return NULL;
	return &engine->work[chunk * engine->layout->stages + stage];
}

static void watch(struct engine *engine, const struct work *work)
{
	if (engine->watch && is_done(work))
		engine->watch(engine->watch_arg, work->chunk, work->number,
			      work->stage.dim, work->from, clock_ns());
}

int engine_arrived(struct engine *engine, __u32 dim, __u32 from, __u32 id)
{
	__u32 index = id & ((1u << INDEX_BITS) - 1);
	struct work *work = work_find(engine, id);
	int ret;

	if (!work || work->stage.dim != dim || index >= work->exchanges ||
	    work->arrived[index] ||
	    engine_exchange(engine->layout, engine->rank, work, index).from != from)
		return -EPROTO;
	work->arrived[index] = true;
	if (!work->begun || index < work->index || index >= work->index + work->width)
		return 0;
	take(engine, work, index);
	ret = work_proceed(engine, work);
	if (ret)
		return ret;
	watch(engine, work);
	return proceed(engine);
}

int engine_sent(struct engine *engine, __u32 id)
{
	struct work *work = work_find(engine, id);

	if (!work || !work->begun || !work->unsent)
		return -EPROTO;
	work->unsent--;
	watch(engine, work);
	return proceed(engine);
}

bool engine_is_done(const struct engine *engine)
{
	__u32 k;

	for (k = 0; k < engine->layout->plan->of.dims; k++)
		if (engine->line[k].done < engine->line[k].nr)
			return false;
	return true;
}

/* The first message of a stage in progress that has not arrived. */
static struct awaited awaits(const struct engine *engine, const struct work *work)
{
	struct awaited awaited = {
		.dim = work->stage.dim,
		.chunk = work->chunk,
		.stage = work->number,
		.arrival = !is_received(work),
		.sum = work->stage.sum,
	};
	__u32 index = work->index, me = member(engine, work);
	struct chunk_exchange x;

	/* All messages have arrived: a receiver of the last step is missing. */
	if (!awaited.arrival)
		index--;
	x = engine_exchange(engine->layout, engine->rank, work, index);
	while (awaited.arrival ? work->arrived[index] || x.from == me : x.to == me) {
		index += awaited.arrival ? 1 : -1;
		x = engine_exchange(engine->layout, engine->rank, work, index);
	}
	awaited.order = (__u64)work->order << INDEX_BITS | (index + !awaited.arrival);
	awaited.rank = layout_rank(engine->layout, engine->rank,
				   work->stage.dim,
				   awaited.arrival ? x.from : x.to);
	return awaited;
}

struct awaited engine_awaits(const struct engine *engine)
{
	const struct work *first = NULL;
	__u32 k, i;

	for (k = 0; k < engine->layout->plan->of.dims; k++) {
		const struct line *line = &engine->line[k];

		for (i = line->done; i < line->nr; i++) {
			const struct work *work = line->work[i];

			if (!work->begun || is_done(work))
				continue;
			if (!first || work->order < first->order)
				first = work;
			break;
		}
	}
	return awaits(engine, first);
}
