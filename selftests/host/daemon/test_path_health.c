// SPDX-License-Identifier: GPL-2.0
/*
 * Judgement of a path whose link behind its router is dead, where answers of the leaf come back by
 * that link as well
 */
#include "../../ktap.h"
#include "daemon/path_health.h"

#define PATHS	4
#define ALL	((1 << PATHS) - 1)
#define DEAD	0		/* the path */
#define MSEC	1000000ull

static const struct traffic no_traffic;

/* Routers answer. The leaf answers to probes by other paths than those of @lost. */
static void answer(struct path_health *health, __u64 asked, __u64 lost)
{
	__u32 p;

	for (p = 0; p < PATHS; p++) {
		bool control = health->controls >> p & 1;

		if (!((asked | health->controls | health->witnesses) >> p & 1))
			continue;
		health->path[p].router = true;
		health->router |= control;
		if (lost >> p & 1 || !((asked | health->controls) >> p & 1))
			continue;
		*(control ? &health->leaf : &health->path[p].leaf) = true;
	}
}

/*
 * One examination after the other, from the suspicion on, for as long as the verdict is unknown and
 * another one is due. Return: the number of examinations; sets @verdict and @now.
 */
static unsigned int examine(struct path_health *health, __u64 lost, enum path_verdict *verdict,
			    __u64 *now)
{
	unsigned int n = 0;
	__u64 due = 0, at;

	path_health_suspect(health, DEAD, true, *now);
	do {
		path_health_examine(health, due, 0, ALL, &no_traffic);
		answer(health, health->examined, lost);
		answer(health, path_health_examine_again(health, ALL), lost);
		*verdict = path_health_judge(health, DEAD, &no_traffic, *now);
		n++;
		if (*verdict != VERDICT_UNKNOWN)
			break;
		path_health_unknown(health, DEAD, *now);
		path_health_due(health, *now, &at);
		if (at == ~0ull)
			break;
		*now = at;
		due = path_health_due(health, *now, &at);
	} while (due);
	return n;
}

static struct path_health fresh(void)
{
	return (struct path_health) { .nr_paths = PATHS };
}

int main(void)
{
	struct path_health health = fresh();
	enum path_verdict verdict;
	__u64 now = 1000 * MSEC;

	ktap_begin();
	ktap_result(examine(&health, 1 << DEAD, &verdict, &now) == 1 && verdict == VERDICT_LEAF,
		    "the leaf answers by another path only: the path is dead");
	health = fresh();
	ktap_result(examine(&health, 1 << DEAD | 1 << 1 | 1 << 2, &verdict, &now) == 2 &&
		    verdict == VERDICT_LEAF && now == 1100 * MSEC,
		    "if the leaf answers to no control, other controls are asked 100 ms later");
	health = fresh();
	ktap_result(examine(&health, ALL, &verdict, &now) == 4 && verdict == VERDICT_UNKNOWN &&
		    now == 1800 * MSEC, "three times, not for ever");
	ktap_result(examine(&health, ALL, &verdict, &now) == 4 && verdict == VERDICT_DATA,
		    "then a flow that loses again is believed");
	return ktap_end();
}
