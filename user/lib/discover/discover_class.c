// SPDX-License-Identifier: GPL-2.0
#include "discover_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPARE	3	/* a quarter of all routers is silent at most */

/*
 * A probe of a round, whose TTL is added to that of its kind; @ask: gets the answer, NULL: it is of
 * the leaf; @answered: it is.
 */
struct question {
	struct pupil *pupil;
	struct batch_probe probe;
	struct hash_ask *ask;
	bool answered;
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
	probe->ttl += probe_ttl(probe->kind, q->pupil->t->peer->hop, q->pupil->t->peer->leaf_hop);
	*source = q->pupil->t->peer->source;
	*peer = q->pupil->t->peer->addr;
	return 0;
}

unsigned int class_label(const struct class *c, __u16 port)
{
	const struct hash_model *model = &c->learn.model;
	unsigned int own = hash_model_label(model, port), label = 0;

	while (c->bonded && label < own &&
	       addr_compare(model->router[label].addr, model->router[own].addr))
		label++;
	return c->bonded ? label : own;
}

static int saw_leaf(struct class *c, struct pupil *pupil, __u16 port, const __u8 from[16])
{
	struct leaf *leaf = class_leaf(c, from);

	if (!leaf)
		return -ENOMEM;
	if (!leaf->first || pupil < leaf->first)
		leaf->first = pupil;
	if (c->learn.model.bits)
		circuits_note(&pupil->t->circuits, class_label(c, port), from);
	else
		circuits_add(&pupil->t->circuits, from);
	if (!c->learn.model.bits && !portmap_peer_has_tiers(pupil->t->peer))
		pupil->early = port;
	return 0;
}

static void saw_next_hop(const struct class *c, const struct question *q, const __u8 from[16])
{
	struct hash_router *router = &q->ask->router;
	bool via = c->bonded && q->probe.kind == PROBE_BEFORE;

	memcpy(via ? router->via : router->addr, from, 16);
	q->ask->answered = !addr_is_none(router->addr) &&
			   (!c->bonded || !addr_is_none(router->via));
}

static int got_router(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct class *c = client;
	struct question *q = &c->questions[probe->peer];
	bool itself = q->ask && probe->kind == PROBE_PEER &&
		      answer->type == PROBE_PORT_UNREACHABLE;

	if (answer->type != PROBE_TIME_EXCEEDED && !itself)
		return 0;
	q->answered = true;
	c->late |= probe->sent > 1;
	if (!q->ask)
		return saw_leaf(c, q->pupil, probe->port, answer->from);
	saw_next_hop(c, q, answer->from);
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

unsigned int class_spare(const struct class *c)
{
	return c->learn.silent < MOST_SPARE ? c->learn.silent : MOST_SPARE;
}

int class_add_port(struct class *c, struct pupil *pupil, struct hash_ask *ask)
{
	struct question question = {
		.pupil = pupil,
		.probe = { .kind = ask->dqpn ? PROBE_QPN : PROBE_PATH, .port = ask->port,
			   .dqpn = ask->dqpn },
		.ask = ask,
	};
	int ret = add_question(c, &question);

	if (ret || !c->bonded)
		return ret;
	question.probe.kind = PROBE_BEFORE;
	return add_question(c, &question);
}

int class_add_leaf(struct class *c, struct pupil *pupil, __u16 port)
{
	bool roce = c->learn.model.bits || !portmap_peer_has_tiers(pupil->t->peer);

	return add_question(c, &(struct question) {
		.pupil = pupil,
		.probe = { .kind = roce ? PROBE_LEAF : PROBE_PEER, .port = port },
	});
}

int class_add_before(struct class *c, struct pupil *pupil, struct hash_ask *ask)
{
	return add_question(c, &(struct question) {
		.pupil = pupil,
		.probe = { .kind = PROBE_BEFORE, .port = ask->port },
		.ask = ask,
	});
}

int class_add_beyond(struct class *c, struct pupil *pupil, struct hash_ask *ask)
{
	return add_question(c, &(struct question) {
		.pupil = pupil,
		.probe = { .kind = PROBE_PEER, .ttl = 1, .port = ask->port },
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

/* The questions are forgotten then. */
static int ask(struct class *c, const struct probe_batch_config *config)
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
		ret = probe_batch_run(config, &ops, c, c->run->err);
		keep_open(c);
	}
	c->nr_questions = 0;
	return ret;
}

int class_ask(struct class *c)
{
	return ask(c, &c->run->discover->config);
}

int class_ask_briefly(struct class *c, unsigned int retries)
{
	struct probe_batch_config config = c->run->discover->config;

	if (config.retries > retries)
		config.retries = retries;
	return ask(c, &config);
}
