// SPDX-License-Identifier: GPL-2.0
#include "hash_model.h"

#include <string.h>

#include "base/base.h"

_Static_assert(1 << HASH_MAX_BITS == HASH_MAX_LABELS, "a label for each next hop");

bool hash_router_same(const struct hash_router *left, const struct hash_router *right)
{
	return !memcmp(left, right, sizeof(*left));
}

/* The sum of the columns of @bits */
static __u8 sum(const __u8 *column, unsigned int nr, __u32 bits)
{
	unsigned int i;
	__u8 label = 0;

	for (i = 0; i < nr; i++)
		if (bits >> i & 1)
			label ^= column[i];
	return label;
}

__u8 hash_model_label(const struct hash_model *model, __u16 port)
{
	return sum(model->column, HASH_PORT_BITS, port ^ model->base);
}

__u8 hash_model_qpn(const struct hash_model *model, __u32 dqpn)
{
	return sum(model->qpn_column, HASH_QPN_BITS, dqpn);
}

bool hash_model_has_qpn(const struct hash_model *model)
{
	unsigned int i;

	for (i = 0; i < HASH_QPN_BITS; i++)
		if (model->qpn_column[i])
			return true;
	return false;
}

bool hash_model_has_vias(const struct hash_model *model)
{
	unsigned int i;

	for (i = 0; i < hash_model_size(model); i++)
		if (!addr_is_none(model->router[i].via))
			return true;
	return false;
}

__u16 hash_model_move(const struct hash_model *model, __u16 port, __u8 label)
{
	unsigned int i;

	label ^= hash_model_label(model, port);
	for (i = 0; i < model->bits; i++)
		if (label >> i & 1)
			port ^= model->step[i];
	return port;
}

int hash_model_find(const struct hash_model *model, const struct hash_router *router)
{
	unsigned int i;

	for (i = 0; i < hash_model_size(model); i++)
		if (hash_router_same(&model->router[i], router))
			return i;
	return -1;
}

int hash_model_constant(const struct hash_model *model, __u16 port,
			const struct hash_router *router)
{
	int label = hash_model_find(model, router);

	return label < 0 ? label : label ^ hash_model_label(model, port);
}

const struct hash_router *hash_model_router(const struct hash_model *model, __u16 port,
					    __u8 constant)
{
	return &model->router[hash_model_label(model, port) ^ constant];
}

unsigned int hash_model_checks(const struct hash_model *model)
{
	static const __u8 checks[HASH_MAX_BITS + 1] = { 0, 1, 3, 5, 4, 5, 5, 5, 5 };

	return checks[model->bits];
}
