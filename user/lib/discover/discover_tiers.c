// SPDX-License-Identifier: GPL-2.0
/* Three tiers: the agg before each core, and whether all aggs hash alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover_class.h"

#define ATTEMPTS	3	/* to get the answers of an agg's ports */
#define AGG_BITS	8	/* aggs that share cores look like others by 1 in 256 */

/* Ask the agg before each core that answers. */
static int ask_aggs(struct class *c, struct pupil *teacher, __u8 agg[HASH_MAX_LABELS][16])
{
	const struct hash_model *model = &c->learn.model;
	struct hash_ask asks[HASH_MAX_LABELS] = {};
	unsigned int label;
	int ret = 0;

	for (label = 0; !ret && label < hash_model_size(model); label++) {
		asks[label].port = hash_model_port(model, label);
		if (!addr_is_none(model->router[label].addr))
			ret = class_add_before(c, teacher, &asks[label]);
	}
	ret = ret ?: class_ask(c);
	for (label = 0; !ret && label < hash_model_size(model); label++) {
		teacher->probed += asks[label].answered;
		memcpy(agg[label], asks[label].router.addr, 16);
	}
	return ret;
}

static int note_aggs(const struct class *c, const __u8 (*agg)[16])
{
	const struct hash_model *model = &c->learn.model;
	unsigned int label;
	int ret = 0;

	for (label = 0; !ret && label < hash_model_size(model); label++)
		if (!addr_is_none(agg[label]))
			ret = discover_via_note(c->run, c->source, model->router[label].addr,
						agg[label]);
	return ret;
}

/* Does any port take the agg that follows from its core? Not if aggs share cores. */
static int check_aggs(struct class *c, struct pupil *teacher)
{
	unsigned int nr = (AGG_BITS + c->aggs.bits - 1) / c->aggs.bits, i;
	struct hash_ask asks[AGG_BITS] = {};
	const __u8 *agg;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		asks[i].port = discover_port(xorshift32(&c->learn.seed) % PORTMAP_MAX_PORTS);
		ret = class_add_before(c, teacher, &asks[i]);
	}
	ret = ret ?: class_ask(c);
	for (i = 0; !ret && i < nr; i++) {
		agg = hash_model_router(&c->aggs, asks[i].port, 0)->addr;
		teacher->probed += asks[i].answered;
		if (asks[i].answered && !addr_is_none(agg) &&
		    addr_compare(asks[i].router.addr, agg))
			c->learn.verdict = HASH_NOT_LINEAR;
	}
	return ret;
}

/* Ports of each agg that the cores of all its ports follow from. Return: their number. */
static unsigned int choose_ports(const struct class *c, struct hash_ask *asks)
{
	const struct hash_learn *learn = &c->learn;
	struct hash_plane planes[HASH_MAX_LABELS] = {};
	unsigned int i, nr = 0;

	for (i = 0; i < learn->nr_met; i++)
		hash_plane_met(&planes[hash_model_label(&c->aggs, learn->met[i])], learn->met[i]);
	for (i = 0; i < hash_model_size(&c->aggs); i++)
		nr += hash_plane_ask(&learn->model, &c->aggs, i, &planes[i], &asks[nr]);
	return nr;
}

/* Do they take the cores that the model says? */
static int check_ports(struct class *c, struct pupil *teacher, struct hash_ask *asks,
		       unsigned int nr)
{
	unsigned int attempt, i, open = nr;
	int ret = 0;

	for (attempt = 0; !ret && open && attempt < ATTEMPTS; attempt++) {
		for (i = 0; !ret && i < nr; i++)
			if (!asks[i].answered)
				ret = class_add_port(c, teacher, &asks[i]);
		ret = ret ?: class_ask(c);
		for (i = 0, open = 0; i < nr; i++)
			open += !asks[i].answered;
	}
	teacher->probed += nr;
	if (open)
		c->learn.verdict = HASH_SILENT;
	for (i = 0; i < nr; i++)
		if (asks[i].answered &&
		    !hash_router_same(&asks[i].router,
				      hash_model_router(&c->learn.model, asks[i].port, 0)))
			c->learn.verdict = HASH_NOT_LINEAR;
	return ret;
}

int class_learn_tiers(struct class *c, struct pupil *teacher)
{
	__u8 agg[HASH_MAX_LABELS][16] = {};
	struct hash_ask *asks;
	int ret = ask_aggs(c, teacher, agg);

	if (ret)
		return ret;
	if (!hash_fold(&c->learn.model, (const __u8 (*)[16])agg, &c->aggs)) {
		c->learn.verdict = HASH_NOT_LINEAR;
		return 0;
	}
	ret = check_aggs(c, teacher);
	if (ret || c->learn.verdict == HASH_NOT_LINEAR)
		return ret;
	ret = note_aggs(c, (const __u8 (*)[16])agg);
	if (ret)
		return ret;
	asks = calloc(hash_model_size(&c->aggs), HASH_MAX_PLANE_PORTS * sizeof(*asks));
	if (!asks)
		return -ENOMEM;
	ret = check_ports(c, teacher, asks, choose_ports(c, asks));
	free(asks);
	return ret;
}
