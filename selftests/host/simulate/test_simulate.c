// SPDX-License-Identifier: GPL-2.0
/*
 * Load of the fullest links, and completion, of patterns under each policy: what balls thrown into
 * bins say of ECMP, and what an ideal network does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../ktap.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

static const struct sim_shape two_tiers = {
	.pods = 1, .leaves = 16, .hosts = 16, .aggs = 16, .rate = 50, .host_rate = 50,
};

static const struct sim_shape k8 = {
	.pods = 8, .leaves = 4, .hosts = 4, .aggs = 4, .cores = 4, .rate = 50, .host_rate = 50,
};

static const struct sim_shape big = {
	.pods = 64, .leaves = 32, .hosts = 32, .aggs = 32, .cores = 32, .rate = 50, .host_rate = 50,
};

/**
 * struct game - what is played
 * @shape: fabric
 * @dead: dead links
 * @slow: slow links
 * @policy: name
 * @seed: seed of traffic, of broken links and of the policy
 */
struct game {
	const struct sim_shape *shape;
	__u32 dead;
	__u32 slow;
	const char *policy;
	__u64 seed;
};

/* Play a traffic, and free it. */
static struct sim_result play(const struct game *game, struct sim_traffic *traffic)
{
	struct sim_fabric fabric;
	struct sim_result result = { .completion = NAN, .over_ideal = NAN };
	struct sim_run run = { .fabric = &fabric, .traffic = traffic, .seed = game->seed };
	struct err err = {};

	if (sim_fabric_init(&fabric, game->shape) ||
	    sim_fabric_break(&fabric, game->dead, game->slow, game->seed) ||
	    sim_policy_read(&run.policy, game->policy) || sim_play(&run, &result, &err))
		printf("# %s: %s\n", game->policy, err.message);
	sim_fabric_free(&fabric);
	sim_traffic_free(traffic);
	return result;
}

/* Each host of the fabric has a buffer of a byte. */
static struct sim_result play_pattern(const struct game *game, enum sim_pattern pattern)
{
	struct sim_traffic traffic;

	if (sim_traffic_make(&traffic, pattern, sim_hosts(game->shape), game->shape->hosts, 1,
			     game->seed))
		printf("# %s: no traffic\n", sim_patterns[pattern]);
	return play(game, &traffic);
}

/* Each host sends a byte to the host at this distance. */
static struct sim_result play_shift(const struct game *game, __u32 distance)
{
	__u32 n = sim_hosts(game->shape), i;
	struct sim_traffic traffic = {
		.flow = calloc(n, sizeof(*traffic.flow)), .nr = n, .steps = 1, .all_steps = 1,
	};

	for (i = 0; i < n; i++)
		traffic.flow[i] = (struct sim_flow) {
			.from = i, .to = (i + distance) % n, .bytes = 1,
		};
	return play(game, &traffic);
}

static void add_result(struct sim_result *mean, const struct sim_result *result, __u32 of)
{
	enum sim_class class;

	mean->completion += result->completion / of;
	mean->bound += result->bound / of;
	mean->over_ideal += result->over_ideal / of;
	mean->worst_step = fmax(mean->worst_step, result->worst_step);
	for (class = 0; class < SIM_CLASSES; class++)
		mean->class_over_ideal[class] += result->class_over_ideal[class] / of;
}

/* Means over seeds; the worst step of all */
static struct sim_result mean_of(struct game game, enum sim_pattern pattern, __u32 seeds)
{
	struct sim_result mean = {};

	for (game.seed = 1; game.seed <= seeds; game.seed++) {
		struct sim_result result = play_pattern(&game, pattern);

		add_result(&mean, &result, seeds);
	}
	return mean;
}

/* Likewise over the shifts in which each host sends to another pod */
static struct sim_result mean_of_shifts(struct game game)
{
	__u32 pod = game.shape->leaves * game.shape->hosts, hosts = sim_hosts(game.shape), i;
	struct sim_result mean = {};

	for (i = pod; i <= hosts - pod; i++) {
		struct sim_result result;

		game.seed = i;
		result = play_shift(&game, i);
		add_result(&mean, &result, hosts - 2 * pod + 1);
	}
	return mean;
}

/* What is in the fullest of bins that each get each ball with this chance, on the mean */
static double fullest(double balls, double chance, double bins)
{
	double has = pow(1 - chance, balls), at_most = 0, sum = 0, n;

	for (n = 0; n < balls; n++) {
		at_most += has;
		sum += 1 - pow(at_most, bins);
		has *= (balls - n) / (n + 1) * chance / (1 - chance);
	}
	return sum;
}

static void check_hashed(enum sim_pattern pattern, const char *policy, __u32 seeds, double want)
{
	struct game game = { .shape = &two_tiers, .policy = policy };
	struct sim_result mean = mean_of(game, pattern, seeds);

	ktap_result(is_within(mean.over_ideal, want, 0.03),
		    "%s, %s: the fullest link has %.3f times the ideal load, and bins %.3f",
		    sim_patterns[pattern], policy, mean.over_ideal, want);
}

static void check_even(enum sim_pattern pattern, const char *policy)
{
	struct game game = { .shape = &two_tiers, .policy = policy };
	struct sim_result mean = mean_of(game, pattern, 2);

	ktap_result(is_near(mean.over_ideal, 1),
		    "%s, %s: no link has more than in an ideal network", sim_patterns[pattern],
		    policy);
}

/* No link is overloaded, and no step takes longer than its bound. */
static void check_ideal(enum sim_pattern pattern, const char *policy)
{
	struct game game = { .shape = &two_tiers, .policy = policy };
	struct sim_result mean = mean_of(game, pattern, 2);

	ktap_result(is_near(mean.completion, mean.bound) && is_near(mean.worst_step, 1),
		    "%s, %s: each step takes as long as the links need", sim_patterns[pattern],
		    policy);
}

/* An All-Reduce that is ideal sends a byte twice, but for a host's own part. */
static void check_all_reduce(enum sim_pattern pattern, const char *policy)
{
	struct game game = { .shape = &two_tiers, .policy = policy };
	struct sim_result mean = mean_of(game, pattern, 1);

	ktap_result(is_near(mean.completion, 2 * 255.0 / 256 / two_tiers.host_rate),
		    "%s, %s: all bytes but a host's own go twice by its link",
		    sim_patterns[pattern], policy);
}

/*
 * One of 16 hosts of a permutation sends below its own leaf. When halving and doubling, a leaf
 * sends to one other leaf: links up have the flows of links down.
 */
static void test_two_tiers(void)
{
	check_hashed(SIM_PERMUTATION, "ecmp", 100, fullest(16, 15.0 / 256, 512));
	check_hashed(SIM_PERMUTATION, "ecmp-8qp", 50, fullest(128, 15.0 / 256, 512) / 8);
	check_hashed(SIM_ALL_TO_ALL, "ecmp", 4, fullest(3840, 1.0 / 16, 512) / 240);
	check_hashed(SIM_HALVING, "ecmp", 100, fullest(16, 1.0 / 16, 256));
	check_even(SIM_DIRECT, "all");
	check_even(SIM_DIRECT, "spray");
	check_even(SIM_DIRECT, "fewest");
	check_even(SIM_DIRECT, "place");
	check_even(SIM_DIRECT, "label");
	check_even(SIM_PERMUTATION, "all");
	check_even(SIM_PERMUTATION, "fewest");
	check_even(SIM_PERMUTATION, "label-16qp");
	check_even(SIM_HALVING, "all");
	check_even(SIM_HALVING, "label-16qp");
	check_ideal(SIM_PERMUTATION, "all");
	check_ideal(SIM_PERMUTATION, "reps");
	check_ideal(SIM_PERMUTATION, "label-16qp");
	check_ideal(SIM_DIRECT, "fewest");
	check_ideal(SIM_HALVING, "place");
	check_ideal(SIM_PAIRWISE, "place");
	check_ideal(SIM_HIERARCHICAL, "place");
	check_all_reduce(SIM_DIRECT, "all");
	check_all_reduce(SIM_HALVING, "all");
	check_all_reduce(SIM_RING, "ecmp");
}

static const double even[] = { 1, 1, 1, 1 };

static bool is_by_class(const struct sim_result *result, const double want[4])
{
	const double *have = &result->class_over_ideal[SIM_LEAF_UP];
	bool ok = true;
	int i;

	for (i = 0; i < 4; i++)
		ok &= is_within(have[i], want[i], want[i] == 1 ? NEAR : 0.05);
	return ok;
}

static void check_classes(const struct sim_result *result, const char *name, const char *policy,
			  const double want[4])
{
	const double *have = &result->class_over_ideal[SIM_LEAF_UP];

	ktap_result(is_by_class(result, want),
		    "%s, %s: %.2f %.2f %.2f %.2f times the ideal load, here %.2f %.2f %.2f %.2f",
		    name, policy, want[0], want[1], want[2], want[3], have[0], have[1], have[2],
		    have[3]);
}

/* Fullest links from leaf to agg, agg to core, core to agg, agg to leaf */
static void check_k8(const char *policy, const double permutation[4], const double all_to_all[4])
{
	const struct game game = { .shape = &k8, .policy = policy };
	struct sim_result result = mean_of(game, SIM_PERMUTATION, 300);

	check_classes(&result, "128 hosts, permutation", policy, permutation);
	result = mean_of(game, SIM_ALL_TO_ALL, 2);
	check_classes(&result, "128 hosts, all-to-all", policy, all_to_all);
}

static void check_shifts(const char *policy)
{
	const struct game game = { .shape = &k8, .policy = policy };
	struct sim_result result = mean_of_shifts(game);

	check_classes(&result, "128 hosts, shifts", policy, even);
}

static void test_three_tiers(void)
{
	check_k8("ecmp", (double []){ 3.34, 4.09, 4.07, 3.30 },
		 (double []){ 1.19, 1.23, 1.24, 1.21 });
	check_k8("ecmp-4qp", (double []){ 2.18, 2.34, 2.35, 2.21 },
		 (double []){ 1.11, 1.13, 1.11, 1.11 });
	check_k8("place", (double []){ 1, 1.03, 3.62, 3.22 }, even);
	check_k8("all", even, even);
	check_k8("spray", even, even);
	check_shifts("place");
	check_shifts("all");
}

static void check_big(const char *policy, __u32 seeds, const double permutation[4])
{
	struct game game = { .shape = &big, .policy = policy };
	struct sim_result result = mean_of(game, SIM_PERMUTATION, seeds);

	check_classes(&result, "65,536 hosts, permutation", policy, permutation);
}

/* A host has 64 of 1,024 paths. */
static void test_big(void)
{
	double leaf = fullest(32, 1.0 / 32, 65536), core = fullest(1024, 1.0 / 1024, 65536);

	check_big("ecmp", 5, (double []){ leaf, core, core, leaf });
	check_big("all", 1, (double []){ 1, 1.01, 1.36, 1 });
}

/* Where hosts' links are as fast as others, most flows of a pattern stay below a leaf. */
static void check_alike(enum sim_pattern pattern)
{
	static const char * const policies[] = {
		"ecmp", "ecmp-4qp", "spray", "reps", "place", "fewest", "all", "label-16qp",
	};
	struct game game = { .shape = &two_tiers };
	bool alike = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		struct sim_result mean;

		game.policy = policies[i];
		mean = mean_of(game, pattern, 5);
		alike &= is_within(mean.completion, mean.bound, 0.0001);
	}
	ktap_result(alike, "%s: all policies take as long", sim_patterns[pattern]);
}

/* All hosts send to another leaf. A slow link is one of 16, at half of the rate. */
static void test_slow(void)
{
	struct game game = { .shape = &two_tiers, .slow = 1, .policy = "spray", .seed = 1 };
	struct sim_result result = play_shift(&game, 16), reps;
	double whole = 1.0 / 50;

	ktap_result(is_near(result.completion, 2 * whole) &&
		    is_near(result.bound, whole * 16 / 15.5),
		    "spray: a slow link has the share of a whole one, and is the last one");
	game.policy = "reps";
	reps = play_shift(&game, 16);
	ktap_result(reps.completion < result.completion && reps.completion > result.bound * 0.9999,
		    "reps: what goes by a slow link is less");
	game.policy = "all";
	result = play_shift(&game, 16);
	ktap_result(is_near(result.completion, result.bound),
		    "all: a slow link has half of a share, and takes as long as the others");
}

static void test_broken(void)
{
	struct game game = { .shape = &two_tiers, .dead = 1, .slow = 1, .policy = "all" };
	struct sim_result all = mean_of(game, SIM_PERMUTATION, 20), reps, spray;

	ktap_result(all.worst_step < 1.02, "a dead and a slow link: all is near the bound, %.4f",
		    all.worst_step);
	game.policy = "reps";
	reps = mean_of(game, SIM_PERMUTATION, 20);
	game.policy = "spray";
	spray = mean_of(game, SIM_PERMUTATION, 20);
	ktap_result(all.completion < reps.completion && reps.completion < spray.completion,
		    "a dead and a slow link: all %.3f, reps %.3f, spray %.3f times the bound",
		    all.completion / all.bound, reps.completion / reps.bound,
		    spray.completion / spray.bound);
}

static void test_seeds(void)
{
	struct game game = { .shape = &two_tiers, .policy = "ecmp", .seed = 7 };
	struct sim_result first = play_pattern(&game, SIM_PERMUTATION);
	struct sim_result again = play_pattern(&game, SIM_PERMUTATION), other;

	game.seed = 8;
	other = play_pattern(&game, SIM_PERMUTATION);
	ktap_result(!memcmp(&first, &again, sizeof(first)), "an equal seed gives an equal result");
	ktap_result(memcmp(&first, &other, sizeof(first)), "another seed gives another result");
}

int main(void)
{
	ktap_begin();
	test_two_tiers();
	test_three_tiers();
	test_big();
	check_alike(SIM_RING);
	check_alike(SIM_TREE);
	test_slow();
	test_broken();
	test_seeds();
	return ktap_end();
}
