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
#include "weights.h"

/* Miss chance at which a peer is done where it is known what is to be found. */
#define ONE_IN_KNOWN	1e6
#define PEER_ACTIVE	32	/* probes out per peer */
#define PEERS_ACTIVE	32	/* so that peers that do not answer are told early */
#define SILENT_PORTS	8	/* unanswered: nobody answers at this hop */
#define NEAR_PORTS	3
#define LEAF_PORTS	8	/* of each path: one of two links is missed by 1 in 128 */
#define AGAIN_ACTIVE	2
#define AGAIN_PORTS	64
#define STRIDE		10125	/* odd, the golden section of the range */
#define STRIDE_INVERSE	13125	/* STRIDE times it is 1, modulo the range */
#define SMALL_PORTS	225	/* a path with 3 of 100 ports is missed by 1 in 1000 */
#define PROVE_PORTS	16	/* from the first to the last that was probed */
#define LEAF_PEER	2	/* distance of a peer behind no router but our leaf */

_Static_assert(STRIDE * STRIDE_INVERSE % PORTMAP_MAX_PORTS == 1, "not inverse");

enum phase { PATHS, AGAIN, EXTRA, LEAF, AROUND, NEAR, QPN, PROVE, DONE };

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
 * Where the peer itself is one hop further, as far as is seen, the routers may be its leaf by
 * each of its interfaces: the hops @around are asked. It is so, @at_leaf, if nobody answers
 * at the hop @before.
 *
 * Weights are looked for behind the first peer of each leaf, the @leader of the others: at
 * least @least ports are asked. Where its paths are @weighted, all peers of the leaf are
 * searched so.
 *
 * Then some ports are asked with other queue pair numbers: @qpn. At last the first port of each
 * path and ports from the first to the last are asked once more: if one has @moved, the search
 * starts @anew.
 */
struct target {
	struct portmap_peer *peer;
	struct circuits circuits;
	struct qpn_check qpn;
	struct target *leader;
	unsigned int least;
	bool weighted;
	bool split;
	bool joined;
	bool around;
	bool before;
	bool at_leaf;
	bool moved;
	bool anew;
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
	__u64 started;
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

/* Less than a quarter of what a silent path would have is loss. */
bool discover_is_silent(const struct portmap_peer *peer)
{
	return 4ull * peer->unanswered * (peer->nr_paths + 1) > peer->probed;
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
	if (run->goal[0] < SILENT_PORTS)	/* all at once: nobody may answer */
		run->goal[0] = SILENT_PORTS;
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

static unsigned int nr_cut(const struct target *t)
{
	return t->peer->cut ? t->peer->cut->nr_paths : 0;
}

/* Paths are told apart by router until they are split. */
static bool has_enough_ports(const struct discovery *run, const struct target *t,
			     unsigned int active)
{
	unsigned int paths = t->peer->nr_paths, ports = active;

	if (t->split)
		paths = circuits_paths(&t->circuits, paths);
	if (t->split)
		ports += t->answered + t->circuits.nr_seen;
	else
		ports += t->peer->probed - t->peer->unanswered + t->answered;
	paths += nr_cut(t);
	return paths > ROCESTEER_MAX_PATHS ||
	       (ports >= run->goal[paths] && ports >= t->least);
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
		return !t->at_leaf && t->active < PEER_ACTIVE &&
		       circuits_has_next(&t->circuits, t->peer,
					 leaf_ports(run, t));
	case AROUND:
		return t->started < 2 * NEAR_PORTS;
	case NEAR:
		return t->started < NEAR_PORTS;
	case QPN:
		return t->active < PEER_ACTIVE && qpn_check_has_next(&t->qpn);
	case PROVE:
		return t->active < PEER_ACTIVE &&
		       t->started < t->peer->nr_paths + PROVE_PORTS;
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

static void note_peer(const struct discovery *run, const struct target *t,
		      const char *fmt)
{
	const struct discover *d = run->discover;
	char peer[ADDR_STRLEN], line[320];

	if (!d->note)
		return;
	snprintf(line, sizeof(line), fmt, addr_format(t->peer->addr, peer),
		 d->config.hop);
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
		.joined = true,
		.split = d->split && d->split(d->arg, t - run->targets),
	};
	enter(run, t, PATHS);
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
	if (has_enough_ports(run, t, 0) || t->walked >= run->discover->config.ports)
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
static bool wants_more(struct discovery *run, struct target *t,
		       const struct portmap_peer *found)
{
	const struct discover *d = run->discover;

	if (d->enough || d->paths || found->nr_paths < 2 || nr_cut(t) ||
	    discover_is_silent(t->peer))
		return false;
	if (!t->leader)
		t->leader = find_leader(run, t);
	if (t->leader == t)
		set_least(run, t, found);
	return t->walked < d->config.ports && !has_enough_ports(run, t, 0);
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
		note_peer(run, t, "%s: ports have moved to other paths: starting anew.");
		t->anew = true;
		if (leader == t)
			t->least = 0;
		start(run, t);
		return;
	}
	enter(run, t, DONE);
	if (leader && leader->weighted && leader->phase == DONE)
		search_leaf(run, leader);
}

/* The paths of a peer are known, but whether they depend on queue pair numbers. */
static void end_leaves(struct discovery *run, struct target *t)
{
	if (run->discover->enough) {
		finish(run, t);
		return;
	}
	if (t->peer->nr_paths > 1)
		qpn_check_start(&t->qpn, t->peer, t->walked,
				run->discover->config.ports);
	enter(run, t, t->peer->nr_paths > 1 ? QPN : PROVE);
}

static void end_qpn(struct discovery *run, struct target *t)
{
	if (qpn_check_go_on(&t->qpn)) {
		enter(run, t, QPN);
		return;
	}
	t->peer->qpn_hash = t->qpn.verdict == QPN_HASHED;
	t->peer->sprays = t->qpn.verdict == QPN_SPRAYED;
	t->moved = t->qpn.verdict == QPN_NO_MATTER && t->qpn.suspected;
	if (t->peer->sprays)
		finish(run, t);
	else
		enter(run, t, PROVE);
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
	       !run->discover->enough && !nr_cut(t);
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
		   (wants_more(run, t, &apart) || !has_enough_ports(run, t, 0)) &&
		   !(d->enough && d->enough(d->arg, t - run->targets, &apart))) {
		enter(run, t, PATHS);
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

/* Nobody but the peer, if anybody, was seen one hop further. */
static bool may_be_at_leaf(const struct discovery *run, const struct target *t)
{
	const struct circuits *c = &t->circuits;

	return !t->around && run->discover->config.hop > 1 &&
	       (!c->nr_addrs ||
		(c->nr_addrs == 1 && !addr_compare(c->addr[0], t->peer->addr)));
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

	if (may_be_at_leaf(run, t)) {
		t->around = true;
		enter(run, t, AROUND);
		return 0;
	}
	if (t->at_leaf)
		name_leaf(t);
	if (!t->circuits.nr_addrs)
		return no_replies(run, t, d->config.hop + 1, t->peer->nr_paths);
	if (!d->split)
		t->split = circuits_found(&t->circuits, t->peer->nr_paths);
	t->answered = 0;	/* they are counted by @circuits */
	if (was && t->split)
		return split(run, t);
	if (t->split)
		enter(run, t, LEAF);
	else if (wants_more(run, t, t->peer))
		enter(run, t, PATHS);
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
		if (!t->peer->nr_paths && nr_cut(t))
			return no_replies(run, t, hop, t->peer->probed);
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
	case AROUND:
		t->at_leaf = (t->answered || t->circuits.nr_addrs) && !t->before;
		if (t->at_leaf)
			note_peer(run, t,
				  "%s: no router answers before hop %u. Paths are told apart by the interfaces of its leaf: this is right only if the leaf answers from the interface by which a probe came in.");
		return end_leaf(run, t);
	case NEAR:
		return no_replies(run, t, hop, t->peer->probed);
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
	case AROUND:
		probe->kind = i % 2 ? PROBE_BEFORE : PROBE_PEER;
		probe->port = discover_port(i);
		break;
	case QPN:
		probe->kind = PROBE_QPN;
		qpn_check_next(&t->qpn, &probe->port, &probe->dqpn);
		break;
	case PROVE:
		probe->kind = PROBE_PATH;
		probe->port = i < t->peer->nr_paths ? t->peer->paths[i].ports[0] :
			      discover_port((i - t->peer->nr_paths) * t->walked / PROVE_PORTS);
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
		if (probe->peer >= run->done + PEERS_ACTIVE || !wants_probe(run, t))
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
	int ret;

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
	ret = portmap_peer_add_port(peer->cut, from, no_leaf, probe->port);
	return ret < 0 ? ret : 0;
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
	if (t->phase == PROVE) {
		prove(t, probe, answer);
	} else if (t->phase == AROUND) {
		t->before |= probe->kind == PROBE_BEFORE;
		t->answered += probe->kind == PROBE_PEER && itself;
	} else if (answer->type == PROBE_TIME_EXCEEDED &&
		   probe->kind != PROBE_NEAR) {
		ret = saw_router(run, t, probe, answer->from);
	} else if (answer->type == PROBE_PORT_UNREACHABLE && itself) {
		/* The peer answers itself: there is no leaf, or no spine, between. */
		if (probe->kind == PROBE_LEAF)
			ret = saw_router(run, t, probe, answer->from);
		else if (!t->peer->nr_paths)
			found_near(run, t);
	} else if (answer->type == PROBE_UNREACHABLE) {
		ret = saw_cut(t, probe, answer->from);
	} else {
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

/* How much of a peer's search is done, as the ports that it takes show. */
static double share_done(const struct discovery *run, const struct target *t)
{
	unsigned int paths = t->peer->nr_paths, goal = t->least;
	double ports = t->peer->probed;

	if (t->phase == DONE)
		return 1;
	if (!run->done && !t->leader && !run->discover->paths)
		goal = SMALL_PORTS;
	if (t->phase == PATHS)
		ports += t->answered + t->lost;
	if (paths <= ROCESTEER_MAX_PATHS && run->goal[paths] > goal)
		goal = run->goal[paths];
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

			q = portmap_peer_find_path(t->leader->peer, path->router, path->leaf);
			if (q < ROCESTEER_MAX_PATHS)
				path->weight = t->leader->peer->paths[q].weight;
		}
	}
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
	struct discovery run = {
		.discover = discover,
		.map = map,
		.started = clock_ns(),
		.err = err,
	};
	size_t i;
	int ret;

	set_goals(&run);
	ret = prepare(&run, discover, map, err) ?:
	      probe_batch_run(&discover->config, &ops, &run, err) ?:
	      name_leaves(&run);
	if (!ret)
		weigh(&run);
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
