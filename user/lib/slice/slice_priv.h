/* SPDX-License-Identifier: GPL-2.0 */
/* What the planner of slices has in common. */
#ifndef ROCESTEER_LIB_SLICE_PRIV_H
#define ROCESTEER_LIB_SLICE_PRIV_H

#include <stdbool.h>

#include "slice_place.h"

/* Servers of a leaf that are wholly free. */
__u32 slice_whole_servers(const struct slice_fabric *fabric, __u32 leaf);

/* Sort the leaves of a slice, and add wholly free servers of each with @gpus. */
void slice_take_servers(struct slice *slice, const struct slice_fabric *fabric,
			__u32 gpus);

/*
 * Take links that all leaves of a slice have, to as few spines as will do; what is free
 * at these leaves adds to its objective. Return: whether there are enough.
 */
bool slice_take_links(struct slice *slice, const struct slice_fabric *fabric,
		      __u32 need);

/* Place over several leaves. Return: 1 when it was placed, 0, or -ENOMEM. */
int slice_place_across(const struct slice_fabric *fabric, __u32 gpus,
		       struct slice *slice);

#endif /* ROCESTEER_LIB_SLICE_PRIV_H */
