// SPDX-License-Identifier: GPL-2.0
/* Properties of plans, on random numbers of flows and paths and weights. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../user/lib/plan.h"
#include "ktap.h"

#define ROUNDS	20000

static __u32 state = 0x2545f491;

static __u32 random_below(__u32 n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

static __u64 gcd(__u64 a, __u64 b)
{
	return b ? gcd(b, a % b) : a;
}

/* Pieces ascend, are not empty, and each flow is covered without a gap. */
static bool covers(const struct plan *plan)
{
	__u64 at = plan->unit;
	__u32 flow = -1;
	size_t i;

	for (i = 0; i < plan->nr_pieces; i++) {
		const struct plan_piece *p = &plan->pieces[i];

		if (p->flow != flow) {
			if (at != plan->unit || p->flow != flow + 1)
				return false;
			flow = p->flow;
			at = 0;
		}
		if (p->from != at || p->to <= p->from || p->to > plan->unit ||
		    p->path >= plan->paths)
			return false;
		at = p->to;
	}
	return at == plan->unit && flow == plan->flows - 1;
}

/* load[p] / weight[p] is the same for all p, and loads are the pieces' sums. */
static bool loads_exact(const struct plan *plan, const __u32 *weights)
{
	__u64 *load = calloc(plan->paths, sizeof(*load)), sum = 0;
	bool ok = true;
	size_t i;
	__u32 p;

	for (i = 0; i < plan->nr_pieces; i++)
		load[plan->pieces[i].path] += plan->pieces[i].to -
					      plan->pieces[i].from;
	for (p = 0; p < plan->paths; p++)
		sum += weights ? weights[p] : 1;
	for (p = 0; p < plan->paths && ok; p++) {
		__u32 weight = weights ? weights[p] : 1;

		ok = load[p] == plan->load[p] &&
		     (__uint128_t)load[p] * sum ==
		     (__uint128_t)plan->unit * plan->flows * weight;
	}
	free(load);
	return ok;
}

/* No smaller unit would do: all cuts and the unit have no common divisor. */
static bool unit_is_smallest(const struct plan *plan)
{
	__u64 common = plan->unit;
	size_t i;

	for (i = 0; i < plan->nr_pieces; i++)
		common = gcd(common, plan->pieces[i].to);
	return common == 1;
}

static size_t extra(const struct plan *plan)
{
	return plan->nr_pieces - plan->flows;
}

static void test_wrap(void)
{
	bool cover = true, exact = true, unit = true, minimal = true;
	struct plan plan;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		__u32 n = 1 + random_below(300), s = 1 + random_below(64);

		if (plan_make(&plan, PLAN_WRAP, n, s, NULL)) {
			cover = false;
			continue;
		}
		cover &= covers(&plan);
		exact &= loads_exact(&plan, NULL);
		unit &= unit_is_smallest(&plan);
		minimal &= extra(&plan) == s - gcd(n, s);
		plan_free(&plan);
	}
	ktap_result(cover, "wrap: pieces cover each flow without a gap");
	ktap_result(exact, "wrap: loads are equal");
	ktap_result(unit, "wrap: the unit is the smallest");
	ktap_result(minimal, "wrap: s - gcd(n, s) extra pieces");
}

static void test_weights(void)
{
	bool cover = true, exact = true, unit = true, few = true;
	__u32 weights[64];
	struct plan plan;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		__u32 n = 1 + random_below(300), s = 1 + random_below(64);
		__u32 max = 1u << random_below(31), p, used = 0;

		for (p = 0; p < s; p++) {
			weights[p] = random_below(4) ? random_below(max) : 0;
			used += !!weights[p];
		}
		if (!used)
			weights[used++] = 1 + random_below(max);
		if (plan_make(&plan, PLAN_WRAP, n, s, weights)) {
			cover = false;
			continue;
		}
		cover &= covers(&plan);
		exact &= loads_exact(&plan, weights);
		unit &= unit_is_smallest(&plan);
		few &= extra(&plan) <= used - 1;
		plan_free(&plan);
	}
	ktap_result(cover, "weights: pieces cover each flow without a gap");
	ktap_result(exact, "weights: loads are proportional");
	ktap_result(unit, "weights: the unit is the smallest");
	ktap_result(few, "weights: at most one extra piece less than paths used");
}

static void test_equal(void)
{
	bool cover = true, exact = true, unit = true, pieces = true;
	struct plan plan;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		__u32 n = 1 + random_below(300), s = 1 + random_below(64);
		__u32 r = n % s;

		if (plan_make(&plan, PLAN_EQUAL, n, s, NULL)) {
			cover = false;
			continue;
		}
		cover &= covers(&plan);
		exact &= loads_exact(&plan, NULL);
		unit &= unit_is_smallest(&plan);
		pieces &= extra(&plan) == r * (s / gcd(r, s) - 1);
		plan_free(&plan);
	}
	ktap_result(cover, "equal: pieces cover each flow without a gap");
	ktap_result(exact, "equal: loads are equal");
	ktap_result(unit, "equal: the unit is the smallest");
	ktap_result(pieces, "equal: r * (s / gcd(r, s) - 1) extra pieces");
}

static int code(enum plan_rule rule, __u32 n, __u32 s, const __u32 *weights)
{
	struct plan plan;
	int ret = plan_make(&plan, rule, n, s, weights);

	if (!ret)
		plan_free(&plan);
	return ret;
}

static void test_bounds(void)
{
	static const __u32 zero[4], uneven[] = { 1, 2, 1, 1 };
	static const __u32 even[] = { 5, 5, 5, 5 };
	__u32 *prime = malloc(PLAN_MAX_PATHS * sizeof(*prime)), p;

	ktap_result(code(PLAN_WRAP, 0, 4, NULL) == -EINVAL &&
		    code(PLAN_WRAP, 4, 0, NULL) == -EINVAL &&
		    code(PLAN_WRAP, PLAN_MAX_FLOWS + 1, 4, NULL) == -EINVAL &&
		    code(PLAN_WRAP, 4, PLAN_MAX_PATHS + 1, NULL) == -EINVAL,
		    "numbers out of range are refused");
	ktap_result(code(PLAN_WRAP, 4, 4, zero) == -EINVAL &&
		    code(PLAN_EQUAL, 4, 4, zero) == -EINVAL,
		    "all weights 0 are refused");
	ktap_result(code(PLAN_EQUAL, 4, 4, uneven) == -EOPNOTSUPP &&
		    !code(PLAN_EQUAL, 4, 4, even),
		    "equal knows only paths of the same weight");
	ktap_result(!code(PLAN_WRAP, PLAN_MAX_FLOWS, PLAN_MAX_PATHS, NULL),
		    "the largest plan is made");
	ktap_result(code(PLAN_EQUAL, 4095, PLAN_MAX_PATHS, NULL) == -E2BIG,
		    "too many pieces are refused");
	for (p = 0; p < PLAN_MAX_PATHS; p++)
		prime[p] = 4294967291u - (p & 1);
	ktap_result(code(PLAN_WRAP, PLAN_MAX_FLOWS - 3, PLAN_MAX_PATHS, prime)
		    == -EOVERFLOW, "units beyond 63 bits are refused");
	free(prime);
}

static void test_known(void)
{
	struct plan plan;
	size_t wrap, equal;

	plan_make(&plan, PLAN_WRAP, 15, 16, NULL);
	wrap = plan.nr_pieces;
	plan_free(&plan);
	plan_make(&plan, PLAN_EQUAL, 15, 16, NULL);
	equal = plan.nr_pieces;
	plan_free(&plan);
	ktap_result(wrap == 30 && equal == 240,
		    "15 flows on 16 paths: 30 pieces instead of 240");
}

static double micros(enum plan_rule rule)
{
	struct timespec from, to;
	struct plan plan;
	double best = 1e9;
	int i;

	for (i = 0; i < 20; i++) {
		double took;

		clock_gettime(CLOCK_MONOTONIC, &from);
		plan_make(&plan, rule, 4096 - 1, 64, NULL);
		clock_gettime(CLOCK_MONOTONIC, &to);
		plan_free(&plan);
		took = (to.tv_sec - from.tv_sec) * 1e6 +
		       (to.tv_nsec - from.tv_nsec) / 1e3;
		if (took < best)
			best = took;
	}
	return best;
}

static void test_speed(void)
{
	double wrap = micros(PLAN_WRAP), equal = micros(PLAN_EQUAL);

	ktap_result(wrap < 1000 && equal < 1000,
		    "4095 flows on 64 paths in less than 1 ms");
	printf("# wrap %.1f us, equal %.1f us\n", wrap, equal);
}

static void test_order(void)
{
	unsigned int first[16] = {}, seed, i, lo = -1, hi = 0;
	bool permutation = true, same = true;
	__u32 order[16], again[16];

	for (seed = 0; seed < 16000; seed++) {
		unsigned int seen = 0;

		plan_order(seed, 16, order);
		plan_order(seed, 16, again);
		same &= !memcmp(order, again, sizeof(order));
		for (i = 0; i < 16; i++)
			seen |= 1u << order[i];
		permutation &= seen == 0xffff;
		first[order[0]]++;
	}
	for (i = 0; i < 16; i++) {
		lo = first[i] < lo ? first[i] : lo;
		hi = first[i] > hi ? first[i] : hi;
	}
	ktap_result(permutation && same,
		    "order: a permutation, the same for the same seed");
	ktap_result(lo > 800 && hi < 1200, "order: hosts begin everywhere");
	printf("# 1000 expected, %u to %u seeds begin with a path\n", lo, hi);
}

int main(void)
{
	ktap_begin();
	test_wrap();
	test_weights();
	test_equal();
	test_bounds();
	test_known();
	test_speed();
	test_order();
	return ktap_end();
}
