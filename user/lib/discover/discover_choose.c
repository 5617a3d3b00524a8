// SPDX-License-Identifier: GPL-2.0
/* More routers than a peer may have paths: which of them a host takes. */
#include <stdio.h>
#include <string.h>

#include "discover_class.h"

/*
 * In the place of portmap_place(): a search may know few of the peers, and each search has to
 * choose the same routers. Hosts below a leaf mostly have successive addresses.
 */
static __u32 place_of(const __u8 source[16])
{
	return source[12] << 24 | source[13] << 16 | source[14] << 8 | source[15];
}

static void note(const struct class *c, size_t kept, size_t nr)
{
	const struct discover *d = c->run->discover;
	char line[160];

	snprintf(line, sizeof(line),
		 "%zu of %zu routers at hop %u have a path of this host, which is the most.", kept,
		 nr, c->pupils[0].t->peer->hop);
	if (kept < nr && d->note)
		d->note(d->arg, line);
}

void class_choose(struct class *c)
{
	const struct hash_model *model = &c->learn.model;
	struct portmap_path paths[HASH_MAX_LABELS] = {};
	unsigned int label;
	size_t nr = 0, kept, i;

	for (label = 0; label < hash_model_size(model); label++) {
		const struct hash_router *router = &model->router[label];

		if (addr_is_none(router->addr))
			continue;
		memcpy(paths[nr].router, router->addr, 16);
		memcpy(paths[nr].via, c->aggs.bits ? hash_tiers_agg(model, &c->aggs, label) :
						     router->via, 16);
		nr++;
	}
	kept = portmap_choose(paths, nr, ROCESTEER_MAX_PATHS, place_of(c->source));
	memset(c->chosen, 0, sizeof(c->chosen));
	for (i = 0; i < kept; i++) {
		struct hash_router router = {};

		memcpy(router.addr, paths[i].router, 16);
		if (!c->aggs.bits)
			memcpy(router.via, paths[i].via, 16);
		c->chosen[hash_model_find(model, &router)] = true;
	}
	note(c, kept, nr);
}
