/* SPDX-License-Identifier: GPL-2.0 */
/* Does the model hold for a peer, and with which constant? */
#ifndef ROCESTEER_LIB_HASH_PEER_H
#define ROCESTEER_LIB_HASH_PEER_H

#include "hash_learn.h"

/* The model does not hold; too few routers have answered */
#define HASH_PEER_OTHER		(-1)
#define HASH_PEER_SILENT	(-2)

/* Ports of which hash_peer_ask() can choose distinct ones */
static inline unsigned int hash_peer_most(const struct hash_model *model)
{
	unsigned int labels = 2 * model->bits + 2;

	return labels < hash_model_size(model) ? labels : hash_model_size(model);
}

/**
 * hash_peer_ask() - choose ports to ask
 * @model: model
 * @asks: filled: ports with distinct labels, the base of the model first
 * @nr: number of ports, hash_peer_most() at most
 * @turn: differs between peers, which check the model for different bits
 *
 * Ports are those of hash_model_port(), by which flows go. As far as possible none follows from
 * the others by an affine function, so that another one shows.
 */
void hash_peer_ask(const struct hash_model *model, struct hash_ask *asks, unsigned int nr,
		   unsigned int turn);

/**
 * hash_peer_judge() - judge the answers
 * @model: model
 * @asks: ports that were asked
 * @nr: number of ports
 * @need: answers that have to agree, at least
 *
 * A port needs no answer if its router never answers, by the model.
 *
 * Return: the constant, HASH_PEER_OTHER or HASH_PEER_SILENT.
 */
int hash_peer_judge(const struct hash_model *model, const struct hash_ask *asks, unsigned int nr,
		    unsigned int need);

#endif /* ROCESTEER_LIB_HASH_PEER_H */
