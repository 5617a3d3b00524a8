// SPDX-License-Identifier: GPL-2.0
/*
 * A link that delays all packets makes all its paths slower than the others of their groups.
 * The smallest delay of a path never shows less than its links add: so a link adds at most
 * what the least slow of its paths has more than its group.
 */
#include "gray_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clocks, and the routers' processors, differ by so much without a reason. */
#define NOISE_NS	1000.0

/* A link that explains so much of what another one does may be it instead. */
#define AS_MUCH		0.9

/**
 * struct delays - delays that no link explains yet
 * @index: terms of paths
 * @more: of each path, more than its group has; NAN without enough answers
 * @delay: of each path, without what links explain
 * @sorted: room for sorting
 * @noise: what paths have more by chance, exponentially distributed: its mean
 */
struct delays {
	const struct gray_index *index;
	double *more;
	double *delay;
	double *sorted;
	double noise;
};

static int compare_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int delays_make(struct delays *d, const struct gray_index *index)
{
	size_t i;

	*d = (struct delays) {
		.index = index,
		.more = calloc(index->nr_paths + 1, sizeof(double)),
		.delay = calloc(index->nr_paths + 1, sizeof(double)),
		.sorted = calloc(index->nr_paths + 1, sizeof(double)),
	};
	if (!d->more || !d->delay || !d->sorted)
		return -ENOMEM;
	for (i = 0; i < index->nr_paths; i++) {
		const struct report_path *path = &index->paths[i];

		d->delay[i] = path->probes >= path->lost &&
			path->probes - path->lost >= REPORT_GRAY_ANSWERS ?
			path->delay_min_ns : NAN;
	}
	return 0;
}

static void delays_free(struct delays *d)
{
	free(d->more);
	free(d->delay);
	free(d->sorted);
}

/* Compare the paths of each group with its median; of an even number, the lower one. */
static void compare(struct delays *d)
{
	const struct gray_index *index = d->index;
	size_t term, i, n, all = 0;
	const size_t *path;

	for (term = index->nr_links; term < index->nr_terms; term++) {
		size_t of = gray_index_paths(index, term, &path);

		for (i = 0, n = 0; i < of; i++)
			if (!isnan(d->delay[path[i]]))
				d->sorted[n++] = d->delay[path[i]];
		qsort(d->sorted, n, sizeof(*d->sorted), compare_size);
		for (i = 0; i < of; i++)
			d->more[path[i]] = n ? d->delay[path[i]] - d->sorted[(n - 1) / 2] : NAN;
	}
	for (i = 0; i < index->nr_paths; i++)
		if (!isnan(d->more[i]))
			d->sorted[all++] = fmax(d->more[i], 0);
	qsort(d->sorted, all, sizeof(*d->sorted), compare_size);
	/* Three of four exponential values are below the mean times log(4). */
	d->noise = all ? d->sorted[3 * (all - 1) / 4] / log(4) : 0;
	d->noise = fmax(d->noise, NOISE_NS);
}

/* Set the delay that a link may add. Return: the sum over its paths. */
static double sum_of(const struct delays *d, size_t link, struct report_gray *gray)
{
	const size_t *path;
	size_t n = gray_index_paths(d->index, link, &path), i;
	double least = INFINITY;

	*gray = (struct report_gray) {
		.link = link, .cause = REPORT_DELAY,
	};
	for (i = 0; i < n; i++) {
		if (isnan(d->more[path[i]]))
			continue;
		gray->paths++;
		least = fmin(least, d->more[path[i]]);
	}
	if (!gray->paths || least < REPORT_GRAY_DELAY_NS)
		return 0;
	gray->delay_ns = least;
	return least * gray->paths;
}

/* Return: the link that explains nearly as much of the same paths, or REPORT_NO_LINK. */
static size_t find_other(const struct delays *d, const struct report_gray *gray, double most)
{
	size_t terms[GRAY_PATH_TERMS], other = REPORT_NO_LINK, i, n;
	double sum, next = 0;
	struct report_gray one;
	const size_t *path;

	for (i = gray_index_paths(d->index, gray->link, &path); i--;) {
		for (n = gray_index_terms(d->index, path[i], terms); n--;) {
			if (terms[n] >= d->index->nr_links || gray_names(gray, terms[n]))
				continue;
			sum = sum_of(d, terms[n], &one);
			if (sum >= AS_MUCH * most && sum > next) {
				next = sum;
				other = terms[n];
			}
		}
	}
	return other;
}

/* The link that explains the most. Return: what it explains, 0: there is none. */
static double find_most(const struct delays *d, struct report_gray *gray)
{
	struct report_gray one;
	double most = 0, sum;
	size_t link;

	for (link = 0; link < d->index->nr_links; link++) {
		sum = sum_of(d, link, &one);
		if (sum > most) {
			most = sum;
			*gray = one;
		}
	}
	while (most && gray->nr_others < REPORT_GRAY_OTHERS) {
		link = find_other(d, gray, most);
		if (link == REPORT_NO_LINK)
			break;
		gray->other[gray->nr_others++] = link;
	}
	return most;
}

/* Subtract the delay that a link adds. */
static void explain(struct delays *d, const struct report_gray *gray)
{
	const size_t *path;
	size_t n = gray_index_paths(d->index, gray->link, &path), i;

	for (i = 0; i < n; i++)
		d->delay[path[i]] -= gray->delay_ns;
}

int gray_find_delay(const struct gray_index *index, struct report_gray *found)
{
	double needed = gray_ratio_needed(index);
	int n = 0, ret = -ENOMEM;
	struct delays d;

	if (!delays_make(&d, index)) {
		while (n < REPORT_GRAY_MAX) {
			double ratio;

			compare(&d);
			ratio = find_most(&d, &found[n]) / d.noise;
			if (ratio < needed)
				break;
			found[n].sure = gray_sure(index, ratio);
			explain(&d, &found[n++]);
		}
		ret = n;
	}
	delays_free(&d);
	return ret;
}
