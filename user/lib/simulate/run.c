// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/**
 * struct playing - a run
 * @run: what is played
 * @route: paths
 * @fluid: the links and rows
 * @bytes: by row, what the flows of the step put there
 * @link_load: by link, its load in the step, seconds; NULL where nobody asks
 * @load: by class, sum over the steps of the load of the fullest link, seconds
 * @ideal: likewise in the ideal network
 * @all_load: the same over all classes of links between switches
 * @all_ideal: likewise
 * @result: result
 */
struct playing {
	const struct sim_run *run;
	struct sim_route route;
	struct fluid fluid;
	double *bytes;
	double *link_load;
	double load[SIM_CLASSES];
	double ideal[SIM_CLASSES];
	double all_load;
	double all_ideal;
	struct sim_result *result;
};

static double *row_bytes(const struct playing *p, enum sim_class class, __u32 host)
{
	return &p->bytes[sim_row_of(p->run->fabric, class, host) -
			 p->run->fabric->first_row[0]];
}

static void count_flow(const struct playing *p, const struct sim_flow *flow)
{
	const struct sim_shape *shape = &p->run->fabric->shape;

	*row_bytes(p, SIM_HOST_UP, flow->from) += flow->bytes;
	*row_bytes(p, SIM_HOST_DOWN, flow->to) += flow->bytes;
	if (sim_is_near(shape, flow))
		return;
	*row_bytes(p, SIM_LEAF_UP, flow->from) += flow->bytes;
	*row_bytes(p, SIM_LEAF_DOWN, flow->to) += flow->bytes;
	if (sim_pod(shape, flow->from) == sim_pod(shape, flow->to))
		return;
	*row_bytes(p, SIM_AGG_UP, flow->from) += flow->bytes;
	*row_bytes(p, SIM_AGG_DOWN, flow->to) += flow->bytes;
}

/* A sum is what each host sends and gets once, and each leaf. */
static void count_sum(const struct playing *p)
{
	const struct sim_shape *shape = &p->run->fabric->shape;
	double size = p->run->traffic->sum;
	__u32 i;

	for (i = 0; i < sim_hosts(shape); i++) {
		*row_bytes(p, SIM_HOST_UP, i) = size;
		*row_bytes(p, SIM_HOST_DOWN, i) = size;
		*row_bytes(p, SIM_LEAF_UP, i) = shape->leaves > 1 ? size : 0;
		*row_bytes(p, SIM_LEAF_DOWN, i) = shape->leaves > 1 ? size : 0;
	}
}

/* The fullest row of a class where each shares its bytes out evenly, seconds */
static double class_ideal(const struct playing *p, enum sim_class class)
{
	const struct sim_fabric *fabric = p->run->fabric;
	double most = 0;
	__u32 r, i;

	for (r = fabric->first_row[class]; r < fabric->first_row[class + 1]; r++) {
		struct sim_row row = sim_row_links(fabric, class, r);
		double bytes = p->bytes[r - fabric->first_row[0]], able = 0;

		for (i = row.first; i < row.first + row.nr; i++)
			able += fabric->rate[i];
		if (bytes > 0)
			most = fmax(most, bytes / able);
	}
	return most;
}

/* The fullest link of a class, seconds */
static double class_load(const struct playing *p, enum sim_class class)
{
	const struct sim_fabric *fabric = p->run->fabric;
	double most = 0;
	__u32 r, i;

	for (r = fabric->first_row[class]; r < fabric->first_row[class + 1]; r++) {
		struct sim_row row = sim_row_links(fabric, class, r);
		double even = p->fluid.sent[r] / row.nr;

		for (i = row.first; i < row.first + row.nr; i++) {
			double load = fabric->rate[i] > 0 ?
				(p->fluid.sent[i] + even) / fabric->rate[i] : 0;

			most = fmax(most, load);
			if (p->link_load)
				p->link_load[i] = load;
		}
	}
	return most;
}

static int compare_loads(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left > right ? -1 : left < right;
}

/* Add the loads of a step, the fullest link first. */
static void add_loads(const struct playing *p, enum sim_class class)
{
	const __u32 *first = &p->run->fabric->first[class];
	__u32 i;

	qsort(p->link_load + first[0], first[1] - first[0], sizeof(*p->link_load), compare_loads);
	for (i = first[0]; i < first[1]; i++)
		p->run->load[i] += p->link_load[i];
}

static double step_bound(const struct playing *p)
{
	enum sim_class class;
	double bound = 0;

	for (class = 0; class < SIM_CLASSES; class++)
		bound = fmax(bound, class_ideal(p, class));
	return bound;
}

/* Add the loads of a step. */
static void measure_step(struct playing *p)
{
	enum sim_class class;
	double most = 0, best = 0;

	for (class = SIM_LEAF_UP; class <= SIM_LEAF_DOWN; class++) {
		double load = class_load(p, class), ideal = class_ideal(p, class);

		if (p->link_load)
			add_loads(p, class);
		p->load[class] += load;
		p->ideal[class] += ideal;
		most = fmax(most, load);
		best = fmax(best, ideal);
	}
	p->all_load += most;
	p->all_ideal += best;
}

static void clear(struct playing *p)
{
	__u32 l;

	for (l = 0; l < p->fluid.nr_links; l++)
		p->fluid.sent[l] = 0;
	for (l = 0; l < p->fluid.nr_links - p->run->fabric->first_row[0]; l++)
		p->bytes[l] = 0;
}

/* The flows of the step begin, or in the first one the sum, where switches add up. */
static void begin_step(struct playing *p, size_t first, size_t end)
{
	size_t i;

	if (p->run->policy.kind == SIM_NETREDUCE) {
		clear(p);
		if (!first) {
			count_sum(p);
			sim_route_sum(&p->route, &p->fluid, 0);
		}
		return;
	}
	for (i = first; i < end; i++)
		sim_route_begin(&p->route, i, &p->fluid, 0);
}

/* The flows from @first on, before @end */
static int play_step(struct playing *p, size_t first, size_t end, struct err *err)
{
	double begin = p->fluid.now, seconds, bound;
	char name[SIM_POLICY_NAME];
	long ret = 0;
	size_t i;

	clear(p);
	for (i = first; i < end; i++)
		count_flow(p, &p->run->traffic->flow[i]);
	bound = step_bound(p);
	begin_step(p, first, end);
	while (p->fluid.active) {
		ret = fluid_advance(&p->fluid, INFINITY, NULL, NULL);
		if (ret <= 0)
			break;
	}
	if (ret < 0)
		return ret;
	if (p->fluid.active)
		return err_set(err, EXIT_BAD_INPUT, "dead",
			       "policy %s: flows with a dead link on their way never end",
			       sim_policy_name(&p->run->policy, name));
	seconds = p->fluid.now - begin;
	measure_step(p);
	p->result->completion += seconds;
	p->result->bound += bound;
	p->result->worst_step = fmax(p->result->worst_step, seconds / bound);
	return 0;
}

static int play(struct playing *p, struct err *err)
{
	const struct sim_traffic *traffic = p->run->traffic;
	size_t first, end;
	__u32 steps = 0;
	int ret = 0;

	for (first = 0; !ret && first < traffic->nr; first = end) {
		for (end = first; end < traffic->nr &&
		     traffic->flow[end].step == traffic->flow[first].step;)
			end++;
		ret = play_step(p, first, end, err);
		if (p->run->progress)
			p->run->progress(++steps, p->run->arg);
	}
	return ret;
}

static double ratio(double load, double ideal)
{
	return ideal > 0 ? load / ideal : 1;
}

/* From sums of seconds to what a run is asked for */
static void finish_loads(const struct playing *p)
{
	enum sim_class class;
	__u32 i;

	for (class = SIM_LEAF_UP; class <= SIM_LEAF_DOWN; class++)
		for (i = p->run->fabric->first[class]; i < p->run->fabric->first[class + 1]; i++)
			p->run->load[i] = ratio(p->run->load[i], p->ideal[class]);
}

static int begin_loads(struct playing *p)
{
	__u32 nr = sim_nr_links(p->run->fabric), i;

	p->link_load = calloc(nr, sizeof(*p->link_load));
	for (i = 0; i < nr; i++)
		p->run->load[i] = 0;
	return p->link_load ? 0 : -ENOMEM;
}

int sim_play(const struct sim_run *run, struct sim_result *result, struct err *err)
{
	const struct sim_fabric *fabric = run->fabric;
	struct playing p = { .run = run, .result = result };
	enum sim_class class;
	int ret;

	*result = (struct sim_result) {};
	p.bytes = calloc(fabric->first_row[SIM_CLASSES] - fabric->first_row[0], sizeof(*p.bytes));
	ret = p.bytes ? sim_route_init(&p.route, fabric, run->traffic, &run->policy, run->seed,
				       err) : -ENOMEM;
	if (!ret && run->load)
		ret = begin_loads(&p);
	if (!ret)
		ret = fluid_init(&p.fluid, fabric->rate, fabric->first_row[SIM_CLASSES]);
	if (!ret)
		ret = play(&p, err);
	if (run->policy.kind == SIM_NETREDUCE)	/* a sum has no steps */
		result->worst_step = ratio(result->completion, result->bound);
	result->over_ideal = ratio(p.all_load, p.all_ideal);
	for (class = 0; class < SIM_CLASSES; class++)
		result->class_over_ideal[class] = ratio(p.load[class], p.ideal[class]);
	if (!ret && run->load)
		finish_loads(&p);
	fluid_free(&p.fluid);
	sim_route_free(&p.route);
	free(p.link_load);
	free(p.bytes);
	return ret;
}
