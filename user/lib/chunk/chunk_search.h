/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The best plan that can be found in a bounded time: the least predicted time
 * among baseline, Themis, and what a search finds that starts from Themis.
 */
#ifndef ROCESTEER_LIB_CHUNK_SEARCH_H
#define ROCESTEER_LIB_CHUNK_SEARCH_H

#include "chunk_plan.h"

#define CHUNK_QUEUES_ALL	3u

/**
 * chunk_search() - plan a collective by predicted time
 * @plan: filled; to be freed by chunk_plan_free()
 * @of: what to plan
 * @queues: bits of the queues that may be chosen, at least one
 *
 * The search changes orders, and which chunk has which, at random, by a fixed
 * sequence of numbers, for a fixed number of stages of the model: the result is
 * the same on every machine. Its predicted time is at most that of each plan
 * that chunk_plan_make() makes, with each of @queues. A tie goes to baseline,
 * then to Themis.
 *
 * Return: as chunk_plan_make().
 */
int chunk_search(struct chunk_plan *plan, const struct chunk_collective *of,
		 unsigned int queues);

#endif /* ROCESTEER_LIB_CHUNK_SEARCH_H */
