// SPDX-License-Identifier: GPL-2.0
/* The agg before each core: the paths to all peers of other pods have the same ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_priv.h"

/* Our address, and a core */
struct via_key {
	__u8 source[16];
	__u8 core[16];
};

/* @peer, @port: by which the core is met; @agg: all zero as long as it is not known */
struct via {
	struct via_key key;
	__u8 agg[16];
	size_t peer;
	__u16 port;
};

/* Cores whose agg is asked; @next: of @run->vias */
struct search {
	struct discovery *run;
	size_t next;
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

	while (s->next < s->run->vias.nr) {
		const struct via *via = s->run->vias.item[s->next];
		const struct portmap_peer *to = &s->run->map->peers[via->peer];

		probe->peer = s->next++;
		if (!via->port || !addr_is_none(via->agg))
			continue;
		probe->kind = PROBE_BEFORE;
		probe->ttl = probe_ttl(probe->kind, to->hop, to->leaf_hop);
		probe->port = via->port;
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

	if (answer->type == PROBE_TIME_EXCEEDED)
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

/* What an earlier map knows of peers of other pods */
static int take_known(struct discovery *run)
{
	const struct portmap *known = run->discover->known;
	unsigned int p;
	size_t i;
	int ret = 0;

	for (i = 0; known && !ret && i < known->nr_peers; i++) {
		const struct portmap_peer *peer = &known->peers[i];

		for (p = 0; !ret && p < peer->nr_paths; p++)
			if (!addr_is_none(peer->paths[p].via))
				ret = discover_via_note(run, peer->source, peer->paths[p].router,
							peer->paths[p].via);
	}
	return ret;
}

/* A port to each core */
static int take_ports(struct discovery *run)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++) {
		const struct portmap_peer *peer = &run->map->peers[i];

		for (p = 0; portmap_peer_has_tiers(peer) && p < peer->nr_paths; p++) {
			struct via *via = get_via(run, peer->source, peer->paths[p].router);

			if (!via)
				return -ENOMEM;
			via->peer = i;
			via->port = peer->paths[p].ports[0];
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

int discover_vias(struct discovery *run)
{
	struct search search = { .run = run };
	int ret = take_known(run) ?: take_ports(run);

	if (!ret && run->vias.nr)
		ret = probe_batch_run(&run->discover->config, &ops, &search, run->err);
	if (!ret)
		put_vias(run);
	set_clear(&run->vias, free);
	return ret;
}
