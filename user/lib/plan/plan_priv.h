/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the planner. */
#ifndef ROCESTEER_LIB_PLAN_PRIV_H
#define ROCESTEER_LIB_PLAN_PRIV_H

#include "plan.h"

enum { FLOWS, PATHS };

/**
 * struct deal_side - flows, or paths, of a deal
 * @left: by number, the rest of a flow, or free space on a path
 * @rest: by number, for the choice among them
 * @open: numbers with something left, in the order of dealing
 * @nr_open: number of @open
 */
struct deal_side {
	__u64 *left;
	__u64 *rest;
	__u32 *open;
	__u32 nr_open;
};

/**
 * struct deal_link - part of a flow on a path
 * @end: flow and path
 * @have: length
 */
struct deal_link {
	__u32 end[2];
	__u64 have;
};

/**
 * struct deal - flows being dealt to paths
 * @fine: parts of a unit of the plan, in which all lengths are counted
 * @side: FLOWS and PATHS, with the same total left
 * @links: links of the prior with open ends, ascending by flow
 * @nr_links: number of links
 * @choices: buffer for one choice per link and one per flow or path
 * @pieces: dealt pieces, each from 0
 * @nr_pieces: number of pieces
 */
struct deal {
	__u64 fine;
	struct deal_side side[2];
	struct deal_link *links;
	size_t nr_links;
	struct deal_choice *choices;
	struct plan_piece *pieces;
	size_t nr_pieces;
};

/* An item that could be dealt to a bin, see plan_fewest.c. */
struct deal_choice {
	__s64 value;
	__u64 size;
	__u32 item;
	__u32 bin;
	__u32 number;
};

/**
 * deal_begin() - prepare a deal
 * @deal: filled; to be ended by deal_end(), on failure too
 * @plan: its unit and load are set
 * @spec: input
 *
 * Return: 0, -EINVAL or -ENOMEM, as plan_make().
 */
int deal_begin(struct deal *deal, const struct plan *plan, const struct plan_spec *spec);

void deal_end(struct deal *deal);

/* Deal all, in the fewest pieces. */
void deal_fewest(struct deal *deal);

#endif /* ROCESTEER_LIB_PLAN_PRIV_H */
