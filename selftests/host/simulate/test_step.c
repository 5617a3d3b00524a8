// SPDX-License-Identifier: GPL-2.0
/* The traffic of training steps: who sends how much to whom, and closed forms of its completion. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../ktap.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

#define RATE	50000000000.0
#define SIZE	1048576ull

static const enum chunk_alg algs[] = { CHUNK_RING, CHUNK_HALVING, CHUNK_DIRECT };

static struct chunk_step one(enum chunk_kind kind, enum chunk_group group, __u32 count, __u32 model)
{
	return (struct chunk_step) {
		.name = "one", .model = model, .nr = 1,
		.collective = { { kind, group, count, SIZE } },
	};
}

/* What a host sends, or gets */
static double bytes_of(const struct sim_traffic *traffic, __u32 host, bool gets)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < traffic->nr; i++)
		if (host == (gets ? traffic->flow[i].to : traffic->flow[i].from))
			sum += traffic->flow[i].bytes;
	return sum;
}

/* Does each host send and get so many times the size, in so many steps? */
static bool sends(const struct chunk_step *step, enum chunk_alg alg, __u32 hosts, double times,
		  __u32 steps)
{
	struct err err = {};
	struct sim_traffic traffic;
	bool ok = !sim_traffic_step(&traffic, step, alg, hosts, &err) && traffic.steps == steps &&
		  traffic.all_steps == steps;
	__u32 i;

	for (i = 0; ok && i < hosts; i++)
		ok = is_near(bytes_of(&traffic, i, false), times * SIZE) &&
		     is_near(bytes_of(&traffic, i, true), times * SIZE);
	sim_traffic_free(&traffic);
	return ok;
}

static void test_kinds(void)
{
	static const __u32 steps[] = { 1, 4, 1 };
	struct chunk_step reduce = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 1);
	struct chunk_step scatter = one(CHUNK_REDUCE_SCATTER, CHUNK_GROUP_ALL, 1, 1);
	struct chunk_step gather = one(CHUNK_ALL_GATHER, CHUNK_GROUP_ALL, 1, 1);
	struct chunk_step swap = one(CHUNK_ALL_TO_ALL, CHUNK_GROUP_ALL, 1, 1);
	struct chunk_step often = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 7, 1);
	double part = 15.0 / 16;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(algs); i++) {
		ktap_result(sends(&reduce, algs[i], 16, 2 * part, steps[i]),
			    "%s: an All-Reduce sends 2 (n - 1) / n buffers", chunk_algs[algs[i]]);
		ktap_result(sends(&scatter, algs[i], 16, part, steps[i]) &&
			    sends(&gather, algs[i], 16, part, steps[i]),
			    "%s: each half of an All-Reduce sends half of the bytes",
			    chunk_algs[algs[i]]);
		ktap_result(sends(&often, algs[i], 16, 14 * part, steps[i]),
			    "%s: seven collectives send seven times the bytes",
			    chunk_algs[algs[i]]);
		ktap_result(sends(&swap, algs[i], 16, part, 1),
			    "%s: an All-to-All is one step", chunk_algs[algs[i]]);
	}
	ktap_result(sends(&gather, CHUNK_TREE, 12, 11.0 / 12, 1),
		    "tree: a collective that is no All-Reduce is a ring");
}

/* Both trees have two flows of half a buffer for each member but one. */
static void test_tree(void)
{
	struct chunk_step reduce = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 1);
	struct sim_traffic traffic;
	struct err err = {};
	double sum = 0, most = 0;
	bool ok = !sim_traffic_step(&traffic, &reduce, CHUNK_TREE, 27, &err) && traffic.steps == 1;
	__u32 i;

	for (i = 0; i < 27; i++) {
		double bytes = bytes_of(&traffic, i, false);

		sum += bytes;
		most = fmax(most, bytes);
		ok = ok && is_near(bytes, bytes_of(&traffic, i, true));
	}
	ktap_result(ok && is_near(sum, 2.0 * 26 * SIZE) && is_near(most, 2 * SIZE),
		    "tree: an All-Reduce sends 2 (n - 1) buffers, and no member more than 2");
	sim_traffic_free(&traffic);
}

static int compare(const void *a, const void *b)
{
	const struct sim_flow *left = a, *right = b;

	if (left->step != right->step)
		return left->step < right->step ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

static bool are_alike(struct sim_traffic *a, struct sim_traffic *b)
{
	bool ok = a->nr == b->nr && a->steps == b->steps && a->sum == b->sum;
	size_t i;

	qsort(a->flow, a->nr, sizeof(*a->flow), compare);
	qsort(b->flow, b->nr, sizeof(*b->flow), compare);
	for (i = 0; ok && i < a->nr; i++)
		ok = a->flow[i].from == b->flow[i].from && a->flow[i].to == b->flow[i].to &&
		     a->flow[i].step == b->flow[i].step &&
		     is_near(a->flow[i].bytes, b->flow[i].bytes);
	return ok;
}

static void test_patterns(void)
{
	static const struct {
		enum chunk_alg alg;
		enum sim_pattern pattern;
	} same[] = {
		{ CHUNK_RING, SIM_RING },
		{ CHUNK_HALVING, SIM_HALVING },
		{ CHUNK_DIRECT, SIM_DIRECT },
		{ CHUNK_TREE, SIM_TREE },
	};
	struct chunk_step reduce = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 1);
	struct sim_traffic step, pattern;
	struct err err = {};
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(same); i++) {
		bool ok = !sim_traffic_step(&step, &reduce, same[i].alg, 32, &err) &&
			  !sim_traffic_make(&pattern, same[i].pattern, 32, 4, SIZE, 1) &&
			  are_alike(&step, &pattern);

		ktap_result(ok, "%s: a step of one All-Reduce has the flows of the pattern",
			    chunk_algs[same[i].alg]);
		sim_traffic_free(&step);
		sim_traffic_free(&pattern);
	}
}

/* Are all flows of a group's members, between all of which a way of flows leads? */
static bool stays(enum chunk_group group, enum chunk_alg alg, __u32 hosts, __u32 model)
{
	struct chunk_step step = one(CHUNK_ALL_REDUCE, group, 1, model);
	__u32 n = group == CHUNK_GROUP_MODEL ? model : hosts / model, i;
	bool ok = sends(&step, alg, hosts, 2.0 * (n - 1) / n,
			alg == CHUNK_HALVING ? __builtin_ctz(n) : 1);
	struct sim_traffic traffic;
	struct err err = {};

	ok = !sim_traffic_step(&traffic, &step, alg, hosts, &err) && ok;
	for (i = 0; ok && i < traffic.nr; i++) {
		const struct sim_flow *flow = &traffic.flow[i];

		ok = group == CHUNK_GROUP_MODEL ? flow->from / model == flow->to / model :
						  flow->from % model == flow->to % model;
	}
	sim_traffic_free(&traffic);
	return ok;
}

static void test_groups(void)
{
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(algs); i++) {
		ktap_result(stays(CHUNK_GROUP_MODEL, algs[i], 64, 8),
			    "%s: neighbours are a model-parallel group", chunk_algs[algs[i]]);
		ktap_result(stays(CHUNK_GROUP_DATA, algs[i], 64, 4),
			    "%s: ranks of one number are a data-parallel group",
			    chunk_algs[algs[i]]);
	}
}

/* The completion of a step on leaves of some hosts, seconds */
static double played(const struct chunk_step *step, enum chunk_alg alg, __u32 leaves, __u32 hosts,
		     __u32 spines)
{
	struct sim_shape shape = { .pods = 1, .leaves = leaves, .hosts = hosts, .aggs = spines,
				   .rate = RATE, .host_rate = RATE };
	struct sim_fabric fabric = {};
	struct sim_traffic traffic;
	struct sim_run run = { .fabric = &fabric, .traffic = &traffic, .policy = { SIM_ALL, 1 } };
	struct sim_result result = {};
	struct err err = {};
	int ret = sim_traffic_step(&traffic, step, alg, leaves * hosts, &err);

	ret = ret ?: sim_fabric_init(&fabric, &shape) ?: sim_play(&run, &result, &err);
	sim_traffic_free(&traffic);
	sim_fabric_free(&fabric);
	return ret ? -1 : result.completion;
}

static double ideal(const struct chunk_step *step, __u32 hosts)
{
	double sum = 0;
	__u32 i;

	for (i = 0; i < step->nr; i++) {
		const struct chunk_step_collective *of = &step->collective[i];
		__u32 n = of->group == CHUNK_GROUP_ALL ? hosts :
			  of->group == CHUNK_GROUP_MODEL ? step->model : hosts / step->model;

		sum += (of->kind == CHUNK_ALL_REDUCE ? 2.0 : 1) * of->count * of->size *
		       (n - 1) / n;
	}
	return sum / RATE;
}

static void test_times(void)
{
	struct chunk_step model = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_MODEL, 1, 4);
	struct chunk_step data = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_DATA, 1, 4);
	bool ok = true;
	__u32 k, i;

	ktap_result(is_near(played(&model, CHUNK_RING, 2, 4, 1), 2 * SIZE * 3 / 4 / RATE),
		    "groups below their leaves do not meet");
	/* Each of four hosts sends a buffer to the other leaf. */
	ktap_result(is_near(played(&data, CHUNK_RING, 2, 4, 1), 4 * SIZE / RATE) &&
		    is_near(played(&data, CHUNK_RING, 2, 4, 2), 2 * SIZE / RATE),
		    "groups at the same time share the links between leaves");
	for (k = 0; k < CHUNK_KNOWN; k++)
		for (i = 0; i < ARRAY_SIZE(algs) - 1; i++)
			ok = ok && is_near(played(&chunk_known[k].step, algs[i], 32, 32, 32),
					   ideal(&chunk_known[k].step, 1024));
	ktap_result(ok, "known steps of 1,024 hosts take what their links allow");
}

static bool sums(const struct chunk_step *step, __u32 hosts, double sum)
{
	struct sim_traffic traffic;
	struct err err = {};
	bool ok = !sim_traffic_step(&traffic, step, CHUNK_RING, hosts, &err) &&
		  traffic.sum == sum;

	sim_traffic_free(&traffic);
	return ok;
}

static void test_sums(void)
{
	struct chunk_step all = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 3, 1);
	struct chunk_step data = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_DATA, 1, 4);
	struct chunk_step gather = one(CHUNK_ALL_GATHER, CHUNK_GROUP_ALL, 1, 1);

	ktap_result(sums(&all, 8, 3.0 * SIZE) && sums(&data, 8, 0) && sums(&gather, 8, 0),
		    "switches can sum a step of nothing but All-Reduces of all ranks");
}

static bool refuses(const struct chunk_step *step, enum chunk_alg alg, __u32 hosts, const char *why)
{
	struct sim_traffic traffic;
	struct err err = {};
	bool ok = sim_traffic_step(&traffic, step, alg, hosts, &err) &&
		  strstr(err.message, why);

	if (!ok)
		printf("# %s\n", err.message);
	sim_traffic_free(&traffic);
	return ok;
}

static void test_refusals(void)
{
	struct chunk_step model = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_MODEL, 1, 6);
	struct chunk_step data = one(CHUNK_ALL_REDUCE, CHUNK_GROUP_DATA, 1, 8);
	struct chunk_step swap = one(CHUNK_ALL_TO_ALL, CHUNK_GROUP_ALL, 1, 1);

	ktap_result(refuses(&model, CHUNK_RING, 8, "do not divide 8 hosts") &&
		    refuses(&model, CHUNK_RING, 3, "do not divide 3 hosts"),
		    "groups that do not divide the hosts are refused");
	ktap_result(refuses(&data, CHUNK_RING, 8, "a data group of one"),
		    "a group of one rank is refused");
	ktap_result(refuses(&model, CHUNK_HALVING, 12, "a group has 6 ranks"),
		    "halving takes a power of two");
	ktap_result(refuses(&swap, CHUNK_RING, 100000, "more than 4194304 flows"),
		    "more flows than are supported are refused");
}

int main(void)
{
	ktap_begin();
	test_kinds();
	test_tree();
	test_patterns();
	test_groups();
	test_times();
	test_sums();
	test_refusals();
	return ktap_end();
}
