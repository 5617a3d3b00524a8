// SPDX-License-Identifier: GPL-2.0
#include "gray_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Links are told apart if one is so many times as likely. */
#define TOLD_APART	log(20)

const char * const report_cause_words[] = { "loss", "marks", "delay", NULL };

/*
 * Each link is examined, and a ratio of x or more has a chance of exp(-x) without a gray link.
 */
double gray_ratio_needed(const struct gray_index *index)
{
	return log(fmax(index->nr_links, 1)) + REPORT_GRAY_SURE * M_LN10;
}

unsigned int gray_sure(const struct gray_index *index, double ratio)
{
	double digits = REPORT_GRAY_SURE + (ratio - gray_ratio_needed(index)) / M_LN10;

	return fmin(fmax(digits, 0), 99);
}

static size_t place_of(const struct gray_fit *fit, size_t link)
{
	size_t i;

	for (i = 0; i < fit->nr_used; i++)
		if (fit->used[i] == link)
			break;
	return i;
}

/**
 * struct state - values of a model, to be put back
 * @value: of terms
 * @rate: of paths
 */
struct state {
	double *value;
	double *rate;
};

static int state_make(struct state *state, const struct gray_index *index)
{
	state->value = calloc(index->nr_terms + 1, sizeof(double));
	state->rate = calloc(index->nr_paths + 1, sizeof(double));
	return state->value && state->rate ? 0 : -ENOMEM;
}

static void state_free(struct state *state)
{
	free(state->value);
	free(state->rate);
}

static void state_save(struct state *state, const struct gray_fit *fit)
{
	memcpy(state->value, fit->value, fit->index->nr_terms * sizeof(double));
	memcpy(state->rate, fit->rate, fit->index->nr_paths * sizeof(double));
}

static void state_restore(const struct state *state, struct gray_fit *fit)
{
	memcpy(fit->value, state->value, fit->index->nr_terms * sizeof(double));
	memcpy(fit->rate, state->rate, fit->index->nr_paths * sizeof(double));
}

/* The link that explains the most if all else stays as it is, or REPORT_NO_LINK. */
static size_t find_best(const struct gray_fit *fit)
{
	size_t link, best = REPORT_NO_LINK;
	double most = 0;

	for (link = 0; link < fit->index->nr_links; link++) {
		double gain;

		if (place_of(fit, link) < fit->nr_used)
			continue;
		gain = gray_fit_gain(fit, link, gray_fit_best(fit, link));
		if (gain > most) {
			most = gain;
			best = link;
		}
	}
	return best;
}

/* Use links, one by one, as long as one more explains enough. */
static void add_links(struct gray_fit *fit, struct state *state)
{
	double needed = gray_ratio_needed(fit->index), before = gray_fit_likelihood(fit), now;

	while (fit->nr_used < REPORT_GRAY_MAX) {
		size_t best = find_best(fit);

		if (best == REPORT_NO_LINK)
			break;
		state_save(state, fit);
		fit->used[fit->nr_used++] = best;
		gray_fit_all(fit, REPORT_NO_LINK);
		now = gray_fit_likelihood(fit);
		if (now - before < needed) {
			fit->nr_used--;
			state_restore(state, fit);
			break;
		}
		before = now;
	}
}

/* The loss that a link seems to have because other links lose acknowledgments */
static double rate_of_acks(const struct gray_fit *fit, size_t link)
{
	double most = 0;
	size_t i;

	for (i = 0; i < fit->nr_used; i++)
		if (fit->used[i] != link)
			most = fmax(most, fit->value[fit->used[i]]);
	return most / REPORT_GRAY_ACKS;
}

/* Is there enough on a link's own account, beside all else? Set what it explains. */
static bool is_enough(const struct gray_fit *fit, size_t link, enum report_cause cause,
		      struct report_gray *gray)
{
	double least = cause == REPORT_LOSS ? REPORT_GRAY_ROUNDS : REPORT_GRAY_CNPS;
	double own = fit->value[link], events = 0, rest = 0;
	const size_t *path;
	size_t n = gray_index_paths(fit->index, link, &path), i;

	gray->link = link;
	gray->cause = cause;
	gray->rate = own;
	for (i = 0; i < n; i++) {
		double rate = fit->rate[path[i]];

		if (fit->packets[path[i]] == 0)
			continue;
		gray->paths++;
		gray->packets += fit->packets[path[i]];
		if (rate > 0)
			events += fit->events[path[i]] * own / rate;
		rest += fit->packets[path[i]] * fmax(rate - own, 0);
	}
	gray->events = llround(events);
	return events >= least && own * gray->packets >= REPORT_GRAY_RATIO * rest;
}

/* By how much is the model worse if a link had no more than acknowledgments explain? */
static double ratio_of(struct gray_fit *fit, struct state *state, size_t link)
{
	double acks = rate_of_acks(fit, link), with, without;

	if (fit->value[link] <= acks)
		return 0;
	with = gray_fit_likelihood(fit);
	state_save(state, fit);
	gray_fit_set(fit, link, acks);
	gray_fit_all(fit, link);
	without = gray_fit_likelihood(fit);
	state_restore(state, fit);
	return fmax(with - without, 0);
}

static void drop(struct gray_fit *fit, size_t place)
{
	gray_fit_set(fit, fit->used[place], 0);
	fit->nr_used--;
	memmove(&fit->used[place], &fit->used[place + 1],
		(fit->nr_used - place) * sizeof(fit->used[0]));
}

/*
 * Drop links that are not needed beside the others, the least needed first, until all are.
 * @found, which is filled, has the order of @used.
 */
static void drop_links(struct gray_fit *fit, struct state *state, enum report_cause cause,
		       struct report_gray *found)
{
	double needed = gray_ratio_needed(fit->index);

	while (fit->nr_used) {
		double scatter = gray_fit_scatter(fit), least = INFINITY;
		size_t i, worst = fit->nr_used;

		for (i = 0; i < fit->nr_used; i++) {
			double ratio = ratio_of(fit, state, fit->used[i]) / scatter;

			found[i] = (struct report_gray) {};
			if (!is_enough(fit, fit->used[i], cause, &found[i]))
				ratio = 0;
			found[i].sure = gray_sure(fit->index, ratio);
			if (ratio < needed && ratio < least) {
				least = ratio;
				worst = i;
			}
		}
		if (worst == fit->nr_used)
			break;
		drop(fit, worst);
		gray_fit_all(fit, REPORT_NO_LINK);
	}
}

/* The link that would explain the most in place of the gray one, which has no value now. */
static size_t find_instead(const struct gray_fit *fit, const struct report_gray *gray)
{
	size_t terms[GRAY_PATH_TERMS], best = REPORT_NO_LINK, n, i, j;
	const size_t *path;
	double most = 0;

	n = gray_index_paths(fit->index, gray->link, &path);
	for (i = 0; i < n; i++) {
		for (j = gray_index_terms(fit->index, path[i], terms); j--;) {
			double gain;

			if (terms[j] >= fit->index->nr_links || gray_names(gray, terms[j]) ||
			    place_of(fit, terms[j]) < fit->nr_used)
				continue;
			gain = gray_fit_gain(fit, terms[j], gray_fit_best(fit, terms[j]));
			if (gain > most) {
				most = gain;
				best = terms[j];
			}
		}
	}
	return best;
}

/* Find the links that explain the paths as well as the gray one at @place. */
static void find_others(struct gray_fit *fit, struct state *state, size_t place,
			struct report_gray *gray)
{
	double with = gray_fit_likelihood(fit), scatter = gray_fit_scatter(fit), without = with;

	state_save(state, fit);
	while (gray->nr_others < REPORT_GRAY_OTHERS) {
		gray_fit_set(fit, gray->link, 0);
		fit->used[place] = find_instead(fit, gray);
		if (fit->used[place] == REPORT_NO_LINK)
			break;
		gray_fit_all(fit, REPORT_NO_LINK);
		without = gray_fit_likelihood(fit);
		state_restore(state, fit);
		if (with - without > TOLD_APART * scatter)
			break;
		gray->other[gray->nr_others++] = fit->used[place];
	}
	fit->used[place] = gray->link;
	state_restore(state, fit);
}

static int is_surer(const void *a, const void *b)
{
	const struct report_gray *x = a, *y = b;

	if (x->sure != y->sure)
		return x->sure > y->sure ? -1 : 1;
	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

int gray_find_events(const struct gray_index *index, enum report_cause cause,
		     struct report_gray *found)
{
	struct state state = {};
	struct gray_fit fit;
	int ret = -ENOMEM;
	size_t i;

	if (!gray_fit_make(&fit, index, cause) && !state_make(&state, index)) {
		gray_fit_all(&fit, REPORT_NO_LINK);
		add_links(&fit, &state);
		drop_links(&fit, &state, cause, found);
		for (i = 0; i < fit.nr_used; i++)
			find_others(&fit, &state, i, &found[i]);
		ret = fit.nr_used;
		qsort(found, ret, sizeof(*found), is_surer);
	}
	state_free(&state);
	gray_fit_free(&fit);
	return ret;
}

int report_gray(const struct report_path *paths, size_t nr_paths, size_t nr_links,
		struct report_gray *found, size_t room)
{
	struct report_gray some[REPORT_GRAY_MAX];
	struct gray_index index;
	enum report_cause cause;
	size_t n = 0;
	int ret;

	ret = gray_index_make(&index, paths, nr_paths, nr_links);
	for (cause = REPORT_LOSS; !ret && cause <= REPORT_DELAY; cause++) {
		int i, nr;

		nr = cause == REPORT_DELAY ? gray_find_delay(&index, some) :
					     gray_find_events(&index, cause, some);
		if (nr < 0)
			ret = nr;
		for (i = 0; i < nr && n < room; i++)
			found[n++] = some[i];
	}
	gray_index_free(&index);
	return ret ? ret : (int)n;
}
