/* SPDX-License-Identifier: GPL-2.0 */
/* What was learnt of the switches' hash, kept in the port map. */
#ifndef ROCESTEER_LIB_PORTMAP_MODEL_H
#define ROCESTEER_LIB_PORTMAP_MODEL_H

#include <linux/types.h>

#include "base/base.h"
#include "hash/hash.h"

/**
 * struct portmap_model - a model of a hash
 * @source: our address that packets have
 * @hop: distance of the routers
 * @hash: the model, for peers that are @linear
 */
struct portmap_model {
	__u8 source[16];
	__u8 hop;
	struct hash_model hash;
};

/* Add the model to an object. */
void portmap_model_to_json(const struct portmap_model *model, struct json_object *obj);

/*
 * Read and validate one; @hop: that of all peers, in format 1, or 0. Return: 0 or a negative errno.
 */
int portmap_model_read(struct reader *reader, struct json_object *obj, __u64 hop,
		       struct portmap_model *model);

#endif /* ROCESTEER_LIB_PORTMAP_MODEL_H */
