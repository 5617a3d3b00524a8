// SPDX-License-Identifier: GPL-2.0
/*
 * The likelihood of a sum of rates has one maximum, as it is concave. It is found term by term.
 */
#include "gray_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SWEEPS		200
#define STEPS		100
#define NEAR		(1 / 1e9)	/* of a value: so near is there */
#define CHANGE		(1 / 1e6)	/* of a value: a smaller one is none */
#define LEAST		(1 / 1e18)	/* a rate, below any that packets can show */

int gray_fit_make(struct gray_fit *fit, const struct gray_index *index, enum report_cause cause)
{
	size_t i;

	*fit = (struct gray_fit) {
		.index = index,
		.events = calloc(index->nr_paths + 1, sizeof(double)),
		.packets = calloc(index->nr_paths + 1, sizeof(double)),
		.rate = calloc(index->nr_paths + 1, sizeof(double)),
		.value = calloc(index->nr_terms + 1, sizeof(double)),
	};
	if (!fit->events || !fit->packets || !fit->rate || !fit->value)
		return -ENOMEM;
	for (i = 0; i < index->nr_paths; i++) {
		const struct report_path *path = &index->paths[i];

		fit->packets[i] = path->packets;
		/* A packet that was not sent cannot be lost. */
		if (path->packets)
			fit->events[i] = cause == REPORT_LOSS ? path->rounds : path->cnps;
	}
	return 0;
}

void gray_fit_free(struct gray_fit *fit)
{
	free(fit->events);
	free(fit->packets);
	free(fit->rate);
	free(fit->value);
}

static double rate_without(const struct gray_fit *fit, size_t path, double value)
{
	double rest = fit->rate[path] - value;

	return rest > LEAST ? rest : 0;
}

double gray_fit_best(const struct gray_fit *fit, size_t term)
{
	double packets = 0, sure = 0, best, own = fit->value[term];
	const size_t *path;
	size_t n = gray_index_paths(fit->index, term, &path), i;
	int step;

	for (i = 0; i < n; i++) {
		packets += fit->packets[path[i]];
		if (rate_without(fit, path[i], own) == 0)
			sure += fit->events[path[i]];
	}
	if (packets == 0)
		return 0;
	/*
	 * Newton's method, from below: the derivative is convex and falls, so no step goes
	 * too far.
	 */
	best = sure / packets;
	for (step = 0; step < STEPS; step++) {
		double slope = -packets, bend = 0;

		for (i = 0; i < n; i++) {
			double rate = rate_without(fit, path[i], own) + best;

			if (fit->events[path[i]] == 0)
				continue;
			slope += fit->events[path[i]] / rate;
			bend += fit->events[path[i]] / (rate * rate);
		}
		if (slope <= 0 || slope <= NEAR * best * bend)
			break;
		best += slope / bend;
	}
	return best;
}

double gray_fit_gain(const struct gray_fit *fit, size_t term, double value)
{
	double own = fit->value[term], gain = 0;
	const size_t *path;
	size_t n = gray_index_paths(fit->index, term, &path), i;

	for (i = 0; i < n; i++) {
		double rest = rate_without(fit, path[i], own);

		gain -= fit->packets[path[i]] * (value - own);
		if (fit->events[path[i]] > 0)
			gain += fit->events[path[i]] * log(fmax(rest + value, LEAST) /
							   fmax(rest + own, LEAST));
	}
	return gain;
}

void gray_fit_set(struct gray_fit *fit, size_t term, double value)
{
	double own = fit->value[term];
	const size_t *path;
	size_t n = gray_index_paths(fit->index, term, &path), i;

	for (i = 0; i < n; i++)
		fit->rate[path[i]] = rate_without(fit, path[i], own) + value;
	fit->value[term] = value;
}

/* Return: did the value change? */
static bool improve(struct gray_fit *fit, size_t term)
{
	double own = fit->value[term], best = gray_fit_best(fit, term);

	if (fabs(best - own) <= CHANGE * own + LEAST)
		return false;
	gray_fit_set(fit, term, best);
	return true;
}

void gray_fit_all(struct gray_fit *fit, size_t held)
{
	const struct gray_index *index = fit->index;
	bool changed = true;
	size_t i;
	int sweep;

	for (sweep = 0; changed && sweep < SWEEPS; sweep++) {
		changed = false;
		for (i = 0; i < fit->nr_used; i++)
			if (fit->used[i] != held && improve(fit, fit->used[i]))
				changed = true;
		for (i = index->nr_links; i < index->nr_terms; i++)
			if (index->first[i] != index->first[i + 1] && improve(fit, i))
				changed = true;
	}
}

double gray_fit_likelihood(const struct gray_fit *fit)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < fit->index->nr_paths; i++) {
		sum -= fit->packets[i] * fit->rate[i];
		if (fit->events[i] > 0)
			sum += fit->events[i] * log(fmax(fit->rate[i], LEAST));
	}
	return sum;
}

double gray_fit_scatter(const struct gray_fit *fit)
{
	const struct gray_index *index = fit->index;
	size_t i, n = 0, values = fit->nr_used;
	double sum = 0;

	/* Pearson's chi square, for each degree of freedom */
	for (i = 0; i < index->nr_paths; i++) {
		double mean = fit->packets[i] * fit->rate[i];

		if (mean > 0) {
			sum += (fit->events[i] - mean) * (fit->events[i] - mean) / mean;
			n++;
		}
	}
	for (i = index->nr_links; i < index->nr_terms; i++)
		values += fit->value[i] > 0;
	return n > values ? fmax(sum / (n - values), 1) : 1;
}
