// SPDX-License-Identifier: GPL-2.0
#include "discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaf_alias.h"
#include "route.h"

/* Miss chance at which a peer is done where it is known what is to be found. */
#define ONE_IN_KNOWN	1e6
#define PEER_ACTIVE	32	/* probes out per peer */
#define SILENT_PORTS	8	/* unanswered: nobody answers at this hop */
#define NEAR_PORTS	3
#define AGAIN_ACTIVE	2
#define AGAIN_PORTS	64
#define STRIDE		10125	/* odd, the golden section of the range */
#define LEAF_PEER	2	/* distance of a peer behind no router but our leaf */

enum phase { PATHS, AGAIN, LEAF, NEAR, DONE };

/*
 * One peer on its way through the phases. @started, @active, @answered and
 * @lost count the probes of the current phase, @unreachable is the router that
 * last said so. @silent are ports that got no answer: they are asked again, slowly,
 * as long as some answer then, as routers that limit their ICMP are not silent.
 */
struct target {
	struct portmap_peer *peer;
	enum phase phase;
	unsigned int started;
	unsigned int active;
	unsigned int answered;
	unsigned int lost;
	__u8 unreachable[16];
	__u16 silent[AGAIN_PORTS];
	unsigned int nr_silent;
};

struct discovery {
	const struct discover *discover;
	struct portmap *map;
	struct target *targets;
	struct leaf_sighting *seen;
	size_t nr_seen;
	unsigned int goal[ROCESTEER_MAX_PATHS + 1];	/* by paths found */
	size_t cursor;
	size_t done;
	struct err *err;
};

unsigned int discover_bound(unsigned int paths, double one_in)
{
	double miss = paths;
	unsigned int n = 0;

	while (miss > 1 / one_in) {
		miss *= 1 - 1.0 / paths;
		n++;
	}
	return n;
}

/*
 * Not one port after the other: a hash may look at some bits only, and these
 * should change from the beginning.
 */
__u16 discover_port(unsigned int i)
{
	return ROCESTEER_SPORT_MIN + i * STRIDE % PORTMAP_MAX_PORTS;
}

/* How many ports must be answered, by the number of paths found. */
static void set_goals(struct discovery *run)
{
	double one_in = run->discover->enough ? ONE_IN_KNOWN : DISCOVER_ONE_IN;
	unsigned int paths = run->discover->paths, found;

	for (found = 0; found <= ROCESTEER_MAX_PATHS; found++) {
		if (!paths)
			run->goal[found] = discover_bound(found + 1, one_in);
		else if (found < paths)
			run->goal[found] = discover_bound(paths, ONE_IN_KNOWN);
	}
}

static bool is_enough(const struct discovery *run, const struct target *t)
{
	const struct discover *d = run->discover;

	return d->enough && d->enough(d->arg, t - run->targets, t->peer);
}

static bool wants_probe(const struct discovery *run, const struct target *t)
{
	if (t->peer->local)
		return false;
	switch (t->phase) {
	case PATHS:
		if (t->active >= PEER_ACTIVE ||
		    t->started >= run->discover->config.ports)
			return false;
		if (!t->answered && t->lost + t->active >= SILENT_PORTS)
			return false;
		return t->answered + t->active <
		       run->goal[t->peer->nr_paths] &&
		       !is_enough(run, t);
	case AGAIN:
		return t->active < AGAIN_ACTIVE && t->started < t->nr_silent;
	case LEAF:
		return t->started < t->peer->nr_paths;
	case NEAR:
		return t->started < NEAR_PORTS;
	case DONE:
		break;
	}
	return false;
}

static void enter(struct discovery *run, struct target *t, enum phase phase)
{
	t->phase = phase;
	t->started = 0;
	t->active = 0;
	t->answered = 0;
	t->lost = 0;
	if (phase == DONE)
		run->done++;
}

static int no_replies(const struct discovery *run, const struct target *t,
		      unsigned int hop, unsigned int ports)
{
	char peer[ADDR_STRLEN], router[ADDR_STRLEN];

	addr_format(t->peer->addr, peer);
	if (!addr_is_none(t->unreachable)) {
		err_set(run->err, EXIT_FAILED, "unreachable",
			"%s says that %s is unreachable",
			addr_format(t->unreachable, router), peer);
		return -EHOSTUNREACH;
	}
	err_set(run->err, EXIT_FAILED, "no-reply",
		"no ICMP replies from hop %u on the way to %s: %u ports, each probed %u times",
		hop, peer, ports, run->discover->config.retries + 1);
	err_hint(run->err,
		 "Do the routers answer to expired TTLs (traceroute -n %s)? If they are at another distance: --hop.",
		 peer);
	return -ETIMEDOUT;
}

/* Where it is not known how many paths there are, a silent one may be missed. */
static bool asks_again(const struct discovery *run, const struct target *t)
{
	return t->answered && t->nr_silent && !run->discover->paths &&
	       !run->discover->enough;
}

/* Go on to the next phase when the probes of this one are all in. */
static int advance(struct discovery *run, struct target *t)
{
	unsigned int hop = run->discover->config.hop;

	if (t->active || t->phase == DONE || wants_probe(run, t))
		return 0;
	if (t->peer->local) {
		portmap_peer_free(t->peer);
		enter(run, t, DONE);
		return 0;
	}
	switch (t->phase) {
	case PATHS:
		t->peer->probed = t->answered + t->lost;
		t->peer->unanswered = t->lost;
		if (asks_again(run, t))
			enter(run, t, AGAIN);
		else
			enter(run, t, t->answered ? LEAF : NEAR);
		break;
	case AGAIN:
		t->peer->unanswered -= t->answered;
		t->nr_silent = t->lost;
		enter(run, t, t->answered && t->lost ? AGAIN : LEAF);
		break;
	case LEAF:
		if (!t->answered)
			return no_replies(run, t, hop + 1, t->started);
		enter(run, t, DONE);
		break;
	case NEAR:
		return no_replies(run, t, hop, t->peer->probed);
	case DONE:
		break;
	}
	return 0;
}

static void fill_probe(struct target *t, struct batch_probe *probe)
{
	unsigned int i = t->started++;

	t->active++;
	switch (t->phase) {
	case PATHS:
		probe->kind = PROBE_PATH;
		probe->port = discover_port(i);
		break;
	case AGAIN:
		probe->kind = PROBE_PATH;
		probe->port = t->silent[i];
		break;
	case LEAF:
		probe->kind = PROBE_LEAF;
		probe->port = t->peer->paths[i].ports[0];
		break;
	default:
		probe->kind = PROBE_NEAR;
		probe->port = discover_port(i);
	}
}

static int next_probe(void *client, struct batch_probe *probe,
		      const __u8 **source, const __u8 **peer)
{
	struct discovery *run = client;
	size_t n = run->map->nr_peers, i;

	for (i = 0; i < n; i++) {
		struct target *t = &run->targets[run->cursor];

		probe->peer = run->cursor;
		run->cursor = run->cursor + 1 < n ? run->cursor + 1 : 0;
		if (!wants_probe(run, t))
			continue;
		fill_probe(t, probe);
		*source = t->peer->source;
		*peer = t->peer->addr;
		return 0;
	}
	return -EAGAIN;
}

static int saw_router(struct discovery *run, struct target *t,
		      const struct batch_probe *probe, const __u8 from[16])
{
	char peer[ADDR_STRLEN];
	int ret;

	t->answered++;
	if (probe->kind == PROBE_LEAF) {
		run->seen[run->nr_seen].peer = probe->peer;
		memcpy(run->seen[run->nr_seen++].addr, from, 16);
		return 0;
	}
	ret = portmap_peer_add_port(t->peer, from, probe->port);
	if (ret != -ENOSPC)
		return ret < 0 ? ret : 0;
	err_set(run->err, EXIT_FAILED, "too-many-paths",
		"more than %u routers answer at hop %u on the way to %s",
		ROCESTEER_MAX_PATHS, run->discover->config.hop,
		addr_format(t->peer->addr, peer));
	return ret;
}

/* The peer itself is where the routers should be. */
static void found_near(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	char peer[ADDR_STRLEN], line[160];

	if (t->peer->local)
		return;
	t->peer->local = true;
	t->peer->near = d->config.hop > LEAF_PEER;
	if (!d->note || t->peer->near)
		return;
	snprintf(line, sizeof(line),
		 "%s is not further away than hop %u: taken as under our own leaf.",
		 addr_format(t->peer->addr, peer), d->config.hop);
	d->note(d->arg, line);
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct discovery *run = client;
	struct target *t = &run->targets[probe->peer];
	bool itself = !addr_compare(answer->from, t->peer->addr);
	int ret = 0;

	t->active--;
	if (answer->type == PROBE_TIME_EXCEEDED &&
	    probe->kind != PROBE_NEAR) {
		ret = saw_router(run, t, probe, answer->from);
	} else if (answer->type == PROBE_PORT_UNREACHABLE && itself) {
		/* It answers itself: there is no leaf, or no spine, between. */
		if (probe->kind == PROBE_LEAF)
			ret = saw_router(run, t, probe, answer->from);
		else if (!t->answered)
			found_near(run, t);
	} else {
		if (answer->type == PROBE_UNREACHABLE)
			memcpy(t->unreachable, answer->from, 16);
		t->lost++;
	}
	return ret ?: advance(run, t);
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	struct discovery *run = client;
	struct target *t = &run->targets[probe->peer];

	t->active--;
	if (t->phase == PATHS && t->nr_silent < AGAIN_PORTS)
		t->silent[t->nr_silent++] = probe->port;
	if (t->phase == AGAIN)	/* at most as many as were asked */
		t->silent[t->lost] = probe->port;
	t->lost++;
	return advance(run, t);
}

static void status(void *client, char *line, size_t size)
{
	struct discovery *run = client;
	unsigned int probed = 0;
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++)
		probed += run->targets[i].peer->probed +
			  run->targets[i].answered;
	snprintf(line, size, "probing: %zu of %zu peers done, %u ports",
		 run->done, run->map->nr_peers, probed);
}

static void tell_note(void *client, const char *line)
{
	const struct discover *discover = ((struct discovery *)client)->discover;

	if (discover->note)
		discover->note(discover->arg, line);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
	.note = tell_note,
};

static int prepare(struct discovery *run, const struct discover *d,
		   struct portmap *map, struct err *err)
{
	struct route route;
	size_t i;
	int ret;

	memset(map, 0, sizeof(*map));
	map->hop = d->config.hop;
	utc_format(time(NULL), map->created);
	snprintf(map->device, sizeof(map->device), "%s", d->config.device);
	map->peers = calloc(d->nr_peers, sizeof(*map->peers));
	run->targets = calloc(d->nr_peers, sizeof(*run->targets));
	run->seen = calloc(d->nr_peers * ROCESTEER_MAX_PATHS,
			   sizeof(*run->seen));
	if (!map->peers || !run->targets || !run->seen)
		return -ENOMEM;
	map->nr_peers = d->nr_peers;
	for (i = 0; i < d->nr_peers; i++) {
		struct portmap_peer *peer = &map->peers[i];

		ret = route_lookup(d->config.device, d->peers[i], d->source,
				   &route, err);
		if (ret)
			return ret;
		memcpy(peer->addr, d->peers[i], 16);
		memcpy(peer->source, route.source, 16);
		peer->local = route.on_link;
		peer->expected = route.on_link ? 0 : d->paths;
		run->targets[i].peer = peer;
		if (peer->local)
			enter(run, &run->targets[i], DONE);
	}
	return 0;
}

static int name_leaves(struct discovery *run)
{
	struct portmap *map = run->map;
	__u8 *leaf = calloc(map->nr_peers, 16);
	size_t i;
	int ret;

	if (!leaf)
		return -ENOMEM;
	ret = leaf_name(run->seen, run->nr_seen, leaf, map->nr_peers);
	for (i = 0; !ret && i < map->nr_peers; i++)
		memcpy(map->peers[i].leaf, leaf + i * 16, 16);
	free(leaf);
	return ret;
}

int discover_run(const struct discover *discover, struct portmap *map,
		 struct err *err)
{
	struct discovery run = { .discover = discover, .map = map, .err = err };
	size_t i;
	int ret;

	set_goals(&run);
	ret = prepare(&run, discover, map, err) ?:
	      probe_batch_run(&discover->config, &ops, &run, err) ?:
	      name_leaves(&run);
	free(run.targets);
	free(run.seen);
	if (ret) {
		portmap_free(map);
		return ret;
	}
	for (i = 0; i < map->nr_peers; i++)
		if (map->peers[i].local)
			map->peers[i].expected = 0;
	portmap_sort(map);
	return 0;
}
