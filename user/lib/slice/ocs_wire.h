/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find circuits for given leaves and a number of lanes: spines, and OXCs. A leaf has one port
 * at an OXC, so a circuit that blocks another one of the same job may move to another OXC.
 */
#ifndef ROCESTEER_LIB_OCS_WIRE_H
#define ROCESTEER_LIB_OCS_WIRE_H

#include "ocs.h"
#include "slice_priv.h"

/**
 * struct ocs_wire - a search for circuits
 * @ocs: present circuits
 * @l: leaves, and their links in each lane
 * @parallel: circuits of a pair that the job may have
 * @port: by leaf of @l, then OXC: the spine that the port is joined to, or OCS_FREE, or
 *	OCS_TAKEN by another job
 * @room: by spine, then OXC: free ports
 * @left: by spine: free ports of all OXCs
 * @can: by spine: lanes that are possible
 * @lanes: by spine: lanes that are chosen
 * @seen_port: for each @port, the search that tried it last
 * @seen_room: for each @room, the search that tried it last
 * @search: number of the search
 * @steps: steps left for this search
 * @all_steps: steps left for all searches
 * @trail: changed ports, and their values before
 * @changes: number of changed ports
 * @seed: state of the random choices
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

/* Find circuits for all lanes. Return: true if there are. */
bool ocs_wire_find(struct ocs_wire *w, const struct slice_lanes *l);

#endif /* ROCESTEER_LIB_OCS_WIRE_H */
