// SPDX-License-Identifier: GPL-2.0
#include "gray_priv.h"

#include <errno.h>
#include <stdlib.h>

static bool has_links(const struct gray_index *index, const struct report_path *path)
{
	int i;

	for (i = 0; i < REPORT_PATH_LINKS; i++)
		if (path->link[i] >= index->nr_links && path->link[i] != REPORT_NO_LINK)
			return false;
	return true;
}

static bool has_term(const size_t *terms, size_t nr, size_t term)
{
	while (nr--)
		if (terms[nr] == term)
			return true;
	return false;
}

static int check(const struct gray_index *index)
{
	size_t i;

	if (index->nr_links > SIZE_MAX / 2 || index->nr_paths > SIZE_MAX / 64)
		return -EINVAL;
	for (i = 0; i < index->nr_paths; i++) {
		const struct report_path *path = &index->paths[i];

		if (!has_links(index, path) || path->group >= index->nr_paths)
			return -EINVAL;
	}
	return 0;
}

size_t gray_index_terms(const struct gray_index *index, size_t path, size_t terms[GRAY_PATH_TERMS])
{
	const struct report_path *p = &index->paths[path];
	size_t n = 0;
	int i;

	for (i = 0; i < REPORT_PATH_LINKS; i++)
		if (p->link[i] != REPORT_NO_LINK && !has_term(terms, n, p->link[i]))
			terms[n++] = p->link[i];
	terms[n++] = index->nr_links + p->group;
	return n;
}

int gray_index_make(struct gray_index *index, const struct report_path *paths,
		    size_t nr_paths, size_t nr_links)
{
	size_t terms[GRAY_PATH_TERMS], i, n, place = 0;
	int ret;

	*index = (struct gray_index) {
		.paths = paths,
		.nr_paths = nr_paths,
		.nr_links = nr_links,
		.nr_terms = nr_links + nr_paths,
	};
	ret = check(index);
	if (ret)
		return ret;
	index->first = calloc(index->nr_terms + 1, sizeof(*index->first));
	index->member = calloc(GRAY_PATH_TERMS * nr_paths + 1, sizeof(*index->member));
	if (!index->first || !index->member)
		return -ENOMEM;
	for (i = 0; i < nr_paths; i++)
		for (n = gray_index_terms(index, i, terms); n--;)
			index->first[terms[n]]++;
	/* Each term's entry is its end until its paths are put in, from the last one on. */
	for (i = 0; i <= index->nr_terms; i++)
		index->first[i] = place += index->first[i];
	for (i = nr_paths; i--;)
		for (n = gray_index_terms(index, i, terms); n--;)
			index->member[--index->first[terms[n]]] = i;
	return 0;
}

void gray_index_free(struct gray_index *index)
{
	free(index->first);
	free(index->member);
}
