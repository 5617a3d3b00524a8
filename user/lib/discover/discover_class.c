// SPDX-License-Identifier: GPL-2.0
#include "discover_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPARE	3	/* a quarter of all routers is silent at most */
#define LEAF_ROUNDS	8	/* of a port of each path: one of two links is missed by 1 in 128 */

/* A probe of a round; @ask: gets the answer, NULL: it is of the leaf; @answered: it is. */
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

unsigned int class_spare(const struct class *c)
{
	return c->learn.silent < MOST_SPARE ? c->learn.silent : MOST_SPARE;
}

int class_add_port(struct class *c, struct pupil *pupil, struct hash_ask *ask)
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

/* The questions are forgotten then. */
int class_ask(struct class *c)
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

int class_ask_bases(struct class *c, size_t from, size_t to, __u16 port)
{
	size_t i;
	int ret = 0;

	for (i = from; !ret && i < c->nr && i < to; i++) {
		struct hash_ask *ask = &c->pupils[i].asks[0];

		if (ask->answered)
			continue;
		ask->port = port;
		ret = class_add_port(c, &c->pupils[i], ask);
	}
	return ret ?: class_ask(c);
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
static int ask_leaves_again(struct class *c, const struct pupil *first)
{
	unsigned int round;
	size_t i;
	int ret = 0;

	for (round = 0; !ret && round < LEAF_ROUNDS; round++) {
		bool hidden = circuits_shared(&first->t->circuits);

		for (i = 0; !ret && i < c->nr; i++) {
			struct pupil *pupil = &c->pupils[i];
			unsigned int addrs = pupil->t->circuits.nr_addrs;

			if (addrs && (!round || !hidden || addrs > pupil->met) &&
			    !leaf_first(c, pupil))
				ret = add_leaves(c, pupil, hash_model_size(&c->learn.model));
		}
		ret = ret ?: class_ask(c);
	}
	return ret;
}

int class_ask_leaves(struct class *c, struct pupil *first)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++)
		if (c->pupils[i].asks[0].answered)
			ret = add_leaves(c, &c->pupils[i], class_spare(c) +
					 (&c->pupils[i] == first ? 2 : 1));
	ret = ret ?: class_ask(c);
	if (ret || first->t->circuits.nr_addrs < 2 || c->run->discover->enough)
		return ret;
	return ask_leaves_again(c, first);
}

bool class_shows_links(const struct class *c, const struct pupil *first)
{
	size_t i;

	if (circuits_shared(&first->t->circuits))
		return false;
	for (i = 0; !c->run->discover->split && i < c->nr; i++)
		if (circuits_found(&c->pupils[i].t->circuits, hash_model_size(&c->learn.model)))
			return true;
	return !first->t->circuits.nr_addrs && !c->run->discover->enough;
}
