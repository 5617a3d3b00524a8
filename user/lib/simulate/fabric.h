/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric: hosts below leaves, leaves below spines; or in three tiers leaves below the aggs of
 * their pod, and aggs below cores: agg a of every pod has links to the same cores. Spines are the
 * aggs of one pod without cores.
 */
#ifndef ROCESTEER_LIB_SIMULATE_FABRIC_H
#define ROCESTEER_LIB_SIMULATE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define SIM_MAX_HOSTS	1048576u
#define SIM_MAX_LINKS	16777216u

/* Classes of links, in the order in which a flow takes them */
enum sim_class {
	SIM_HOST_UP,
	SIM_LEAF_UP,
	SIM_AGG_UP,
	SIM_AGG_DOWN,
	SIM_LEAF_DOWN,
	SIM_HOST_DOWN,
	SIM_CLASSES
};

/**
 * struct sim_shape - numbers of a fabric
 * @pods: 1 in two tiers
 * @leaves: of a pod
 * @hosts: of a leaf
 * @aggs: of a pod: in two tiers the spines
 * @cores: above each agg; 0: two tiers
 * @rate: of links between switches, bytes per second
 * @host_rate: of links of hosts
 */
struct sim_shape {
	__u32 pods;
	__u32 leaves;
	__u32 hosts;
	__u32 aggs;
	__u32 cores;
	double rate;
	double host_rate;
};

/**
 * struct sim_row - parallel links, among which one switch chooses; all those of a pod between aggs
 *	and cores
 * @first: its first link
 * @nr: number of its links
 */
struct sim_row {
	__u32 first;
	__u32 nr;
};

/**
 * struct sim_fabric - links of a fabric
 * @shape: numbers
 * @first: first link of each class; one entry more: the number of links
 * @rate: of each link, bytes per second; 0: the link is dead. Behind them are rows as one link each
 * @first_row: first row of each class, numbered behind the links; one entry more
 * @broken: there are links that are dead or slow
 */
struct sim_fabric {
	struct sim_shape shape;
	__u32 first[SIM_CLASSES + 1];
	__u32 first_row[SIM_CLASSES + 1];
	double *rate;
	bool broken;
};

/* Their names in reports */
const char *sim_class_name(const struct sim_fabric *fabric, enum sim_class class);

/**
 * sim_fabric_init() - build a fabric
 * @fabric: filled; to be freed by sim_fabric_free() in any case
 * @shape: numbers, above 0 but for @cores
 *
 * Return: 0; -E2BIG beyond SIM_MAX_HOSTS or SIM_MAX_LINKS; -ENOMEM.
 */
int sim_fabric_init(struct sim_fabric *fabric, const struct sim_shape *shape);
void sim_fabric_free(struct sim_fabric *fabric);

/**
 * sim_fabric_break() - break links between switches, both directions of each
 * @fabric: fabric
 * @dead: number of links that carry nothing any more
 * @slow: number of links that have half of their rate
 * @seed: seed of the choice, which is random
 *
 * Links that were broken before are as they were built. Return: 0; -EINVAL if there are not that
 * many links; -ENOMEM.
 */
int sim_fabric_break(struct sim_fabric *fabric, __u32 dead, __u32 slow, __u32 seed);

static inline __u32 sim_hosts(const struct sim_shape *shape)
{
	return shape->pods * shape->leaves * shape->hosts;
}

static inline __u32 sim_leaf(const struct sim_shape *shape, __u32 host)
{
	return host / shape->hosts;
}

static inline __u32 sim_pod(const struct sim_shape *shape, __u32 host)
{
	return host / (shape->hosts * shape->leaves);
}

/* Paths between two leaves: numbered agg + core * aggs, as in portmap_order() */
static inline __u32 sim_paths(const struct sim_shape *shape, __u32 from, __u32 to)
{
	return sim_pod(shape, from) == sim_pod(shape, to) ? shape->aggs :
							    shape->aggs * shape->cores;
}

/**
 * sim_path_links() - links between switches of a path
 * @fabric: fabric
 * @from: host
 * @to: host below another leaf
 * @path: below sim_paths()
 * @link: filled, in the order of a packet
 *
 * Return: their number, 2 or 4.
 */
unsigned int sim_path_links(const struct sim_fabric *fabric, __u32 from, __u32 to, __u32 path,
			    __u32 link[4]);

/* The rate of a path, that of its slowest link; 0: the path is dead. */
double sim_path_rate(const struct sim_fabric *fabric, __u32 from, __u32 to, __u32 path);

/* The row of a class that a host sends by, or receives by; numbered behind the links. */
__u32 sim_row_of(const struct sim_fabric *fabric, enum sim_class class, __u32 host);

/* The links of a row. */
struct sim_row sim_row_links(const struct sim_fabric *fabric, enum sim_class class, __u32 row);

static inline __u32 sim_nr_links(const struct sim_fabric *fabric)
{
	return fabric->first[SIM_CLASSES];
}

#endif /* ROCESTEER_LIB_SIMULATE_FABRIC_H */
