/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Optical circuit switches (OXCs) between leaves and spines: OCS-vClos (arXiv
 * 2308.05692). A leaf has a port at each OXC, and a spine as many as any other;
 * a circuit joins a leaf's port to a spine's of the same OXC, and is a link. A
 * job that finds no place may get one after idle circuits were moved. Pure: no
 * kernel, no I/O, integers only.
 */
#ifndef ROCESTEER_LIB_OCS_H
#define ROCESTEER_LIB_OCS_H

#include <stdbool.h>
#include <linux/types.h>

#include "slice_place.h"

#define OCS_DARK	((__u16)-1)	/* a port without a circuit */

/**
 * struct ocs - circuits, and which of them may be moved
 * @leaves: 1..SLICE_MAX_LEAVES
 * @spines: 1..SLICE_MAX_SPINES
 * @oxcs: ports of a leaf, 1..SLICE_MAX_UPLINKS
 * @spine_ports: ports of a spine at each OXC, at least 1
 * @circuit: by leaf, then OXC: the spine, or OCS_DARK
 * @fixed: likewise: the port is a job's, or failed
 * @shut: by leaf, then spine: no circuit of the pair is for another job: one has
 *	circuits of it, which neither hosts nor switches can tell from others, or the
 *	spine is marked
 */
struct ocs {
	__u32 leaves;
	__u32 spines;
	__u32 oxcs;
	__u32 spine_ports;
	__u16 *circuit;
	bool *fixed;
	bool *shut;
};

/* Make room for the three tables, nothing fixed. Return: 0 or -ENOMEM. */
int ocs_init(struct ocs *ocs);
void ocs_free(struct ocs *ocs);

/*
 * Wire leaf i by OXC k to spine i + k: with as many OXCs as spines, all to all.
 * Ports that a spine lacks stay dark.
 */
void ocs_wire_default(struct ocs *ocs);

/* The port of a leaf at an OXC, in the first two tables. */
static inline size_t ocs_port(const struct ocs *ocs, __u32 leaf, __u32 oxc)
{
	return (size_t)leaf * ocs->oxcs + oxc;
}

/* A leaf and a spine, in the third. */
static inline size_t ocs_pair(const struct ocs *ocs, __u32 leaf, __u32 spine)
{
	return (size_t)leaf * ocs->spines + spine;
}

/* Whether a job may have the circuit of a port as it is. */
static inline bool ocs_idle_link(const struct ocs *ocs, size_t port)
{
	return !ocs->fixed[port] && ocs->circuit[port] != OCS_DARK &&
	       !ocs->shut[ocs_pair(ocs, port / ocs->oxcs, ocs->circuit[port])];
}

/**
 * ocs_links() - the links that jobs may have, as slice_place() wants them
 * @ocs: circuits
 * @fabric: its sizes are set; free_links is filled, and links_per_pair set to
 *	the most of a pair, as far as the limits of a fabric go
 */
void ocs_links(const struct ocs *ocs, struct slice_fabric *fabric);

/**
 * ocs_place() - find a place, and circuits for it
 * @fabric: for its servers, and how many circuits of a pair a job may have
 * @ocs: stays as it is
 * @gpus: at least 1
 * @slice: filled, with the number of circuits taken down as its objective; to
 *	be freed by slice_free()
 * @circuit: set to all circuits, as @ocs->circuit, that the place needs
 *
 * Under one leaf as slice_place(). Else numbers of lanes are tried in the order of the ports
 * that they leave without use, with leaves as slice_place() chooses them. Circuits that
 * there are are used first; no place is sought by these alone, as it would be spread over
 * more spines, and leave no place to others. Circuits of jobs stay. A port that loses its
 * circuit and is not needed is joined to another spine where one has a port left that is
 * not shut to its leaf. Equal input gives equal output on every machine.
 *
 * Return: as slice_place(); the stage is SLICE_OCS only where a circuit has changed.
 */
int ocs_place(const struct slice_fabric *fabric, const struct ocs *ocs,
	      __u32 gpus, struct slice *slice, __u16 *circuit);

/* Name the OXC of each link of a slice over leaves. Return: 0 or -ENOMEM. */
int ocs_assign(const struct ocs *ocs, const __u16 *circuit,
	       struct slice *slice);

#endif /* ROCESTEER_LIB_OCS_H */
