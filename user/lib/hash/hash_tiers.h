/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Three tiers: the model of cores, which two switches on the way have chosen. The hash of our leaf
 * chooses the agg, and the hash of this agg the core. If all aggs hash alike, the cores of all
 * ports follow from one affine function, and the agg of a core from its label.
 */
#ifndef ROCESTEER_LIB_HASH_TIERS_H
#define ROCESTEER_LIB_HASH_TIERS_H

#include "hash_learn.h"

/* Vectors of the ports of an agg; affinely independent ports of it */
#define HASH_MAX_PLANE_PORTS	(HASH_PORT_BITS + 1)

/**
 * struct hash_plane - ports of one agg
 * @nr: number of affinely independent ports whose cores are known
 * @first: one of them
 * @span: differences of others to @first; the highest bit of each is in no other
 */
struct hash_plane {
	unsigned int nr;
	__u16 first;
	__u16 span[HASH_PORT_BITS];
};

/**
 * hash_fold() - the model of aggs, from that of cores
 * @cores: model of cores
 * @agg: address of the agg before each core, by the label of the core; all zero where it is
 *	not known
 * @aggs: filled
 *
 * Return: false if the agg is no function of the label, as where aggs share cores.
 */
bool hash_fold(const struct hash_model *cores, const __u8 agg[HASH_MAX_LABELS][16],
	       struct hash_model *aggs);

/* The agg before a core with this label; all zero where it is not known */
static inline const __u8 *hash_tiers_agg(const struct hash_model *cores,
					 const struct hash_model *aggs, __u8 label)
{
	return hash_model_router(aggs, hash_model_port(cores, label), 0)->addr;
}

/**
 * hash_plane_met() - the core of a port is known
 * @plane: ports of the agg of the port; begins as all zero
 * @port: port
 *
 * Return: whether the port's core does not follow from those of the ports before.
 */
bool hash_plane_met(struct hash_plane *plane, __u16 port);

/**
 * hash_plane_ask() - choose ports of an agg, until the core of each port of it follows
 * @cores: model of cores
 * @aggs: model of aggs
 * @agg: label of the agg
 * @plane: ports of the agg whose cores are known; those that are chosen are added
 * @asks: filled
 *
 * Aggs may hash differently. The cores of ports of one agg are affine in the port, so as many
 * ports as are chosen prove the cores of all of them.
 *
 * Return: number of @asks, at most HASH_MAX_PLANE_PORTS.
 */
unsigned int hash_plane_ask(const struct hash_model *cores, const struct hash_model *aggs,
			    __u8 agg, struct hash_plane *plane, struct hash_ask *asks);

#endif /* ROCESTEER_LIB_HASH_TIERS_H */
