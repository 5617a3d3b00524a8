// SPDX-License-Identifier: GPL-2.0
/*
 * How far away are the routers that tell the paths to each peer apart? In two tiers, and in the pod
 * of three, those two hops away: the third one is the leaf of the peer. To another pod of three
 * tiers the third one is a core, of which there are several, and the fifth one is the leaf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bond.h"
#include "discover_class.h"

#define CORE_HOP	3
#define CORE_LEAF_HOP	5
#define BEYOND_PORTS	(1 + HASH_PORT_BITS)
#define MANY_SILENT	4	/* one of so many ports */

/* What the known map says of a router at hop 3 */
enum kind { IS_NEW, IS_LEAF, IS_CORE };

static enum kind known_kind(const struct class *c, const __u8 addr[16])
{
	const struct portmap *known = c->run->discover->known;
	size_t i;

	for (i = 0; known && i < known->nr_peers; i++) {
		const struct portmap_peer *peer = &known->peers[i];

		if (peer->local)
			continue;
		if (peer->leaf_hop == CORE_HOP && !addr_compare(peer->leaf, addr))
			return IS_LEAF;
		if (portmap_peer_has_tiers(peer) && peer->hop == CORE_HOP &&
		    portmap_peer_find_path(peer, addr, NULL, NULL) < ROCESTEER_MAX_PATHS)
			return IS_CORE;
	}
	return IS_NEW;
}

/* Do paths of the known map tell? Return: 1, 0, or -1: it has none from this source. */
static int known_leaves(const struct class *c)
{
	const struct portmap *known = c->run->discover->known;
	size_t i;

	for (i = 0; known && i < known->nr_peers; i++)
		if (known->peers[i].nr_paths &&
		    !addr_compare(known->peers[i].source, c->pupils[0].t->peer->source))
			return portmap_peer_has_leaves(&known->peers[i]);
	return -1;
}

/* A bond that a known map knows nothing of may have been made since. */
static bool is_bond(const char *device)
{
	struct bond bond;

	bond_read("/sys", device, if_nametoindex(device), &bond);
	return bond.choice == BOND_PORTS;
}

int class_add_first(struct class *c)
{
	const struct discover *d = c->run->discover;
	int known = d->hops ? d->bonded : known_leaves(c), ret = 0;
	unsigned int i;

	memset(c->first, 0, sizeof(c->first));
	c->known_bonded = known > 0;
	if (c->pupils[0].t->peer->hop != PROBE_BATCH_HOP || known > 0 ||
	    (!known && !is_bond(d->config.device)))
		return 0;
	for (i = 0; !ret && i < CLASS_FIRST; i++) {
		c->first[i].port = discover_port(i);
		ret = class_add_before(c, class_sample(c, i % class_samples(c)), &c->first[i]);
	}
	return ret;
}

bool class_is_bonded(const struct class *c)
{
	unsigned int answered = 0, asked = 0, i;
	const __u8 *first = NULL;

	for (i = 0; i < CLASS_FIRST; i++) {
		asked += !!c->first[i].port;
		if (!c->first[i].answered)
			continue;
		answered++;
		first = first ?: c->first[i].router.addr;
		if (addr_compare(first, c->first[i].router.addr))
			return true;
	}
	/* One of several leaves may not answer. */
	return c->known_bonded || (first && MANY_SILENT * (asked - answered) >= asked);
}

/* Who is three hops away, on the way to some peers all over the class? */
static int ask_third(struct class *c)
{
	size_t nr = class_samples(c), i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		struct pupil *pupil = class_sample(c, i);

		pupil->leaf_asked = true;
		ret = class_add_leaf(c, pupil, discover_port(i));
	}
	return ret ?: class_ask(c);
}

/*
 * Have the router behind this one asked, by one port, or by all others. That may be silent, but
 * there are several: a linear hash sends one of these ports to another, or all ports to one.
 */
static int add_beyond(struct class *c, const struct leaf *third, struct hash_ask *beyond,
		      bool others)
{
	unsigned int i;
	int ret = 0;

	for (i = others; !ret && i < (others ? BEYOND_PORTS : 1); i++) {
		beyond[i].port = discover_port(0) ^ (i ? 1 << (i - 1) : 0);
		ret = class_add_beyond(c, third->first, &beyond[i]);
	}
	return ret;
}

/* Is there a router, and not the peer? */
static bool is_beyond(const struct leaf *third, const struct hash_ask *beyond)
{
	unsigned int i;

	for (i = 0; i < BEYOND_PORTS; i++)
		if (beyond[i].answered &&
		    addr_compare(beyond[i].router.addr, third->first->t->peer->addr))
			return true;
	return false;
}

/* Is one of these routers a core, with another one behind? Return: 1, 0 or a negative errno. */
static int meets_core(struct class *c)
{
	struct hash_ask (*beyond)[BEYOND_PORTS] = calloc(c->leaves.nr ?: 1, sizeof(*beyond));
	unsigned int others;
	bool core = false;
	size_t i;
	int ret = beyond ? 0 : -ENOMEM;

	for (others = 0; !ret && !core && others < 2; others++) {
		for (i = 0; !ret && i < c->leaves.nr; i++) {
			const struct leaf *third = c->leaves.item[i];
			enum kind kind = known_kind(c, third->addr);

			core |= kind == IS_CORE;
			if (kind == IS_NEW && !beyond[i][0].answered)
				ret = add_beyond(c, third, beyond[i], others);
		}
		ret = ret ?: class_ask_briefly(c, others);
		for (i = 0; !ret && i < c->leaves.nr; i++)
			core |= is_beyond(c->leaves.item[i], beyond[i]);
	}
	free(beyond);
	return ret ?: core;
}

static void set_hops(struct class *c, struct pupil *pupil, unsigned int hop, unsigned int leaf_hop)
{
	pupil->t->peer->hop = hop;
	pupil->t->peer->leaf_hop = leaf_hop;
	pupil->t->circuits = (struct circuits) {};
	pupil->leaf_asked = false;
	pupil->early = 0;
	pupil->t->paths = hop == CORE_HOP ? c->run->discover->paths : 0;
}

/* Peers without a router five hops away are in the pod. */
static int ask_fifth(struct class *c)
{
	size_t i;
	int ret;

	set_clear(&c->leaves, free);
	for (i = 0; i < c->nr; i++)
		set_hops(c, &c->pupils[i], CORE_HOP, CORE_LEAF_HOP);
	ret = class_ask_all_leaves(c);
	for (i = 0; i < c->nr; i++)
		if (!c->pupils[i].t->circuits.nr_addrs)
			set_hops(c, &c->pupils[i], PROBE_BATCH_HOP, PROBE_BATCH_HOP + 1);
	return ret;
}

static int compare_pupils(const void *a, const void *b)
{
	const struct pupil *left = a, *right = b;

	if (left->t->peer->hop != right->t->peer->hop)
		return left->t->peer->hop > right->t->peer->hop ? -1 : 1;
	return addr_compare(left->t->peer->addr, right->t->peer->addr);
}

int class_find_hops(struct class *c)
{
	int ret = ask_third(c);

	ret = ret ?: meets_core(c);
	if (ret > 0)
		ret = ask_fifth(c);
	qsort(c->pupils, c->nr, sizeof(*c->pupils), compare_pupils);
	return ret;
}
