// SPDX-License-Identifier: GPL-2.0
/*
 * Gray links: recordings of fabrics with and without bad links, drawn by chance. In 30 s each
 * path sends 1,000 packets a second, and 30 probes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/gray.h"
#include "../../ktap.h"
#include "../../random.h"

#define RUNS		1000
#define ENOUGH		(RUNS * 95 / 100)
#define MAX_LEAVES	4
#define MAX_SPINES	4
#define MAX_LINKS	(2 * MAX_LEAVES * MAX_SPINES)
#define MAX_PATHS	(MAX_LEAVES * MAX_LEAVES * MAX_SPINES)
#define ROOM		(3 * REPORT_GRAY_MAX)
#define PACKETS		30000
#define PROBES		30
#define LOSS		0.001	/* of a bad link */
#define RANDOM_RANGE	1000000

/**
 * struct fabric - what happens to packets
 * @leaves: up to MAX_LEAVES
 * @spines: up to MAX_SPINES
 * @bad: links that are bad
 * @nr_bad: how many
 * @loss: of each link
 * @marks: CNPs for each packet over each link
 * @into: loss of all paths to each leaf, at a NIC under it
 * @slow_ns: by which each link delays packets
 * @acks: of so many acknowledgments that are lost one makes a round; 0: none does
 * @burst: rounds for each lost packet
 * @uneven: paths send different numbers of packets
 * @idle: of so many paths one sends none; 0: none is idle
 * @from: the only leaf whose hosts were recorded, or -1
 */
struct fabric {
	unsigned int leaves;
	unsigned int spines;
	size_t bad[MAX_LINKS];
	unsigned int nr_bad;
	double loss[MAX_LINKS];
	double marks[MAX_LINKS];
	double into[MAX_LEAVES];
	double slow_ns[MAX_LINKS];
	unsigned int acks;
	unsigned int burst;
	bool uneven;
	unsigned int idle;
	int from;
};

static double random_real(void)
{
	return (random_below(RANDOM_RANGE) + 0.5) / RANDOM_RANGE;
}

static __u64 random_poisson(double mean)
{
	double left = 1, part;
	__u64 n = 0;

	for (; mean > 0; mean -= part) {
		part = fmin(mean, 30);
		for (left = random_real(); left > exp(-part); left *= random_real())
			n++;
	}
	return n;
}

static size_t link_up(const struct fabric *f, unsigned int leaf, unsigned int spine)
{
	return leaf * f->spines + spine;
}

static size_t link_down(const struct fabric *f, unsigned int spine, unsigned int leaf)
{
	return (f->leaves + leaf) * f->spines + spine;
}

static size_t nr_links(const struct fabric *f)
{
	return 2 * f->leaves * f->spines;
}

static double sum_of(const struct fabric *f, const double *value, unsigned int from,
		     unsigned int spine, unsigned int to)
{
	return value[link_up(f, from, spine)] + value[link_down(f, spine, to)];
}

/* The smallest of some delays: of 20 us, and up to 100 us by chance. */
static __u64 random_delay(double slow)
{
	double least = INFINITY;
	int i;

	for (i = 0; i < PROBES; i++)
		least = fmin(least, 20000 + slow - 20000 * log(random_real()));
	return least;
}

static struct report_path random_path(const struct fabric *f, unsigned int from,
				      unsigned int spine, unsigned int to, unsigned int turn)
{
	struct report_path path = {
		.link = { link_up(f, from, spine), link_down(f, spine, to),
			  REPORT_NO_LINK, REPORT_NO_LINK },
		.packets = PACKETS,
		.probes = PROBES,
		.group = (f->from < 0 ? from * f->leaves : 0) + to,
	};
	double loss = sum_of(f, f->loss, from, spine, to) + f->into[to];

	if (f->uneven)
		path.packets = PACKETS / 10 + random_below(2 * PACKETS);
	if (f->idle && !random_below(f->idle))
		path.packets = 0;
	if (f->acks)
		loss += sum_of(f, f->loss, to, (spine + turn) % f->spines, from) / f->acks;
	path.rounds = f->burst * random_poisson(loss * path.packets / f->burst);
	path.cnps = random_poisson(sum_of(f, f->marks, from, spine, to) * path.packets);
	path.delay_min_ns = random_delay(sum_of(f, f->slow_ns, from, spine, to));
	return path;
}

static int search(const struct fabric *f, struct report_gray *found)
{
	struct report_path path[MAX_PATHS];
	unsigned int from, spine, to, turn = random_below(f->spines);
	size_t n = 0;

	for (from = 0; from < f->leaves; from++)
		for (to = 0; to < f->leaves; to++)
			for (spine = 0; spine < f->spines; spine++)
				if (from != to && (f->from < 0 || f->from == (int)from))
					path[n++] = random_path(f, from, spine, to, turn);
	return report_gray(path, n, nr_links(f), found, ROOM);
}

static bool is_bad(const struct fabric *f, size_t link)
{
	unsigned int i;

	for (i = 0; i < f->nr_bad; i++)
		if (f->bad[i] == link)
			return true;
	return false;
}

/* The number of the bad link that is named, or REPORT_NO_LINK. */
static size_t bad_of(const struct fabric *f, const struct report_gray *gray)
{
	unsigned int i;

	for (i = 0; i < gray->nr_others; i++)
		if (is_bad(f, gray->other[i]))
			return gray->other[i];
	return is_bad(f, gray->link) ? gray->link : REPORT_NO_LINK;
}

/**
 * struct count - outcomes of many runs
 * @named: runs in which all bad links are named, @apart: and told apart from others
 * @wrong: runs in which a link is named that is not bad
 * @off: names whose rate or delay is more than half wrong
 * @least: the least sure name
 */
struct count {
	unsigned int named;
	unsigned int apart;
	unsigned int wrong;
	unsigned int off;
	unsigned int least;
};

static bool is_off(const struct fabric *f, const struct report_gray *gray)
{
	double is = gray->cause == REPORT_DELAY ? gray->delay_ns : gray->rate, should = 0;
	const double *value = gray->cause == REPORT_LOSS ? f->loss :
			      gray->cause == REPORT_MARKS ? f->marks : f->slow_ns;

	should = value[bad_of(f, gray)];
	return fabs(is - should) > 0.5 * should;
}

static void count(struct count *count, const struct fabric *f, enum report_cause cause)
{
	unsigned int i, named = 0, apart = 0;
	struct report_gray found[ROOM];
	bool wrong = false;
	int n = search(f, found), j;

	for (i = 0; i < f->nr_bad; i++) {
		for (j = 0; j < n; j++)
			if (bad_of(f, &found[j]) == f->bad[i])
				break;
		named += j < n;
		apart += j < n && !found[j].nr_others;
	}
	for (j = 0; j < n; j++) {
		if (found[j].cause != cause || bad_of(f, &found[j]) == REPORT_NO_LINK) {
			wrong = true;
			continue;
		}
		count->off += is_off(f, &found[j]);
		if (found[j].sure < count->least)
			count->least = found[j].sure;
	}
	count->named += named == f->nr_bad;
	count->apart += apart == f->nr_bad;
	count->wrong += wrong || n < 0;
}

/* How a fabric is drawn */
typedef void draw_t(struct fabric *f);

static void add_bad(struct fabric *f, size_t link)
{
	if (!is_bad(f, link))
		f->bad[f->nr_bad++] = link;
}

/* Links that are bad lose packets. */
static void lose(struct fabric *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_bad; i++)
		f->loss[f->bad[i]] += LOSS;
}

static void background(struct fabric *f)
{
	size_t i;

	for (i = 0; i < nr_links(f); i++)
		f->loss[i] += LOSS / 10;
}

static void draw_clean(struct fabric *f)
{
	f->acks = 16;
}

static void draw_background(struct fabric *f)
{
	background(f);
}

static void draw_incast(struct fabric *f)
{
	background(f);
	f->into[random_below(f->leaves)] = 10 * LOSS;
}

static void draw_incast_bursts(struct fabric *f)
{
	f->burst = 8;
	f->into[random_below(f->leaves)] = LOSS;
}

static void draw_bursts(struct fabric *f)
{
	background(f);
	f->burst = 8;
}

static void draw_one(struct fabric *f)
{
	add_bad(f, random_below(nr_links(f)));
	lose(f);
}

static void draw_cable(struct fabric *f)
{
	unsigned int leaf = random_below(f->leaves), spine = random_below(f->spines);

	add_bad(f, link_up(f, leaf, spine));
	add_bad(f, link_down(f, spine, leaf));
	lose(f);
}

static void draw_acks(struct fabric *f)
{
	f->acks = 16;
	draw_one(f);
}

/* Rounds are so many that the rounds of lost acknowledgments are no chance either. */
static void draw_more(struct fabric *f)
{
	unsigned int i;

	f->acks = 16;
	add_bad(f, random_below(nr_links(f)));
	for (i = 0; i < 10; i++)
		lose(f);
}

static void draw_one_of_background(struct fabric *f)
{
	background(f);
	draw_acks(f);
}

static void draw_two(struct fabric *f)
{
	f->acks = 16;
	add_bad(f, random_below(nr_links(f)));
	add_bad(f, random_below(nr_links(f)));
	lose(f);
}

static void draw_two_leaves(struct fabric *f)
{
	f->leaves = 2;
	draw_one(f);
}

static void draw_uneven(struct fabric *f)
{
	f->uneven = true;
	draw_acks(f);
}

static void draw_idle(struct fabric *f)
{
	f->idle = 8;
	draw_acks(f);
}

/* Hosts under one leaf alone: the other leaves' links up are on no path. */
static void draw_one_leaf(struct fabric *f)
{
	f->from = random_below(f->leaves);
	f->acks = 16;
	if (random_below(2))
		add_bad(f, link_up(f, f->from, random_below(f->spines)));
	else
		add_bad(f, link_down(f, random_below(f->spines),
				     (f->from + 1 + random_below(f->leaves - 1)) % f->leaves));
	lose(f);
}

static void draw_marks(struct fabric *f)
{
	size_t i;

	for (i = 0; i < nr_links(f); i++)
		f->marks[i] = 0.001;
	add_bad(f, random_below(nr_links(f)));
	f->marks[f->bad[0]] = 0.01;
}

static void draw_slow(struct fabric *f)
{
	add_bad(f, random_below(nr_links(f)));
	f->slow_ns[f->bad[0]] = 50000;
}

static void test(const char *name, draw_t *draw, enum report_cause cause, struct count *sum)
{
	bool any = false;
	int run;

	*sum = (struct count) { .least = 99 };
	for (run = 0; run < RUNS; run++) {
		struct fabric f = { .leaves = 4, .spines = 4, .burst = 1, .from = -1 };

		draw(&f);
		any |= f.nr_bad;
		count(sum, &f, cause);
	}
	if (any) {
		ktap_result(sum->named >= ENOUGH && sum->off <= RUNS / 100,
			    "%s: bad links are named, with their rate", name);
		printf("# of %u runs: all named %u, told apart %u, off %u, sure %u at least\n",
		       RUNS, sum->named, sum->apart, sum->off, sum->least);
	}
	ktap_result(!sum->wrong, "%s: no other link is named", name);
	if (sum->wrong)
		printf("# of %u runs: %u name another link\n", RUNS, sum->wrong);
}

/* Of four paths each agg has two, and each core one. */
static void test_tiers(void)
{
	struct report_gray found = {};
	struct report_path path[4];
	size_t i;
	int nr;

	for (i = 0; i < 4; i++)
		path[i] = (struct report_path) {
			.link = { i % 2, 2 + i, 6 + i, 10 + i % 2 },
			.packets = PACKETS, .rounds = i % 2 ? 0 : 100,
		};
	nr = report_gray(path, 4, 12, &found, 1);
	ktap_result(nr == 1 && found.nr_others == 1 && found.link + found.other[0] == 10,
		    "paths by one agg: links from leaf to agg and from agg to leaf are named");
	path[2].rounds = 0;
	nr = report_gray(path, 4, 12, &found, 1);
	ktap_result(nr == 1 && found.nr_others == 1 && found.link + found.other[0] == 8,
		    "one path of an agg: the links to the core and behind it are named");
	nr = report_gray(path, 2, 12, &found, 1);
	ktap_result(nr == 1 && found.nr_others == 3, "one path of each agg: four links are named");
}

static void test_range(void)
{
	struct report_path path = { .link = { 2, 1, REPORT_NO_LINK, REPORT_NO_LINK },
				    .packets = 1000, .rounds = 1000 };
	struct report_gray found;

	ktap_result(report_gray(NULL, 0, 0, &found, 1) == 0, "no paths: no links");
	ktap_result(report_gray(&path, 1, 3, &found, 1) == 0, "one path: nothing to compare");
	ktap_result(report_gray(&path, 1, 2, &found, 1) == -EINVAL,
		    "a number of a link beyond the last one is refused");
	path.link[0] = REPORT_NO_LINK;
	ktap_result(report_gray(&path, 1, 2, &found, 1) == 0,
		    "a link that is not known is accepted");
	path.group = 1;
	ktap_result(report_gray(&path, 1, 2, &found, 1) == -EINVAL,
		    "a number of a group beyond the paths is refused");
}

int main(void)
{
	struct count sum;

	ktap_begin();
	test("no loss", draw_clean, REPORT_LOSS, &sum);
	test("loss everywhere", draw_background, REPORT_LOSS, &sum);
	test("a NIC that loses packets", draw_incast, REPORT_LOSS, &sum);
	test("a NIC that loses bursts", draw_incast_bursts, REPORT_LOSS, &sum);
	test("bursts of rounds everywhere", draw_bursts, REPORT_LOSS, &sum);
	test("one link", draw_one, REPORT_LOSS, &sum);
	ktap_result(sum.apart == sum.named, "one link: it is told apart from the others");
	test("both directions of a cable", draw_cable, REPORT_LOSS, &sum);
	test("one link, lost acknowledgments", draw_acks, REPORT_LOSS, &sum);
	test("one link that loses more, lost acknowledgments", draw_more, REPORT_LOSS, &sum);
	test("one link, loss everywhere", draw_one_of_background, REPORT_LOSS, &sum);
	test("two links", draw_two, REPORT_LOSS, &sum);
	test("two leaves", draw_two_leaves, REPORT_LOSS, &sum);
	ktap_result(!sum.apart, "two leaves: both links that it may be are named");
	test("different numbers of packets", draw_uneven, REPORT_LOSS, &sum);
	test("paths without packets", draw_idle, REPORT_LOSS, &sum);
	test("hosts of one leaf", draw_one_leaf, REPORT_LOSS, &sum);
	test("one link that marks", draw_marks, REPORT_MARKS, &sum);
	test("one slow link", draw_slow, REPORT_DELAY, &sum);
	test_tiers();
	test_range();
	return ktap_end();
}
