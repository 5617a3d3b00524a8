// SPDX-License-Identifier: GPL-2.0
/* Shares of paths whose packets come late: only the paths that receivers wait for carry less. */
#include <string.h>

#include "../../ktap.h"
#include "daemon/path_late.h"

#define PATHS	4
#define ALL	0xfull
#define SEC	1000000000ull

static struct path_late late;
static __u64 now;

static void begin(void)
{
	memset(&late, 0, sizeof(late));
	now = 1000 * SEC;
}

/* Some votes for a path, a tenth of a second from each other. Return: changes. */
static int vote(__u32 p, int votes, __u64 usable)
{
	int changes = 0;

	for (; votes; votes--) {
		now += SEC / 10;
		changes += path_late_vote(&late, PATHS, p, usable, now);
	}
	return changes;
}

static bool is_less(__u8 a, __u8 b, __u8 c, __u8 d)
{
	return late.less[0] == a && late.less[1] == b && late.less[2] == c && late.less[3] == d;
}

/* Wait until more is tried. Return: seconds. */
static unsigned int wait_more(void)
{
	__u64 from = now;

	while (!path_late_step(&late, PATHS, now))
		now += SEC;
	return (now - from) / SEC;
}

static void test_votes(void)
{
	__u32 round, p;
	int changes = 0;

	begin();
	ktap_result(!vote(2, 2, ALL) && is_less(0, 0, 0, 0), "two votes change nothing");
	ktap_result(vote(2, 1, ALL) == 1 && is_less(0, 0, 4, 0),
		    "a path with three votes carries half");
	ktap_result(vote(2, 9, ALL) == 3 && is_less(0, 0, 7, 0),
		    "three votes more cost an eighth");
	ktap_result(!vote(2, 30, ALL) && is_less(0, 0, 7, 0), "an eighth is left");
	begin();
	for (round = 0; round < 100; round++)
		for (p = 0; p < PATHS; p++)
			changes += vote(p, 1, ALL);
	ktap_result(!changes, "even votes change nothing");
	begin();
	vote(2, 3, ALL);
	ktap_result(vote(0, 2, ALL) + vote(1, 2, ALL) + vote(3, 2, ALL) + vote(0, 1, ALL) +
		    vote(1, 1, ALL) + vote(3, 1, ALL) == 1 && is_less(0, 0, 3, 0),
		    "a late path that others have nine votes before carries more");
	begin();
	ktap_result(!vote(2, 30, 1 << 2) && !vote(1, 30, ALL & ~(1 << 1)),
		    "the only path, and a path that is down, keep what they carry");
	begin();
	now += SEC / 100;
	late.changed = now;
	ktap_result(!path_late_vote(&late, PATHS, 2, ALL, now + SEC / 100) && !late.score[2],
		    "a vote just behind a change does not count");
}

static void test_level(void)
{
	begin();
	late.less[0] = 2;
	late.less[1] = 1;
	late.less[2] = 3;
	ktap_result(vote(3, 3, ALL) == 1 && is_less(1, 0, 2, 0),
		    "where all paths would be late, each carries more");
}

static void test_more(void)
{
	unsigned int first, second;

	begin();
	vote(1, 3, ALL);
	first = wait_more();
	ktap_result(is_less(0, 3, 0, 0), "without votes a late path carries an eighth more");
	vote(1, 3, ALL);
	second = wait_more();
	ktap_result(is_less(0, 3, 0, 0) && second >= 2 * first - 1,
		    "if the path is late again, the next attempt comes after %u s, not %u",
		    second, first);
	wait_more();
	wait_more();
	wait_more();
	ktap_result(is_less(0, 0, 0, 0) && !late.due, "in the end no path is late");
}

static void test_shares(void)
{
	const __u16 even[PATHS] = { 1, 1, 1, 1 }, odd[PATHS] = { 3, 1, 3, 0xfffe };
	__u16 share[ROCESTEER_MAX_PATHS];
	struct path_late read = {};

	begin();
	path_late_shares(&late, PATHS, even, share);
	ktap_result(!share[0] && !share[3], "where no path is late, there are no shares");
	late.less[2] = 4;
	path_late_shares(&late, PATHS, even, share);
	ktap_result(share[0] == 2 && share[1] == 2 && share[2] == 1 && share[3] == 2,
		    "shares are as small as can be");
	path_late_read(&read, PATHS, even, share, now);
	ktap_result(!memcmp(read.less, late.less, sizeof(late.less)) && read.due > now,
		    "a daemon that begins reads them, and will try more");
	late.due = 7;
	path_late_read(&late, PATHS, even, share, now);
	ktap_result(late.due == 7, "shares that are known change nothing");
	path_late_shares(&late, PATHS, odd, share);
	ktap_result(share[0] && share[1] && share[2] && share[3] > 0x7fff,
		    "no share is 0, or too large");
}

int main(void)
{
	ktap_begin();
	test_votes();
	test_level();
	test_more();
	test_shares();
	return ktap_end();
}
