// SPDX-License-Identifier: GPL-2.0
/*
 * Before ports are walked through: learn what the switches make of ports, from one peer, and know
 * the ports of the others from a port or three of each. An earlier port map may know it already.
 * Peers for which that does not hold go on to the walk as if nothing had been asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover_class.h"

#define LEAST_PORTS	128	/* of a peer, so that the walk could do better than the model */
#define FIRST_PEERS	32	/* of which one has to answer */
#define FURTHER_CHECKS	2	/* of a peer that is not the first of its leaf */
#define FOLLOWS_CHECKS	1	/* of one whose address says the constant */

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

	hash_learn_start(l, teacher->asks[0].port, teacher->asks[0].router, arc4random() | 1);
	do {
		for (i = 0, ret = 0; !ret && i < l->nr; i++)
			ret = class_add_port(c, teacher, &l->ask[i]);
		ret = ret ?: class_ask(c);
	} while (!ret && hash_learn_step(l) == HASH_OPEN);
	teacher->taught = true;
	teacher->probed = l->asked + 1;
	hash_address_add(&c->address, teacher->t->peer->addr, 0);
	return ret;
}

/* Take the known model, and the constants of peers that it was right for. */
static void recall(struct class *c)
{
	const struct portmap *known = c->run->discover->known;
	const struct hash_model *hash = &c->model->hash;
	unsigned int label;
	size_t i;

	c->learn = (struct hash_learn) {
		.model = *hash, .verdict = HASH_LINEAR, .seed = arc4random() | 1,
	};
	for (label = 0; label < hash_model_size(hash); label++)
		c->learn.silent += addr_is_none(hash->router[label]);
	for (i = 0; i < known->nr_peers; i++) {
		const struct portmap_peer *peer = &known->peers[i];
		int constant;

		if (!peer->linear || addr_compare(peer->source, c->source))
			continue;
		constant = hash_model_constant(hash, peer->paths[0].ports[0],
					       peer->paths[0].router);
		if (constant >= 0)
			hash_address_add(&c->address, peer->addr, constant);
	}
}

/* Has a peer of the known map this leaf, by the name of the leaf? */
static bool is_known(const struct class *c, const struct pupil *pupil)
{
	const struct portmap *known = c->model ? c->run->discover->known : NULL;
	const struct circuits *circuits = &pupil->t->circuits;
	unsigned int k;
	size_t i;

	for (i = 0; known && i < known->nr_peers; i++)
		for (k = 0; k < circuits->nr_addrs; k++)
			if (known->peers[i].linear &&
			    !addr_compare(known->peers[i].leaf, circuits->addr[k]))
				return true;
	return false;
}

/* Is this the first peer of its leaf, of those that are taught or asked? */
static bool is_first(const struct class *c, const struct pupil *pupil)
{
	size_t i;

	if (is_known(c, pupil))
		return false;
	for (i = 0; i < c->nr; i++) {
		const struct pupil *other = &c->pupils[i];

		if ((other->taught || (other->nr && !other->judged && other < pupil)) &&
		    circuits_meet(&other->t->circuits, &pupil->t->circuits))
			return false;
	}
	return true;
}

/* A peer whose leaf is not known, and need not be, is the first of its leaf. */
static bool may_learn(const struct class *c, const struct pupil *pupil)
{
	bool named = pupil->t->circuits.nr_addrs || c->run->discover->enough;

	return pupil->asks[0].answered && named && !pupil->taught;
}

/* Labels differ from that of the port that was asked first as they would from the base's. */
static void choose(struct class *c, struct pupil *pupil, unsigned int checks)
{
	const struct hash_model *model = &c->learn.model;
	struct hash_ask first = pupil->asks[0];
	__u8 label = hash_model_label(model, first.port);
	unsigned int i;

	pupil->nr = 1 + checks + class_spare(c);
	if (pupil->nr > hash_peer_most(model))
		pupil->nr = hash_peer_most(model);
	hash_peer_ask(model, pupil->asks, pupil->nr, pupil - c->pupils);
	pupil->asks[0] = first;
	for (i = 1; label && i < pupil->nr; i++) {
		__u8 other = hash_model_label(model, pupil->asks[i].port);

		pupil->asks[i].port = hash_model_port(model, other ^ label);
	}
}

/* The constant of a peer; a known map says another one if its peers are not right any more. */
static void take_constant(struct class *c, struct pupil *pupil, __u8 constant)
{
	const __u8 *addr = pupil->t->peer->addr;
	int follows = hash_address_predict(&c->address, addr);

	pupil->taught = true;
	pupil->constant = constant;
	if (c->model && follows >= 0 && follows != constant && !c->noted) {
		discover_phase_note(c->run, pupil->t,
				    "%s: its ports take other paths than the known peers say: the fabric has changed, and their ports may be out of date, see path verify.");
		c->noted = true;
	}
	hash_address_add(&c->address, addr, constant);
}

/* Ask the ports that were chosen, and judge all answers of these peers. */
static int ask_pupils(struct class *c)
{
	size_t i;
	unsigned int k;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];

		for (k = 1; !ret && !pupil->judged && k < pupil->nr; k++)
			ret = class_add_port(c, pupil, &pupil->asks[k]);
	}
	ret = ret ?: class_ask(c);
	for (i = 0; !ret && i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];
		int constant;

		if (pupil->judged || !pupil->nr)
			continue;
		pupil->judged = true;
		pupil->probed = pupil->nr;
		constant = hash_peer_judge(&c->learn.model, pupil->asks, pupil->nr, 2);
		if (constant >= 0)
			take_constant(c, pupil, constant);
	}
	return ret;
}

static int constant_of(const struct class *c, const struct pupil *pupil)
{
	return hash_peer_judge(&c->learn.model, pupil->asks, 1, 1);
}

/* Peers whose addresses do not follow from those before, and all first ones of a leaf */
static int teach_some(struct class *c)
{
	unsigned int checks = hash_model_checks(&c->learn.model);
	struct hash_address span = c->address;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];

		if (!may_learn(c, pupil))
			continue;
		if (is_first(c, pupil))
			choose(c, pupil, checks);
		else if (hash_address_predict(&span, pupil->t->peer->addr) < 0)
			choose(c, pupil, FURTHER_CHECKS);
		hash_address_add(&span, pupil->t->peer->addr, 0);
	}
	return ask_pupils(c);
}

/* The others: their address says what the first port has to be. */
static int teach_others(struct class *c)
{
	unsigned int checks = hash_model_checks(&c->learn.model);
	size_t i;

	for (i = 0; i < c->nr; i++) {
		struct pupil *pupil = &c->pupils[i];
		int follows = hash_address_predict(&c->address, pupil->t->peer->addr);

		if (!may_learn(c, pupil) || pupil->nr)
			continue;
		if (is_first(c, pupil) || (follows >= 0 && follows != constant_of(c, pupil)))
			choose(c, pupil, checks);
		else
			choose(c, pupil, follows < 0 ? FURTHER_CHECKS : FOLLOWS_CHECKS);
	}
	return ask_pupils(c);
}

static const __u8 no_leaf[16];

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
		const __u8 *router = hash_model_router(model, port, pupil->constant);

		if (addr_is_none(router) && c->learn.silent == 1)
			pupil->t->peer->silent_port = port;
		if (!addr_is_none(router) && !portmap_peer_port_path(pupil->t->peer, port))
			ret = portmap_peer_add_port(pupil->t->peer, router, no_leaf, port);
	}
	return ret < 0 ? ret : 0;
}

static int finish(struct class *c, struct pupil *pupil)
{
	struct target *t = pupil->t;
	int ret = put_ports(c, pupil);

	if (ret)
		return ret;
	if (!t->peer->expected && c->learn.silent)
		t->peer->expected = hash_model_size(&c->learn.model);
	t->peer->probed = pupil->probed;
	t->peer->linear = true;
	discover_phase_enter(c->run, t, DONE);
	return 0;
}

/* The model goes into the map. */
static int keep_model(const struct class *c)
{
	struct portmap_model model = { .hash = c->learn.model };

	memcpy(model.source, c->source, 16);
	return portmap_add_model(c->run->map, &model);
}

/* Peers that disagree with a known model: the fabric may have changed since. */
static bool is_outdated(const struct class *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->model && c->pupils[i].judged && !c->pupils[i].taught)
			return true;
	return false;
}

static int teach(struct class *c)
{
	__u16 base = c->model ? c->model->hash.base : discover_port(0);
	struct pupil *first;
	size_t i, taught = 0;
	int ret;

	ret = class_ask_bases(c, 0, FIRST_PEERS, base);
	first = ret ? NULL : first_that_answers(c);
	if (!first)
		return ret;
	if (c->model)
		recall(c);
	else
		ret = learn(c, first);
	if (ret || c->learn.verdict != HASH_LINEAR)
		return ret;
	ret = class_ask_bases(c, FIRST_PEERS, c->nr, base);
	if (!ret && c->learn.silent)	/* the first port of some may take the silent router */
		ret = class_ask_bases(c, 0, c->nr, hash_model_port(&c->learn.model, 1));
	ret = ret ?: class_ask_leaves(c, first);
	if (ret || class_shows_links(c, first))
		return ret;
	ret = teach_some(c) ?: teach_others(c);
	if (ret || is_outdated(c))
		return ret;
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

	memset(&c->address, 0, sizeof(c->address));
	for (i = 0; i < c->nr; i++) {
		if (c->pupils[i].t->phase == DONE)
			continue;
		c->pupils[i].t->circuits = (struct circuits) {};
		c->pupils[i] = (struct pupil) { .t = c->pupils[i].t };
	}
}

/* With the known model, or with one that is learnt if there is none or a peer disagrees with it */
static int teach_class(struct class *c)
{
	const struct portmap *known = c->run->discover->known;
	int ret = 0;

	c->source = c->pupils[0].t->peer->source;
	c->model = known ? portmap_find_model(known, c->source) : NULL;
	if (c->model) {
		ret = teach(c);
		if (ret || !is_outdated(c))
			return ret;
		forget(c);
		c->model = NULL;
	}
	return teach(c);
}

/*
 * Peers with the source of the first one that is not @done. Links are told apart by the walk alone.
 * Return: their number.
 */
static size_t gather(struct discovery *run, struct pupil *pupils, bool *done)
{
	const __u8 *source = NULL;
	size_t i, n = 0;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct target *t = &run->targets[i];

		if (done[i] || t->phase == DONE || t->split)
			continue;
		if (!source)
			source = t->peer->source;
		if (addr_compare(source, t->peer->source))
			continue;
		done[i] = true;
		pupils[n++] = (struct pupil) { .t = t };
	}
	return n;
}

int discover_learn(struct discovery *run)
{
	const struct discover *d = run->discover;
	struct class c = { .run = run };
	bool *done;
	int ret = -ENOMEM;

	if (d->config.ports < LEAST_PORTS)
		return 0;
	c.pupils = calloc(d->nr_peers, sizeof(*c.pupils));
	done = calloc(d->nr_peers, sizeof(*done));
	if (c.pupils && done)
		ret = 0;
	while (!ret && (c.nr = gather(run, c.pupils, done))) {
		ret = teach_class(&c);
		forget(&c);
	}
	free(done);
	free(c.pupils);
	free(c.questions);
	return ret;
}
