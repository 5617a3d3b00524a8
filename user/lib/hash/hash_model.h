/* SPDX-License-Identifier: GPL-2.0 */
/* The model of a hash: a label for each next hop, and which label a port has. */
#ifndef ROCESTEER_LIB_HASH_MODEL_H
#define ROCESTEER_LIB_HASH_MODEL_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

#define HASH_PORT_BITS	14	/* that differ between source ports of RoCE v2 */
#define HASH_QPN_BITS	24	/* of the number of a queue pair */
#define HASH_MAX_BITS	8	/* of a label */
#define HASH_MAX_LABELS	256

/**
 * struct hash_router - a next hop
 * @addr: address by which it answers; all zero: it does not
 * @via: router before, where a path is known by both; else all zero
 */
struct hash_router {
	__u8 addr[16];
	__u8 via[16];
};

/* Are they the same next hop? */
bool hash_router_same(const struct hash_router *left, const struct hash_router *right);

/**
 * struct hash_model - the next hops of ports
 * @base: port whose label is 0 for the peer that the model was learnt from, host order
 * @bits: of a label; there are 2^@bits next hops
 * @column: label that a bit of the port adds
 * @qpn_column: label that a bit of the destination queue pair number adds; all are 0 where
 *	switches do not hash it
 * @step: XOR of ports that adds the label 1 << i
 * @router: next hop, by label
 *
 * For another peer, a constant of the peer is added to all labels: hash_model_constant(). Likewise
 * one of a queue pair is: hash_model_qpn(). Without it labels are those of queue pair 0.
 */
struct hash_model {
	__u16 base;
	unsigned int bits;
	__u8 column[HASH_PORT_BITS];
	__u8 qpn_column[HASH_QPN_BITS];
	__u16 step[HASH_MAX_BITS];
	struct hash_router router[HASH_MAX_LABELS];
};

static inline unsigned int hash_model_size(const struct hash_model *model)
{
	return 1u << model->bits;
}

/* The label of a port, without the constant of a peer. */
__u8 hash_model_label(const struct hash_model *model, __u16 port);

/* The constant of packets to a queue pair, 0 where switches do not hash its number. */
__u8 hash_model_qpn(const struct hash_model *model, __u32 dqpn);

bool hash_model_has_qpn(const struct hash_model *model);

/* Are next hops known by the router before as well? */
bool hash_model_has_vias(const struct hash_model *model);

/* A port with a label, not far from @port; labels are without the constant of a peer. */
__u16 hash_model_move(const struct hash_model *model, __u16 port, __u8 label);

/* The port by which flows go that want the label. */
static inline __u16 hash_model_port(const struct hash_model *model, __u8 label)
{
	return hash_model_move(model, model->base, label);
}

/* The label of a next hop, or -1. */
int hash_model_find(const struct hash_model *model, const struct hash_router *router);

/* The constant of a peer that answered by @router to @port, or -1 where no label has it. */
int hash_model_constant(const struct hash_model *model, __u16 port,
			const struct hash_router *router);

/* The next hop of a port to a peer with a constant */
const struct hash_router *hash_model_router(const struct hash_model *model, __u16 port,
					    __u8 constant);

/**
 * hash_model_checks() - ports that have to agree before a model is believed
 * @model: model
 *
 * For the first peer of a leaf, besides the port that gives the constant: the leaf may have its
 * next hops in another order, or the hash another function. Both agree less than once in 1,000
 * times, but for two next hops, where the two ports are all that is asked for. Two ports do for
 * further peers of a leaf.
 */
unsigned int hash_model_checks(const struct hash_model *model);

#endif /* ROCESTEER_LIB_HASH_MODEL_H */
