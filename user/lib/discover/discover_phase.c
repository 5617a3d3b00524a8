// SPDX-License-Identifier: GPL-2.0
/* The phases of a peer's search: what follows when the probes of one are all in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_priv.h"
#include "weights.h"

void discover_phase_enter(struct discovery *run, struct target *t, enum phase phase)
{
	t->phase = phase;
	t->started = 0;
	t->active = 0;
	t->answered = 0;
	t->lost = 0;
	discover_ports_skip(run, t);
	if (phase == DONE)
		run->done++;
}

void discover_phase_note(const struct discovery *run, const struct target *t, const char *fmt)
{
	const struct discover *d = run->discover;
	char peer[ADDR_STRLEN], line[320];

	if (!d->note)
		return;
	snprintf(line, sizeof(line), fmt, addr_format(t->peer->addr, peer), t->peer->hop);
	d->note(d->arg, line);
}

/* Begin at the first port, also after the last phase. */
static void start(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	struct target before = *t;

	free(t->circuits.seen);
	portmap_peer_free(t->peer);
	t->peer->probed = 0;
	t->peer->unanswered = 0;
	run->done -= t->phase == DONE;
	*t = (struct target) {
		.peer = before.peer,
		.leader = before.leader,
		.least = before.least,
		.anew = before.anew,
		.paths = before.paths,
		.bonded = before.bonded,
		.joined = true,
		.split = d->split && d->split(d->arg, t - run->targets),
	};
	discover_phase_enter(run, t, PATHS);
}

/* The first peer of a leaf, as far as addresses behind routers tell. */
static struct target *find_leader(const struct discovery *run, struct target *t)
{
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct target *other = &run->targets[i];

		if (other->leader == other && circuits_meet(&other->circuits, &t->circuits))
			return other;
	}
	return t;
}

static void set_least(const struct discovery *run, struct target *t,
		      const struct portmap_peer *found)
{
	enum weights_verdict verdict = WEIGHTS_EQUAL;

	if (t->least < SMALL_PORTS)
		t->least = SMALL_PORTS;
	if (discover_ports_suffice(run, t, 0) || t->walked >= run->discover->config.ports)
		verdict = weights_judge(found);
	t->weighted = verdict == WEIGHTS_DIFFER;
	if (t->weighted)
		t->least = run->discover->config.ports;
	else if (verdict == WEIGHTS_DOUBT)
		t->least *= 2;
}

/*
 * Are more ports to be probed for paths of a small weight? Not where it is known what is to be
 * found, nor where the map is refused anyway: there is one path, or some lead nowhere.
 */
static bool wants_more(struct discovery *run, struct target *t, const struct portmap_peer *found)
{
	const struct discover *d = run->discover;

	if (d->enough || t->paths || found->nr_paths < 2 || portmap_peer_nr_cut(t->peer) ||
	    portmap_peer_is_silent(t->peer))
		return false;
	if (!t->leader)
		t->leader = find_leader(run, t);
	if (t->leader == t)
		set_least(run, t, found);
	return t->walked < d->config.ports && !discover_ports_suffice(run, t, 0);
}

/* Search for paths of small weight behind the other peers of a leaf. */
static void search_leaf(struct discovery *run, const struct target *leader)
{
	size_t i;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct target *t = &run->targets[i];

		if (t->leader != leader || t == leader || t->phase != DONE ||
		    t->least == SMALL_PORTS)
			continue;
		t->least = SMALL_PORTS;
		start(run, t);
	}
}

static void finish(struct discovery *run, struct target *t)
{
	struct target *leader = t->leader;

	t->peer->moved = t->moved && t->anew;
	if (t->moved && !t->anew) {
		discover_phase_note(run, t, "%s: ports have moved to other paths: starting anew.");
		t->anew = true;
		if (leader == t)
			t->least = 0;
		start(run, t);
		return;
	}
	discover_phase_enter(run, t, DONE);
	if (leader && leader->weighted && leader->phase == DONE)
		search_leaf(run, leader);
}

/* The paths of a peer are known, but not whether they depend on queue pair numbers. */
static void end_leaves(struct discovery *run, struct target *t)
{
	if (run->discover->enough) {
		finish(run, t);
		return;
	}
	if (t->peer->nr_paths > 1)
		qpn_check_start(&t->qpn, t->peer, t->walked, run->discover->config.ports);
	discover_phase_enter(run, t, t->peer->nr_paths > 1 ? QPN : PROVE);
}

static void end_qpn(struct discovery *run, struct target *t)
{
	if (qpn_check_go_on(&t->qpn)) {
		discover_phase_enter(run, t, QPN);
		return;
	}
	t->peer->qpn_hash = t->qpn.verdict == QPN_HASHED;
	t->peer->sprays = t->qpn.verdict == QPN_SPRAYED;
	t->moved = t->qpn.verdict == QPN_NO_MATTER && t->qpn.suspected;
	if (t->peer->sprays)
		finish(run, t);
	else
		discover_phase_enter(run, t, PROVE);
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
	return t->peer->nr_paths && t->nr_silent && !t->paths &&
	       !run->discover->enough && !portmap_peer_nr_cut(t->peer);
}

/* Tell paths apart by leaf, after all their ports were probed. */
static int split(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	struct portmap_peer apart, *peer = t->peer;
	int ret = circuits_split(&t->circuits, peer, &apart);

	if (ret == -ENOSPC) {
		discover_phase_note(run, t, "%s: there are too many paths to tell links apart.");
		end_leaves(run, t);
		ret = 0;
	} else if (!ret && t->walked < d->config.ports &&
		   (wants_more(run, t, &apart) || !discover_ports_suffice(run, t, 0)) &&
		   !(d->enough && d->enough(d->arg, t - run->targets, &apart))) {
		discover_phase_enter(run, t, PATHS);
	} else if (!ret) {
		apart.unanswered = apart.probed - t->circuits.nr_seen;
		apart.cut = peer->cut;
		peer->cut = NULL;
		portmap_peer_free(peer);
		*peer = apart;
		end_leaves(run, t);
		return 0;
	}
	portmap_peer_free(&apart);
	return ret;
}

/* Only the peer, or nobody, answered one hop further. */
static bool may_be_at_leaf(const struct target *t)
{
	const struct circuits *c = &t->circuits;

	return !t->around && t->peer->hop > 1 &&
	       (!c->nr_addrs || (c->nr_addrs == 1 && !addr_compare(c->addr[0], t->peer->addr)));
}

/* The routers are one, which is the leaf. */
static void name_leaf(struct target *t)
{
	unsigned int i;

	t->circuits.nr_addrs = t->peer->nr_paths;
	for (i = 0; i < t->peer->nr_paths; i++)
		memcpy(t->circuits.addr[i], t->peer->paths[i].router, 16);
}

/* Ports were asked one hop further. */
static int end_leaf(struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;
	bool was = t->split;

	if (may_be_at_leaf(t)) {
		t->around = true;
		discover_phase_enter(run, t, AROUND);
		return 0;
	}
	if (t->at_leaf)
		name_leaf(t);
	if (!t->circuits.nr_addrs)
		return no_replies(run, t, t->peer->leaf_hop, t->peer->nr_paths);
	if (!d->split)
		t->split = circuits_found(&t->circuits, t->peer->nr_paths);
	t->answered = 0;	/* they are counted by @circuits */
	if (was && t->split)
		return split(run, t);
	if (t->split)
		discover_phase_enter(run, t, LEAF);
	else if (wants_more(run, t, t->peer))
		discover_phase_enter(run, t, PATHS);
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
	/* One of our leaves may be the peer's: ports that choose it lead to no router. */
	if (!t->peer->nr_paths || (t->bonded && t->nr_silent))
		discover_phase_enter(run, t, NEAR);
	else
		discover_phase_enter(run, t, asks_again(run, t) ? AGAIN : EXTRA);
}

static int next_phase(struct discovery *run, struct target *t)
{
	if (t->peer->local) {
		portmap_peer_free(t->peer);
		discover_phase_enter(run, t, DONE);
		return 0;
	}
	switch (t->phase) {
	case PATHS:
		if (!t->peer->nr_paths && portmap_peer_nr_cut(t->peer))
			return no_replies(run, t, t->peer->hop, t->peer->probed);
		end_paths(run, t);
		break;
	case AGAIN:
		t->peer->unanswered -= t->answered;
		t->nr_silent = t->lost;
		discover_phase_enter(run, t, t->answered && t->lost ? AGAIN : EXTRA);
		break;
	case EXTRA:
		t->peer->probed += t->answered + t->lost;
		t->peer->unanswered += t->lost;
		discover_phase_enter(run, t, LEAF);
		break;
	case LEAF:
		return end_leaf(run, t);
	case AROUND:
		t->at_leaf = (t->answered || t->circuits.nr_addrs) && !t->before;
		if (t->at_leaf)
			discover_phase_note(run, t,
					    "%s: no router answers before hop %u. Paths are told apart by the interfaces of its leaf: this is right only if the leaf answers from the interface by which a probe came in.");
		return end_leaf(run, t);
	case NEAR:
		if (!t->peer->nr_paths)
			return no_replies(run, t, t->peer->hop, t->peer->probed);
		discover_phase_enter(run, t, asks_again(run, t) ? AGAIN : EXTRA);
		break;
	case QPN:
		end_qpn(run, t);
		break;
	case PROVE:
		finish(run, t);
		break;
	case DONE:
		break;
	}
	return 0;
}

void discover_phase_leave_out(struct discovery *run, struct target *t)
{
	portmap_peer_free(t->peer);
	t->left_out = true;
	run->left_out++;
	discover_phase_enter(run, t, DONE);
}

int discover_phase_advance(struct discovery *run, struct target *t)
{
	int ret = 0;

	while (!ret && !t->active && t->phase != DONE && !discover_ports_wanted(run, t))
		ret = next_phase(run, t);
	if (!run->discover->leave_out || (ret != -ETIMEDOUT && ret != -EHOSTUNREACH))
		return ret;
	discover_phase_leave_out(run, t);
	return 0;
}
