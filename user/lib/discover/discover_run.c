// SPDX-License-Identifier: GPL-2.0
/* A search as a whole: probes of all peers, their answers, and the port map at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_priv.h"
#include "leaf_alias.h"
#include "route.h"
#include "weights.h"

#define PEERS_ACTIVE	32	/* so that peers that do not answer are told early */
#define LEAF_PEER	2	/* distance of a peer behind no router but our leaf */

static int next_probe(void *client, struct batch_probe *probe,
		      const __u8 **source, const __u8 **peer)
{
	struct discovery *run = client;
	size_t n = run->map->nr_peers, i;

	for (i = 0; i < n; i++) {
		struct target *t = &run->targets[run->cursor];

		probe->peer = run->cursor;
		run->cursor = run->cursor + 1 < n ? run->cursor + 1 : 0;
		if (probe->peer >= run->done + PEERS_ACTIVE || !discover_ports_wanted(run, t))
			continue;
		discover_ports_take(run, t, probe);
		probe->ttl = probe_ttl(probe->kind, t->peer->hop, t->peer->leaf_hop);
		*source = t->peer->source;
		*peer = t->peer->addr;
		return 0;
	}
	return -EAGAIN;
}

static int saw_path(struct discovery *run, struct target *t, const struct hash_router *router,
		    __u16 port)
{
	int ret = portmap_peer_add_port(t->peer, router, NULL, port);
	char peer[ADDR_STRLEN];

	t->answered++;
	if (ret != -ENOSPC)
		return ret < 0 ? ret : 0;
	err_set(run->err, EXIT_FAILED, "too-many-paths",
		"more than %u routers answer at hop %u on the way to %s",
		ROCESTEER_MAX_PATHS, t->peer->hop,
		addr_format(t->peer->addr, peer));
	err_hint(run->err,
		 "Only where switches hash linearly, as by a CRC, %u of up to %u routers are chosen.",
		 ROCESTEER_MAX_PATHS, HASH_MAX_LABELS);
	return ret;
}

/* Our leaf has answered by a port, or has not. */
static int end_half(struct discovery *run, struct target *t, __u16 port, const __u8 *leaf)
{
	struct hash_router router = {};
	struct half_port *half = t->half;

	while (half->port != port)
		half++;
	memcpy(router.addr, half->router, 16);
	*half = t->half[--t->nr_half];
	if (leaf)
		memcpy(router.via, leaf, 16);
	return leaf ? saw_path(run, t, &router, port) : 0;
}

/* Is a probe of our leaf, for a path? */
static bool is_half(const struct target *t, const struct batch_probe *probe)
{
	return probe->kind == PROBE_BEFORE && t->phase != AROUND;
}

static int saw_router(struct discovery *run, struct target *t,
		      const struct batch_probe *probe, const __u8 from[16])
{
	struct hash_router router = {};
	struct half_port *half;
	int ret;

	if (t->bonded && probe->kind == PROBE_PATH) {
		t->active++;
		half = &t->half[t->nr_half++];
		*half = (struct half_port) { .port = probe->port };
		memcpy(half->router, from, 16);
		return 0;
	}
	memcpy(router.addr, from, 16);
	if (probe->kind == PROBE_PATH)
		return saw_path(run, t, &router, probe->port);
	t->answered++;
	if (probe->kind == PROBE_LEAF) {
		ret = circuits_saw(&t->circuits, t->peer, probe->port, from);
		t->joined = circuits_joined(&t->circuits, t->peer->nr_paths);
		return ret;
	}
	if (probe->kind == PROBE_QPN)
		qpn_check_saw(&t->qpn, probe->port, probe->dqpn, from);
	return 0;
}

/* The router of a port's path answers, or another one does, or it has lost its route. */
static void prove(struct target *t, const struct batch_probe *probe,
		  const struct probe_answer *answer)
{
	const struct portmap_path *path = portmap_peer_port_path(t->peer, probe->port);

	t->answered++;
	if (path && (answer->type != PROBE_TIME_EXCEEDED ||
		     addr_compare(answer->from, path->router)))
		t->moved = true;
}

/* A path leads there, and no further. */
static int saw_cut(struct target *t, const struct batch_probe *probe, const __u8 from[16])
{
	struct portmap_peer *peer = t->peer;
	struct hash_router router = {};
	int ret;

	memcpy(router.addr, from, 16);
	memcpy(t->unreachable, from, 16);
	if (probe->kind != PROBE_PATH) {
		t->lost++;
		return 0;
	}
	t->answered++;
	if (!peer->cut)
		peer->cut = calloc(1, sizeof(*peer->cut));
	if (!peer->cut)
		return -ENOMEM;
	ret = portmap_peer_add_port(peer->cut, &router, NULL, probe->port);
	return ret < 0 ? ret : 0;
}

/* The peer itself is where the routers should be. */
static void found_near(struct discovery *run, struct target *t)
{
	if (t->peer->local)
		return;
	t->peer->local = true;
	t->peer->near = t->peer->hop > LEAF_PEER;
	if (!t->peer->near)
		discover_phase_note(run, t,
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
	if (is_half(t, probe)) {
		t->lost += answer->type != PROBE_TIME_EXCEEDED;
		ret = end_half(run, t, probe->port,
			       answer->type == PROBE_TIME_EXCEEDED ? answer->from : NULL);
	} else if (t->phase == PROVE) {
		prove(t, probe, answer);
	} else if (t->phase == AROUND) {
		t->before |= probe->kind == PROBE_BEFORE;
		t->answered += probe->kind == PROBE_PEER && itself;
	} else if (answer->type == PROBE_TIME_EXCEEDED && probe->kind != PROBE_NEAR) {
		ret = saw_router(run, t, probe, answer->from);
	} else if (answer->type == PROBE_PORT_UNREACHABLE && itself) {
		/* The peer answers itself: there is no leaf, or no spine, between. */
		if (probe->kind == PROBE_LEAF)
			ret = saw_router(run, t, probe, answer->from);
		else if (!t->peer->nr_paths || t->bonded)
			found_near(run, t);
	} else if (answer->type == PROBE_UNREACHABLE) {
		ret = saw_cut(t, probe, answer->from);
	} else {
		t->lost++;
	}
	return ret ?: discover_phase_advance(run, t);
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	struct discovery *run = client;
	struct target *t = &run->targets[probe->peer];

	t->active--;
	if (is_half(t, probe))
		end_half(run, t, probe->port, NULL);
	if (t->phase == PATHS && t->nr_silent < AGAIN_PORTS)
		t->silent[t->nr_silent++] = probe->port;
	if (t->phase == AGAIN)	/* at most as many as were asked */
		t->silent[t->lost] = probe->port;
	t->lost++;
	return discover_phase_advance(run, t);
}

/* Share of a peer's search that is done, by the ports that it takes. */
static double share_done(const struct discovery *run, const struct target *t)
{
	unsigned int paths = t->peer->nr_paths, goal = t->least;
	double ports = t->peer->probed;

	if (t->phase == DONE)
		return 1;
	if (!run->done && !t->leader && !t->paths)
		goal = SMALL_PORTS;
	if (t->phase == PATHS)
		ports += t->answered + t->lost;
	if (paths <= ROCESTEER_MAX_PATHS && run->goal[!!t->paths][paths] > goal)
		goal = run->goal[!!t->paths][paths];
	return goal && ports < goal ? 0.9 * ports / goal : 0.9;
}

static void status(void *client, char *line, size_t size)
{
	struct discovery *run = client;
	size_t n = run->map->nr_peers, i;
	unsigned int probed = 0;
	double done = 0, past = (clock_ns() - run->started) / 1e9;
	int len;

	for (i = 0; i < n; i++) {
		probed += run->targets[i].peer->probed + run->targets[i].answered;
		done += share_done(run, &run->targets[i]);
	}
	len = snprintf(line, size, "probing: %zu of %zu peers done, %u ports", run->done, n,
		       probed);
	if (probed && done)
		snprintf(line + len, size - len, ", about %.0f s left", past * (n - done) / done);
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

/* A hop that is none of two or three tiers, as somebody said it for an earlier map; or 0 */
static unsigned int said_hop(const struct portmap *known)
{
	size_t i;

	for (i = 0; known && i < known->nr_peers; i++) {
		const struct portmap_peer *peer = &known->peers[i];

		if (!peer->local && (peer->hop < 2 || peer->leaf_hop != 2 * peer->hop - 1))
			return peer->hop;
	}
	return 0;
}

static int prepare(struct discovery *run, const struct discover *d,
		   struct portmap *map, struct err *err)
{
	unsigned int hop = d->hop ?: said_hop(d->known);
	struct route route;
	size_t i;
	int ret;

	memset(map, 0, sizeof(*map));
	utc_format(time(NULL), map->created);
	snprintf(map->device, sizeof(map->device), "%s", d->config.device);
	map->peers = calloc(d->nr_peers, sizeof(*map->peers));
	run->targets = calloc(d->nr_peers, sizeof(*run->targets));
	if (!map->peers || !run->targets)
		return -ENOMEM;
	map->nr_peers = d->nr_peers;
	for (i = 0; i < d->nr_peers; i++) {
		struct portmap_peer *peer = &map->peers[i];

		memcpy(peer->addr, d->peers[i], 16);
		run->targets[i].peer = peer;
		ret = route_lookup(d->config.device, d->peers[i], d->source, &route, err);
		if (ret && d->leave_out && ret != -ENODEV) {
			discover_phase_leave_out(run, &run->targets[i]);
			continue;
		}
		if (ret)
			return ret;
		memcpy(peer->source, route.source, 16);
		peer->local = route.on_link;
		peer->hop = d->hops ? d->hops[i][0] : hop ?: PROBE_BATCH_HOP;
		peer->leaf_hop = d->hops ? d->hops[i][1] : peer->hop + 1;
		run->targets[i].open = !d->hops && !hop;
		run->targets[i].paths = d->paths;
		run->targets[i].bonded = d->bonded && peer->hop == PROBE_BATCH_HOP;
		run->targets[i].joined = true;
		run->targets[i].split = d->split && d->split(d->arg, i);
		if (peer->local)
			discover_phase_enter(run, &run->targets[i], DONE);
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

/* The leader of a leaf, which has the most ports, weighs the paths of all its peers. */
static void weigh(const struct discovery *run)
{
	unsigned int p, q;
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++)
		if (run->targets[i].weighted)
			weights_propose(run->targets[i].peer);
	for (i = 0; i < run->map->nr_peers; i++) {
		const struct target *t = &run->targets[i];

		if (!t->leader || !t->leader->weighted || t->leader == t)
			continue;
		for (p = 0; p < t->peer->nr_paths; p++) {
			struct portmap_path *path = &t->peer->paths[p];

			q = portmap_peer_find_path(t->leader->peer, path->router, path->via,
						   path->leaf);
			if (q < ROCESTEER_MAX_PATHS)
				path->weight = t->leader->peer->paths[q].weight;
		}
	}
}

/* Leave out all peers that are not done. */
static void leave_others_out(struct discovery *run)
{
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++)
		if (run->targets[i].phase != DONE)
			discover_phase_leave_out(run, &run->targets[i]);
}

/* Take the peers out that were left out, and say how many there are. */
static void close_gaps(const struct discovery *run, struct portmap *map)
{
	char said[sizeof(run->err->message)];
	size_t i, n = 0;

	if (!run->left_out)
		return;
	for (i = 0; i < map->nr_peers; i++)
		if (!run->targets[i].left_out)
			map->peers[n++] = map->peers[i];
	map->nr_peers = n;
	if (run->left_out == 1 || !run->err->code)
		return;
	memcpy(said, run->err->message, sizeof(said));
	snprintf(run->err->message, sizeof(said), "%.400s; %zu peers are without ports", said,
		 run->left_out);
}

static void free_targets(struct discovery *run, size_t n)
{
	size_t i;

	for (i = 0; run->targets && i < n; i++)
		free(run->targets[i].circuits.seen);
	free(run->targets);
}

int discover_run(const struct discover *discover, struct portmap *map, struct err *err)
{
	struct discovery run = {
		.discover = discover,
		.map = map,
		.started = clock_ns(),
		.err = err,
	};
	size_t i;
	int ret;

	discover_ports_goals(&run);
	ret = prepare(&run, discover, map, err) ?: discover_learn(&run);
	if (!ret && discover->quick)
		leave_others_out(&run);
	ret = ret ?:
	      probe_batch_run(&discover->config, &ops, &run, err) ?:
	      name_leaves(&run) ?: discover_vias(&run);
	for (i = 0; !ret && i < map->nr_peers; i++)
		if (map->peers[i].local)
			map->peers[i].expected = 0;
		else if (run.targets[i].paths)
			map->peers[i].expected = run.targets[i].paths;
	if (!ret) {
		weigh(&run);
		close_gaps(&run, map);
	}
	free_targets(&run, discover->nr_peers);
	if (ret) {
		portmap_free(map);
		return ret;
	}
	portmap_sort(map);
	return 0;
}
