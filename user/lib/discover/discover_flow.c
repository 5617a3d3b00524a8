// SPDX-License-Identifier: GPL-2.0
/* The paths of flows that have ports of their own. */
#include "discover_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE	ROCESTEER_MAX_PATHS

/**
 * struct search - state
 * @flow: flows
 * @nr: number of flows
 * @next: the next one to be probed
 * @half: flows whose router has answered, and has several links to the leaf
 * @nr_half: number of these
 * @found: flows with a path
 */
struct search {
	struct discover_flow *flow;
	size_t nr;
	size_t next;
	size_t *half;
	size_t nr_half;
	size_t found;
};

static int next_probe(void *client, struct batch_probe *probe, const __u8 **source,
		      const __u8 **peer)
{
	struct search *s = client;
	const struct discover_flow *flow;

	if (s->nr_half) {
		probe->peer = s->half[--s->nr_half];
		probe->kind = PROBE_QPN_LEAF;
	} else if (s->next < s->nr) {
		probe->peer = s->next++;
		probe->kind = PROBE_QPN;
	} else {
		return -EAGAIN;
	}
	flow = &s->flow[probe->peer];
	probe->ttl = probe_ttl(probe->kind, flow->peer->hop, flow->peer->leaf_hop);
	probe->port = flow->port;
	probe->dqpn = flow->dqpn;
	*source = flow->peer->source;
	*peer = flow->peer->addr;
	return 0;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct search *s = client;
	struct discover_flow *flow = &s->flow[probe->peer];
	const struct portmap_peer *peer = flow->peer;
	unsigned int path = flow->path;

	if (answer->type != PROBE_TIME_EXCEEDED) {
		flow->path = NONE;
		return 0;
	}
	if (probe->kind == PROBE_QPN_LEAF) {
		flow->path = portmap_peer_find_path(peer, peer->paths[path].router, answer->from);
		s->found += flow->path != NONE;
		return 0;
	}
	flow->path = portmap_peer_find_path(peer, answer->from, NULL);
	if (flow->path != NONE && !addr_is_none(peer->paths[flow->path].leaf))
		s->half[s->nr_half++] = probe->peer;
	else
		s->found += flow->path != NONE;
	return 0;
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	struct search *s = client;

	s->flow[probe->peer].path = NONE;
	return 0;
}

static void status(void *client, char *line, size_t size)
{
	const struct search *s = client;

	snprintf(line, size, "probing: %zu of %zu flows have a path", s->found, s->nr);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
};

int discover_flows(const struct probe_batch_config *config, struct discover_flow *flows,
		   size_t nr, struct err *err)
{
	struct search search = { .flow = flows, .nr = nr };
	size_t i;
	int ret;

	for (i = 0; i < nr; i++)
		flows[i].path = NONE;
	search.half = calloc(nr ?: 1, sizeof(*search.half));
	if (!search.half)
		return -ENOMEM;
	ret = probe_batch_run(config, &ops, &search, err);
	free(search.half);
	return ret;
}
