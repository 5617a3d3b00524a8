// SPDX-License-Identifier: GPL-2.0
/*
 * The model of the time of plans, by its output for each stage, and by results that are computed by
 * hand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chunk_plans.h"
#include "../../ktap.h"

/* Output of the model: by dimension in order of time, and by chunk and stage */
struct trace {
	const struct chunk_plan *plan;
	struct chunk_stage stage[2 * CHUNK_MAX_DIMS * 128];
	__u32 nr;
};

static void record(const struct chunk_stage *stage, void *arg)
{
	struct trace *trace = arg;

	trace->stage[trace->nr++] = *stage;
}

/* The stage could begin when the chunk's stage before it had ended. */
static __u64 ready(const struct trace *trace, const struct chunk_stage *stage)
{
	__u32 i;

	for (i = 0; i < trace->nr && stage->stage; i++)
		if (trace->stage[i].chunk == stage->chunk &&
		    trace->stage[i].stage == stage->stage - 1)
			return trace->stage[i].to;
	return 0;
}

static const struct chunk_stage *stage_before(const struct trace *trace, __u32 i)
{
	const struct chunk_stage *stage = &trace->stage[i];

	while (i--)
		if (trace->stage[i].dim == stage->dim)
			return &trace->stage[i];
	return NULL;
}

/* The stages of a chunk, by their dimensions, sizes, times and latencies */
struct stages {
	__u8 dim[2 * CHUNK_MAX_DIMS];
	__u64 size[2 * CHUNK_MAX_DIMS];
	__u64 time[2 * CHUNK_MAX_DIMS];
	__u64 latency[2 * CHUNK_MAX_DIMS];
	__u32 nr;
};

static struct stages expected(const struct chunk_plan *plan, __u32 chunk)
{
	const struct chunk_collective *of = &plan->of;
	__u64 bytes = chunk_bytes(of, chunk);
	bool summed = is_summed(of, plan->order[chunk], last_place(of, plan->order[chunk]));
	const struct chunk_dim *last;
	struct stages s = {};
	__u32 n = 0, i, half;

	for (i = 0; i < of->dims; i++) {
		__u8 k = plan->order[chunk][i];

		if (of->kind == CHUNK_ALL_GATHER) {
			__u32 j;

			bytes = chunk_bytes(of, chunk);
			for (j = i + 1; j < of->dims; j++)
				bytes /= of->dim[plan->order[chunk][j]].endpoints;
		}
		if (of->dim[k].endpoints > 1) {
			s.dim[n] = k;
			s.size[n] = bytes;
			s.latency[n] = of->dim[k].latency;
			s.time[n++] = chunk_time(&of->dim[k], bytes);
		}
		if (of->kind != CHUNK_ALL_TO_ALL)
			bytes /= of->dim[k].endpoints;
	}
	s.nr = n;
	if (of->kind != CHUNK_ALL_REDUCE)
		return s;
	half = n;
	last = &of->dim[s.dim[n - 1]];
	if (summed) {
		s.time[n - 1] = chunk_sum_time(last, s.size[n - 1]);
		s.latency[n - 1] = last->latency / (last->endpoints - 1) *
				   (last->alg == CHUNK_NETREDUCE ? 1 :
				    2 * chunk_alg_tree_steps(last->endpoints));
	} else if (plan->fused) {
		s.time[n - 1] *= 2;
		s.latency[n - 1] *= 2;
	}
	for (i = half - (plan->fused || summed); i--; n++) {
		s.dim[n] = s.dim[i];
		s.size[n] = s.size[i];
		s.time[n] = s.time[i];
		s.latency[n] = s.latency[i];
	}
	s.nr = n;
	return s;
}

static bool stages_complete(const struct trace *trace)
{
	__u32 i, count = 0;

	for (i = 0; i < trace->nr; i++) {
		const struct chunk_stage *s = &trace->stage[i], *before = stage_before(trace, i);
		struct stages want = expected(trace->plan, s->chunk);
		__u64 to = s->sent + want.latency[s->stage];

		if (before && before->to > to)
			to = before->to;
		if (s->stage >= want.nr || s->dim != want.dim[s->stage] ||
		    s->sent - s->from != want.time[s->stage] || s->to != to)
			return false;
	}
	for (i = 0; i < trace->plan->of.chunks; i++)
		count += expected(trace->plan, i).nr;
	return trace->nr == count;
}

/*
 * The bytes of no stage overlap those of another; there are no more stages in flight than may
 * be; no stage begins too early, or waits in vain.
 */
static bool stages_busy(const struct trace *trace)
{
	__u32 i, back;

	for (i = 0; i < trace->nr; i++) {
		const struct chunk_stage *stage = &trace->stage[i], *before = stage;
		__u64 from = ready(trace, stage);

		for (back = 1; before; back++) {
			before = stage_before(trace, before - trace->stage);
			if (before && back == 1 && before->sent > from)
				from = before->sent;
			if (before && back == trace->plan->of.in_flight && before->to > from)
				from = before->to;
		}
		if (stage->from != from)
			return false;
	}
	return true;
}

/* Priority of a stage: the smallest is first. */
static bool goes_before(const struct trace *trace, const struct chunk_stage *a,
			const struct chunk_stage *b)
{
	struct stages of_a = expected(trace->plan, a->chunk);
	struct stages of_b = expected(trace->plan, b->chunk);
	bool last_a, last_b;

	if (trace->plan->queue == CHUNK_FIFO)
		return ready(trace, a) < ready(trace, b);
	last_a = a->stage + 1 == of_a.nr;
	last_b = b->stage + 1 == of_b.nr;
	if (last_a || last_b)
		return last_b > last_a;
	return of_a.size[a->stage] < of_b.size[b->stage];
}

/* No waiting stage has a higher priority than the one that began. */
static bool stages_in_turn(const struct trace *trace)
{
	__u32 i, j;

	for (i = 0; i < trace->nr; i++)
		for (j = i + 1; j < trace->nr; j++) {
			const struct chunk_stage *a = &trace->stage[i];
			const struct chunk_stage *b = &trace->stage[j];

			if (a->dim == b->dim && ready(trace, b) < a->from &&
			    goes_before(trace, b, a))
				return false;
		}
	return true;
}

static void test_model(void)
{
	bool complete = true, busy = true, turn = true, least = true;
	struct trace *trace = malloc(sizeof(*trace));
	int round;

	for (round = 0; round < 300; round++) {
		struct chunk_collective of = random_any();
		struct chunk_model *model;
		struct chunk_plan plan;
		__u64 end = 0, time;
		__u32 i;

		of.chunks = of.chunks > 24 ? 24 : of.chunks;
		if (chunk_plan_make(&plan, &of, random_below(2)))
			continue;
		plan.queue = random_below(2);
		model = chunk_model_new(&of);
		/* Twice: a run leaves nothing behind. */
		chunk_model_run(model, &plan, NULL, NULL);
		*trace = (struct trace) { .plan = &plan };
		time = chunk_model_run(model, &plan, record, trace);
		for (i = 0; i < trace->nr; i++) {
			const struct chunk_dim *dim = &of.dim[trace->stage[i].dim];
			__u64 acked = trace->stage[i].to + dim->latency / (dim->endpoints - 1);

			end = acked > end ? acked : end;
		}
		complete &= stages_complete(trace) && end == time;
		busy &= stages_busy(trace);
		turn &= stages_in_turn(trace);
		/* Bytes are lost where sizes do not divide. */
		least &= time * 1.001 + of.chunks * 1e6 >=
			 chunk_model_ideal(&of) || of.size < of.chunks << 20;
		chunk_model_free(model);
		chunk_plan_free(&plan);
	}
	free(trace);
	ktap_result(complete, "model: every stage has its dimension and duration");
	ktap_result(busy,
		    "model: a dimension carries one stage at a time, and is not idle while one may begin");
	ktap_result(turn, "model: stages run in the order of the queue");
	ktap_result(least, "model: nothing beats the ideal");
}

/* A smaller stage of a dimension has no lower class, except for last stages. */
static bool in_order(const struct chunk_plan *plan, const struct rocesteer_chunk *chunks, __u32 nr)
{
	static __u64 least[CHUNK_MAX_DIMS][ROCESTEER_MAX_CLASSES];
	static __u64 most[CHUNK_MAX_DIMS][ROCESTEER_MAX_CLASSES];
	__u32 i, s, class;
	bool ok = true;

	memset(least, 0xff, sizeof(least));
	memset(most, 0, sizeof(most));
	for (i = 0; i < plan->of.chunks; i++) {
		struct stages of = expected(plan, i);

		ok &= of.nr == chunks[i].nr_stages && chunks[i].class[of.nr - 1] == 1 &&
		      !memcmp(of.dim, chunks[i].dimension, of.nr);
		for (s = 0; s + 1 < of.nr; s++) {
			__u64 *low, *high;

			class = chunks[i].class[s];
			ok &= class <= nr && class >= (nr > 1 ? 2 : 1);
			low = &least[of.dim[s]][class];
			high = &most[of.dim[s]][class];
			*low = of.size[s] < *low ? of.size[s] : *low;
			*high = of.size[s] > *high ? of.size[s] : *high;
		}
	}
	for (i = 0; i < plan->of.dims; i++)
		for (class = 1; class < nr; class++)
			for (s = class + 1; s <= nr; s++)
				ok &= most[i][s] <= least[i][class];
	return ok;
}

static void test_classes(void)
{
	static const __u32 dims[][2] = { { 4, 2 }, { 2, 1 }, {} };
	struct chunk_collective of = collective(4 << 20, 4, dims);
	struct rocesteer_chunk chunks[128];
	struct chunk_plan plan;
	bool ok = true;
	int round;

	chunk_plan_make(&plan, &of, CHUNK_BASELINE);
	plan.fused = false;
	chunk_classes(&plan, 4, chunks);
	ktap_result(chunks[3].offset == 3 << 20 && chunks[3].bytes == 1 << 20 &&
		    chunks[3].nr_stages == 4 &&
		    !memcmp(chunks[3].dimension, "\0\1\1", 4) &&
		    !memcmp(chunks[3].class, "\4\4\4\1", 4),
		    "a chunk's place, stages and classes");
	chunk_plan_free(&plan);
	for (round = 0; round < 500; round++) {
		__u32 nr = 1 + random_below(ROCESTEER_MAX_CLASSES - 1);

		of = random_any();
		if (chunk_plan_make(&plan, &of, random_below(2) ? CHUNK_THEMIS : CHUNK_BASELINE))
			continue;
		ok &= !chunk_classes(&plan, nr, chunks) &&
		      in_order(&plan, chunks, nr);
		chunk_plan_free(&plan);
	}
	ktap_result(ok, "smaller chunks have higher classes, last stages the lowest");
}

/* Computed by hand: ten chunks of 1 ms each way, and a latency of 4 ms, also of the last answer. */
static void test_latency(void)
{
	static const __u32 dims[][2] = { { 2, 1 }, {} };
	struct chunk_collective of = collective(20 * (GIB / 1000), 10, dims);
	__u64 free_running, pairs, alone;

	of.dim[0].latency = 4000000000;
	free_running = predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
	of.in_flight = 2;
	pairs = predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
	of.in_flight = 1;
	alone = predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
	/* With two stages in flight, one begins when the other has been on its way for 2 ms. */
	ktap_result(is_near(free_running / 1e9, 10 * 2 + 8 + 4, 0.001) &&
		    is_near(pairs / 1e9, 5 * 10 + 2 + 4, 0.001) &&
		    is_near(alone / 1e9, 10 * (2 + 8) + 4, 0.001),
		    "model: latencies of stages in flight overlap");
}

/* A tree of eight endpoints sends twice the bytes, in six steps, not fourteen, and an answer. */
static void test_tree(void)
{
	static const __u32 dims[][2] = { { 8, 1 }, {} };
	struct chunk_collective of = collective(GIB / 1000, 1, dims);
	__u64 ring, tree;

	of.dim[0].latency = 7 * 1000000000ull;
	ring = predict(&of, CHUNK_THEMIS, CHUNK_SCF);
	of.dim[0].alg = CHUNK_TREE;
	tree = predict(&of, CHUNK_THEMIS, CHUNK_SCF);
	ktap_result(is_near(ring / 1e9, 2 * 7 / 8.0 + 14 + 1, 0.001) &&
		    is_near(tree / 1e9, 2 + 6 + 1, 0.001),
		    "a tree sends more than a ring, in fewer steps");
}

static __u64 run_beside(const struct chunk_collective *of, const struct chunk_plan *plan,
			__u64 *own)
{
	struct chunk_model *model = chunk_model_new(of);
	struct chunk_plan together = *plan;
	__u64 time;

	together.of = *of;
	time = chunk_model_run(model, &together, NULL, NULL);
	*own = chunk_model_own(model);
	chunk_model_free(model);
	return time;
}

/* Tensor-parallel groups over the first two dimensions, data-parallel groups over the last two */
static void test_beside(void)
{
	static const __u32 tensor[][2] = { { 16, 200 }, { 8, 100 }, { 1, 50 }, {} };
	static const __u32 data[][2] = { { 1, 200 }, { 8, 100 }, { 8, 50 }, {} };
	struct chunk_collective of = collective(GIB / 4, 32, tensor), with;
	__u64 alone, own, apart, together;
	double least;
	struct chunk_plan first, second, third;
	__u32 k;

	chunk_plan_make(&first, &of, CHUNK_THEMIS);
	of = collective(GIB / 2, 32, data);
	chunk_plan_make(&second, &of, CHUNK_THEMIS);
	alone = time_of(&second);
	with = of;
	with.beside = &first;
	with.nr_beside = 1;
	apart = run_beside(&with, &second, &own);
	chunk_plan_make(&third, &with, CHUNK_THEMIS);
	together = run_beside(&with, &third, &own);
	/* Each dimension has to carry what both put on it: loads of 2^20 bytes at 200 GiB/s. */
	for (k = 1, least = 0; k < 3; k++) {
		double sum = chunk_plan_load(&first, k) + chunk_plan_load(&third, k);

		sum *= 2 * 1000000.0 / (200 * 1024);
		least = sum > least ? sum : least;
	}
	ktap_result(alone < apart && together < apart * 0.97 && own <= together &&
		    together >= least * 0.999,
		    "a plan that knows of another at the same time takes less than one that does not");
	printf("# alone %.1f ms, apart %.1f, together %.1f\n", alone / 1e9, apart / 1e9,
	       together / 1e9);
	with.dim[1].bandwidth++;
	chunk_plan_free(&third);
	ktap_result(chunk_plan_make(&third, &with, CHUNK_THEMIS) == -EINVAL,
		    "plans at the same time are of one network");
	chunk_plan_free(&first);
	chunk_plan_free(&second);
}

int main(void)
{
	ktap_begin();
	test_model();
	test_classes();
	test_latency();
	test_tree();
	test_beside();
	return ktap_end();
}
