/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Optical circuit switches (OXCs) between leaves and spines: OCS-vClos (arXiv 2308.05692).
 * Each leaf has one port at each OXC, and all spines have equally many. A circuit joins a
 * port of a leaf to a port of a spine at the same OXC, and is a link. A job without a place
 * may get one if idle circuits are moved. Pure: no kernel, no I/O, integers only.
 */
#ifndef ROCESTEER_LIB_OCS_H
#define ROCESTEER_LIB_OCS_H

#include <stdbool.h>
#include <linux/types.h>

#include "slice_place.h"

#define OCS_DARK	((__u16)-1)	/* a port without a circuit */

/**
 * struct ocs - circuits
 * @leaves: 1..SLICE_MAX_LEAVES
 * @spines: 1..SLICE_MAX_SPINES
 * @oxcs: ports of a leaf, 1..SLICE_MAX_UPLINKS
 * @spine_ports: ports of a spine at each OXC, at least 1
 * @circuit: by leaf, then OXC: the spine, or OCS_DARK
 * @fixed: by leaf, then OXC: the port belongs to a job, or has failed
 * @shut: by leaf, then spine: jobs get no circuit of the pair, because a job has one, which
 *	cannot be told from the others, or the spine is marked
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

/* Allocate the three tables, with no port fixed. Return: 0 or -ENOMEM. */
int ocs_init(struct ocs *ocs);
void ocs_free(struct ocs *ocs);

/*
 * Join leaf i by OXC k to spine i + k: all to all if there are as many OXCs as spines. A port
 * stays dark if the spine has no port for it.
 */
void ocs_wire_default(struct ocs *ocs);

/* Index of a leaf's port at an OXC, in @circuit and @fixed. */
static inline size_t ocs_port(const struct ocs *ocs, __u32 leaf, __u32 oxc)
{
	return (size_t)leaf * ocs->oxcs + oxc;
}

/* Index of a leaf and a spine, in @shut. */
static inline size_t ocs_pair(const struct ocs *ocs, __u32 leaf, __u32 spine)
{
	return (size_t)leaf * ocs->spines + spine;
}

/* May a job have the circuit of a port without moving it? */
static inline bool ocs_idle_link(const struct ocs *ocs, size_t port)
{
	return !ocs->fixed[port] && ocs->circuit[port] != OCS_DARK &&
	       !ocs->shut[ocs_pair(ocs, port / ocs->oxcs, ocs->circuit[port])];
}

/**
 * ocs_links() - count the links that jobs may have, for slice_place()
 * @ocs: circuits
 * @fabric: sizes are set; free_links is filled, and links_per_pair set to the most links of
 *	a pair, within the limits of a fabric
 */
void ocs_links(const struct ocs *ocs, struct slice_fabric *fabric);

/**
 * ocs_place() - find a place, and circuits for it
 * @fabric: free servers, and the number of circuits of a pair that a job may have
 * @ocs: present circuits; not changed
 * @gpus: at least 1
 * @slice: filled, with the number of circuits taken down as its objective; to be freed by
 *	slice_free()
 * @circuit: set to all circuits with the place, as @ocs->circuit
 *
 * Under one leaf this is slice_place(). Otherwise numbers of lanes are tried in the order of
 * the ports that they waste, with leaves as slice_place() chooses them. Present circuits are
 * used first. A place by present circuits alone is not preferred: it would be spread over
 * more spines and block other jobs. Circuits of jobs stay. A port that loses its circuit and
 * is not needed is joined to another spine that has a free port and is not shut to the leaf.
 * Equal input gives equal output on every machine.
 *
 * Return: as slice_place(); the stage is SLICE_OCS only if a circuit has changed.
 */
int ocs_place(const struct slice_fabric *fabric, const struct ocs *ocs,
	      __u32 gpus, struct slice *slice, __u16 *circuit);

/* Name the OXC of each link of a slice over leaves. Return: 0 or -ENOMEM. */
int ocs_assign(const struct ocs *ocs, const __u16 *circuit, struct slice *slice);

#endif /* ROCESTEER_LIB_OCS_H */
