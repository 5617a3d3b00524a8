// SPDX-License-Identifier: GPL-2.0
#include "hash_tiers.h"

#include <string.h>

#include "base/base.h"

/* Vectors of bits; the highest bit of each is in no other. */
struct basis {
	unsigned int nr;
	__u16 row[HASH_PORT_BITS];
};

static __u16 highest_bit(__u16 vector)
{
	return vector ? 1 << (31 - __builtin_clz(vector)) : 0;
}

/* What is left of a vector without what the rows make of it */
static __u16 reduce(const __u16 *row, unsigned int nr, __u16 vector)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (vector & highest_bit(row[i]))
			vector ^= row[i];
	return vector;
}

/* Return: whether the vector was none of what the rows make. */
static bool add(__u16 *row, unsigned int *nr, __u16 vector)
{
	unsigned int i;

	vector = reduce(row, *nr, vector);
	if (!vector)
		return false;
	for (i = 0; i < *nr; i++)
		if (row[i] & highest_bit(vector))
			row[i] ^= vector;
	row[(*nr)++] = vector;
	return true;
}

/* The label of an agg: the bits of a core's that no difference within the agg has as its highest */
static __u8 fold_label(const struct basis *within, unsigned int bits, __u8 label)
{
	__u8 folded = 0, taken = 0;
	unsigned int i, n = 0;

	label = reduce(within->row, within->nr, label);
	for (i = 0; i < within->nr; i++)
		taken |= highest_bit(within->row[i]);
	for (i = 0; i < bits; i++)
		if (!(taken >> i & 1))
			folded |= (label >> i & 1) << n++;
	return folded;
}

/* Differences of cores of one agg */
static void find_within(const struct hash_model *cores, const __u8 agg[HASH_MAX_LABELS][16],
			struct basis *within)
{
	unsigned int i, k;

	for (i = 1; i < hash_model_size(cores); i++)
		for (k = 0; !addr_is_none(agg[i]) && k < i; k++)
			if (!addr_compare(agg[i], agg[k]))
				add(within->row, &within->nr, i ^ k);
}

/* Each agg has a label of its own. */
static bool name_aggs(const struct hash_model *cores, const __u8 agg[HASH_MAX_LABELS][16],
		      const struct basis *within, struct hash_model *aggs)
{
	unsigned int label;
	int known;

	for (label = 0; label < hash_model_size(cores); label++) {
		struct hash_router name = {}, *at;

		if (addr_is_none(agg[label]))
			continue;
		memcpy(name.addr, agg[label], 16);
		known = hash_model_find(aggs, &name);
		at = &aggs->router[fold_label(within, cores->bits, label)];
		if ((known >= 0 && &aggs->router[known] != at) ||
		    (!addr_is_none(at->addr) && !hash_router_same(at, &name)))
			return false;
		*at = name;
	}
	return true;
}

bool hash_fold(const struct hash_model *cores, const __u8 agg[HASH_MAX_LABELS][16],
	       struct hash_model *aggs)
{
	struct basis within = {};
	unsigned int i;

	find_within(cores, agg, &within);
	*aggs = (struct hash_model) { .base = cores->base, .bits = cores->bits - within.nr };
	if (!aggs->bits || !name_aggs(cores, agg, &within, aggs))
		return false;
	for (i = 0; i < HASH_PORT_BITS; i++)
		aggs->column[i] = fold_label(&within, cores->bits, cores->column[i]);
	for (i = 0; i < HASH_QPN_BITS; i++)
		aggs->qpn_column[i] = fold_label(&within, cores->bits, cores->qpn_column[i]);
	for (i = 0; i < hash_model_size(cores); i++) {
		__u8 folded = fold_label(&within, cores->bits, i);

		if (folded && !(folded & (folded - 1)))
			aggs->step[__builtin_ctz(folded)] = hash_model_port(cores, i) ^ cores->base;
	}
	return true;
}

bool hash_plane_met(struct hash_plane *plane, __u16 port)
{
	unsigned int nr = plane->nr - 1;

	if (!plane->nr) {
		plane->first = port;
		plane->nr = 1;
		return true;
	}
	if (!add(plane->span, &nr, port ^ plane->first))
		return false;
	plane->nr++;
	return true;
}

/* Differences of ports that the hash of our leaf does not tell apart */
static void find_kernel(const struct hash_model *aggs, struct basis *kernel)
{
	unsigned int i;

	for (i = 0; i < HASH_PORT_BITS; i++) {
		__u16 port = aggs->base ^ 1 << i;

		add(kernel->row, &kernel->nr,
		    hash_model_move(aggs, port, 0) ^ aggs->base);
	}
}

unsigned int hash_plane_ask(const struct hash_model *cores, const struct hash_model *aggs,
			    __u8 agg, struct hash_plane *plane, struct hash_ask *asks)
{
	struct basis kernel = {};
	unsigned int nr = 0, tries;
	__u32 i = 1;

	find_kernel(aggs, &kernel);
	for (tries = 0; plane->nr <= kernel.nr && tries < 1 << HASH_PORT_BITS; tries++) {
		__u16 port = hash_model_port(aggs, agg);
		unsigned int k;

		i = (i * 5 + 3) % (1 << HASH_PORT_BITS);
		for (k = 0; k < kernel.nr; k++)
			if (i >> k & 1)
				port ^= kernel.row[k];
		if (addr_is_none(hash_model_router(cores, port, 0)->addr))
			continue;
		if (hash_plane_met(plane, port))
			asks[nr++] = (struct hash_ask) { .port = port };
	}
	return nr;
}
