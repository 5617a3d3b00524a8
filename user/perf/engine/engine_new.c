// SPDX-License-Identifier: GPL-2.0
/* The work of a rank, before the run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chunk/chunk.h"
#include "engine_priv.h"

static void work_init(struct work *work, const struct layout *layout,
		      __u32 rank, __u32 chunk, __u32 number)
{
	const struct chunk_dim *dim;
	__u32 exchanges;

	memset(work, 0, sizeof(*work));
	work->chunk = chunk;
	work->number = number;
	work->stage = layout_stage(layout, chunk, number);
	work->range = layout_range(layout, rank, chunk, work->stage.leg);
	dim = &layout->plan->of.dim[work->stage.dim];
	work->members = dim->endpoints;
	work->width = chunk_alg_width(dim->alg, dim->endpoints);
	exchanges = work->width * chunk_alg_steps(dim->alg, dim->endpoints);
	if (work->stage.sum) {
		work->width = 1;
		exchanges = 1;
	} else if (work->stage.tree) {
		work->width = CHUNK_TREE_WIDTH;
		exchanges = CHUNK_TREE_WIDTH * chunk_alg_tree_steps(work->members);
	}
	work->reduces = work->stage.reduce || work->stage.swap ? exchanges : 0;
	work->exchanges = work->reduces + (work->stage.gather ? exchanges : 0);
}

struct chunk_exchange engine_exchange(const struct layout *layout, __u32 rank,
				      const struct work *work, __u32 index)
{
	const struct chunk_collective *of = &layout->plan->of;
	__u32 me = layout_member(layout, rank, work->stage.dim);
	bool gather = index >= work->reduces;

	if (work->stage.sum)
		return chunk_alg_sum(work->members, me);
	if (work->stage.swap)
		return chunk_alg_swap(work->members, me, index);
	if (gather)
		index -= work->reduces;
	if (work->stage.tree)
		return chunk_alg_tree(gather, work->members, me, index);
	return chunk_alg_exchange(of->dim[work->stage.dim].alg, gather, work->members, me, index);
}

/* The place that a stage of an All-to-All sends from */
static struct range packed(const struct layout *layout, const struct work *work, __u32 member)
{
	__u64 from = layout_place(layout, work->chunk, work->stage.leg, work->members + member);

	return (struct range) {
		from, layout_place(layout, work->chunk, work->stage.leg,
				   work->members + member + 1),
	};
}

struct message engine_message(const struct layout *layout, __u32 rank,
			      const struct work *work, __u32 index)
{
	struct chunk_exchange x = engine_exchange(layout, rank, work, index);
	struct range range = work->stage.swap ? packed(layout, work, x.send) :
			     layout_parts(work->range, x.of, x.send, x.parts);

	if (x.to == layout_member(layout, rank, work->stage.dim))
		range.to = range.from;
	return (struct message) {
		.dim = work->stage.dim,
		.member = x.to,
		.source = x.from,
		.from = range.from,
		.to = index >= work->reduces ? range.from :
		      layout_place(layout, work->chunk, work->stage.leg, x.place),
		.elements = range.to - range.from,
		.order = work->order,
		.id = (work->chunk << STAGE_BITS | work->number) <<
		      INDEX_BITS | index,
		.sum = work->stage.sum,
	};
}

void engine_messages(const struct layout *layout, __u32 rank, engine_message_fn *fn, void *arg)
{
	__u32 chunk, stage, i;

	for (chunk = 0; chunk < layout->plan->of.chunks; chunk++)
		for (stage = 0; stage < chunk_plan_stages(layout->plan, chunk); stage++) {
			struct work work;

			work_init(&work, layout, rank, chunk, stage);
			for (i = 0; i < work.exchanges; i++) {
				struct message message =
					engine_message(layout, rank, &work, i);

				fn(arg, chunk, stage, &message);
			}
		}
}

static void line_add(const struct chunk_stage *stage, void *arg)
{
	struct engine *engine = arg;
	struct line *line = &engine->line[stage->dim];
	struct work *work = &engine->work[stage->chunk *
					  engine->layout->stages +
					  stage->stage];

	work->order = engine->works++;
	line->work[line->nr++] = work;
}

/* The model says in which order. */
static int lines_init(struct engine *engine)
{
	const struct chunk_plan *plan = engine->layout->plan;
	struct chunk_model *model = chunk_model_new(&plan->of);
	__u32 nr = plan->of.chunks * engine->layout->stages, k;

	for (k = 0; k < plan->of.dims; k++) {
		engine->line[k].work = calloc(nr, sizeof(struct work *));
		if (!model || !engine->line[k].work) {
			chunk_model_free(model);
			return -ENOMEM;
		}
	}
	chunk_model_run(model, plan, line_add, engine);
	chunk_model_free(model);
	return 0;
}

static int works_init(struct engine *engine)
{
	const struct layout *layout = engine->layout;
	__u32 nr = layout->plan->of.chunks * layout->stages, i;
	bool *arrived;

	engine->work = calloc(nr, sizeof(*engine->work));
	engine->reached = calloc(layout->plan->of.chunks, sizeof(*engine->reached));
	if (!engine->work || !engine->reached)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (i % layout->stages >= chunk_plan_stages(layout->plan, i / layout->stages))
			continue;
		work_init(&engine->work[i], layout, engine->rank,
			  i / layout->stages, i % layout->stages);
		engine->nr_arrived += engine->work[i].exchanges;
	}
	arrived = calloc(engine->nr_arrived, sizeof(*arrived));
	engine->arrived = arrived;
	for (i = 0; arrived && i < nr; i++) {
		engine->work[i].arrived = arrived;
		arrived += engine->work[i].exchanges;
	}
	return arrived ? 0 : -ENOMEM;
}

struct engine *engine_new(const struct layout *layout, __u32 rank,
			  enum data_type type, void *window, __u32 in_flight,
			  engine_write_fn *write, void *arg)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->layout = layout;
	engine->rank = rank;
	engine->type = type;
	engine->window = window;
	engine->in_flight = in_flight;
	engine->write = write;
	engine->arg = arg;
	if (works_init(engine) || lines_init(engine)) {
		engine_free(engine);
		return NULL;
	}
	return engine;
}

void engine_free(struct engine *engine)
{
	__u32 k;

	if (!engine)
		return;
	for (k = 0; k < CHUNK_MAX_DIMS; k++)
		free(engine->line[k].work);
	free(engine->arrived);
	free(engine->reached);
	free(engine->work);
	free(engine);
}

void engine_watch(struct engine *engine, engine_watch_fn *fn, void *arg)
{
	engine->watch = fn;
	engine->watch_arg = arg;
}

void engine_reset(struct engine *engine)
{
	const struct chunk_collective *of = &engine->layout->plan->of;
	__u32 nr = of->chunks * engine->layout->stages, i;

	memset(engine->arrived, 0, engine->nr_arrived * sizeof(*engine->arrived));
	memset(engine->reached, 0, of->chunks * sizeof(*engine->reached));
	for (i = 0; i < of->dims; i++) {
		engine->line[i].received = 0;
		engine->line[i].done = 0;
	}
	for (i = 0; i < nr; i++) {
		engine->work[i].index = 0;
		engine->work[i].begun = false;
	}
}
