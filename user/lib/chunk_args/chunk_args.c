// SPDX-License-Identifier: GPL-2.0
#include "chunk_args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/**
 * struct list - an option with a value for each dimension
 * @of: filled
 * @n: values so far
 * @max: most values
 * @name: name of the option
 * @letter: letter of its values in messages
 * @read: reads value @n
 * @err: names option and value
 */
struct list {
	struct chunk_collective *of;
	__u32 n;
	__u32 max;
	const char *name;
	char letter;
	int (*read)(struct list *list, const char *item);
	struct err *err;
};

static int bad_item(const struct list *list, const char *item, const char *what)
{
	return err_set(list->err, EXIT_BAD_INPUT, "usage",
		       "--%s: %c%u: '%s' is not %s", list->name, list->letter,
		       list->n, item, what);
}

static int read_endpoints(struct list *list, const char *item)
{
	__u64 value;

	if (cli_number(item, 1, CHUNK_MAX_ENDPOINTS, &value))
		return bad_item(list, item, "a number from 1 to 65536");
	list->of->dim[list->n].endpoints = value;
	return 0;
}

static int read_bandwidth(struct list *list, const char *item)
{
	struct chunk_dim *dim = &list->of->dim[list->n];

	if (decimal_read(item, 1, CHUNK_MAX_BANDWIDTH, &dim->bandwidth))
		return bad_item(list, item,
				"a number of GiB/s from 0.000001 to 100000 with at most six decimals");
	if (chunk_time(dim, list->of->size) > CHUNK_MAX_TIME)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--bandwidth: B%u: at %s GiB/s, --size takes more than a day",
			       list->n, item);
	return 0;
}

/* Further checks of a dimension whose algorithm does not divide a chunk */
static int check_whole(const struct list *list)
{
	const struct chunk_collective *of = list->of;
	const struct chunk_dim *dim = &of->dim[list->n];

	if (of->kind != CHUNK_ALL_REDUCE)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: A%u: %s is for an all-reduce, not for %s: take ring or direct",
			       list->name, list->n, chunk_algs[dim->alg], chunk_kinds[of->kind]);
	if (!chunk_alg_takes(dim->alg, dim->endpoints))
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: A%u: netreduce is for 2 to %u endpoints, not %u: take ring, halving or direct",
			       list->name, list->n, CHUNK_MAX_SUMMED, dim->endpoints);
	if (chunk_sum_time(dim, of->size) > CHUNK_MAX_TIME)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--bandwidth: B%u: --size takes more than a day by %s",
			       list->n, chunk_algs[dim->alg]);
	return 0;
}

static int read_algorithm(struct list *list, const char *item)
{
	int i = words_find(chunk_algs, item);
	char all[64];

	if (i < 0)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: A%u: '%s' is not one of %s", list->name,
			       list->n, item,
			       words_list(chunk_algs, all, sizeof(all)));
	list->of->dim[list->n].alg = i;
	if (i == CHUNK_HALVING && list->of->kind == CHUNK_ALL_TO_ALL)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: A%u: halving is not for an all-to-all: take ring or direct",
			       list->name, list->n);
	return chunk_alg_is_whole(i) ? check_whole(list) : 0;
}

/* A millionth of a microsecond is a picosecond. */
static int read_latency(struct list *list, const char *item)
{
	struct chunk_dim *dim = &list->of->dim[list->n];
	__u32 steps = chunk_alg_steps(dim->alg, dim->endpoints);
	__u64 value;

	if (decimal_read(item, 0, CHUNK_MAX_LATENCY, &value))
		return bad_item(list, item, "a number from 0 to 1000000 with at most six decimals");
	if (value * steps > CHUNK_MAX_LATENCY)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--latency: L%u: %u steps of %s us are more than a second",
			       list->n, steps, item);
	dim->latency = value * steps;
	return 0;
}

static int list_add(const char *item, void *arg)
{
	struct list *list = arg;
	int ret;

	if (list->n == list->max)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: more than %u dimensions", list->name,
			       list->max);
	ret = list->read(list, item);
	if (!ret)
		list->n++;
	return ret;
}

static int list_read(struct list *list, const char *text)
{
	list->n = 0;
	return cli_each(list->name, text, list_add, list, list->err);
}

/* "16x8x8" is a list as well. */
static int dims_read(struct list *list, const char *text)
{
	struct chunk_collective *of = list->of;
	char *copy = strdup(text), *x;
	__u32 most = 1, k;
	int ret;

	if (!copy)
		return -ENOMEM;
	while ((x = strchr(copy, 'x')))
		*x = ',';
	list->max = CHUNK_MAX_DIMS;
	ret = list_read(list, copy);
	free(copy);
	if (ret)
		return ret;
	of->dims = list->n;
	for (k = 0; k < of->dims; k++)
		if (of->dim[k].endpoints > most)
			most = of->dim[k].endpoints;
	if (most > 1)
		return 0;
	return err_set(list->err, EXIT_BAD_INPUT, "usage",
		       "--dims: no dimension joins more than one endpoint");
}

/* A list with as many values as there are dimensions. */
static int values_read(struct list *list, const char *text)
{
	int ret;

	if (!text)
		return 0;
	list->max = list->of->dims;
	ret = list_read(list, text);
	if (!ret && list->n != list->max)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "--%s: as many values as dimensions are needed, %u, not %u",
			       list->name, list->max, list->n);
	return ret;
}

static int size_read(const struct cli_args *args, struct chunk_collective *of, struct err *err)
{
	int ret = cli_bytes(args, CHUNK_OPTION_SIZE, CHUNK_MAX_SIZE, &of->size, err);

	if (!ret && of->size < of->chunks)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--size: %llu bytes are too few for %u chunks",
			       of->size, of->chunks);
	return ret;
}

static int network_read(const struct cli_args *args, struct chunk_collective *of, struct err *err)
{
	static const struct {
		int option;
		char letter;
		int (*read)(struct list *list, const char *item);
	} lists[] = {
		{ CHUNK_OPTION_DIMS, 'N', read_endpoints },
		{ CHUNK_OPTION_BANDWIDTH, 'B', read_bandwidth },
		{ CHUNK_OPTION_ALGORITHM, 'A', read_algorithm },
		{ CHUNK_OPTION_LATENCY, 'L', read_latency },
	};
	struct list list = { .of = of, .err = err };
	int ret = 0;
	__u32 i;

	for (i = 0; !ret && i < ARRAY_SIZE(lists); i++) {
		const char *text = args->value[lists[i].option];

		list.name = args->options[lists[i].option].name;
		list.letter = lists[i].letter;
		list.read = lists[i].read;
		ret = i ? values_read(&list, text) : dims_read(&list, text);
	}
	return ret;
}

/* Plans of others, which have the same network */
struct beside {
	struct chunk_collective *of;
	struct err *err;
};

static int check_beside(const struct beside *beside, const struct chunk_plan *plan,
			const char *file)
{
	const struct chunk_collective *of = beside->of;
	__u32 k;

	if (plan->of.dims != of->dims)
		return err_set(beside->err, EXIT_BAD_INPUT, "usage",
			       "--beside: %s: the plan has %u dimensions, not %u", file,
			       plan->of.dims, of->dims);
	for (k = 0; k < of->dims; k++) {
		if (plan->of.dim[k].bandwidth != of->dim[k].bandwidth)
			return err_set(beside->err, EXIT_BAD_INPUT, "usage",
				       "--beside: %s: dimensions[%u].bandwidth: is not that of --bandwidth",
				       file, k);
		if (chunk_time(&plan->of.dim[k], plan->of.size) > CHUNK_MAX_TIME)
			return err_set(beside->err, EXIT_BAD_INPUT, "usage",
				       "--beside: %s: size: takes more than a day in dimension %u",
				       file, k);
	}
	return 0;
}

static int add_beside(const char *file, void *arg)
{
	struct beside *beside = arg;
	struct chunk_collective *of = beside->of;
	struct chunk_plan *plan;
	int ret;

	if (of->nr_beside == CHUNK_MAX_BESIDE)
		return err_set(beside->err, EXIT_BAD_INPUT, "usage",
			       "--beside: more than %u plans", CHUNK_MAX_BESIDE);
	plan = &of->beside[of->nr_beside++];
	ret = chunk_plan_read(plan, file, beside->err);
	return ret ?: check_beside(beside, plan, file);
}

static int read_beside(const struct cli_args *args, struct chunk_collective *of, struct err *err)
{
	struct beside beside = { .of = of, .err = err };
	const char *text = args->value[CHUNK_OPTION_BESIDE];

	if (!text)
		return 0;
	of->beside = calloc(CHUNK_MAX_BESIDE, sizeof(*of->beside));
	if (!of->beside)
		return -ENOMEM;
	return cli_each("beside", text, add_beside, &beside, err);
}

void chunk_args_free(struct chunk_collective *of)
{
	__u32 i;

	for (i = 0; i < of->nr_beside; i++)
		chunk_plan_free(&of->beside[i]);
	free(of->beside);
	of->beside = NULL;
	of->nr_beside = 0;
}

int chunk_args_read(const struct cli_args *args, struct chunk_collective *of, struct err *err)
{
	int kind = CHUNK_ALL_REDUCE, ret;
	__u64 chunks = 64, in_flight = 8;

	memset(of, 0, sizeof(*of));
	ret = cli_need(args, CHUNK_OPTION_DIMS, err) ?:
	      cli_need(args, CHUNK_OPTION_BANDWIDTH, err) ?:
	      cli_need(args, CHUNK_OPTION_SIZE, err) ?:
	      cli_uint(args, CHUNK_OPTION_CHUNKS, 1, CHUNK_MAX_CHUNKS, &chunks, err) ?:
	      cli_uint(args, CHUNK_OPTION_IN_FLIGHT, 1, CHUNK_MAX_CHUNKS, &in_flight, err) ?:
	      cli_word(args, CHUNK_OPTION_COLLECTIVE, &kind, err);
	if (ret)
		return ret;
	of->kind = kind;
	of->chunks = chunks;
	of->in_flight = in_flight;
	return size_read(args, of, err) ?: network_read(args, of, err) ?:
	       read_beside(args, of, err);
}

int chunk_args_check(const struct cli_args *args, struct err *err)
{
	static const struct cli_with with = { CHUNK_OPTION_ALGORITHM, CHUNK_OPTION_LATENCY };
	const char *text = args->value[CHUNK_OPTION_ALGORITHM];

	if (text && (strstr(text, chunk_algs[CHUNK_NETREDUCE]) ||
		     strstr(text, chunk_algs[CHUNK_TREE])))
		return 0;
	return cli_only_with(args, &with, 1, err);
}
