// SPDX-License-Identifier: GPL-2.0
/* Weights of paths from their ports: how often equal paths are called weighted */
#include <stdlib.h>

#include "discover/discover_run.h"
#include "discover/weights.h"
#include "../../ktap.h"
#include "../../random.h"

#define MOST	1024

static struct portmap_path paths[ROCESTEER_MAX_PATHS];

/* Probe ports that take paths by chance, in proportion to @weight. */
static void probe(struct portmap_peer *peer, const unsigned int *weight, unsigned int ports)
{
	unsigned int sum = 0, i, at;

	for (i = 0; i < peer->nr_paths; i++)
		sum += weight[i];
	while (ports--) {
		at = random_below(sum);
		for (i = 0; at >= weight[i]; i++)
			at -= weight[i];
		paths[i].nr_ports++;
	}
}

/* Discovery takes the least number of ports, and twice as many in doubt. */
static enum weights_verdict search(unsigned int n, const unsigned int *weight)
{
	struct portmap_peer peer = { .paths = paths, .nr_paths = n };
	unsigned int least = discover_bound(n + 1, DISCOVER_ONE_IN), ports = 0;
	enum weights_verdict verdict;
	unsigned int i;

	if (least < 225)
		least = 225;
	for (i = 0; i < n; i++)
		paths[i] = (struct portmap_path) { .weight = 1 };
	do {
		probe(&peer, weight, least - ports);
		ports = least;
		verdict = weights_judge(&peer);
		least = 2 * ports < MOST ? 2 * ports : MOST;
	} while (verdict == WEIGHTS_DOUBT && ports < MOST);
	if (verdict == WEIGHTS_DIFFER) {
		probe(&peer, weight, MOST - ports);
		weights_propose(&peer);
	}
	return verdict;
}

/* How often in @runs searches the weights are seen. */
static unsigned int seen(unsigned int n, const unsigned int *weight, unsigned int runs)
{
	unsigned int differ = 0, i;

	for (i = 0; i < runs; i++)
		differ += search(n, weight) == WEIGHTS_DIFFER;
	return differ;
}

static void test_equal(void)
{
	static const unsigned int counts[] = { 2, 3, 4, 8, 16, 64 };
	unsigned int runs = ktap_all() ? 200000 : 20000, equal[64], i;

	for (i = 0; i < 64; i++)
		equal[i] = 1;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		ktap_result(seen(counts[i], equal, runs) <= runs / 10000,
			    "%u equal paths are called weighted less than once in 10,000 times",
			    counts[i]);
}

static void test_weighted(void)
{
	static const struct {
		unsigned int n, weight[8], times;
		const char *what;
	} cases[] = {
		{ 2, { 1, 3 }, 95, "1:3" },
		{ 2, { 1, 2 }, 95, "1:2" },
		{ 3, { 16, 16, 1 }, 95, "16:16:1" },
		{ 3, { 2, 1, 1 }, 95, "2:1:1, as two routers of one address are," },
		{ 7, { 2, 1, 1, 1, 1, 1, 1 }, 75, "2:1:1:1:1:1:1" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ktap_result(seen(cases[i].n, cases[i].weight, 1000) >= 10 * cases[i].times,
			    "weights %s are seen %u of 100 times",
			    cases[i].what, cases[i].times);
}

static void test_proposal(void)
{
	static const unsigned int weight[] = { 1, 3, 3 };
	unsigned int right = 0, near = 0, i;

	for (i = 0; i < 200; i++) {
		search(3, weight);
		right += paths[0].weight == 1 && paths[1].weight == 3 && paths[2].weight == 3;
		near += paths[1].weight > 2 * paths[0].weight &&
			paths[2].weight < 4 * paths[0].weight;
	}
	ktap_result(right >= 150 && near >= 190, "the weights proposed are those of the switch");
}

static void test_few(void)
{
	struct portmap_peer peer = { .paths = paths, .nr_paths = 2 };

	paths[0].nr_ports = 9;
	paths[1].nr_ports = 0;
	ktap_result(weights_judge(&peer) == WEIGHTS_EQUAL, "nine ports of two paths say nothing");
	paths[1].nr_ports = 1000;
	ktap_result(weights_judge(&peer) == WEIGHTS_DIFFER, "9 of 1,009 ports are no half");
	peer.nr_paths = 1;
	ktap_result(weights_judge(&peer) == WEIGHTS_EQUAL, "one path has no weight");
}

int main(void)
{
	ktap_begin();
	test_equal();
	test_weighted();
	test_proposal();
	test_few();
	return ktap_end();
}
