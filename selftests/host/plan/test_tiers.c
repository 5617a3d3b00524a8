// SPDX-License-Identifier: GPL-2.0
/*
 * Flows on the links of fat trees, where hosts number paths, and deal flows by place, as jobs do.
 * Core c of agg a is one of cores of its own: agg a of each pod has a link to it.
 */
#include <stdlib.h>
#include <string.h>

#include <rocesteer/flow.h>

#include "../../ktap.h"
#include "../../random.h"
#include "base/base.h"
#include "plan/plan.h"
#include "portmap/portmap.h"

/* Classes of links, in the order in which a flow takes them */
enum class {
	LEAF_AGG,
	AGG_CORE,
	CORE_AGG,
	AGG_LEAF,
	CLASSES
};

enum dealing {
	ECMP,
	PLACE,	/* flows are whole, each on the path of the host's place */
	SPLIT,	/* evenly over all paths */
};

enum pattern {
	PERMUTATION,
	SHIFT,
	XOR,
	ALL_TO_ALL,
};

static const char * const dealings[] = { "ECMP", "place", "split" };
static const char * const patterns[] = { "permutation", "shifts", "xor", "all to all" };

/**
 * struct tree - a fat tree
 * @name: for people
 * @pods: number of pods, a power of two, as the others are
 * @leaves: leaves of a pod
 * @hosts: hosts of a leaf
 * @aggs: aggs of a pod
 * @cores: cores of an agg
 */
struct tree {
	const char *name;
	unsigned int pods, leaves, hosts, aggs, cores;
};

static const struct tree k8 = { "k=8, 128 hosts", 8, 4, 4, 4, 4 };
static const struct tree narrow = { "k=8, 512 hosts", 8, 4, 16, 4, 4 };
static const struct tree big = { "64 ports, 65,536 hosts", 64, 32, 32, 32, 32 };

/**
 * struct model - what flows do to the links of a tree
 * @tree: the tree
 * @nr: paths of each host to another pod
 * @paths: by place, @nr of each: agg + core * aggs
 * @load: flows on each link, by class
 */
struct model {
	const struct tree *tree;
	unsigned int nr;
	__u16 *paths;
	double *load[CLASSES];
};

/* Max / ideal by class: the ideal is the mean of the links of the fullest leaf, or pod. */
struct result {
	double sum[CLASSES];
	double flows[CLASSES];	/* most of them on one link, in any round */
	unsigned int rounds;
};

static unsigned int hosts_of_pod(const struct tree *tree)
{
	return tree->leaves * tree->hosts;
}

static unsigned int hosts_of(const struct tree *tree)
{
	return tree->pods * hosts_of_pod(tree);
}

static bool is_core(enum class class)
{
	return class == AGG_CORE || class == CORE_AGG;
}

static size_t links_of(const struct tree *tree, enum class class)
{
	return tree->pods * tree->aggs * (is_core(class) ? tree->cores : tree->leaves);
}

static void name_router(__u8 addr[16], __u8 tier, unsigned int a, unsigned int c)
{
	memset(addr, 0, 16);
	addr[0] = tier;
	addr[1] = a;
	addr[2] = c;
}

/* All paths to another pod, in the order of a list of cores */
static struct portmap_path *list_paths(const struct tree *tree)
{
	struct portmap_path *paths = calloc(tree->aggs * tree->cores, sizeof(*paths));
	unsigned int i;

	for (i = 0; i < tree->aggs * tree->cores; i++) {
		name_router(paths[i].via, 2, i / tree->cores, 0);
		name_router(paths[i].router, 3, i / tree->cores, i % tree->cores);
	}
	return paths;
}

/* The paths of the hosts of a pod, as each of them chooses and numbers these. */
static void choose_paths(struct model *m, unsigned int most)
{
	const struct tree *tree = m->tree;
	unsigned int place, p;

	for (place = 0; place < hosts_of_pod(tree); place++) {
		struct portmap_path *paths = list_paths(tree);

		m->nr = portmap_choose(paths, tree->aggs * tree->cores, most, place);
		for (p = 0; p < m->nr; p++)
			m->paths[place * m->nr + p] =
				paths[p].router[1] + paths[p].router[2] * tree->aggs;
		free(paths);
	}
}

static void model_init(struct model *m, const struct tree *tree, unsigned int most)
{
	enum class class;

	m->tree = tree;
	m->paths = calloc(hosts_of_pod(tree) * ROCESTEER_MAX_PATHS, sizeof(*m->paths));
	for (class = 0; class < CLASSES; class++)
		m->load[class] = calloc(links_of(tree, class), sizeof(*m->load[class]));
	choose_paths(m, most);
}

static void model_free(struct model *m)
{
	enum class class;

	for (class = 0; class < CLASSES; class++)
		free(m->load[class]);
	free(m->paths);
}

static void add(struct model *m, unsigned int from, unsigned int to, unsigned int path, double flow)
{
	const struct tree *tree = m->tree;
	unsigned int agg = path % tree->aggs, core = path / tree->aggs;
	unsigned int leaf = from / tree->hosts, leaf2 = to / tree->hosts;
	unsigned int pod = leaf / tree->leaves, pod2 = leaf2 / tree->leaves;

	m->load[LEAF_AGG][leaf * tree->aggs + agg] += flow;
	m->load[AGG_LEAF][leaf2 * tree->aggs + agg] += flow;
	if (pod == pod2)
		return;
	m->load[AGG_CORE][(pod * tree->aggs + agg) * tree->cores + core] += flow;
	m->load[CORE_AGG][(pod2 * tree->aggs + agg) * tree->cores + core] += flow;
}

/* The path of the first flow to a peer, as the programs deal it. */
static unsigned int home(unsigned int place, unsigned int nr)
{
	static const struct rocesteer_group group;
	static const struct rocesteer_peer peer;
	__u64 load[ROCESTEER_MAX_PATHS];
	__u32 weight[ROCESTEER_MAX_PATHS];
	unsigned int p;

	for (p = 0; p < nr; p++) {
		load[p] = rocesteer_path_load(&group, &peer, p,
					      rocesteer_deal_by(ROCESTEER_DEAL_PLACE, false));
		weight[p] = 1;
	}
	return plan_least_loaded(load, weight, nr, place % nr);
}

static void transmit(struct model *m, enum dealing how, unsigned int from, unsigned int to,
		     double flow)
{
	const struct tree *tree = m->tree;
	unsigned int place = from % hosts_of_pod(tree), p;
	bool inside = from / hosts_of_pod(tree) == to / hosts_of_pod(tree);
	unsigned int nr = inside ? tree->aggs : m->nr;
	const __u16 *paths = m->paths + place * m->nr;

	if (from / tree->hosts == to / tree->hosts)
		return;
	if (how == ECMP) {
		add(m, from, to, random_below(tree->aggs * tree->cores), flow);
	} else if (how == PLACE) {
		p = home(place, nr);
		add(m, from, to, inside ? p : paths[p], flow);
	} else {
		for (p = 0; p < nr; p++)
			add(m, from, to, inside ? p : paths[p], flow / nr);
	}
}

static void measure(const struct model *m, struct result *r)
{
	const struct tree *tree = m->tree;
	enum class class;
	size_t i, j;

	r->rounds++;
	for (class = 0; class < CLASSES; class++) {
		size_t nr = links_of(tree, class);
		size_t group = tree->aggs * (is_core(class) ? tree->cores : 1);
		double most = 0, ideal = 0;

		for (i = 0; i < nr; i += group) {
			double sum = 0;

			for (j = i; j < i + group; j++) {
				sum += m->load[class][j];
				if (m->load[class][j] > most)
					most = m->load[class][j];
			}
			if (sum / group > ideal)
				ideal = sum / group;
		}
		r->sum[class] += ideal ? most / ideal : 1;
		if (most > r->flows[class])
			r->flows[class] = most;
	}
}

static void permute(struct model *m, enum dealing how)
{
	unsigned int n = hosts_of(m->tree), i, j, x;
	unsigned int *to = calloc(n, sizeof(*to));

	for (i = 0; i < n; i++) {
		j = random_below(i + 1);
		x = i;
		to[i] = to[j];
		to[j] = x;
	}
	for (i = 0; i < n; i++)
		transmit(m, how, i, to[i], 1);
	free(to);
}

/* One round; @step: of shifts and xor */
static void round_of(struct model *m, enum dealing how, enum pattern pattern,
		     unsigned int step, struct result *r)
{
	unsigned int n = hosts_of(m->tree), i, j;
	enum class class;

	for (class = 0; class < CLASSES; class++)
		memset(m->load[class], 0, links_of(m->tree, class) * sizeof(double));
	if (pattern == PERMUTATION)
		permute(m, how);
	for (i = 0; pattern == SHIFT && i < n; i++)
		transmit(m, how, i, (i + step) % n, 1);
	for (i = 0; pattern == XOR && i < n; i++)
		transmit(m, how, i, i ^ step, 1);
	for (i = 0; pattern == ALL_TO_ALL && i < n; i++)
		for (j = 0; j < n; j++)
			transmit(m, how, i, j, 1.0 / n);
	measure(m, r);
}

static void print(const struct model *m, enum dealing how, enum pattern pattern,
		  const struct result *r)
{
	enum class class;

	printf("# %-23s %5u  %-11s %-5s", m->tree->name, m->nr, patterns[pattern],
	       dealings[how]);
	for (class = 0; class < CLASSES; class++)
		printf(" %6.2f", r->sum[class] / r->rounds);
	for (class = 0; class < CLASSES; class++)
		printf(" %6.2f", r->flows[class]);
	putchar('\n');
}

/* @rounds rounds: of shifts and xor all steps, or some of them, at random. */
static struct result run(struct model *m, enum dealing how, enum pattern pattern,
			 unsigned int rounds)
{
	unsigned int n = hosts_of(m->tree), i;
	struct result r = {};

	for (i = 1; i <= rounds; i++)
		round_of(m, how, pattern, rounds < n - 1 ? 1 + random_below(n - 1) : i, &r);
	print(m, how, pattern, &r);
	return r;
}

/* Whether max / ideal is this, on the mean of rounds, within 2 % */
static bool is_ratio(const struct result *r, const double want[CLASSES])
{
	enum class class;
	bool ok = true;

	for (class = 0; class < CLASSES; class++) {
		double ratio = r->sum[class] / r->rounds / want[class];

		ok &= ratio > 0.98 && ratio < 1.02;
	}
	return ok;
}

/* No link ever has more flows than this. */
static bool is_at_most(const struct result *r, double flows)
{
	enum class class;
	bool ok = true;

	for (class = 0; class < CLASSES; class++)
		ok &= r->flows[class] < flows + 0.000001;
	return ok;
}

static void check_ratio(struct model *m, enum dealing how, enum pattern pattern,
			unsigned int rounds, const double *want)
{
	struct result r = run(m, how, pattern, rounds);

	ktap_result(is_ratio(&r, want), "%s, %u paths: %s, %s", m->tree->name, m->nr,
		    patterns[pattern], dealings[how]);
}

/* The ideal of a round in which most hosts send inside their leaf is less than a flow. */
static void check_steps(struct model *m, enum dealing how, enum pattern pattern,
			unsigned int rounds)
{
	const struct tree *tree = m->tree;
	struct result r = run(m, how, pattern, rounds);

	ktap_result(is_at_most(&r, (double)tree->hosts / tree->aggs),
		    "%s, %u paths: %s, %s: links have no more than a leaf's flows by its aggs",
		    tree->name, m->nr, patterns[pattern], dealings[how]);
}

static const double even[] = { 1, 1, 1, 1 };

static void test_small(const struct tree *tree, unsigned int rounds, const double *permutation)
{
	unsigned int steps = hosts_of(tree) - 1;
	enum dealing how;
	struct model m;

	model_init(&m, tree, ROCESTEER_MAX_PATHS);
	run(&m, ECMP, PERMUTATION, rounds);
	run(&m, ECMP, SHIFT, steps);
	run(&m, ECMP, ALL_TO_ALL, 1);
	for (how = PLACE; how <= SPLIT; how++) {
		check_ratio(&m, how, PERMUTATION, rounds,
			    how == PLACE ? permutation : even);
		check_steps(&m, how, SHIFT, steps);
		check_steps(&m, how, XOR, steps);
		check_ratio(&m, how, ALL_TO_ALL, 1, even);
	}
	model_free(&m);
}

/* Each host has a part of the paths. */
static void test_big(unsigned int most, const double *whole, const double *split)
{
	struct model m;

	model_init(&m, &big, most);
	if (most == ROCESTEER_MAX_PATHS) {
		run(&m, ECMP, PERMUTATION, 3);
		run(&m, ECMP, SHIFT, 3);
	}
	check_ratio(&m, PLACE, PERMUTATION, 60, whole);
	check_steps(&m, PLACE, SHIFT, 20);
	check_steps(&m, PLACE, XOR, 20);
	check_ratio(&m, SPLIT, PERMUTATION, 60, split);
	check_steps(&m, SPLIT, SHIFT, 20);
	check_steps(&m, SPLIT, XOR, 20);
	model_free(&m);
}

/* Addresses of hosts, by number; those of a leaf follow each other, or do not. */
static void name_host(__u8 addr[16], const struct tree *tree, unsigned int host, bool mixed)
{
	unsigned int leaf = host / tree->hosts, n = host % tree->hosts;

	memset(addr, 0, 16);
	addr[0] = 10;
	addr[1] = mixed ? n : leaf;
	addr[2] = mixed ? leaf : n;
}

/* The port map of a host. A peer of another pod has one path here. */
static void map_of(struct portmap *map, const struct tree *tree, unsigned int own, bool mixed)
{
	unsigned int pod = hosts_of_pod(tree), host;

	for (host = 0, map->nr_peers = 0; host < hosts_of(tree); host++) {
		struct portmap_peer *peer = &map->peers[map->nr_peers];

		if (host == own)
			continue;
		map->nr_peers++;
		name_host(peer->addr, tree, host, mixed);
		name_host(peer->source, tree, own, mixed);
		name_router(peer->leaf, 1, host / tree->hosts, own);
		peer->local = host / tree->hosts == own / tree->hosts;
		peer->hop = peer->local ? 0 : host / pod == own / pod ? 2 : 3;
		peer->nr_paths = !peer->local;
		name_router(peer->paths->via, peer->hop == 3 ? 2 : 0, 0, 0);
	}
}

/* Hosts of a pod have the places from 0 on, one each, and those of a leaf successive ones. */
static bool places_right(const struct tree *tree, bool mixed)
{
	unsigned int n = hosts_of(tree), own;
	struct portmap_peer *peers = calloc(n, sizeof(*peers));
	struct portmap map = { .peers = peers };
	bool ok = true;
	__u32 place;

	for (own = 0; own < n; own++)
		peers[own].paths = calloc(1, sizeof(*peers->paths));
	for (own = 0; own < n; own++) {
		map_of(&map, tree, own, mixed);
		ok &= portmap_place(&map, &place) && place == own % hosts_of_pod(tree);
	}
	for (own = 0; own < n; own++)
		free(peers[own].paths);
	free(peers);
	return ok;
}

/* How many of the kept paths go by this agg? */
static unsigned int kept_by(const struct portmap_path *paths, size_t nr, __u8 agg)
{
	unsigned int n = 0;
	size_t p;

	for (p = 0; p < nr; p++)
		n += paths[p].via[1] == agg;
	return n;
}

static void test_choose(void)
{
	struct portmap_path *paths = list_paths(&big);
	size_t nr = portmap_choose(paths, 32 + 32 + 5, ROCESTEER_MAX_PATHS, 7);

	/* The third agg has lost links. */
	ktap_result(nr == 21 + 21 + 5 && kept_by(paths, nr, 0) == 21 &&
		    kept_by(paths, nr, 1) == 21 && kept_by(paths, nr, 2) == 5,
		    "an agg with fewer cores keeps all, and others no more for that");
	free(paths);
	paths = list_paths(&k8);
	nr = portmap_choose(paths, 16, ROCESTEER_MAX_PATHS, 7);
	ktap_result(nr == 16 && paths[7].via[1] == 3 && paths[7].router[2] == 1,
		    "path a + A * c goes by core c of agg a");
	free(paths);
}

int main(void)
{
	static const double k8_place[] = { 1, 1.03, 3.60, 3.31 };
	static const double narrow_place[] = { 1, 1.08, 2.28, 2.15 };
	static const double big_place[] = { 1, 1.01, 7.42, 7.16 };
	static const double split32[] = { 1, 1.01, 1.64, 1 }, split64[] = { 1, 1.01, 1.41, 1 };

	ktap_begin();
	ktap_result(places_right(&k8, false) && places_right(&k8, true),
		    "each host finds its place in its pod, leaf by leaf");
	test_choose();
	puts("# max / ideal, and the most flows on a link: leaf-agg agg-core core-agg agg-leaf");
	test_small(&k8, 20000, k8_place);
	test_small(&narrow, 5000, narrow_place);
	test_big(32, big_place, split32);
	test_big(64, big_place, split64);
	return ktap_end();
}
