/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The best plan within a bounded effort: the least predicted time among baseline, Themis, and
 * a search that starts from Themis.
 */
#ifndef ROCESTEER_LIB_CHUNK_SEARCH_H
#define ROCESTEER_LIB_CHUNK_SEARCH_H

#include "chunk_plan.h"

#define CHUNK_QUEUES_ALL	3u

/**
 * chunk_guard() - take the baseline's plan if it takes less time
 * @plan: a plan, which is changed if the baseline with its own queue takes less time by the
 *	model; then @fell_back is set
 *
 * Return: 0 or -ENOMEM.
 */
int chunk_guard(struct chunk_plan *plan);

/**
 * chunk_search() - plan a collective by predicted time
 * @plan: filled; to be freed by chunk_plan_free()
 * @of: the collective
 * @queues: a bit for each queue that may be chosen, at least one
 *
 * The search changes the orders of chunks at random, by a fixed sequence of numbers, for a
 * fixed number of stages of the model, so the result is the same on every machine. It is at
 * least as good as each plan of chunk_plan_make() with each of @queues. A tie goes to
 * baseline, then to Themis.
 *
 * Return: as chunk_plan_make().
 */
int chunk_search(struct chunk_plan *plan, const struct chunk_collective *of, unsigned int queues);

#endif /* ROCESTEER_LIB_CHUNK_SEARCH_H */
