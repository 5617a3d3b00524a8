// SPDX-License-Identifier: GPL-2.0
/* rocesteer simulate: all policies with all seeds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"

/**
 * struct simulating - progress
 * @line: shown
 * @s: what is simulated
 * @policy: that is played
 * @seed: number of the seed, from 0
 */
struct simulating {
	struct progress line;
	struct simulation *s;
	__u32 policy;
	__u32 seed;
};

static void show_progress(__u32 steps, void *arg)
{
	struct simulating *now = arg;
	const struct simulation *s = now->s;
	char name[SIM_POLICY_NAME];

	progress_update(&now->line, "%s: seed %u of %u, step %u of %u",
			sim_policy_name(&s->subject[now->policy].policy, name), now->seed + 1,
			s->seeds, steps, s->steps);
}

static void add(struct subject *subject, const struct sim_result *result, __u32 seeds)
{
	double over = result->completion / result->bound;
	enum sim_class class;

	subject->mean.completion += result->completion / seeds;
	subject->mean.bound += result->bound / seeds;
	subject->mean.over_ideal += result->over_ideal / seeds;
	subject->over_bound += over / seeds;
	subject->worst.over_ideal = fmax(subject->worst.over_ideal, result->over_ideal);
	subject->worst.worst_step = fmax(subject->worst.worst_step, result->worst_step);
	subject->worst_over_bound = fmax(subject->worst_over_bound, over);
	for (class = 0; class < SIM_CLASSES; class++) {
		subject->mean.class_over_ideal[class] += result->class_over_ideal[class] / seeds;
		subject->worst.class_over_ideal[class] =
			fmax(subject->worst.class_over_ideal[class],
			     result->class_over_ideal[class]);
	}
}

static int play(struct simulating *now, struct err *err)
{
	struct simulation *s = now->s;
	int ret = 0;

	for (now->policy = 0; !ret && now->policy < s->nr; now->policy++) {
		struct sim_run run = {
			.fabric = &s->fabric, .traffic = &s->traffic,
			.policy = s->subject[now->policy].policy, .seed = s->seed + now->seed,
			.load = now->seed ? NULL : s->subject[now->policy].load,
			.progress = show_progress, .arg = now,
		};
		struct sim_result result;

		ret = sim_play(&run, &result, err);
		if (!ret)
			add(&s->subject[now->policy], &result, s->seeds);
	}
	return ret;
}

/* A pattern may depend on the seed; other traffic is made once. */
static int make_traffic(struct simulation *s, __u32 seed, struct err *err)
{
	__u32 hosts = sim_hosts(&s->shape);
	int ret;

	if (s->pattern < 0 && s->traffic.nr)
		return 0;
	if (s->flows)
		return sim_traffic_read(&s->traffic, s->flows, &s->shape, err);
	if (s->step.nr)
		return sim_traffic_step(&s->traffic, &s->step, s->alg, hosts, err);
	sim_traffic_free(&s->traffic);
	ret = sim_traffic_make(&s->traffic, s->pattern, hosts, s->shape.hosts, s->size, seed);
	if (ret == -E2BIG)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--pattern: %s of %u hosts has more than %u flows at one time",
			       sim_patterns[s->pattern], hosts, SIM_MAX_FLOWS);
	return ret;
}

int simulate_break(struct simulation *s, __u32 seed, struct err *err)
{
	int ret = sim_fabric_break(&s->fabric, s->dead, s->slow, seed);

	if (ret == -EINVAL)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--dead and --slow: the fabric does not have so many links");
	return ret;
}

static int play_seed(struct simulating *now, struct err *err)
{
	struct simulation *s = now->s;
	int ret;

	ret = simulate_break(s, s->seed + now->seed, err) ?:
	      make_traffic(s, s->seed + now->seed, err);
	if (ret)
		return ret;
	s->steps = s->traffic.steps;
	s->all_steps = s->traffic.all_steps;
	return play(now, err);
}

static int build(struct simulation *s, struct err *err)
{
	int ret;

	if (s->shape.cores && s->shape.aggs > ROCESTEER_MAX_PATHS)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--spines: a pod has at most %u aggs", ROCESTEER_MAX_PATHS);
	ret = sim_fabric_init(&s->fabric, &s->shape);
	if (ret == -E2BIG)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "a fabric has at most %u hosts, and %u links between switches",
			       SIM_MAX_HOSTS, SIM_MAX_LINKS);
	if (!ret && sim_hosts(&s->shape) < 2)
		return err_set(err, EXIT_BAD_INPUT, "usage", "a single host sends to nobody");
	return ret;
}

/* A picture shows the loads under the policy that is asked for first, and under ECMP. */
static int want_loads(struct simulation *s)
{
	static const struct sim_policy ecmp = { SIM_ECMP, 1 };
	__u32 i;

	for (i = 0; i < s->nr; i++) {
		struct subject *subject = &s->subject[i];

		if (i && memcmp(&subject->policy, &ecmp, sizeof(ecmp)))
			continue;
		subject->load = calloc(sim_nr_links(&s->fabric), sizeof(*subject->load));
		if (!subject->load)
			return -ENOMEM;
	}
	return 0;
}

int simulate(struct simulation *s, struct err *err)
{
	struct simulating now = { .s = s };
	int ret;

	ret = build(s, err);
	if (!ret && s->svg)
		ret = want_loads(s);
	progress_start(&now.line);
	for (now.seed = 0; !ret && now.seed < s->seeds; now.seed++)
		ret = play_seed(&now, err);
	progress_end(&now.line);
	return ret;
}
