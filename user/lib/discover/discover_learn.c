// SPDX-License-Identifier: GPL-2.0
/*
 * Before ports are walked through: learn what the switches make of ports, from one peer, and know
 * the ports of the others from a port or three of each. An earlier port map may know it already.
 * Peers for which that does not hold go on to the walk as if nothing had been asked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_priv.h"
#include "hash/hash.h"

#define LEAST_PORTS	128	/* of a peer, so that the walk could do better than the model */
#define FIRST_PEERS	32	/* of which one has to answer */
#define FURTHER_CHECKS	2	/* of a peer that is not the first of its leaf */
#define FOLLOWS_CHECKS	1	/* of one whose address says the constant */
#define LEAF_ROUNDS	8	/* of a port of each path: one of two links is missed by 1 in 128 */

/**
 * struct pupil - a peer
 * @t: its search
 * @asks: ports of the model, the base first
 * @nr: number of @asks, 0 until more than the base is asked
 * @judged: their answers are in
 * @probed: ports that were asked
 * @met: addresses of its leaf, before the round
 * @taught: the model holds
 * @constant: of the model
 */
struct pupil {
	struct target *t;
	struct hash_ask asks[HASH_PORT_BITS];
	unsigned int nr;
	bool judged;
	unsigned int probed;
	unsigned int met;
	bool taught;
	__u8 constant;
};

/* A probe of a round; @ask: gets the answer, NULL: it is of the leaf; @answered: it is. */
struct question {
	struct pupil *pupil;
	struct batch_probe probe;
	struct hash_ask *ask;
	bool answered;
};

/**
 * struct class - peers that share a source
 * @run: search
 * @source: that they share
 * @model: known before, or NULL
 * @learn: learner, with the model
 * @address: constants by address
 * @pupils: peers
 * @nr: number of peers
 * @questions: round
 * @nr_questions: number of questions
 * @next: next one to be sent
 * @room: number of questions that fit
 * @noted: the map that was known is out of date, which was said
 * @late: an answer came only when the probe was sent again
 */
struct class {
	struct discovery *run;
	const __u8 *source;
	const struct portmap_model *model;
	struct hash_learn learn;
	struct hash_address address;
	struct pupil *pupils;
	size_t nr;
	struct question *questions;
	size_t nr_questions;
	size_t next;
	size_t room;
	bool noted;
	bool late;
};

static int next_question(void *client, struct batch_probe *probe, const __u8 **source,
			 const __u8 **peer)
{
	struct class *c = client;
	struct question *q = &c->questions[c->next];

	if (c->next == c->nr_questions)
		return -EAGAIN;
	*probe = q->probe;
	probe->peer = c->next++;
	*source = q->pupil->t->peer->source;
	*peer = q->pupil->t->peer->addr;
	return 0;
}

static int got_router(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct class *c = client;
	struct question *q = &c->questions[probe->peer];

	if (answer->type != PROBE_TIME_EXCEEDED)
		return 0;
	q->answered = true;
	c->late |= probe->sent > 1;
	if (q->ask) {
		q->ask->answered = true;
		memcpy(q->ask->router, answer->from, 16);
		return 0;
	}
	/* Labels are as good as paths: they differ by a constant. */
	circuits_note(&q->pupil->t->circuits, hash_model_label(&c->learn.model, probe->port),
		      answer->from);
	return 0;
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	(void)client;
	(void)probe;
	return 0;
}

static void status(void *client, char *line, size_t size)
{
	const struct class *c = client;

	snprintf(line, size, "learning the hash of switches: %zu of %zu ports asked", c->next,
		 c->nr_questions);
}

static int add_question(struct class *c, const struct question *question)
{
	struct question *bigger;
	size_t room = c->room * 2 + 64;

	if (c->nr_questions == c->room) {
		bigger = reallocarray(c->questions, room, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		c->questions = bigger;
		c->room = room;
	}
	c->questions[c->nr_questions++] = *question;
	return 0;
}

static int add_port(struct class *c, struct pupil *pupil, struct hash_ask *ask)
{
	return add_question(c, &(struct question) {
		.pupil = pupil,
		.probe = { .kind = ask->dqpn ? PROBE_QPN : PROBE_PATH, .port = ask->port,
			   .dqpn = ask->dqpn },
		.ask = ask,
	});
}

/* Leave the questions without an answer. */
static void keep_open(struct class *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->nr_questions; i++)
		if (!c->questions[i].answered)
			c->questions[n++] = c->questions[i];
	c->nr_questions = n;
}

/*
 * Ask all questions, and forget them. Routers that limit their ICMP answer late: go on as long as
 * such answers come.
 */
static int ask_all(struct class *c)
{
	static const struct probe_batch_ops ops = {
		.next = next_question,
		.answer = got_router,
		.lost = got_nothing,
		.status = status,
	};
	int ret = 0;

	c->late = true;
	while (!ret && c->late && c->nr_questions) {
		c->late = false;
		c->next = 0;
		ret = probe_batch_run(&c->run->discover->config, &ops, c, c->run->err);
		keep_open(c);
	}
	c->nr_questions = 0;
	return ret;
}

/* A port of each peer. Those without an answer are under our own leaf, or lost. */
static int ask_bases(struct class *c, size_t from, size_t to)
{
	size_t i;
	int ret = 0;

	for (i = from; !ret && i < c->nr && i < to; i++) {
		c->pupils[i].asks[0].port = c->model ? c->model->hash.base : discover_port(0);
		ret = add_port(c, &c->pupils[i], &c->pupils[i].asks[0]);
	}
	return ret ?: ask_all(c);
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

	hash_learn_start(l, teacher->asks[0].port, teacher->asks[0].router, arc4random() | 1);
	do {
		for (i = 0, ret = 0; !ret && i < l->nr; i++)
			ret = add_port(c, teacher, &l->ask[i]);
		ret = ret ?: ask_all(c);
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

/* Ask the leaf by so many routers, one after the other. */
static int add_leaves(struct class *c, struct pupil *pupil, unsigned int nr)
{
	const struct hash_model *model = &c->learn.model;
	unsigned int label = pupil - c->pupils, i;
	int ret = 0;

	pupil->met = pupil->t->circuits.nr_addrs;
	for (i = 0; !ret && i < nr; i++) {
		__u16 any = discover_port(xorshift32(&c->learn.seed) % PORTMAP_MAX_PORTS);

		ret = add_question(c, &(struct question) {
			.pupil = pupil,
			.probe = { .kind = PROBE_LEAF,
				   .port = hash_model_move(model, any, (label + i) %
							   hash_model_size(model)) },
		});
	}
	return ret;
}

/* The first of the peers before this one that has its leaf; NULL: there is none. */
static struct pupil *leaf_first(const struct class *c, const struct pupil *pupil)
{
	struct pupil *other;

	for (other = c->pupils; other < pupil; other++)
		if (circuits_meet(&other->t->circuits, &pupil->t->circuits))
			return other;
	return NULL;
}

/*
 * A leaf may answer by the address of any of its interfaces. The first peer of each leaf asks until
 * there are no new ones; if these may be those of links, until two of a router had shown.
 */
static int ask_leaves_again(struct class *c, const struct pupil *teacher)
{
	unsigned int round;
	size_t i;
	int ret = 0;

	for (round = 0; !ret && round < LEAF_ROUNDS; round++) {
		bool hidden = circuits_shared(&teacher->t->circuits);

		for (i = 0; !ret && i < c->nr; i++) {
			struct pupil *pupil = &c->pupils[i];
			unsigned int addrs = pupil->t->circuits.nr_addrs;

			if (addrs && (!round || !hidden || addrs > pupil->met) &&
			    !leaf_first(c, pupil))
				ret = add_leaves(c, pupil, hash_model_size(&c->learn.model));
		}
		ret = ret ?: ask_all(c);
	}
	return ret;
}

/* A port of each peer, and two of the first: does its leaf have one address? */
static int ask_leaves(struct class *c, struct pupil *teacher)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++)
		if (c->pupils[i].asks[0].answered)
			ret = add_leaves(c, &c->pupils[i], &c->pupils[i] == teacher ? 2 : 1);
	ret = ret ?: ask_all(c);
	if (ret || teacher->t->circuits.nr_addrs < 2)
		return ret;
	return ask_leaves_again(c, teacher);
}

/* Are links told apart by the addresses of a leaf? Then the walk tells paths by them. */
static bool shows_links(const struct class *c, const struct pupil *teacher)
{
	size_t i;

	if (circuits_shared(&teacher->t->circuits))
		return false;
	for (i = 0; i < c->nr; i++)
		if (circuits_found(&c->pupils[i].t->circuits, hash_model_size(&c->learn.model)))
			return true;
	return !teacher->t->circuits.nr_addrs;
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

static bool may_learn(const struct pupil *pupil)
{
	return pupil->asks[0].answered && pupil->t->circuits.nr_addrs && !pupil->taught;
}

static void choose(struct class *c, struct pupil *pupil, unsigned int checks)
{
	struct hash_ask base = pupil->asks[0];

	pupil->nr = 1 + checks;
	hash_peer_ask(&c->learn.model, pupil->asks, pupil->nr, pupil - c->pupils);
	pupil->asks[0] = base;
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
			ret = add_port(c, pupil, &pupil->asks[k]);
	}
	ret = ret ?: ask_all(c);
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

		if (!may_learn(pupil))
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

		if (!may_learn(pupil) || pupil->nr)
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
	struct pupil *first;
	size_t i, taught = 0;
	int ret;

	ret = ask_bases(c, 0, FIRST_PEERS);
	first = ret ? NULL : first_that_answers(c);
	if (!first)
		return ret;
	if (c->model)
		recall(c);
	else
		ret = learn(c, first);
	if (ret || c->learn.verdict != HASH_LINEAR)
		return ret;
	ret = ask_bases(c, FIRST_PEERS, c->nr) ?: ask_leaves(c, first);
	if (ret || shows_links(c, first))
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

/* Peers with the source of the first one that is not @done. Return: their number. */
static size_t gather(struct discovery *run, struct pupil *pupils, bool *done)
{
	const __u8 *source = NULL;
	size_t i, n = 0;

	for (i = 0; i < run->map->nr_peers; i++) {
		struct target *t = &run->targets[i];

		if (done[i] || t->phase == DONE)
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

	if (d->enough || d->split || d->config.ports < LEAST_PORTS)
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
