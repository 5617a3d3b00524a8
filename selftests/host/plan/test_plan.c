// SPDX-License-Identifier: GPL-2.0
/* Properties of plans, on random numbers of flows and paths and weights. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../ktap.h"
#include "plan_check.h"

#define ROUNDS	20000

static int make(struct plan *plan, __u32 n, __u32 s, const __u32 *weights)
{
	const struct plan_spec spec = {
		.flows = n,
		.paths = s,
		.weights = weights,
	};

	return plan_make(plan, &spec);
}

static void test_alike(void)
{
	bool cover = true, exact = true, unit = true, minimal = true;
	bool whole = true;
	struct plan plan;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		__u32 n = 1 + random_below(300), s = 1 + random_below(64);

		if (make(&plan, n, s, NULL)) {
			cover = false;
			continue;
		}
		cover &= covers(&plan);
		exact &= loads_exact(&plan, NULL);
		unit &= unit_is_smallest(&plan);
		minimal &= extra(&plan) == s - gcd(n, s);
		whole &= whole_is_most(&plan);
		plan_free(&plan);
	}
	ktap_result(cover, "alike: pieces cover each flow without a gap");
	ktap_result(exact, "alike: loads are equal");
	ktap_result(unit, "alike: the unit is the smallest");
	ktap_result(minimal, "alike: s - gcd(n, s) extra pieces");
	ktap_result(whole, "alike: all but n mod s flows are whole");
}

static void test_weights(void)
{
	bool cover = true, exact = true, unit = true, few = true;
	bool whole = true;
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
		if (make(&plan, n, s, weights)) {
			cover = false;
			continue;
		}
		cover &= covers(&plan);
		exact &= loads_exact(&plan, weights);
		unit &= unit_is_smallest(&plan);
		few &= extra(&plan) <= used - 1;
		whole &= whole_is_most(&plan);
		plan_free(&plan);
	}
	ktap_result(cover, "weights: pieces cover each flow without a gap");
	ktap_result(exact, "weights: loads are proportional");
	ktap_result(unit, "weights: the unit is the smallest");
	ktap_result(few, "weights: at most one extra piece less than paths used");
	ktap_result(whole, "weights: paths have what fits of whole flows");
}

static int code(__u32 n, __u32 s, const __u32 *weights)
{
	struct plan plan;
	int ret = make(&plan, n, s, weights);

	if (!ret)
		plan_free(&plan);
	return ret;
}

static void test_bounds(void)
{
	static const __u32 zero[4];
	__u32 *prime = malloc(PLAN_MAX_PATHS * sizeof(*prime)), p;

	ktap_result(code(0, 4, NULL) == -EINVAL &&
		    code(4, 0, NULL) == -EINVAL &&
		    code(PLAN_MAX_FLOWS + 1, 4, NULL) == -EINVAL &&
		    code(4, PLAN_MAX_PATHS + 1, NULL) == -EINVAL,
		    "numbers out of range are refused");
	ktap_result(code(4, 4, zero) == -EINVAL, "all weights 0 are refused");
	ktap_result(!code(PLAN_MAX_FLOWS, PLAN_MAX_PATHS, NULL), "the largest plan is made");
	for (p = 0; p < PLAN_MAX_PATHS; p++)
		prime[p] = 4294967291u - (p & 1);
	ktap_result(code(PLAN_MAX_FLOWS - 3, PLAN_MAX_PATHS, prime) == -EOVERFLOW,
		    "units beyond 63 bits are refused");
	free(prime);
}

/* The least time of a plan for @flows, from @prior, in microseconds. */
static double micros(__u32 flows, const struct plan *prior)
{
	const struct plan_spec spec = {
		.flows = flows,
		.paths = 64,
		.prior = prior->pieces,
		.nr_prior = prior->nr_pieces,
	};
	struct timespec from, to;
	struct plan plan;
	double best = 1e9;
	int i;

	for (i = 0; i < 20; i++) {
		double took;

		clock_gettime(CLOCK_MONOTONIC, &from);
		plan_make(&plan, &spec);
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
	const struct plan none = {};
	double new, more;
	struct plan plan;

	make(&plan, 4096, 64, NULL);
	new = micros(4096, &none);
	more = micros(4097, &plan);
	plan_free(&plan);
	ktap_result(new < 1000 && more < 1000, "4096 flows on 64 paths in less than 1 ms");
	printf("# new %.1f us, one more flow %.1f us\n", new, more);
}

/* The imbalance of k queue pairs each, on @s paths alike. */
static double imbalance(__u32 n, __u32 s, __u64 k)
{
	return (double)((n * k + s - 1) / s) * s / (n * k);
}

static bool qps_right(__u32 n, __u32 s)
{
	const struct plan_spec spec = { .flows = n, .paths = s };
	struct plan_qps qps[PLAN_QPS_MAX + 2];
	__u64 exact = s / gcd(n, s), k;
	double best = 1e9;
	size_t nr, i = 0;

	if (plan_qps(&spec, qps, &nr))
		return false;
	for (k = 1; k <= s; k++) {
		if (k < s && (imbalance(n, s, k) >= best || (k > PLAN_QPS_MAX && k < exact)))
			continue;
		best = imbalance(n, s, k);
		if (i == nr || qps[i].qps != k || (k < s && qps[i].always) ||
		    !is_near(qps[i].imbalance, best))
			return false;
		i++;
	}
	return i == nr && qps[nr - 1].always;
}

static void test_qps(void)
{
	static const __u32 weights[] = { 2, 0, 1, 1 };
	const struct plan_spec uneven = { .flows = 3, .paths = 4,
					  .weights = weights };
	struct plan_qps qps[PLAN_QPS_MAX + 2];
	bool right = true;
	__u32 n, s;
	size_t nr;

	for (n = 1; n < 100; n++)
		for (s = 1; s < 100; s++)
			right &= qps_right(n, s);
	ktap_result(right, "qps: the least imbalance, exact at s / gcd(n, s), always at s");
	/* The shares: 1.5 .75 .75 of 3 flows, 4.5 2.25 2.25 of 9, 6 3 3 of 12 */
	ktap_result(!plan_qps(&uneven, qps, &nr) && nr == 3 &&
		    qps[0].qps == 1 && qps[0].imbalance * 3 == 4 &&
		    qps[1].qps == 3 && qps[1].imbalance * 9 == 10 &&
		    qps[2].qps == 4 && qps[2].imbalance == 1 && qps[2].always,
		    "qps: the imbalance follows the weights");
}

static void test_order(void)
{
	unsigned int first[16] = {}, seed, i, lo = -1, hi = 0;
	bool permutation = true, same = true;
	__u32 order[16], again[16];

	for (seed = 0; seed < 16000; seed++) {
		unsigned int seen = 0;

		random_order(seed, 16, order);
		random_order(seed, 16, again);
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
	ktap_result(permutation && same, "order: a permutation, the same for the same seed");
	ktap_result(lo > 800 && hi < 1200, "order: hosts begin everywhere");
	printf("# 1000 expected, %u to %u seeds begin with a path\n", lo, hi);
}

int main(void)
{
	ktap_begin();
	test_alike();
	test_weights();
	test_bounds();
	test_speed();
	test_qps();
	test_order();
	return ktap_end();
}
