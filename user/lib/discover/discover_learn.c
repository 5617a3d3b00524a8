// SPDX-License-Identifier: GPL-2.0
/*
 * Before ports are walked through: learn what the switches make of ports, from one peer, and know
 * the ports of the others by a few ports of some of them, and by their addresses. An earlier port
 * map may know it already. Peers for which that does not hold go on to the walk as if nothing had
 * been asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover_class.h"

#define LEAST_PORTS	128	/* of a peer, so that the walk could do better than the model */
#define FIRST_PEERS	32	/* class_sample() */
#define FURTHER_CHECKS	2	/* of a peer that is not the first of its leaf */
#define FOLLOWS_CHECKS	1	/* of one whose address says the constant */

size_t class_samples(const struct class *c)
{
	return c->nr < FIRST_PEERS ? c->nr : FIRST_PEERS;
}

struct pupil *class_sample(struct class *c, size_t i)
{
	return &c->pupils[i * c->nr / class_samples(c)];
}

/* Ask the base of some peers. */
static int ask_bases(struct class *c)
{
	size_t nr = class_samples(c), i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		struct pupil *pupil = class_sample(c, i);

		pupil->asks[0].port = c->recalled ? c->model.base : discover_port(0);
		ret = class_add_port(c, pupil, &pupil->asks[0]);
	}
	return ret ?: class_ask(c);
}

static struct pupil *first_that_answers(struct class *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->pupils[i].asks[0].answered)
			return &c->pupils[i];
	return NULL;
}

static int learn(struct class *c, struct pupil *teacher)
{
	struct hash_learn *l = &c->learn;
	unsigned int i;
	int ret;

	hash_learn_start(l, teacher->asks[0].port, &teacher->asks[0].router, arc4random() | 1);
	do {
		for (i = 0, ret = 0; !ret && i < l->nr; i++)
			ret = class_add_port(c, teacher, &l->ask[i]);
		ret = ret ?: class_ask(c);
	} while (!ret && hash_learn_step(l) == HASH_OPEN);
	teacher->taught = true;
	teacher->probed = l->asked + 1;
	hash_address_add(&c->address, teacher->t->peer->addr, 0);
	if (ret || l->verdict != HASH_LINEAR || !portmap_peer_has_tiers(teacher->t->peer))
		return ret;
	return class_learn_tiers(c, teacher);
}

/* A peer of the known map, and its leaf */
static int recall_peer(struct class *c, const struct portmap_peer *peer)
{
	struct leaf *leaf = class_leaf(c, peer->leaf);
	struct hash_router router;
	int constant;

	if (!leaf)
		return -ENOMEM;
	leaf->marks |= LEAF_KNOWN;
	if (addr_compare(peer->source, c->source) || peer->hop != c->pupils[0].t->peer->hop)
		return 0;
	router = portmap_peer_router(peer, 0);
	constant = hash_model_constant(&c->learn.model, peer->paths[0].ports[0], &router);
	if (constant >= 0)
		hash_address_add(&c->address, peer->addr, constant);
	return 0;
}

/* Take the known model, and the constants of peers that it was right for. */
static int recall(struct class *c)
{
	const struct portmap *known = c->run->discover->known;
	const struct hash_model *hash = &c->model;
	unsigned int label;
	size_t i;
	int ret = 0;

	c->learn = (struct hash_learn) {
		.model = *hash, .verdict = HASH_LINEAR, .seed = arc4random() | 1,
	};
	for (label = 0; label < hash_model_size(hash); label++)
		c->learn.silent += addr_is_none(hash->router[label].addr);
	for (i = 0; known && !ret && i < known->nr_peers; i++)
		if (known->peers[i].linear)
			ret = recall_peer(c, &known->peers[i]);
	return ret;
}

/* Is nothing known of the peer but its leaf, which the caller may know, or its base as well? */
static bool may_learn(const struct class *c, const struct pupil *pupil)
{
	return (pupil->t->circuits.nr_addrs || c->run->discover->enough) && !pupil->taught &&
	       !pupil->nr;
}

static int constant_by_address(const struct class *c, const struct pupil *pupil)
{
	return hash_address_predict(&c->address, pupil->t->peer->addr);
}

/* Choose ports, as many as are to be believed of this peer and its leaf. */
static void choose(struct class *c, struct pupil *pupil, bool follows)
{
	unsigned int checks = follows ? FOLLOWS_CHECKS : FURTHER_CHECKS;
	struct hash_ask base = pupil->asks[0];

	if (c->doubted || !(class_leaf_marks(c, pupil) & (LEAF_KNOWN | LEAF_TAUGHT)))
		checks = hash_model_checks(&c->learn.model);
	class_mark_leaf(c, pupil, LEAF_ASKED);
	pupil->nr = 1 + checks + class_spare(c);
	if (pupil->nr > hash_peer_most(&c->learn.model))
		pupil->nr = hash_peer_most(&c->learn.model);
	hash_peer_ask(&c->learn.model, pupil->asks, pupil->nr, pupil - c->pupils);
	if (base.answered)
		pupil->asks[0] = base;
}

/* Does the constant agree with the address? A known map is not right any more if it does not. */
static bool confirm(struct class *c, const struct pupil *pupil, int constant)
{
	int follows = constant_by_address(c, pupil);

	if (follows < 0 || follows == constant) {
		c->confirmed += follows >= 0;
		return true;
	}
	c->doubted = true;
	if (c->recalled && constant >= 0 && !c->noted) {
		discover_phase_note(c->run, pupil->t,
				    "%s: its ports take other paths than the known peers say: the fabric has changed, and their ports may be out of date, see path verify.");
		c->noted = true;
	}
	return false;
}

/* A peer that contradicts its address is asked again, by more ports, if it was asked by few. */
static void judge(struct class *c, struct pupil *pupil)
{
	int constant = hash_peer_judge(&c->learn.model, pupil->asks, pupil->nr, 2);

	pupil->refused = constant == HASH_PEER_OTHER;
	if (constant >= 0 && !confirm(c, pupil, constant) &&
	    pupil->nr <= hash_model_checks(&c->learn.model)) {
		pupil->nr = 0;
		return;
	}
	pupil->judged = true;
	pupil->probed = pupil->nr;
	if (constant < 0)
		return;
	pupil->taught = true;
	pupil->constant = constant;
	class_mark_leaf(c, pupil, LEAF_TAUGHT);
	hash_address_add(&c->address, pupil->t->peer->addr, constant);
}

/* Ask the ports that were chosen, and judge all answers of these peers. */
static int ask_pupils(struct class *c)
{
	size_t i;
	unsigned int k;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];

		for (k = pupil->asks[0].answered; !ret && !pupil->judged && k < pupil->nr; k++)
			ret = class_add_port(c, pupil, &pupil->asks[k]);
	}
	ret = ret ?: class_ask(c);
	for (i = 0; !ret && i < c->nr; i++)
		if (c->pupils[i].nr && !c->pupils[i].judged)
			judge(c, &c->pupils[i]);
	for (i = 0; !ret && i < c->nr; i++)
		if (c->pupils[i].refused)
			c->doubted |= class_leaf_marks(c, &c->pupils[i]) & LEAF_TAUGHT;
	return ret;
}

/* A peer of each leaf, and those whose constants do not follow from those before */
static int teach_some(struct class *c)
{
	struct hash_address span = c->address;
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->pupils[i].taught)
			class_mark_leaf(c, &c->pupils[i], LEAF_ASKED | LEAF_TAUGHT);
	for (i = 0; i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];
		const __u8 *addr = pupil->t->peer->addr;
		bool follows = hash_address_predict(&span, addr) >= 0;

		if (!may_learn(c, pupil))
			continue;
		if (!follows || !(class_leaf_marks(c, pupil) & LEAF_ASKED))
			choose(c, pupil, follows);
		hash_address_add(&span, addr, 0);
	}
	return ask_pupils(c);
}

/* The constant of a peer by its address, if the model holds for its leaf, or -1 */
static int predict(const struct class *c, const struct pupil *pupil)
{
	return may_learn(c, pupil) && class_leaf_marks(c, pupil) & LEAF_TAUGHT ?
	       constant_by_address(c, pupil) : -1;
}

/* Ask the base of some peers whose constants follow: is it what their addresses say? */
static int check_some(struct class *c)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];

		if (pupil->asks[0].answered || predict(c, pupil) < 0 || !class_draw(c))
			continue;
		pupil->asks[0].port = c->learn.model.base;
		ret = class_add_port(c, pupil, &pupil->asks[0]);
	}
	ret = ret ?: class_ask(c);
	for (i = 0; !ret && i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];

		if (pupil->asks[0].answered && predict(c, pupil) >= 0)
			confirm(c, pupil, hash_peer_judge(&c->learn.model, pupil->asks, 1, 1));
	}
	return ret;
}

/* If all checks agree, those who were not asked are as their addresses say. */
static int teach_by_address(struct class *c)
{
	int ret = c->doubted ? 0 : check_some(c);
	size_t i;

	if (ret || c->doubted || c->confirmed < CLASS_CONFIRMATIONS)
		return ret;
	for (i = 0; i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];
		int constant = predict(c, pupil);

		if (constant < 0)
			continue;
		pupil->taught = true;
		pupil->constant = constant;
		pupil->probed = pupil->asks[0].answered;
	}
	return 0;
}

/* All others. Some may have to be asked again. */
static int teach_others(struct class *c)
{
	bool some;
	size_t i;
	int ret = 0;

	do {
		for (i = 0, some = false; i < c->nr; i++) {
			if (!may_learn(c, &c->pupils[i]))
				continue;
			choose(c, &c->pupils[i], constant_by_address(c, &c->pupils[i]) >= 0);
			some = true;
		}
		if (some)
			ret = ask_pupils(c);
	} while (!ret && some);
	return ret;
}

/* The ports of all routers that answer, and those that were asked for besides */
static int put_ports(const struct class *c, const struct pupil *pupil)
{
	const struct hash_model *model = &c->learn.model;
	const struct discover *d = c->run->discover;
	unsigned int label;
	int ret = 0;

	for (label = 0; ret >= 0 && label < hash_model_size(model) + d->nr_extra; label++) {
		__u16 port = label < hash_model_size(model) ? hash_model_port(model, label) :
			     d->extra[label - hash_model_size(model)];
		const struct hash_router *router = hash_model_router(model, port, pupil->constant);
		bool chosen = c->chosen[hash_model_label(model, port) ^ pupil->constant];

		if (addr_is_none(router->addr) && c->learn.silent == 1)
			pupil->t->peer->silent_port = port;
		if (chosen && !portmap_peer_port_path(pupil->t->peer, port))
			ret = portmap_peer_add_port(pupil->t->peer, router, NULL, port);
	}
	return ret < 0 ? ret : 0;
}

static int finish(struct class *c, struct pupil *pupil)
{
	unsigned int size = hash_model_size(&c->learn.model);
	struct target *t = pupil->t;
	int ret = put_ports(c, pupil);

	if (ret)
		return ret;
	if (!t->peer->expected && c->learn.silent)
		t->peer->expected = size < ROCESTEER_MAX_PATHS ? size : ROCESTEER_MAX_PATHS;
	t->peer->probed = pupil->probed;
	t->peer->linear = true;
	t->peer->qpn_hash = hash_model_has_qpn(&c->learn.model);
	discover_phase_enter(c->run, t, DONE);
	return 0;
}

/* The model goes into the map. */
static int keep_model(const struct class *c)
{
	struct portmap_model model = {
		.hop = c->pupils[0].t->peer->hop, .hash = c->learn.model,
	};
	int ret;

	memcpy(model.source, c->source, 16);
	ret = portmap_add_model(c->run->map, &model);
	if (ret || !c->aggs.bits)
		return ret;
	model.hop--;
	model.hash = c->aggs;
	return portmap_add_model(c->run->map, &model);
}

/*
 * Peers that disagree with a known model, or many of which one disagrees with its address: the
 * fabric may have changed since.
 */
static bool is_outdated(const struct class *c)
{
	size_t i;

	if (c->recalled && c->doubted && c->nr > FIRST_PEERS)
		return true;
	for (i = 0; i < c->nr; i++)
		if (c->recalled && c->pupils[i].judged && !c->pupils[i].taught)
			return true;
	return false;
}

static int teach(struct class *c)
{
	struct pupil *first;
	size_t i, taught = 0;
	int ret;

	ret = ask_bases(c);
	first = ret ? NULL : first_that_answers(c);
	if (!first)
		return ret;
	ret = c->recalled ? recall(c) : learn(c, first);
	if (ret || c->learn.verdict != HASH_LINEAR)
		return ret;
	ret = class_ask_leaves(c, first);
	if (ret || class_shows_links(c, first))
		return ret;
	ret = teach_some(c) ?: teach_by_address(c);
	if (ret || is_outdated(c))
		return ret;
	ret = teach_others(c);
	if (ret || is_outdated(c))
		return ret;
	class_choose(c);
	for (i = 0; !ret && i < c->nr; i++)
		if (c->pupils[i].taught) {
			taught++;
			ret = finish(c, &c->pupils[i]);
		}
	return ret ?: taught ? keep_model(c) : 0;
}

/* Begin as if nothing had been asked. */
static void forget(struct class *c)
{
	size_t i;

	memset(&c->learn, 0, sizeof(c->learn));
	memset(&c->aggs, 0, sizeof(c->aggs));
	memset(&c->address, 0, sizeof(c->address));
	c->recalled = false;
	c->confirmed = 0;
	c->doubted = false;
	set_clear(&c->leaves, free);
	for (i = 0; i < c->nr; i++) {
		if (c->pupils[i].t->phase == DONE)
			continue;
		c->pupils[i].t->circuits = (struct circuits) {};
		c->pupils[i] = (struct pupil) { .t = c->pupils[i].t };
	}
}

/* The model of an earlier map, or of aggs if that of cores was learnt before */
static const struct portmap_model *find_model(const struct class *c, unsigned int hop)
{
	const struct portmap *known = c->run->discover->known;

	return portmap_find_model(c->run->map, c->source, hop) ?:
	       known ? portmap_find_model(known, c->source, hop) : NULL;
}

/* With the known model, or with one that is learnt if there is none or a peer disagrees with it */
static int teach_class(struct class *c)
{
	const struct portmap_peer *first = c->pupils[0].t->peer;
	const struct portmap_model *model, *aggs;
	int ret = 0;

	c->source = first->source;
	model = find_model(c, first->hop);
	aggs = portmap_peer_has_tiers(first) ? find_model(c, first->hop - 1) : NULL;
	if (model) {
		c->model = model->hash;
		if (aggs && aggs->hash.base == model->hash.base)
			c->aggs = aggs->hash;
		c->recalled = true;
		ret = teach(c);
		if (ret || !is_outdated(c))
			return ret;
		forget(c);
	}
	return teach(c);
}

/* The leaves that were asked before, of the peers that are left in the class */
static int list_leaves(struct class *c)
{
	unsigned int k;
	size_t i;

	set_clear(&c->leaves, free);
	for (i = 0; i < c->nr; i++)
		for (k = 0; k < c->pupils[i].t->circuits.nr_addrs; k++) {
			struct leaf *leaf = class_leaf(c, c->pupils[i].t->circuits.addr[k]);

			if (!leaf)
				return -ENOMEM;
			leaf->first = leaf->first ?: &c->pupils[i];
		}
	return 0;
}

/* Three tiers behind a bond are told apart by their cores alone. */
static void set_bonded(struct pupil *pupils, size_t nr, bool bonded)
{
	size_t i;

	for (i = 0; bonded && i < nr; i++) {
		struct target *t = pupils[i].t;

		t->bonded = t->peer->hop == PROBE_BATCH_HOP;
		t->peer->bond_hidden = !t->bonded;
	}
}

/* Find the hops of the peers, and teach those of each distance. */
static int teach_all(struct class *c, struct pupil *pupils, size_t nr)
{
	bool few = c->run->discover->config.ports < LEAST_PORTS;
	size_t i, n;
	int ret;

	c->pupils = pupils;
	c->nr = nr;
	c->bonded = false;
	ret = class_add_first(c) ?: (pupils[0].t->open ? class_find_hops(c) : class_ask(c));
	set_bonded(pupils, nr, class_is_bonded(c));
	for (i = 0; !ret && !few && i < nr; i += n) {
		for (n = 1; i + n < nr && pupils[i + n].t->peer->hop == pupils[i].t->peer->hop;)
			n++;
		c->pupils = pupils + i;
		c->nr = n;
		c->bonded = pupils[i].t->bonded;
		ret = list_leaves(c) ?: teach_class(c);
		forget(c);
	}
	return ret;
}

static int compare_pupils(const void *a, const void *b)
{
	const struct pupil *left = a, *right = b;

	return addr_compare(left->t->peer->addr, right->t->peer->addr);
}

/*
 * Peers with the source and the hops of the first one that is not @done, by address. Links are told
 * apart by the walk alone. Return: their number.
 */
static size_t gather(struct discovery *run, struct pupil *pupils, bool *done)
{
	const struct target *first = NULL;
	size_t i, n = 0;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct target *t = &run->targets[i];

		if (done[i] || t->phase == DONE || t->split)
			continue;
		first = first ?: t;
		if (addr_compare(first->peer->source, t->peer->source) ||
		    first->peer->hop != t->peer->hop || first->peer->leaf_hop != t->peer->leaf_hop)
			continue;
		done[i] = true;
		pupils[n++] = (struct pupil) { .t = t };
	}
	qsort(pupils, n, sizeof(*pupils), compare_pupils);
	return n;
}

int discover_learn(struct discovery *run)
{
	const struct discover *d = run->discover;
	struct pupil *pupils = calloc(d->nr_peers, sizeof(*pupils));
	bool *done = calloc(d->nr_peers, sizeof(*done));
	struct class c = { .run = run, .learn.seed = arc4random() | 1 };
	int ret = pupils && done ? 0 : -ENOMEM;
	size_t nr;

	while (!ret && (nr = gather(run, pupils, done)))
		ret = teach_all(&c, pupils, nr);
	set_clear(&c.leaves, free);
	free(done);
	free(pupils);
	free(c.questions);
	return ret;
}
