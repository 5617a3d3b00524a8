/* SPDX-License-Identifier: GPL-2.0 */
/* Does the model hold for a peer, and with which constant? */
#ifndef ROCESTEER_LIB_HASH_PEER_H
#define ROCESTEER_LIB_HASH_PEER_H

#include "hash_learn.h"

/* The model does not hold; too few routers have answered */
#define HASH_PEER_OTHER		(-1)
#define HASH_PEER_SILENT	(-2)

/**
 * hash_peer_ask() - choose ports to ask
 * @model: model
 * @asks: filled: ports with distinct labels
 * @nr: number of ports
 * @first: number of the first of them, as differs between peers: routers limit their ICMP
 *
 * Ports are those of hash_model_port(), by which flows go. As far as possible none follows from
 * the others by an affine function, so that another one shows.
 */
void hash_peer_ask(const struct hash_model *model, struct hash_ask *asks, unsigned int nr,
		   unsigned int first);

/**
 * hash_peer_judge() - judge the answers
 * @model: model
 * @asks: ports that were asked
 * @nr: number of ports
 * @need: answers that have to agree
 *
 * Return: the constant, HASH_PEER_OTHER or HASH_PEER_SILENT.
 */
int hash_peer_judge(const struct hash_model *model, const struct hash_ask *asks, unsigned int nr,
		    unsigned int need);

#endif /* ROCESTEER_LIB_HASH_PEER_H */
