// SPDX-License-Identifier: GPL-2.0
/*
 * What planning costs: 4,096 flows on 64 paths, against the plain wrap-around
 * rule (McNaughton), which knows no prior, no weights and no whole flows.
 *
 * Rounds of all cases alternate and the least of them counts, so that what else
 * the machine does hits no case alone. Prints JSON, in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <json-c/json.h>

#include "base/base.h"
#include "plan/plan.h"

#define NR_FLOWS	4096
#define NR_PATHS	64
#define ROUNDS	300

/* A case; the peer comes first and needs no spec. */
struct subject {
	const char *name;
	struct plan_spec spec;
	double us;
};

static void die(const char *what)
{
	fprintf(stderr, "plan: %s\n", what);
	exit(1);
}

/* Flows end to end, cut where a path has its share. Return: pieces. */
static size_t wrap_around(__u64 flows, __u64 paths)
{
	struct plan_piece *pieces = calloc(flows + paths, sizeof(*pieces));
	__u64 at = 0, total = flows * paths, to;
	size_t nr = 0;

	if (!pieces)
		die("out of memory");
	for (; at < total; at = to) {
		__u64 flow = at / paths, path = at / flows;

		to = (flow + 1) * paths;
		if (to > (path + 1) * flows)
			to = (path + 1) * flows;
		pieces[nr++] = (struct plan_piece) {
			flow, path, at % paths, to - flow * paths,
		};
	}
	asm volatile("" : : "r"(pieces) : "memory");
	free(pieces);
	return nr;
}

static void measure(struct subject *s)
{
	struct timespec from, to;
	struct plan plan = {};
	double us;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (s->spec.flows && plan_make(&plan, &s->spec))
		die(s->name);
	if (!s->spec.flows)
		wrap_around(NR_FLOWS, NR_PATHS);
	clock_gettime(CLOCK_MONOTONIC, &to);
	plan_free(&plan);
	us = (to.tv_sec - from.tv_sec) * 1e6 +
	     (to.tv_nsec - from.tv_nsec) / 1e3;
	if (!s->us || us < s->us)
		s->us = us;
}

int main(void)
{
	static __u32 one_dead[NR_PATHS], uneven[NR_PATHS];
	static struct plan_piece homes[NR_FLOWS];
	struct plan level, odd;
	struct json_object *root;
	size_t i;
	int r;

	for (i = 0; i < NR_PATHS; i++) {
		one_dead[i] = i != 7;
		uneven[i] = 100 + 37 * i % 64;
	}
	for (i = 0; i < NR_FLOWS; i++)
		homes[i] = (struct plan_piece) {
			i, (__u32)i * 2654435761u >> 26, 0, 1,
		};

	const struct plan_spec all = { .flows = NR_FLOWS, .paths = NR_PATHS };
	const struct plan_spec fewer = { .flows = NR_FLOWS, .paths = NR_PATHS,
					 .weights = one_dead };

	if (plan_make(&level, &all) || plan_make(&odd, &fewer))
		die("no plan");

	struct subject subjects[] = {
		{ "plain", {} },
		{ "new", all },
		{ "weights", { .flows = NR_FLOWS, .paths = NR_PATHS,
			       .weights = uneven } },
		{ "unplanned", { .flows = NR_FLOWS, .paths = NR_PATHS,
				 .prior = homes, .nr_prior = NR_FLOWS } },
		{ "path_dies", { .flows = NR_FLOWS, .paths = NR_PATHS,
				 .weights = one_dead, .prior = level.pieces,
				 .nr_prior = level.nr_pieces } },
		{ "path_is_back", { .flows = NR_FLOWS, .paths = NR_PATHS,
				    .prior = odd.pieces,
				    .nr_prior = odd.nr_pieces } },
		{ "flow_comes", { .flows = NR_FLOWS + 1, .paths = NR_PATHS,
				  .prior = level.pieces,
				  .nr_prior = level.nr_pieces } },
	};

	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < ARRAY_SIZE(subjects); i++)
			measure(&subjects[i]);
	root = json_object_new_object();
	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		json_object_object_add(root, subjects[i].name,
				       json_object_new_double(subjects[i].us));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
	plan_free(&level);
	plan_free(&odd);
	return 0;
}
