// SPDX-License-Identifier: GPL-2.0
/*
 * The agg before each core: the paths to all peers of other pods have the same ones. Where aggs
 * share cores, some ports of each path that was walked to show it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_priv.h"

#define PORTS	8	/* of a core: one of two aggs is missed by 1 in 128 */

/* Our address, and a core */
struct via_key {
	__u8 source[16];
	__u8 core[16];
};

/**
 * struct via - the agg before a core
 * @key: the core
 * @agg: all zero as long as it is not known
 * @path: to be asked, of @peer; NULL: none is
 * @peer: number of the peer
 * @shared: another agg is before the core as well
 */
struct via {
	struct via_key key;
	__u8 agg[16];
	const struct portmap_path *path;
	size_t peer;
	bool shared;
};

/* Cores whose agg is asked; @next: of @run->vias; @port: next of its path */
struct search {
	struct discovery *run;
	size_t next;
	size_t port;
};

static struct via *get_via(struct discovery *run, const __u8 source[16], const __u8 core[16])
{
	struct via_key key;

	memcpy(key.source, source, 16);
	memcpy(key.core, core, 16);
	return set_get(&run->vias, &key, sizeof(key), sizeof(struct via));
}

int discover_via_note(struct discovery *run, const __u8 source[16], const __u8 core[16],
		      const __u8 agg[16])
{
	struct via *via = get_via(run, source, core);

	if (!via)
		return -ENOMEM;
	memcpy(via->agg, agg, 16);
	return 0;
}

static int next_probe(void *client, struct batch_probe *probe, const __u8 **source,
		      const __u8 **peer)
{
	struct search *s = client;

	for (; s->next < s->run->vias.nr; s->next++, s->port = 0) {
		const struct via *via = s->run->vias.item[s->next];
		const struct portmap_peer *to = &s->run->map->peers[via->peer];

		if (!via->path || s->port == PORTS || s->port == via->path->nr_ports)
			continue;
		probe->peer = s->next;
		probe->kind = PROBE_BEFORE;
		probe->ttl = probe_ttl(probe->kind, to->hop, to->leaf_hop);
		probe->port = via->path->ports[s->port++];
		*source = to->source;
		*peer = to->addr;
		return 0;
	}
	return -EAGAIN;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	const struct search *s = client;
	struct via *via = s->run->vias.item[probe->peer];

	if (answer->type != PROBE_TIME_EXCEEDED)
		return 0;
	via->shared |= !addr_is_none(via->agg) && addr_compare(via->agg, answer->from);
	memcpy(via->agg, answer->from, 16);
	return 0;
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	(void)client;
	(void)probe;
	return 0;
}

static void status(void *client, char *line, size_t size)
{
	const struct search *s = client;

	snprintf(line, size, "naming aggs: %zu of %zu cores asked", s->next, s->run->vias.nr);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
};

/* What an earlier map knows of peers of other pods; of those that were walked to, too little. */
static int take_known(struct discovery *run)
{
	const struct portmap *known = run->discover->known;
	unsigned int p;
	size_t i;
	int ret = 0;

	for (i = 0; known && !ret && i < known->nr_peers; i++) {
		const struct portmap_peer *peer = &known->peers[i];

		for (p = 0; !ret && peer->linear && p < peer->nr_paths; p++)
			if (!addr_is_none(peer->paths[p].via))
				ret = discover_via_note(run, peer->source, peer->paths[p].router,
							peer->paths[p].via);
	}
	return ret;
}

/* A path to each core whose agg is not known, the one with the most ports */
static int take_paths(struct discovery *run)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++) {
		const struct portmap_peer *peer = &run->map->peers[i];

		for (p = 0; portmap_peer_has_tiers(peer) && p < peer->nr_paths; p++) {
			const struct portmap_path *path = &peer->paths[p];
			struct via *via = get_via(run, peer->source, path->router);

			if (!via)
				return -ENOMEM;
			if (!addr_is_none(via->agg) ||
			    (via->path && via->path->nr_ports >= path->nr_ports))
				continue;
			via->path = path;
			via->peer = i;
		}
	}
	return 0;
}

static void put_vias(struct discovery *run)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct portmap_peer *peer = &run->map->peers[i];

		for (p = 0; portmap_peer_has_tiers(peer) && p < peer->nr_paths; p++) {
			struct portmap_path *path = &peer->paths[p];

			memcpy(path->via, get_via(run, peer->source, path->router)->agg, 16);
		}
	}
}

static void note_shared(const struct discovery *run)
{
	const struct discover *d = run->discover;
	size_t i, shared = 0;
	char line[160];

	for (i = 0; i < run->vias.nr; i++)
		shared += ((const struct via *)run->vias.item[i])->shared;
	if (!shared || !d->note)
		return;
	snprintf(line, sizeof(line),
		 "%zu of %zu cores are behind several aggs: VIA is one of these for each path.",
		 shared, run->vias.nr);
	d->note(d->arg, line);
}

int discover_vias(struct discovery *run)
{
	struct search search = { .run = run };
	int ret = take_known(run) ?: take_paths(run);

	if (!ret && run->vias.nr)
		ret = probe_batch_run(&run->discover->config, &ops, &search, run->err);
	if (!ret) {
		put_vias(run);
		note_shared(run);
	}
	set_clear(&run->vias, free);
	return ret;
}
