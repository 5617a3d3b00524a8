// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __u64 gcd(__u64 a, __u64 b)
{
	while (b) {
		__u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void add_piece(struct plan *plan, __u32 flow, __u32 path, __u64 from,
		      __u64 to)
{
	struct plan_piece *piece = &plan->pieces[plan->nr_pieces++];

	piece->flow = flow;
	piece->path = path;
	piece->from = from;
	piece->to = to;
	plan->load[path] += to - from;
}

static int alloc_pieces(struct plan *plan, __u64 max)
{
	if (max > PLAN_MAX_PIECES)
		return -E2BIG;
	plan->pieces = calloc(max, sizeof(*plan->pieces));
	return plan->pieces ? 0 : -ENOMEM;
}

/*
 * With W the sum of the weights and g their greatest common divisor, the cuts
 * lie at n * (w_0 + .. + w_p) / W flows. In lowest terms, W' = W / g and
 * d = gcd(W', n), they are integers for unit = W' / d and no smaller one; path
 * p then carries (w_p / g) * (n / d).
 */
static int plan_wrap(struct plan *plan, const __u32 *weights)
{
	__u64 sum = 0, g = 0, d, scale, at = 0;
	__u32 p, flow = 0;
	int err;

	for (p = 0; p < plan->paths; p++) {
		__u32 weight = weights ? weights[p] : 1;

		sum += weight;
		g = gcd(g, weight);
	}
	if (!sum)
		return -EINVAL;
	sum /= g;
	d = gcd(sum, plan->flows);
	plan->unit = sum / d;
	scale = plan->flows / d;
	if ((__uint128_t)plan->unit * plan->flows > INT64_MAX)
		return -EOVERFLOW;
	err = alloc_pieces(plan, (__u64)plan->flows + plan->paths - 1);
	if (err)
		return err;

	for (p = 0; p < plan->paths; p++) {
		__u64 left = (weights ? weights[p] / g : 1) * scale;

		while (left) {
			__u64 take = plan->unit - at;

			if (take > left)
				take = left;
			add_piece(plan, flow, p, at, at + take);
			left -= take;
			at += take;
			if (at == plan->unit) {
				at = 0;
				flow++;
			}
		}
	}
	return 0;
}

static int plan_equal(struct plan *plan, const __u32 *weights)
{
	__u32 s = plan->paths, rest = plan->flows % s, flow, path = 0, p;
	__u64 cut;
	int err;

	for (p = 1; weights && p < s; p++)
		if (weights[p] != weights[0])
			return -EOPNOTSUPP;
	if (weights && !weights[0])
		return -EINVAL;
	cut = s / gcd(rest, s);
	plan->unit = cut;
	err = alloc_pieces(plan, plan->flows - rest + rest * cut);
	if (err)
		return err;

	for (flow = 0; flow < plan->flows; flow++) {
		bool whole = flow < plan->flows - rest;
		__u64 step = whole ? cut : 1, at;

		for (at = 0; at < cut; at += step) {
			add_piece(plan, flow, path, at, at + step);
			path = path + 1 == s ? 0 : path + 1;
		}
	}
	return 0;
}

int plan_make(struct plan *plan, enum plan_rule rule, __u32 flows, __u32 paths,
	      const __u32 *weights)
{
	int err;

	memset(plan, 0, sizeof(*plan));
	if (!flows || flows > PLAN_MAX_FLOWS ||
	    !paths || paths > PLAN_MAX_PATHS)
		return -EINVAL;
	plan->flows = flows;
	plan->paths = paths;
	plan->load = calloc(paths, sizeof(*plan->load));
	if (!plan->load)
		return -ENOMEM;
	err = rule == PLAN_EQUAL ? plan_equal(plan, weights) :
				   plan_wrap(plan, weights);
	if (err)
		plan_free(plan);
	return err;
}

void plan_free(struct plan *plan)
{
	free(plan->pieces);
	free(plan->load);
	memset(plan, 0, sizeof(*plan));
}

/* Marsaglia's xorshift, seeded away from its fixed point 0. */
static __u32 next_random(__u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

void plan_order(__u32 seed, __u32 paths, __u32 *order)
{
	__u32 state = (seed + 1) * 0x9e3779b1u ?: 1, i;

	for (i = 0; i < paths; i++)
		order[i] = i;
	for (i = 0; i < 4; i++)		/* near seeds, far sequences */
		next_random(&state);
	for (i = paths; i > 1; i--) {
		__u32 j = ((__u64)next_random(&state) * i) >> 32;
		__u32 tmp = order[i - 1];

		order[i - 1] = order[j];
		order[j] = tmp;
	}
}
