// SPDX-License-Identifier: GPL-2.0
/*
 * How long the planner takes to place a job in a fabric filled by random jobs.
 *
 * Half of the jobs have a power of two of GPUs, 1 to 2,048, each exponent as
 * likely; half have 1 to 512, rounded up to whole servers. A fabric is filled to
 * a share of its GPUs; then jobs taken at random end, and others are asked for
 * until it is as full again, over and over. Each of these calls of slice_place()
 * counts, also those that are refused, by the CPU time it takes: what else the
 * machine does is not in it.
 *
 * Prints JSON, of which bench/slices.py makes the table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "slice/slice.h"
#include "../selftests/random.h"

#define CALLS		5000
#define MAX_JOBS	65536
#define PATIENCE	50	/* refusals in a row until a job ends */

static const struct slice_fabric fabrics[] = {
	{ 256, 32, 32, 8, 1, 1 }, { 256, 32, 32, 1, 1, 1 },
	{ 128, 64, 64, 8, 1, 1 }, { 128, 64, 64, 1, 1, 1 },
	{ 2048, 32, 32, 8, 1, 1 }, { 1024, 64, 64, 8, 1, 1 }, { 1024, 64, 64, 1, 1, 1 },
};

static const double fills[] = { 0.5, 0.8, 0.95 };

static struct slice_fabric fabric;
static struct slice jobs[MAX_JOBS];
static int nr_jobs;
static long used;

static void die(const char *what)
{
	fprintf(stderr, "slice: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static __u32 random_gpus(void)
{
	__u32 each = fabric.gpus_per_server;

	if (random_below(2))
		return 1u << random_below(12);
	return (1 + random_below(512) + each - 1) / each * each;
}

static void apply(const struct slice *slice, int sign)
{
	__u32 servers = fabric.gpus_per_leaf / fabric.gpus_per_server, i, j;

	for (i = 0; i < slice->nr_servers; i++) {
		const struct slice_server *s = &slice->servers[i];

		fabric.free_gpus[s->leaf * servers + s->server] -=
			sign * s->gpus;
		used += sign * (long)s->gpus;
	}
	for (i = 0; i < slice->nr_leaves; i++)
		for (j = 0; j < slice->nr_spines; j++)
			fabric.free_links[slice->leaves[i] * fabric.spines +
					  slice->spines[j]] -=
				sign * slice->lane_links[i];
}

static void end_job(int job)
{
	apply(&jobs[job], -1);
	slice_free(&jobs[job]);
	jobs[job] = jobs[--nr_jobs];
}

static void begin(const struct slice_fabric *sizes)
{
	size_t servers = (size_t)sizes->leaves * sizes->gpus_per_leaf /
			 sizes->gpus_per_server, i;
	size_t pairs = (size_t)sizes->leaves * sizes->spines;

	while (nr_jobs)
		end_job(0);
	free(fabric.free_gpus);
	free(fabric.free_links);
	fabric = *sizes;
	fabric.free_gpus = malloc(servers * sizeof(*fabric.free_gpus));
	fabric.free_links = malloc(pairs);
	if (!fabric.free_gpus || !fabric.free_links)
		die("begin");
	for (i = 0; i < servers; i++)
		fabric.free_gpus[i] = sizes->gpus_per_server;
	memset(fabric.free_links, 1, pairs);
}

/* Ask for a job. Return: what slice_place() does; its time is set. */
static int ask(double *us)
{
	struct slice *slice = &jobs[nr_jobs];
	int ret;

	*us = cpu_us();
	ret = slice_place(&fabric, random_gpus(), slice);
	*us = cpu_us() - *us;
	if (ret < 0)
		die("slice_place");
	if (ret)
		return ret;
	apply(slice, 1);
	if (++nr_jobs == MAX_JOBS)
		die("too many jobs");
	return 0;
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void add(struct json_object *row, const char *key, double value)
{
	json_object_object_add(row, key, json_object_new_double(value));
}

/* Ask until the fabric is full, or takes no more. */
static void fill_up(long full)
{
	int refused = 0;
	double us;

	while (used < full && refused < PATIENCE)
		refused = ask(&us) ? refused + 1 : 0;
}

static struct json_object *measure(double fill)
{
	double all = (double)fabric.leaves * fabric.gpus_per_leaf, mean = 0;
	struct json_object *row = json_object_new_object();
	int n, placed = 0, refused = 0;
	static double us[CALLS];

	fill_up(fill * all);
	for (n = 0; n < CALLS; n++) {
		while (used >= fill * all || refused == PATIENCE) {
			end_job(random_below(nr_jobs));
			refused = 0;
		}
		mean += used / all / CALLS;
		refused = ask(&us[n]) ? refused + 1 : 0;
		placed += !refused;
	}
	qsort(us, CALLS, sizeof(*us), compare);
	add(row, "leaves", fabric.leaves);
	add(row, "gpus_per_leaf", fabric.gpus_per_leaf);
	add(row, "spines", fabric.spines);
	add(row, "gpus_per_server", fabric.gpus_per_server);
	add(row, "fill", fill);
	add(row, "used", mean);
	add(row, "placed", (double)placed / CALLS);
	add(row, "p50_us", us[CALLS / 2]);
	add(row, "p99_us", us[CALLS * 99 / 100]);
	add(row, "worst_us", us[CALLS - 1]);
	return row;
}

int main(void)
{
	struct json_object *rows = json_object_new_array();
	size_t i, j;

	for (i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		for (j = 0; j < sizeof(fills) / sizeof(*fills); j++) {
			begin(&fabrics[i]);
			json_object_array_add(rows, measure(fills[j]));
		}
	}
	puts(json_object_to_json_string_ext(rows, JSON_C_TO_STRING_PRETTY));
	json_object_put(rows);
	return 0;
}
