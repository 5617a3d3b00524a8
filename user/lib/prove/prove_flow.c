// SPDX-License-Identifier: GPL-2.0
#include "prove_flow.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <rocesteer/label.h>
#include <rocesteer/roce.h>

#include "prove.h"

/* Routers limit how often they answer, and ports may change just now: ask again. */
#define ATTEMPTS	3
#define TIMEOUT		200000000ull	/* ns */

bool prove_flow_get(struct steer *steer, const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, struct prove_flow *flow)
{
	struct rocesteer_group_key gkey = { .job = path->job, .ifindex = key->ifindex };
	struct rocesteer_peer_key pkey = { .job = path->job, .ifindex = key->ifindex };
	__u32 p = path->piece[0].path;
	struct rocesteer_group group;
	struct rocesteer_peer peer;

	if (!(path->flags & ROCESTEER_FLOW_QP) || path->flags & ROCESTEER_FLOW_OBSERVED)
		return false;
	memcpy(gkey.leaf, path->leaf, 16);
	memcpy(pkey.addr, key->peer, 16);
	memcpy(pkey.source, path->source, 16);
	if (steer_group_get(steer, &gkey, &group) || steer_peer_get(steer, &pkey, &peer) ||
	    p >= group.nr_paths || group.down >> p & 1)
		return false;
	*flow = (struct prove_flow) {
		.job = path->job,
		.dqpn = peer.qpn_hash ? key->dqpn & ROCESTEER_QPN_MASK : PROVE_DQPN,
		.port = ntohs(path->piece[0].sport),
		.hop = peer.hop,
	};
	memcpy(flow->source, path->source, 16);
	memcpy(flow->peer, key->peer, 16);
	memcpy(flow->router, group.router[p], 16);
	return true;
}

/* Can both be asked by one struct prove? */
static bool is_alike(const struct prove_flow *left, const struct prove_flow *right)
{
	return !addr_compare(left->source, right->source);
}

static int ask(struct prove *prove, struct prove_flow *flow, struct err *err)
{
	struct prove_question question = {
		.hop = flow->hop, .label = rocesteer_label_of(flow->port), .dqpn = flow->dqpn,
		.packets = 1,
	};
	__u32 sqpn;
	int i, ret;

	memcpy(question.peer, flow->peer, 16);
	for (i = 0; i < ATTEMPTS; i++) {
		ret = prove_ask(prove, &question, &flow->answer, &sqpn, err);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (flow->answer.sport != flow->port)
			flow->found = PROVE_FOUND_PORT;
		else if (addr_compare(flow->answer.router, flow->router))
			flow->found = PROVE_FOUND_ROUTER;
		else
			flow->found = PROVE_FOUND_PATH;
		if (flow->found == PROVE_FOUND_PATH)
			return 0;
	}
	if (flow->found == PROVE_FOUND_NOTHING)
		flow->found = PROVE_FOUND_SILENT;
	return 0;
}

static int open_for(const struct prove_flow *flow, struct prove **prove, struct err *err)
{
	struct prove_config config = {
		.gid_index = NIC_ANY_GID, .timeout = TIMEOUT,
	};

	memcpy(config.source, flow->source, 16);
	memcpy(config.peer, flow->peer, 16);
	return prove_open(prove, &config, err);
}

int prove_flows(struct prove_flow *flows, size_t nr, struct err *err)
{
	struct prove *prove;
	size_t i, k;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		if (flows[i].found != PROVE_FOUND_NOTHING)
			continue;
		ret = open_for(&flows[i], &prove, err);
		if (ret)
			return ret;
		for (k = i; !ret && k < nr; k++)
			if (flows[k].found == PROVE_FOUND_NOTHING && is_alike(&flows[i], &flows[k]))
				ret = ask(prove, &flows[k], err);
		prove_close(prove);
	}
	return ret;
}

const char *prove_flow_say(const struct prove_flow *flow, char text[PROVE_FLOW_TEXT])
{
	char source[ADDR_STRLEN], peer[ADDR_STRLEN], router[ADDR_STRLEN], met[ADDR_STRLEN];

	addr_format(flow->source, source);
	addr_format(flow->peer, peer);
	if (flow->found == PROVE_FOUND_PORT)
		snprintf(text, PROVE_FLOW_TEXT,
			 "the NIC of %s makes port %u, not %u, of the label for %s", source,
			 flow->answer.sport, flow->port, peer);
	else if (flow->found == PROVE_FOUND_ROUTER)
		snprintf(text, PROVE_FLOW_TEXT,
			 "packets of the NIC of %s, port %u to %s, go by %s, not by %s", source,
			 flow->port, peer, addr_format(flow->answer.router, met),
			 addr_format(flow->router, router));
	else
		snprintf(text, PROVE_FLOW_TEXT,
			 "no router answers packets of the NIC of %s, port %u to %s", source,
			 flow->port, peer);
	return text;
}
