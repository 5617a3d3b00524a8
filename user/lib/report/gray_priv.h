/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_LIB_REPORT_GRAY_PRIV_H
#define ROCESTEER_LIB_REPORT_GRAY_PRIV_H

#include <stdbool.h>

#include "gray.h"

/* Terms that may add to what is measured on a path: its links and its group. */
#define GRAY_PATH_TERMS		(REPORT_PATH_LINKS + 1)

/**
 * struct gray_index - which paths have which terms
 * @paths: as given
 * @nr_paths: how many
 * @nr_links: links are the first terms
 * @nr_terms: groups are the others
 * @first: place in @member of the first path of each term; one entry more: the end
 * @member: numbers of paths, ascending for each term
 */
struct gray_index {
	const struct report_path *paths;
	size_t nr_paths;
	size_t nr_links;
	size_t nr_terms;
	size_t *first;
	size_t *member;
};

/* Build an index; free it in any case. Return: 0, -EINVAL, -ENOMEM. */
int gray_index_make(struct gray_index *index, const struct report_path *paths,
		    size_t nr_paths, size_t nr_links);
void gray_index_free(struct gray_index *index);

/* Terms of a path into @terms. Return: how many. */
size_t gray_index_terms(const struct gray_index *index, size_t path, size_t terms[GRAY_PATH_TERMS]);

/* The paths of a term. Return: how many. */
static inline size_t gray_index_paths(const struct gray_index *index, size_t term,
				      const size_t **paths)
{
	*paths = index->member + index->first[term];
	return index->first[term + 1] - index->first[term];
}

/* Is a link the gray one, or one that may be it instead? */
static inline bool gray_names(const struct report_gray *gray, size_t link)
{
	unsigned int i;

	for (i = 0; i < gray->nr_others; i++)
		if (gray->other[i] == link)
			return true;
	return gray->link == link;
}

/**
 * struct gray_fit - a model of counted events: the number of a path is Poisson-distributed,
 * with its packets times the sum of the values of its terms as the mean
 * @index: terms of paths
 * @events: of each path
 * @packets: of each path
 * @rate: of each path: sum of the values of its terms
 * @value: of each term; those of links that are not used are 0
 * @used: links that may have a value
 * @nr_used: how many
 */
struct gray_fit {
	const struct gray_index *index;
	double *events;
	double *packets;
	double *rate;
	double *value;
	size_t used[REPORT_GRAY_MAX];
	size_t nr_used;
};

/* A model of rounds or CNPs without links. Free it in any case. Return: 0 or -ENOMEM. */
int gray_fit_make(struct gray_fit *fit, const struct gray_index *index, enum report_cause cause);
void gray_fit_free(struct gray_fit *fit);

/* Make all values the most likely ones, but for that of @held, which may be REPORT_NO_LINK. */
void gray_fit_all(struct gray_fit *fit, size_t held);

/* The most likely value of one term, if all other terms keep theirs. */
double gray_fit_best(const struct gray_fit *fit, size_t term);

/* By how much is the log likelihood greater if a term had another value? */
double gray_fit_gain(const struct gray_fit *fit, size_t term, double value);

/* Give a term a value. */
void gray_fit_set(struct gray_fit *fit, size_t term, double value);

/* The log likelihood, but for a constant. */
double gray_fit_likelihood(const struct gray_fit *fit);

/* How much more than Poisson's do the events scatter around the model? At least 1. */
double gray_fit_scatter(const struct gray_fit *fit);

/* Digits of @sure for a log likelihood ratio, and the ratio that is needed. */
unsigned int gray_sure(const struct gray_index *index, double ratio);
double gray_ratio_needed(const struct gray_index *index);

/*
 * Find links of one cause, the surest first. Return: number of @found, REPORT_GRAY_MAX at
 * most, or -ENOMEM.
 */
int gray_find_events(const struct gray_index *index, enum report_cause cause,
		     struct report_gray *found);
int gray_find_delay(const struct gray_index *index, struct report_gray *found);

#endif /* ROCESTEER_LIB_REPORT_GRAY_PRIV_H */
