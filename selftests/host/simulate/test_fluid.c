// SPDX-License-Identifier: GPL-2.0
/* Max-min fair rates against progressive filling without a heap, and by closed forms. */
#include <math.h>
#include <stdlib.h>

#include "../../ktap.h"
#include "../../random.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

#define LINKS	8
#define FLOWS	20
#define WAYS	3
#define PARTS	4

/**
 * struct way - a way of a flow of a small case
 * @link: its links
 * @part: of each of these
 * @nr: number of links
 * @rate: found by progressive filling
 * @open: the rate is not found yet
 */
struct way {
	__u32 link[PARTS];
	double part[PARTS];
	__u32 nr;
	double rate;
	bool open;
};

/**
 * struct flow - a flow of a small case
 * @begin: time when the flow begins
 * @bytes: size
 * @left: bytes that are left
 * @way: ways
 * @nr: number of ways
 * @end: time when the flow ends by progressive filling
 * @ended: by what is tested
 */
struct flow {
	double begin;
	double bytes;
	double left;
	struct way way[WAYS];
	__u32 nr;
	double end;
	double ended;
};

/**
 * struct world - a small case
 * @rate: of the links
 * @sent: bytes on the links by progressive filling
 * @nr_links: number of links
 * @flow: flows, ascending by @begin
 * @nr: number of flows
 * @fluid: what is tested
 */
struct world {
	double rate[LINKS];
	double sent[LINKS];
	__u32 nr_links;
	struct flow flow[FLOWS];
	__u32 nr;
	struct fluid fluid;
};

static bool is_active(const struct flow *flow, double now)
{
	return flow->begin <= now && flow->left > 0;
}

/* The use of a link by ways whose rate is open; *@left: what the others leave */
static double use_of(const struct world *w, double now, __u32 link, double *left)
{
	double use = 0;
	__u32 f, i, p;

	*left = w->rate[link];
	for (f = 0; f < w->nr; f++) {
		const struct flow *flow = &w->flow[f];

		for (i = 0; is_active(flow, now) && i < flow->nr; i++) {
			for (p = 0; p < flow->way[i].nr; p++) {
				if (flow->way[i].link[p] != link)
					continue;
				if (flow->way[i].open)
					use += flow->way[i].part[p];
				else
					*left -= flow->way[i].part[p] * flow->way[i].rate;
			}
		}
	}
	return use;
}

/* Open ways on this link have this rate. */
static void set_rates(struct world *w, double now, __u32 link, double rate)
{
	__u32 f, i, p;

	for (f = 0; f < w->nr; f++) {
		for (i = 0; is_active(&w->flow[f], now) && i < w->flow[f].nr; i++) {
			struct way *way = &w->flow[f].way[i];

			for (p = 0; p < way->nr; p++) {
				if (way->link[p] != link || !way->open)
					continue;
				way->rate = rate;
				way->open = false;
			}
		}
	}
}

/* Find the rates of all ways: the link that is full first, among all links, again and again. */
static void fill(struct world *w, double now)
{
	__u32 f, i, l, first = 0;
	double level, left, use;

	for (f = 0; f < w->nr; f++)
		for (i = 0; i < w->flow[f].nr; i++)
			w->flow[f].way[i].open = true;
	do {
		level = INFINITY;
		for (l = 0; l < w->nr_links; l++) {
			use = use_of(w, now, l, &left);
			if (use > 0 && left / use < level) {
				level = left / use;
				first = l;
			}
		}
		if (level < INFINITY)
			set_rates(w, now, first, level);
	} while (level < INFINITY);
}

static double rate_of(const struct flow *flow)
{
	double rate = 0;
	__u32 i;

	for (i = 0; i < flow->nr; i++)
		rate += flow->way[i].rate;
	return rate;
}

/* The time when a flow begins or ends first. */
static double next_event(const struct world *w, double now)
{
	double next = INFINITY;
	__u32 f;

	for (f = 0; f < w->nr; f++) {
		const struct flow *flow = &w->flow[f];

		if (flow->begin > now)
			next = fmin(next, flow->begin);
		else if (flow->left > 0)
			next = fmin(next, now + flow->left / rate_of(flow));
	}
	return next;
}

static void flow_on(struct world *w, struct flow *flow, double now, double next)
{
	__u32 i, p;

	for (i = 0; i < flow->nr; i++)
		for (p = 0; p < flow->way[i].nr; p++)
			w->sent[flow->way[i].link[p]] +=
				flow->way[i].rate * flow->way[i].part[p] * (next - now);
	flow->left -= rate_of(flow) * (next - now);
	/* What is left is a rounding where it takes no time. */
	if (flow->left > flow->bytes * NEAR * NEAR &&
	    flow->left > rate_of(flow) * next * NEAR * NEAR)
		return;
	flow->left = 0;
	flow->end = next;
}

/* Play a case by progressive filling. */
static void play_slowly(struct world *w)
{
	double now = 0, next;
	__u32 f;

	for (;; now = next) {
		fill(w, now);
		next = next_event(w, now);
		if (next == INFINITY)
			return;
		for (f = 0; f < w->nr; f++)
			if (is_active(&w->flow[f], now))
				flow_on(w, &w->flow[f], now, next);
	}
}

static void has_ended(__u32 tag, void *arg)
{
	struct world *w = arg;

	w->flow[tag].ended = w->fluid.now;
}

static void begin(struct world *w, __u32 number)
{
	const struct flow *flow = &w->flow[number];
	__u32 i, p;

	fluid_begin(&w->fluid, flow->bytes, number);
	for (i = 0; i < flow->nr; i++) {
		if (i)
			fluid_way(&w->fluid);
		for (p = 0; p < flow->way[i].nr; p++)
			fluid_part(&w->fluid, flow->way[i].link[p], flow->way[i].part[p]);
	}
	fluid_done(&w->fluid);
}

/* Play a case by what is tested. */
static bool play(struct world *w)
{
	long ret = 0;
	__u32 f;

	if (fluid_init(&w->fluid, w->rate, w->nr_links))
		return false;
	for (f = 0; f < w->nr; f++) {
		while (w->fluid.now < w->flow[f].begin && ret >= 0)
			ret = fluid_advance(&w->fluid, w->flow[f].begin, has_ended, w);
		begin(w, f);
	}
	while (w->fluid.active && ret >= 0)
		ret = fluid_advance(&w->fluid, INFINITY, has_ended, w);
	return ret > 0;
}

/* All flows end when progressive filling says, and links have sent what it says. */
static bool is_same(const struct world *w)
{
	bool same = true;
	__u32 f, l;

	for (f = 0; f < w->nr; f++)
		same &= is_near(w->flow[f].end, w->flow[f].ended);
	for (l = 0; l < w->nr_links; l++)
		same &= is_near(w->sent[l], w->fluid.sent[l]);
	return same;
}

static void random_way(struct world *w, struct way *way)
{
	__u32 order[LINKS], p;

	way->nr = 1 + random_below(w->nr_links < PARTS ? w->nr_links : PARTS);
	random_order(random_below(1 << 30), w->nr_links, order);
	for (p = 0; p < way->nr; p++) {
		way->link[p] = order[p];
		way->part[p] = random_below(2) ? 1 : 1.0 / (1 + random_below(16));
	}
}

static void random_world(struct world *w)
{
	double begin = 0;
	__u32 l, f, i;

	*w = (struct world) {
		.nr_links = 1 + random_below(LINKS), .nr = 1 + random_below(FLOWS),
	};
	for (l = 0; l < w->nr_links; l++)
		w->rate[l] = 1 + random_below(8);
	for (f = 0; f < w->nr; f++) {
		struct flow *flow = &w->flow[f];

		begin += random_below(3) ? 0 : random_below(1000) / 1000.0;
		flow->begin = begin;
		flow->bytes = random_below(2) ? 1 : (1 + random_below(3000)) / 1000.0;
		flow->left = flow->bytes;
		flow->nr = random_below(3) ? 1 : 1 + random_below(WAYS);
		for (i = 0; i < flow->nr; i++)
			random_way(w, &flow->way[i]);
	}
}

static void test_random(void)
{
	__u32 runs = ktap_all() ? 100000 : 5000, wrong = 0, i;

	for (i = 0; i < runs; i++) {
		struct world w;

		random_world(&w);
		play_slowly(&w);
		wrong += !play(&w) || !is_same(&w);
		fluid_free(&w.fluid);
	}
	ktap_result(!wrong, "in %u random cases flows end when progressive filling says, %u wrong",
		    runs, wrong);
}

/* A flow with one way over links from @first on */
static void add_flow(struct world *w, double bytes, __u32 first, __u32 nr)
{
	struct flow *flow = &w->flow[w->nr++];
	__u32 p;

	flow->bytes = bytes;
	flow->nr = 1;
	flow->way[0].nr = nr;
	for (p = 0; p < nr; p++) {
		flow->way[0].link[p] = first + p;
		flow->way[0].part[p] = 1;
	}
}

static void test_one_link(void)
{
	struct world w = { .rate = { 1 }, .nr_links = 1 };
	bool ok;
	__u32 i;

	for (i = 0; i < FLOWS; i++)
		add_flow(&w, i + 1, 0, 1);
	ok = play(&w);
	/* While flow i is the smallest one, all that are left get as much. */
	for (i = 0; i < FLOWS; i++)
		ok &= is_near(w.flow[i].ended, i * (i + 1) / 2 + (i + 1) * (FLOWS - i));
	ktap_result(ok && is_near(w.fluid.sent[0], FLOWS * (FLOWS + 1) / 2),
		    "flows of different sizes share a link evenly");
	fluid_free(&w.fluid);
}

/* One flow over all links, and one on each link: the long one gets no more than the others. */
static void test_parking_lot(void)
{
	struct world w = { .rate = { 3, 2, 4 }, .nr_links = 3 };
	bool ok;

	add_flow(&w, 1, 0, 3);
	add_flow(&w, 2, 0, 1);
	add_flow(&w, 1, 1, 1);
	add_flow(&w, 3, 2, 1);
	ok = play(&w);
	ktap_result(ok && is_near(w.flow[0].ended, 1) && is_near(w.flow[1].ended, 1) &&
		    is_near(w.flow[2].ended, 1) && is_near(w.flow[3].ended, 1),
		    "in a parking lot the short flows get what the long one cannot use");
	fluid_free(&w.fluid);
}

/* A flow by two links, on the slower of which there is another one. */
static void test_two_ways(void)
{
	struct world w = { .rate = { 3, 2 }, .nr_links = 2 };
	bool ok;

	add_flow(&w, 8, 0, 1);
	w.flow[0].nr = 2;
	w.flow[0].way[1] = (struct way) { .link = { 1 }, .part = { 1 }, .nr = 1 };
	add_flow(&w, 1, 1, 1);
	ok = play(&w);
	/* 4 bytes in the first second, by 3 and 1; then 4 bytes by 3 and 2 */
	ktap_result(ok && is_near(w.flow[1].ended, 1) && is_near(w.flow[0].ended, 1.8) &&
		    is_near(w.fluid.sent[0], 5.4) && is_near(w.fluid.sent[1], 3.6),
		    "the ways of a flow are as fast as each can be, and end together");
	fluid_free(&w.fluid);
}

/* A flow whose parts are a fourth on a slow link, and three fourths on a fast one. */
static void test_parts(void)
{
	struct world w = { .rate = { 1, 9 }, .nr_links = 2 };
	bool ok;

	add_flow(&w, 8, 0, 2);
	w.flow[0].way[0].part[0] = 0.25;
	w.flow[0].way[0].part[1] = 0.75;
	ok = play(&w);
	ktap_result(ok && is_near(w.flow[0].ended, 2) && is_near(w.fluid.sent[0], 2) &&
		    is_near(w.fluid.sent[1], 6),
		    "a flow in fixed parts is as slow as its slowest part");
	fluid_free(&w.fluid);
}

int main(void)
{
	ktap_begin();
	test_random();
	test_one_link();
	test_parking_lot();
	test_two_ways();
	test_parts();
	return ktap_end();
}
