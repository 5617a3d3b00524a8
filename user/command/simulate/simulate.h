/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of "rocesteer simulate". */
#ifndef ROCESTEER_CLI_SIMULATE_H
#define ROCESTEER_CLI_SIMULATE_H

#include "simulate/simulate.h"
#include "../objects.h"

#define SIMULATE_POLICIES	16u

/**
 * struct subject - a policy, and what came of it over the seeds
 * @policy: policy
 * @mean: means
 * @worst: largest values
 * @over_bound: mean of completion over bound
 * @worst_over_bound: the largest
 * @load: of links as in struct sim_run, with the first seed; NULL where no picture shows them
 */
struct subject {
	struct sim_policy policy;
	struct sim_result mean;
	struct sim_result worst;
	double over_bound;
	double worst_over_bound;
	double *load;
};

/**
 * struct simulation - what is simulated
 * @shape: fabric
 * @pattern: enum sim_pattern; -1: the traffic is another one
 * @size: of a buffer of the pattern, bytes
 * @flows: file with flows, or NULL
 * @step: training step; without collectives: the traffic is another one
 * @alg: algorithm of its collectives
 * @svg: file of a picture, or NULL
 * @dead: number of dead links
 * @slow: number of slow links
 * @seeds: number of seeds
 * @seed: the first of them
 * @subject: policies, and results
 * @nr: number of @subject
 * @fabric: built by simulate(); to be freed
 * @traffic: traffic of the last seed; to be freed
 * @steps: set to the number of steps
 * @all_steps: set to that of the pattern
 */
struct simulation {
	struct sim_shape shape;
	int pattern;
	double size;
	const char *flows;
	struct chunk_step step;
	enum chunk_alg alg;
	const char *svg;
	__u32 dead;
	__u32 slow;
	__u32 seeds;
	__u32 seed;
	struct subject subject[SIMULATE_POLICIES];
	__u32 nr;
	struct sim_fabric fabric;
	struct sim_traffic traffic;
	__u32 steps;
	__u32 all_steps;
};

/**
 * simulate_recording() - take fabric and traffic from recordings
 * @s: its fabric is set but for rates, and its traffic
 * @files: names, separated by commas
 * @err: says why recordings are not simulated
 *
 * Hosts are addresses that sent or got data, each below the leaf that recordings show. Paths are
 * those that flows took.
 *
 * Return: 0 or a negative errno.
 */
int simulate_recording(struct simulation *s, const char *files, struct err *err);

/* Break the links of the fabric that are asked for. Return: 0 or a negative errno. */
int simulate_break(struct simulation *s, __u32 seed, struct err *err);

/* Play all policies with all seeds; free the loads of subjects. Return: 0 or a negative errno. */
int simulate(struct simulation *s, struct err *err);

/* Put a number with six decimals, or a time in seconds with nine; not negative. */
void simulate_put(struct json_object *obj, const char *key, double value);
void simulate_put_time(struct json_object *obj, const char *key, double seconds);

/**
 * simulate_cluster() - play the jobs of a cluster file at one time, and print what comes of it
 * @s: policies, traffic, rates and broken links; the shape is set
 * @file: cluster file
 * @out: how to print
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int simulate_cluster(struct simulation *s, const char *file, const struct out *out,
		     struct err *err);

/* The name of the traffic */
const char *simulate_traffic(const struct simulation *s);

/* All pictures begin so. */
#define SIMULATE_SVG_BEGIN	"<svg"

/* Draw what came of it. Return: 0 or a negative errno. */
int simulate_svg(const struct simulation *s, struct err *err);

#endif /* ROCESTEER_CLI_SIMULATE_H */
