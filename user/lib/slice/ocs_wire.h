/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Circuits for given leaves and a number of lanes: which spines, and by which OXCs. A
 * leaf has one port at an OXC, so that a circuit that is in the way of another of the
 * same job may have to go by another OXC.
 */
#ifndef ROCESTEER_LIB_OCS_WIRE_H
#define ROCESTEER_LIB_OCS_WIRE_H

#include "ocs.h"
#include "slice_priv.h"

/**
 * struct ocs_wire - circuits that are looked for
 * @ocs: what there is
 * @l: leaves, and their links in each lane
 * @parallel: circuits of a pair that the job may have
 * @port: by leaf of @l, then OXC: the spine that the port is joined to, or OCS_FREE, or
 *	OCS_TAKEN by another job
 * @room: by spine, then OXC: ports that are left
 * @left: by spine: likewise, in all
 * @can: by spine: lanes that it can have
 * @lanes: by spine: lanes that it has
 * @seen_port: as @port: in which search it was tried
 * @seen_room: as @room
 * @search: its number
 * @steps: of this search that are left
 * @all_steps: of all searches
 * @trail: ports that were changed, and what they were before
 * @changes: number of them
 * @seed: of what is random
 */
struct ocs_wire {
	const struct ocs *ocs;
	const struct slice_lanes *l;
	__u32 parallel;
	__u16 *port;
	__u16 *room;
	__u32 *left;
	__u32 *can;
	__u32 *lanes;
	__u32 *seen_port;
	__u32 *seen_room;
	__u32 search;
	int steps;
	int all_steps;
	struct ocs_change {
		__u32 port;
		__u16 was;
	} *trail;
	__u32 changes;
	__u64 seed;
};

#define OCS_FREE	((__u16)-1)
#define OCS_TAKEN	((__u16)-2)

/* Return: 0 or -ENOMEM; to be freed in either case. */
int ocs_wire_init(struct ocs_wire *w, const struct ocs *ocs, __u32 parallel);
void ocs_wire_free(struct ocs_wire *w);

/* Find circuits for all lanes. Return: whether there are. */
bool ocs_wire_find(struct ocs_wire *w, const struct slice_lanes *l);

#endif /* ROCESTEER_LIB_OCS_WIRE_H */
