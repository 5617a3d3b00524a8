// SPDX-License-Identifier: GPL-2.0
/* Which ports a phase of a peer's search asks, and how many of them are enough. */
#include "discover_priv.h"

/* Miss chance at which a peer is done where it is known what is to be found. */
#define ONE_IN_KNOWN	1e6
#define SILENT_PORTS	8	/* unanswered: nobody answers at this hop */
#define NEAR_PORTS	3
#define LEAF_PORTS	8	/* of each path: one of two links is missed by 1 in 128 */
#define AGAIN_ACTIVE	2
#define STRIDE		10125	/* odd, the golden section of the range */
#define STRIDE_INVERSE	13125	/* STRIDE times it is 1, modulo the range */
#define PROVE_PORTS	16	/* from the first to the last that was probed */

_Static_assert(STRIDE * STRIDE_INVERSE % PORTMAP_MAX_PORTS == 1, "not inverse");

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

/* Was the port one of the extra ports? */
static bool was_extra(const struct discovery *run, const struct target *t, __u16 port)
{
	size_t i;

	for (i = 0; i < t->extra; i++)
		if (run->discover->extra[i] == port)
			return true;
	return false;
}

void discover_ports_skip(const struct discovery *run, struct target *t)
{
	const struct discover *d = run->discover;

	if (t->phase == EXTRA)
		while (t->extra < d->nr_extra && was_walked(t, d->extra[t->extra]))
			t->extra++;
	if (t->phase == PATHS)
		while (t->walked < d->config.ports && was_extra(run, t, discover_port(t->walked)))
			t->walked++;
}

void discover_ports_goals(struct discovery *run)
{
	double one_in = run->discover->enough ? ONE_IN_KNOWN : DISCOVER_ONE_IN;
	unsigned int paths = run->discover->paths, found, known;

	for (found = 0; found <= ROCESTEER_MAX_PATHS; found++) {
		run->goal[false][found] = discover_bound(found + 1, one_in);
		if (found < paths)
			run->goal[true][found] = discover_bound(paths, ONE_IN_KNOWN);
	}
	for (known = 0; known < 2; known++)	/* all at once: nobody may answer */
		if (run->goal[known][0] < SILENT_PORTS)
			run->goal[known][0] = SILENT_PORTS;
}

static bool is_enough(const struct discovery *run, const struct target *t)
{
	const struct discover *d = run->discover;

	return d->enough && d->enough(d->arg, t - run->targets, t->peer);
}

/* Number of ports of each path that are probed one hop further. */
static unsigned int leaf_ports(const struct discovery *run, const struct target *t)
{
	unsigned int paths = t->paths, found = t->peer->nr_paths;

	if (t->split)
		return PORTMAP_MAX_PORTS;
	if (run->discover->enough || found == 1 || (paths && found >= paths))
		return 1;
	/* One port of each path shows whether more ports would tell links apart. */
	return t->answered + t->lost < found || t->joined ? 1 : LEAF_PORTS;
}

bool discover_ports_suffice(const struct discovery *run, const struct target *t,
			    unsigned int active)
{
	unsigned int paths = t->peer->nr_paths, ports = active;

	if (t->split)
		paths = circuits_paths(&t->circuits, paths);
	if (t->split)
		ports += t->answered + t->circuits.nr_seen;
	else
		ports += t->peer->probed - t->peer->unanswered + t->answered;
	paths += portmap_peer_nr_cut(t->peer);
	return paths > ROCESTEER_MAX_PATHS ||
	       (ports >= run->goal[!!t->paths][paths] && ports >= t->least);
}

/* The next port whose leaf of ours is to be asked; @nr_half: there is none */
static unsigned int next_half(const struct target *t)
{
	unsigned int i = 0;

	while (i < t->nr_half && t->half[i].asked)
		i++;
	return i;
}

bool discover_ports_wanted(const struct discovery *run, const struct target *t)
{
	if (next_half(t) < t->nr_half)
		return true;
	if (t->peer->local)
		return false;
	switch (t->phase) {
	case PATHS:
		if (t->active >= PEER_ACTIVE || t->walked >= run->discover->config.ports)
			return false;
		if (!t->answered && t->lost + t->active >= SILENT_PORTS)
			return false;
		return !discover_ports_suffice(run, t, t->active) && !is_enough(run, t);
	case AGAIN:
		return t->active < AGAIN_ACTIVE && t->started < t->nr_silent;
	case EXTRA:
		return t->active < PEER_ACTIVE && t->extra < run->discover->nr_extra;
	case LEAF:
		return !t->at_leaf && t->active < PEER_ACTIVE &&
		       circuits_has_next(&t->circuits, t->peer, leaf_ports(run, t));
	case AROUND:
		return t->started < 2 * NEAR_PORTS;
	case NEAR:
		return t->started < NEAR_PORTS &&
		       (!t->peer->nr_paths || t->started < t->nr_silent);
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

void discover_ports_take(const struct discovery *run, struct target *t, struct batch_probe *probe)
{
	unsigned int i = next_half(t);

	if (i < t->nr_half) {
		t->half[i].asked = true;
		probe->kind = PROBE_BEFORE;
		probe->port = t->half[i].port;
		return;
	}
	i = t->started++;
	t->active++;
	switch (t->phase) {
	case PATHS:
		probe->kind = PROBE_PATH;
		probe->port = discover_port(t->walked++);
		discover_ports_skip(run, t);
		break;
	case AGAIN:
		probe->kind = PROBE_PATH;
		probe->port = t->silent[i];
		break;
	case EXTRA:
		probe->kind = PROBE_PATH;
		probe->port = run->discover->extra[t->extra++];
		discover_ports_skip(run, t);
		break;
	case LEAF:
		probe->kind = PROBE_LEAF;
		probe->port = circuits_next(&t->circuits, t->peer, leaf_ports(run, t));
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
		probe->port = t->peer->nr_paths ? t->silent[i] : discover_port(i);
	}
}
