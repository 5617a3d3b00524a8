// SPDX-License-Identifier: GPL-2.0
/* How evenly flows share links, and on which links they meet. */
#include <errno.h>
#include <math.h>

#include "report/share.h"
#include "base/compiler.h"
#include "../../ktap.h"

#define ROOM	8

static bool near(double a, double b)
{
	return fabs(a - b) < 0.000001;
}

static void test_even(void)
{
	const struct report_share shares[] = {
		{ 1000, 4, 0, true }, { 1000, 4, 0, true },
		{ 1000, 4, 0, true }, { 1000, 4, 0, true },
	};
	struct report_imbalance got;

	report_imbalance(shares, ARRAY_SIZE(shares), &got);
	ktap_result(near(got.bytes, 1) && near(got.flows, 0) && near(got.whole, 1) &&
		    near(got.split, 1), "16 flows on 4 paths, evenly: nothing to gain");
}

static void test_uneven(void)
{
	const struct report_share shares[] = {
		{ 5000, 5, 0, true }, { 4000, 4, 0, true },
		{ 2000, 2, 0, true }, { 6000, 6, 0, true },
	};
	struct report_imbalance got;

	/* The mean is 17 / 4 flows; they are 0.75, 0.25, 2.25 and 1.75 off, 5 in all. */
	report_imbalance(shares, ARRAY_SIZE(shares), &got);
	ktap_result(near(got.bytes, 6 * 4 / 17.0), "maximum by mean of bytes");
	ktap_result(near(got.flows, 500 / 17.0), "mean difference of flows from their mean");
	ktap_result(near(got.whole, 5 * 4 / 17.0), "17 whole flows on 4 paths: one has 5");
	ktap_result(near(got.split, 1), "split flows are even");
}

static void test_down(void)
{
	const struct report_share shares[] = {
		{ 2000, 2, 0, true }, { 1000, 0, 0, false }, { 0, 0, 0, false },
	};
	const struct report_share dead[] = { { 1000, 1, 0, false } };
	struct report_imbalance got;

	report_imbalance(shares, ARRAY_SIZE(shares), &got);
	ktap_result(near(got.bytes, 2 * 2 / 3.0),
		    "a path that is down counts if it carried bytes before");
	ktap_result(near(got.whole, 1), "flows can be dealt to paths that are up alone");
	report_imbalance(dead, 1, &got);
	ktap_result(near(got.bytes, 1) && near(got.whole, 0) && near(got.split, 0),
		    "no path is up: steering reaches nothing");
	report_imbalance(NULL, 0, &got);
	ktap_result(near(got.bytes, 0) && near(got.flows, 0) && near(got.whole, 0),
		    "no paths: all is 0");
}

static void test_collisions(void)
{
	/* Choice 0: 8 flows on 4 links. Choice 3: 3 flows on 2 links, of which one is down. */
	const struct report_share links[] = {
		{ 0, 3, 0, true }, { 0, 0, 0, true }, { 0, 1, 3, false }, { 0, 4, 0, true },
		{ 0, 1, 0, true }, { 0, 2, 3, true },
	};
	struct report_collision found[ROOM];
	long nr = report_collisions(links, ARRAY_SIZE(links), found, ROOM);

	ktap_result(nr == 2 && found[0].link == 3 && found[0].flows == 4 && found[0].fair == 2,
		    "the link with the most flows above the fair number comes first");
	ktap_result(nr == 2 && found[1].link == 0 && found[1].flows == 3 && found[1].fair == 2,
		    "then the link with the next most");
	found[0].link = ROOM;
	ktap_result(report_collisions(links, ARRAY_SIZE(links), found, 0) == 2 &&
		    found[0].link == ROOM, "without room collisions are counted");
}

static void test_no_collision(void)
{
	const struct report_share even[] = {
		{ 0, 2, 0, true }, { 0, 1, 0, true }, { 0, 2, 0, true }, { 0, 2, 0, true },
	};
	const struct report_share dead[] = { { 0, 9, 0, false } };
	const struct report_share far[] = { { 0, 1, REPORT_CHOICES_MAX, true } };
	struct report_collision found[ROOM];

	ktap_result(report_collisions(even, ARRAY_SIZE(even), found, ROOM) == 0,
		    "7 flows dealt evenly to 4 links do not meet without need");
	ktap_result(report_collisions(dead, 1, found, ROOM) == 0, "no link is up: no collision");
	ktap_result(report_collisions(NULL, 0, found, ROOM) == 0, "no links: no collision");
	ktap_result(report_collisions(far, 1, found, ROOM) == -EINVAL,
		    "a number of a choice out of range is refused");
}

int main(void)
{
	ktap_begin();
	test_even();
	test_uneven();
	test_down();
	test_collisions();
	test_no_collision();
	return ktap_end();
}
