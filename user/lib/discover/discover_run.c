// SPDX-License-Identifier: GPL-2.0
#include "discover_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuits.h"
#include "leaf_alias.h"
#include "qpn_check.h"
#include "route.h"

/* Miss chance at which a peer is done where it is known what is to be found. */
#define ONE_IN_KNOWN	1e6
#define PEER_ACTIVE	32	/* probes out per peer */
#define SILENT_PORTS	8	/* unanswered: nobody answers at this hop */
#define NEAR_PORTS	3
#define LEAF_PORTS	8	/* of each path: one of two links is missed by 1 in 128 */
#define AGAIN_ACTIVE	2
#define AGAIN_PORTS	64
#define STRIDE		10125	/* odd, the golden section of the range */
#define STRIDE_INVERSE	13125	/* STRIDE times it is 1, modulo the range */
#define LEAF_PEER	2	/* distance of a peer behind no router but our leaf */

_Static_assert(STRIDE * STRIDE_INVERSE % PORTMAP_MAX_PORTS == 1, "not inverse");

enum phase { PATHS, AGAIN, EXTRA, LEAF, NEAR, QPN, DONE };

/*
 * One peer on its way through the phases. @started, @active, @answered and
 * @lost count the probes of the current phase, @unreachable is the router that
 * last said so. @silent are ports that got no answer: they are asked again, slowly,
 * as long as some answer then, as routers that limit their ICMP are not silent.
 *
 * A few ports of each path are asked one hop further. Where @circuits says that paths
 * by one router are different ones, they are @split: all ports are asked, and more
 * ports are probed if it takes more for so many paths. @walked counts them.
 *
 * At last some ports are asked with other queue pair numbers: @qpn.
 */
struct target {
	struct portmap_peer *peer;
	struct circuits circuits;
	struct qpn_check qpn;
	bool split;
	bool joined;
	unsigned int walked;
	size_t extra;
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

/* Skip through the ports: a hash may use some bits only, which should change early. */
__u16 discover_port(unsigned int i)
{
	return ROCESTEER_SPORT_MIN + i * STRIDE % PORTMAP_MAX_PORTS;
}

/* Was the port probed on the walk? */
static bool was_walked(const struct target *t, __u16 port)
{
	unsigned int i = port - ROCESTEER_SPORT_MIN;

	return i * STRIDE_INVERSE % PORTMAP_MAX_PORTS < t->walked;
}

/* Was it probed besides? */
static bool was_extra(const struct discovery *run, const struct target *t, __u16 port)
{
	size_t i;

	for (i = 0; i < t->extra; i++)
		if (run->discover->extra[i] == port)
			return true;
	return false;
}

/* No port is probed twice. */
static void skip_known(const struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;

	if (t->phase == EXTRA)
		while (t->extra < d->nr_extra && was_walked(t, d->extra[t->extra]))
			t->extra++;
	if (t->phase == PATHS)
		while (t->walked < d->config.ports &&
		       was_extra(run, t, discover_port(t->walked)))
			t->walked++;
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

/* Number of ports of each path that are probed one hop further. */
static unsigned int leaf_ports(const struct discovery *run, const struct target *t)
{
	unsigned int paths = run->discover->paths;
	unsigned int found = t->peer->nr_paths;

	if (t->split)
		return PORTMAP_MAX_PORTS;
	if (run->discover->enough || found == 1 || (paths && found >= paths))
		return 1;
	/* One of each says whether more would say something. */
	return t->answered + t->lost < found || t->joined ? 1 : LEAF_PORTS;
}

/* Paths are told apart by router until they are split. */
static bool has_enough_ports(const struct discovery *run, const struct target *t,
			     unsigned int active)
{
	unsigned int paths = t->peer->nr_paths, ports = t->answered;

	if (t->split) {
		paths = circuits_paths(&t->circuits, paths);
		ports += t->circuits.nr_seen;
	}
	return paths > ROCESTEER_MAX_PATHS || ports + active >= run->goal[paths];
}

static bool wants_probe(const struct discovery *run, const struct target *t)
{
	if (t->peer->local)
		return false;
	switch (t->phase) {
	case PATHS:
		if (t->active >= PEER_ACTIVE ||
		    t->walked >= run->discover->config.ports)
			return false;
		if (!t->answered && t->lost + t->active >= SILENT_PORTS)
			return false;
		return !has_enough_ports(run, t, t->active) && !is_enough(run, t);
	case AGAIN:
		return t->active < AGAIN_ACTIVE && t->started < t->nr_silent;
	case EXTRA:
		return t->active < PEER_ACTIVE && t->extra < run->discover->nr_extra;
	case LEAF:
		return t->active < PEER_ACTIVE &&
		       circuits_has_next(&t->circuits, t->peer,
					 leaf_ports(run, t));
	case NEAR:
		return t->started < NEAR_PORTS;
	case QPN:
		return t->active < PEER_ACTIVE && qpn_check_has_next(&t->qpn);
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
	skip_known(run, t);
	if (phase == DONE)
		run->done++;
}

/* The paths of a peer are known, but whether they depend on queue pair numbers. */
static void end_leaves(struct discovery *run, struct target *t)
{
	bool asks = t->peer->nr_paths > 1 && !run->discover->enough;

	if (asks)
		qpn_check_start(&t->qpn, t->peer, t->walked,
				run->discover->config.ports);
	enter(run, t, asks ? QPN : DONE);
}

static void end_qpn(struct discovery *run, struct target *t)
{
	if (qpn_check_go_on(&t->qpn)) {
		enter(run, t, QPN);
		return;
	}
	t->peer->qpn_hash = t->qpn.verdict == QPN_HASHED;
	t->peer->sprays = t->qpn.verdict == QPN_SPRAYED;
	enter(run, t, DONE);
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

static void note_peer(const struct discovery *run, const struct target *t,
		      const char *fmt)
{
	const struct discover *d = run->discover;
	char peer[ADDR_STRLEN], line[192];

	if (!d->note)
		return;
	snprintf(line, sizeof(line), fmt, addr_format(t->peer->addr, peer),
		 d->config.hop);
	d->note(d->arg, line);
}

/* Tell paths apart by leaf, after all their ports were probed. */
static int split(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	struct portmap_peer apart, *peer = t->peer;
	int ret = circuits_split(&t->circuits, peer, &apart);

	if (ret == -ENOSPC) {
		note_peer(run, t, "%s: there are too many paths to tell links apart.");
		end_leaves(run, t);
		ret = 0;
	} else if (!ret && t->walked < d->config.ports &&
		   !has_enough_ports(run, t, 0) &&
		   !(d->enough && d->enough(d->arg, t - run->targets, &apart))) {
		enter(run, t, PATHS);
	} else if (!ret) {
		apart.unanswered = apart.probed - t->circuits.nr_seen;
		portmap_peer_free(peer);
		*peer = apart;
		end_leaves(run, t);
		return 0;
	}
	portmap_peer_free(&apart);
	return ret;
}

/* Ports were asked one hop further. */
static int end_leaf(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	bool was = t->split;

	if (!t->circuits.nr_addrs)
		return no_replies(run, t, d->config.hop + 1, t->started);
	if (!d->split)
		t->split = circuits_found(&t->circuits, t->peer->nr_paths);
	t->answered = 0;	/* they are counted by @circuits */
	if (was && t->split)
		return split(run, t);
	if (t->split)
		enter(run, t, LEAF);
	else
		end_leaves(run, t);
	return 0;
}

static void end_paths(struct discovery *run, struct target *t)
{
	t->peer->probed += t->answered + t->lost;
	t->peer->unanswered += t->lost;
	if (t->peer->nr_paths && !t->answered)	/* of those that split them */
		t->walked = run->discover->config.ports;
	if (asks_again(run, t))
		enter(run, t, AGAIN);
	else
		enter(run, t, t->peer->nr_paths ? EXTRA : NEAR);
}

static int next_phase(struct discovery *run, struct target *t)
{
	unsigned int hop = run->discover->config.hop;

	if (t->peer->local) {
		portmap_peer_free(t->peer);
		enter(run, t, DONE);
		return 0;
	}
	switch (t->phase) {
	case PATHS:
		end_paths(run, t);
		break;
	case AGAIN:
		t->peer->unanswered -= t->answered;
		t->nr_silent = t->lost;
		enter(run, t, t->answered && t->lost ? AGAIN : EXTRA);
		break;
	case EXTRA:
		t->peer->probed += t->answered + t->lost;
		t->peer->unanswered += t->lost;
		enter(run, t, LEAF);
		break;
	case LEAF:
		return end_leaf(run, t);
	case NEAR:
		return no_replies(run, t, hop, t->peer->probed);
	case QPN:
		end_qpn(run, t);
		break;
	case DONE:
		break;
	}
	return 0;
}

/* Go on to the next phase when the probes of this one are all in. */
static int advance(struct discovery *run, struct target *t)
{
	int ret = 0;

	while (!ret && !t->active && t->phase != DONE && !wants_probe(run, t))
		ret = next_phase(run, t);
	return ret;
}

static void fill_probe(const struct discovery *run, struct target *t,
		       struct batch_probe *probe)
{
	unsigned int i = t->started++;

	t->active++;
	switch (t->phase) {
	case PATHS:
		probe->kind = PROBE_PATH;
		probe->port = discover_port(t->walked++);
		skip_known(run, t);
		break;
	case AGAIN:
		probe->kind = PROBE_PATH;
		probe->port = t->silent[i];
		break;
	case EXTRA:
		probe->kind = PROBE_PATH;
		probe->port = run->discover->extra[t->extra++];
		skip_known(run, t);
		break;
	case LEAF:
		probe->kind = PROBE_LEAF;
		probe->port = circuits_next(&t->circuits, t->peer,
					    leaf_ports(run, t));
		break;
	case QPN:
		probe->kind = PROBE_QPN;
		qpn_check_next(&t->qpn, &probe->port, &probe->dqpn);
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
		fill_probe(run, t, probe);
		*source = t->peer->source;
		*peer = t->peer->addr;
		return 0;
	}
	return -EAGAIN;
}

static const __u8 no_leaf[16];

static int saw_router(struct discovery *run, struct target *t,
		      const struct batch_probe *probe, const __u8 from[16])
{
	char peer[ADDR_STRLEN];
	int ret;

	t->answered++;
	if (probe->kind == PROBE_LEAF) {
		ret = circuits_saw(&t->circuits, t->peer, probe->port, from);
		t->joined = circuits_joined(&t->circuits, t->peer->nr_paths);
		return ret;
	}
	if (probe->kind == PROBE_QPN) {
		qpn_check_saw(&t->qpn, probe->port, probe->dqpn, from);
		return 0;
	}
	ret = portmap_peer_add_port(t->peer, from, no_leaf, probe->port);
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
	if (t->peer->local)
		return;
	t->peer->local = true;
	t->peer->near = run->discover->config.hop > LEAF_PEER;
	if (!t->peer->near)
		note_peer(run, t,
			  "%s is not further away than hop %u: taken as under our own leaf.");
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
		/* The peer answers itself: there is no leaf, or no spine, between. */
		if (probe->kind == PROBE_LEAF)
			ret = saw_router(run, t, probe, answer->from);
		else if (!t->peer->nr_paths)
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

static void pass_note(void *client, const char *line)
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
	.note = pass_note,
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
	if (!map->peers || !run->targets)
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
		run->targets[i].joined = true;
		run->targets[i].split = d->split && d->split(d->arg, i);
		if (peer->local)
			enter(run, &run->targets[i], DONE);
	}
	return 0;
}

/* Return: addresses seen, in @seen where it is not NULL. */
static size_t list_leaves(const struct discovery *run, struct leaf_sighting *seen)
{
	unsigned int k;
	size_t i, n = 0;

	for (i = 0; i < run->map->nr_peers; i++) {
		const struct circuits *c = &run->targets[i].circuits;

		for (k = 0; k < c->nr_addrs; k++, n++) {
			if (!seen)
				continue;
			seen[n].peer = i;
			memcpy(seen[n].addr, c->addr[k], 16);
		}
	}
	return n;
}

static int name_leaves(struct discovery *run)
{
	size_t i, n = run->map->nr_peers, nr_seen = list_leaves(run, NULL);
	struct leaf_sighting *seen = calloc(nr_seen ?: 1, sizeof(*seen));
	__u8 *leaf = calloc(n, 16);
	int ret = -ENOMEM;

	if (seen && leaf) {
		list_leaves(run, seen);
		ret = leaf_name(seen, nr_seen, leaf, n);
	}
	for (i = 0; !ret && i < n; i++)
		memcpy(run->map->peers[i].leaf, leaf + i * 16, 16);
	free(seen);
	free(leaf);
	return ret;
}

static void free_targets(struct discovery *run, size_t n)
{
	size_t i;

	for (i = 0; run->targets && i < n; i++)
		free(run->targets[i].circuits.seen);
	free(run->targets);
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
	free_targets(&run, discover->nr_peers);
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
