/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of the planner. */
#ifndef ROCESTEER_LIB_PLAN_PRIV_H
#define ROCESTEER_LIB_PLAN_PRIV_H

#include "plan.h"

enum { FLOWS, PATHS };

/**
 * struct deal_side - flows, or paths, of a deal
 * @left: by number, what is still to be dealt of a flow, or room on a path
 * @rest: by number, for the choice among them
 * @open: numbers that have something left, in the order in which they are dealt
 * @nr_open: how many
 */
struct deal_side {
	__u64 *left;
	__u64 *rest;
	__u32 *open;
	__u32 nr_open;
};

/**
 * struct deal_link - what a flow has on a path
 * @end: flow and path
 * @have: how much
 */
struct deal_link {
	__u32 end[2];
	__u64 have;
};

/**
 * struct deal - flows being dealt to paths
 * @fine: all is counted in units of the plan, each cut into so many
 * @side: FLOWS and PATHS, with the same total left
 * @links: from the prior, ascending by flow; those whose ends are both open
 * @nr_links: how many
 * @choices: room for one per link and one per flow or path
 * @pieces: what has been dealt, each from 0
 * @nr_pieces: how many
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
 * deal_begin() - get ready to deal
 * @deal: filled; to be ended by deal_end(), on failure too
 * @plan: its unit and load are set
 * @spec: what it is made from
 *
 * Return: 0, -EINVAL or -ENOMEM, as plan_make().
 */
int deal_begin(struct deal *deal, const struct plan *plan,
	       const struct plan_spec *spec);

void deal_end(struct deal *deal);

/* Deal all, in the fewest pieces. */
void deal_fewest(struct deal *deal);

__u64 plan_gcd(__u64 a, __u64 b);

/**
 * plan_scale() - the units of a plan
 * @spec: its paths and flows are in range
 * @unit: set: length of a flow
 * @share: filled: load of each path, in units; NULL: not wanted
 *
 * Return: 0 or -EINVAL or -EOVERFLOW, as plan_make().
 */
int plan_scale(const struct plan_spec *spec, __u64 *unit, __u64 *share);

#endif /* ROCESTEER_LIB_PLAN_PRIV_H */
