// SPDX-License-Identifier: GPL-2.0
/* The paths of flows that have ports of their own. */
#include "discover_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE	ROCESTEER_MAX_PATHS

/* A flow, and what is to be asked next */
struct half {
	size_t flow;
	enum probe_kind kind;
};

/**
 * struct search - state
 * @flow: flows
 * @nr: number of flows
 * @next: the next one to be probed
 * @half: flows whose router has answered, and is that of several paths: our leaf or the peer's
 *	tells them apart
 * @nr_half: number of these
 * @found: flows with a path
 */
struct search {
	struct discover_flow *flow;
	size_t nr;
	size_t next;
	struct half *half;
	size_t nr_half;
	size_t found;
};

static int next_probe(void *client, struct batch_probe *probe, const __u8 **source,
		      const __u8 **peer)
{
	struct search *s = client;
	const struct discover_flow *flow;

	if (s->nr_half) {
		probe->peer = s->half[--s->nr_half].flow;
		probe->kind = s->half[s->nr_half].kind;
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

unsigned int discover_narrow(const struct portmap_peer *peer, unsigned int path,
			     enum probe_kind *kind, const __u8 from[16])
{
	enum probe_kind asked = *kind;

	*kind = PROBE_QPN;
	if (asked == PROBE_QPN_LEAF)
		return portmap_peer_find_path(peer, peer->paths[path].router,
					      peer->paths[path].via, from);
	if (asked == PROBE_QPN)
		path = portmap_peer_find_path(peer, from, NULL, NULL);
	else
		path = portmap_peer_find_path(peer, peer->paths[path].router, from, NULL);
	if (path == NONE)
		return path;
	if (asked == PROBE_QPN && portmap_peer_has_leaves(peer))
		*kind = PROBE_BEFORE;
	else if (!addr_is_none(peer->paths[path].leaf))
		*kind = PROBE_QPN_LEAF;
	return path;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct search *s = client;
	struct discover_flow *flow = &s->flow[probe->peer];
	bool expired = answer->type == PROBE_TIME_EXCEEDED;
	enum probe_kind kind = probe->kind;

	flow->path = expired ? discover_narrow(flow->peer, flow->path, &kind, answer->from) : NONE;
	if (flow->path != NONE && kind != PROBE_QPN)
		s->half[s->nr_half++] = (struct half) { probe->peer, kind };
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
