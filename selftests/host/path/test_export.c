// SPDX-License-Identifier: GPL-2.0
/* Lists of ports for many peers: exact where possible, else the best list */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <rocesteer/label.h>

#include "export/export.h"
#include "../../ktap.h"

#define MAX_PEERS	256
#define SECONDS		1	/* of the processor, for the largest */

static struct portmap_peer peer[MAX_PEERS];
static const struct portmap_peer *peers[MAX_PEERS];
static __u32 state = 1;

struct result {
	unsigned int length;
	__u16 ports[EXPORT_MAX_LENGTH];
	unsigned int each[MAX_PEERS];
	struct export_balance balance;
};

static __u32 below(__u32 n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

static void clear(void)
{
	size_t j;

	for (j = 0; j < MAX_PEERS; j++) {
		portmap_peer_free(&peer[j]);
		peers[j] = &peer[j];
	}
}

static void add_port(size_t j, unsigned int path, unsigned int port)
{
	struct hash_router router = { .addr = { path + 1 } };

	portmap_peer_add_port(&peer[j], &router, NULL, port);
}

/* Each bit of a port changes bits of the path, and each peer has another constant. */
static void fill_linear(size_t n, unsigned int paths, unsigned int ports)
{
	unsigned int bit[14], b, i;
	size_t j;

	clear();
	for (b = 0; b < 14; b++)
		bit[b] = below(paths);
	for (j = 0; j < n; j++) {
		unsigned int constant = below(paths);

		for (i = 0; i < ports; i++) {
			unsigned int port = i * 10125 % PORTMAP_MAX_PORTS, path = constant;

			for (b = 0; b < 14; b++)
				path ^= port >> b & 1 ? bit[b] : 0;
			add_port(j, path, ROCESTEER_SPORT_MIN + port);
		}
	}
}

static void fill_random(size_t n, unsigned int paths, unsigned int ports)
{
	unsigned int i;
	size_t j;

	clear();
	for (j = 0; j < n; j++)
		for (i = 0; i < ports; i++)
			add_port(j, below(paths), ROCESTEER_SPORT_MIN + i);
}

static bool search(size_t n, struct result *r)
{
	struct export e;
	int ret = export_open(&e, peers, n);

	r->length = export_length(&e);
	ret = ret ?: export_search(&e, r->length, r->ports) ?:
	      export_measure(&e, r->ports, r->length, r->each, &r->balance);
	export_close(&e);
	return !ret;
}

static bool is_exact(size_t n)
{
	struct result r;

	return search(n, &r) && r.balance.worst == EXPORT_EVEN &&
	       r.balance.sum == n * EXPORT_EVEN;
}

static void test_linear(void)
{
	unsigned int paths, k, wrong = 0;

	for (paths = 1; paths <= 64; paths *= 2)
		for (k = 0; k < 10; k++) {
			do
				fill_linear(64, paths, 2048);
			while (peer[0].nr_paths < paths);
			wrong += !is_exact(1 + below(64));
		}
	ktap_result(!wrong, "a linear hash: one list is exact for all peers");
}

static void test_hidden(void)
{
	static const struct {
		size_t peers;
		unsigned int paths;
	} cases[] = { { 1, 64 }, { 2, 16 }, { 8, 8 }, { 64, 4 }, { 256, 8 }, { 256, 64 } };
	unsigned int i, p, shift;
	size_t j;

	/* Somewhere among random ports are some that are exact for every peer. */
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int paths = cases[i].paths;

		fill_random(cases[i].peers, paths, 8 * paths);
		for (j = 0; j < cases[i].peers; j++) {
			shift = below(paths);
			for (p = 0; p < paths; p++)
				add_port(j, (p + shift) % paths,
					 ROCESTEER_SPORT_MIN + 5000 + 17 * p);
		}
		ktap_result(is_exact(cases[i].peers), "exact: %zu peers, %u paths, among %u ports",
			    cases[i].peers, paths, 9 * paths);
	}
}

/* Try all lists; @best gets the balance of the best one. */
static void brute(const struct export *e, unsigned int length, __u16 *ports, unsigned int depth,
		  size_t from, struct export_balance *best)
{
	struct export_balance b;
	size_t i;

	if (depth == length) {
		export_measure(e, ports, length, NULL, &b);
		if (b.worst < best->worst || (b.worst == best->worst && b.sum < best->sum))
			*best = b;
		return;
	}
	for (i = from; i < e->nr_ports; i++) {
		ports[depth] = e->ports[i];
		brute(e, length, ports, depth + 1, i, best);
	}
}

static void test_brute(void)
{
	unsigned int wrong = 0, uneven = 0, k;

	for (k = 0; k < 40; k++) {
		size_t n = 1 + below(4);
		struct export_balance best = { .worst = ~0u };
		struct export e;
		struct result r;
		__u16 ports[8];

		do {
			fill_random(n, 1 + below(4), 2 + below(9));
			peer[0].paths[0].weight = 1 + below(2);
			export_open(&e, peers, n);
			r.length = export_length(&e);
			if (r.length > 6)
				export_close(&e);
		} while (r.length > 6);
		brute(&e, r.length, ports, 0, 0, &best);
		export_close(&e);
		wrong += !search(n, &r) || r.balance.worst != best.worst ||
			 r.balance.sum != best.sum;
		uneven += best.worst > EXPORT_EVEN;
	}
	ktap_result(wrong <= 2 && uneven && uneven < 40,
		    "small maps: of twenty lists found one at most is not the best");
}

static void test_impossible(void)
{
	struct result r;

	/* The second path of the first peer has no port that the second peer has. */
	clear();
	add_port(0, 0, 50000);
	add_port(0, 1, 50001);
	add_port(1, 0, 50000);
	add_port(1, 1, 50002);
	ktap_result(search(2, &r) && r.length == 2 && r.ports[0] == 50000 &&
		    r.ports[1] == 50000 && r.balance.worst == 2 * EXPORT_EVEN &&
		    r.each[0] == 2 * EXPORT_EVEN,
		    "a path without a common port is left out, and reported");
	/* A port never takes both first paths, or both second ones. */
	clear();
	add_port(0, 0, 50000);
	add_port(0, 1, 50001);
	add_port(0, 1, 50002);
	add_port(1, 0, 50000);
	add_port(1, 0, 50001);
	add_port(1, 1, 50002);
	ktap_result(search(2, &r) && r.balance.worst == EXPORT_EVEN && r.ports[0] != r.ports[1],
		    "one exact list of three pairs is found");
	/* 2, 3 and 61 paths have no common multiple that is short enough. */
	clear();
	for (unsigned int i = 0; i < 61; i++) {
		add_port(0, i % 2, 50000 + i);
		add_port(1, i % 3, 50000 + i);
		add_port(2, i, 50000 + i);
	}
	ktap_result(search(3, &r) && r.length == 61 && r.each[2] == EXPORT_EVEN &&
		    r.each[0] == (31 * 2 * EXPORT_EVEN + 60) / 61 &&
		    r.each[1] == (21 * 3 * EXPORT_EVEN + 60) / 61,
		    "2, 3 and 61 paths: exact for the most, next to it for the others");
}

static void test_weights(void)
{
	struct result r;
	unsigned int i, load = 0;

	clear();
	for (i = 0; i < 4; i++)
		add_port(0, i / 2, 50000 + i);
	peer[0].paths[0].weight = 6;
	peer[0].paths[1].weight = 2;
	search(1, &r);
	for (i = 0; i < r.length; i++)
		load += r.ports[i] < 50002;
	ktap_result(r.length == 4 && load == 3 && r.balance.worst == EXPORT_EVEN,
		    "weights 6 and 2: three of four queue pairs");
	ktap_result(r.ports[0] == 50000 && r.ports[1] != r.ports[0] &&
		    r.ports[2] + r.ports[3] + r.ports[1] + r.ports[0] - 200000 == 0 + 1 + 2 + 0,
		    "the ports of a path are used in turn, the first one first");
}

/* Any number of queue pairs is as even as with one port per path. */
static void test_beginning(void)
{
	struct export_balance b;
	unsigned int wrong = 0, n;
	struct export e;
	struct result r;

	fill_linear(8, 16, 512);
	search(8, &r);
	export_open(&e, peers, 8);
	for (n = 1; n <= r.length; n++) {
		export_measure(&e, r.ports, n, NULL, &b);
		wrong += b.worst != (16 * EXPORT_EVEN + n - 1) / n;
	}
	export_close(&e);
	ktap_result(r.length == 16 && !wrong, "fewer queue pairs than paths take different paths");
}

static void test_bounded(void)
{
	struct timespec began, ended;
	struct result r, again;
	double seconds;

	fill_random(256, 64, 700);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	search(256, &r);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	seconds = ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9;
	ktap_result(seconds < SECONDS, "a list for 256 random peers of 64 paths is found in time");
	printf("# %.2f s, worst %u, mean %.0f\n", seconds, r.balance.worst, r.balance.sum / 256.0);
	search(256, &again);
	ktap_result(!memcmp(r.ports, again.ports, r.length * sizeof(*r.ports)) &&
		    r.balance.worst <= 4 * EXPORT_EVEN,
		    "the list is the same again, and no path has more than four");
}

static void test_common(void)
{
	struct export e;
	__u16 alone = 50001;
	struct export_balance b;

	clear();
	add_port(0, 0, 50000);
	add_port(0, 1, 50001);
	add_port(1, 0, 50002);
	export_open(&e, peers, 2);
	ktap_result(!e.nr_ports, "peers without a common port have no list");
	ktap_result(export_measure(&e, &alone, 1, NULL, &b) == -ENOENT,
		    "a port that was probed for one peer only is refused");
	export_close(&e);
}

static void test_ucx(void)
{
	unsigned int i, k, factor, wrong = 0;
	__u16 ports[EXPORT_MAX_EXTRA];
	struct export_balance b;
	struct export e;
	size_t n;

	ktap_result(export_ucx_port(1, 0, false) == 65472 &&
		    export_ucx_port(9, 0, false) == 65472 &&
		    export_ucx_port(1, 1, false) == 65473 &&
		    export_ucx_port(3, 2, false) == 65478 &&
		    export_ucx_port(64, 1, false) == 65408,
		    "lanes of UCX by verbs");
	ktap_result(export_ucx_port(1, 0, true) == 49152 && export_ucx_port(3, 2, true) == 49158,
		    "lanes of UCX by DEVX");
	clear();
	n = export_extra(EXPORT_UCX, ports);
	for (i = 0; i < 512; i++)
		add_port(0, i == 65472 - 65024 ? 0 : 1 + i % 3, 65024 + i);
	ktap_result(n == 512, "512 ports are probed for lanes");
	export_open(&e, peers, 1);
	for (i = 0; i < n; i++)
		wrong += !e.index[ports[i] - ROCESTEER_SPORT_MIN];
	ktap_result(!wrong, "the ports for lanes are the block around lane 0");
	k = export_ucx(&e, 4, false, ports);
	ktap_result((int)k > 0 && !export_measure(&e, ports, 4, NULL, &b) &&
		    b.worst == EXPORT_EVEN, "an exact factor for UCX is found");
	for (factor = 1; factor < k; factor++) {
		for (i = 0; i < 4; i++)
			ports[i] = export_ucx_port(factor, i, false);
		wrong += export_measure(&e, ports, 4, NULL, &b) || b.worst == EXPORT_EVEN;
	}
	ktap_result(!wrong, "the factor for UCX is the least exact one");
	ktap_result(export_ucx(&e, 4, true, ports) == -ENOENT, "lanes by DEVX need other ports");
	ktap_result(export_ucx(&e, 256, false, ports) == 1 && ports[255] == (65472 ^ 255),
		    "256 lanes: one factor only");
	export_close(&e);
}

static void test_uccl(void)
{
	__u16 ports[EXPORT_MAX_EXTRA];
	struct export_balance b;
	struct export e;
	unsigned int i;

	ktap_result(export_extra(EXPORT_UCCL, ports) == 512 && ports[0] == 49152 &&
		    ports[511] == 49152 + 511 && export_extra(EXPORT_JSON, ports) == 1024 &&
		    !export_extra(EXPORT_PERFTEST, ports), "each library has its ports to probe");
	/* The first eight ports have one path more than once. */
	clear();
	for (i = 0; i < 64; i++)
		add_port(0, i < 20 ? i / 10 : i % 4, 49152 + i);
	export_open(&e, peers, 1);
	ktap_result(export_uccl(&e, ports) == 49152 + 19 && ports[0] == 49152 + 20 &&
		    ports[7] == 49152 + 27 && !export_measure(&e, ports, 8, NULL, &b) &&
		    b.worst == EXPORT_EVEN, "UCCL gets the first exact base");
	export_close(&e);
}

/* All ways in which @n queue pairs take @paths paths. */
static double by_hand(unsigned int paths, unsigned int n)
{
	unsigned long ways = 1, way, rest, sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		ways *= paths;
	for (way = 0; way < ways; way++) {
		unsigned int load[8] = {}, most = 0;

		for (rest = way, i = 0; i < n; i++, rest /= paths)
			if (++load[rest % paths] > most)
				most = load[rest % paths];
		sum += most;
	}
	return (double)sum / ways * paths / n;
}

static void test_expected(void)
{
	bool right = true;
	unsigned int paths, n;

	for (paths = 1; paths <= 4; paths++)
		for (n = 1; n <= 8; n++)
			right &= fabs(export_expected(paths, n) - by_hand(paths, n)) * 1e6 < 1;
	ktap_result(right, "chance: the expectation is the mean over all ways");
	ktap_result(fabs(export_expected(2, 2) - 1.5) * 1e9 < 1 &&
		    export_expected(64, 256) > 2 && export_expected(64, 256) < 2.6,
		    "chance: two of two, and many of many");
}

int main(void)
{
	ktap_begin();
	test_linear();
	test_hidden();
	test_brute();
	test_impossible();
	test_weights();
	test_beginning();
	test_bounded();
	test_common();
	test_ucx();
	test_uccl();
	test_expected();
	clear();
	return ktap_end();
}
