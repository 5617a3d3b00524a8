// SPDX-License-Identifier: GPL-2.0
/* rocesteer job load: what would load all paths alike where flows stay whole. */
#include "../whole.h"
#include "job_load.h"

__u32 job_load_hosts(const struct load *l)
{
	const struct contention_layout *layout = &l->slice.slice.layout;
	__u32 leaf;

	if (!l->slice.slice.nr_spines)
		return l->by_dev ? 0 : portmap_hosts(&l->map);
	leaf = layout->leaf[l->rank];
	return layout->first[leaf + 1] - layout->first[leaf];
}

/* Flows to the peer that --flow lists */
static __u64 listed(const struct load *l, const struct portmap_peer *peer)
{
	__u64 n = 0;
	size_t i;

	for (i = 0; i < l->spec.nr_flows; i++)
		n += !addr_compare(l->flows[i].peer, peer->addr);
	return n;
}

static void add_peer(struct whole *w, const struct load *l, const struct portmap_peer *peer)
{
	__u32 weight[ROCESTEER_MAX_PATHS], p, up = 0;

	for (p = 0; p < peer->nr_paths; p++) {
		weight[p] = peer->paths[p].weight;
		up += !peer->paths[p].unreachable;
	}
	if (up > 1)
		whole_add(w, weight, peer->nr_paths, listed(l, peer));
}

void job_load_whole(const struct load *l, struct json_object *root)
{
	struct whole w = { .hosts = job_load_hosts(l) };
	struct json_object *whole;
	struct whole_words words;
	size_t i;

	if (l->spec.split || l->spec.home || l->spec.observe)
		return;
	for (i = 0; i < l->map.nr_peers; i++)
		add_peer(&w, l, &l->map.peers[i]);
	whole = whole_say(&w, l->spec.deal, l->spec.actuator, &words);
	if (!whole)
		return;
	json_object_object_add(root, "whole", whole);
	out_note(&l->args->out, "job %u: %s. %s.", l->spec.id, words.message, words.hint);
}
