// SPDX-License-Identifier: GPL-2.0
/* Which leaf is each peer of a class under? */
#include <string.h>

#include "discover_class.h"

#define LEAF_ROUNDS	8	/* of a port of each path: one of two links is missed by 1 in 128 */
#define MANY		(2 * CLASS_CONFIRMATIONS * CLASS_CHECK_ONE_IN)

struct leaf *class_leaf(struct class *c, const __u8 addr[16])
{
	return set_get(&c->leaves, addr, 16, sizeof(struct leaf));
}

unsigned int class_leaf_marks(const struct class *c, const struct pupil *pupil)
{
	const struct circuits *circuits = &pupil->t->circuits;
	const struct leaf *leaf;
	unsigned int k, marks = 0;

	for (k = 0; k < circuits->nr_addrs; k++) {
		leaf = set_find(&c->leaves, circuits->addr[k], 16);
		marks |= leaf->marks;
	}
	return marks;
}

void class_mark_leaf(struct class *c, const struct pupil *pupil, unsigned int marks)
{
	const struct circuits *circuits = &pupil->t->circuits;
	struct leaf *leaf;
	unsigned int k;

	for (k = 0; k < circuits->nr_addrs; k++) {
		leaf = set_find(&c->leaves, circuits->addr[k], 16);
		leaf->marks |= marks;
	}
}

/* Is it the first one of its leaf? */
static bool leads(const struct class *c, const struct pupil *pupil)
{
	const struct circuits *circuits = &pupil->t->circuits;
	const struct leaf *leaf;
	unsigned int k;

	for (k = 0; k < circuits->nr_addrs; k++) {
		leaf = set_find(&c->leaves, circuits->addr[k], 16);
		if (leaf->first < pupil)
			return false;
	}
	return true;
}

/* Ask the leaf by so many routers, one after the other. */
static int add_leaves(struct class *c, struct pupil *pupil, unsigned int nr)
{
	const struct hash_model *model = &c->learn.model;
	unsigned int label = pupil->early ? hash_model_label(model, pupil->early) + 1 :
					    pupil - c->pupils;
	unsigned int i;
	int ret = 0;

	pupil->leaf_asked = true;
	pupil->met = pupil->t->circuits.nr_addrs;
	for (i = 0; !ret && i < nr; i++) {
		__u16 any = discover_port(xorshift32(&c->learn.seed) % PORTMAP_MAX_PORTS);

		ret = class_add_leaf(c, pupil, hash_model_move(model, any, (label + i) %
							       hash_model_size(model)));
	}
	return ret;
}

/*
 * A leaf may answer by the address of any of its interfaces. The first peer of each leaf asks until
 * there are no new ones; if these may be those of links, until two of a router had shown.
 */
static int ask_again(struct class *c, const struct pupil *first)
{
	unsigned int round;
	size_t i;
	int ret = 0;

	for (round = 0; !ret && round < LEAF_ROUNDS; round++) {
		bool hidden = circuits_shared(&first->t->circuits);

		for (i = 0; !ret && i < c->nr; i++) {
			struct pupil *pupil = &c->pupils[i];
			unsigned int addrs = pupil->t->circuits.nr_addrs;

			if (addrs && (!round || !hidden || addrs > pupil->met) && leads(c, pupil))
				ret = add_leaves(c, pupil, hash_model_size(&c->learn.model));
		}
		ret = ret ?: class_ask(c);
	}
	return ret;
}

/* Are the peers before and behind this one under one leaf? They are asked before. */
static bool is_between(const struct class *c, size_t i)
{
	return i % 2 && i + 1 < c->nr &&
	       circuits_meet(&c->pupils[i - 1].t->circuits, &c->pupils[i + 1].t->circuits);
}

static bool is_even(struct class *c, size_t i)
{
	return i % 2 == 0 || c->nr < MANY;
}

static bool may_differ(struct class *c, size_t i)
{
	return !is_between(c, i) || class_draw(c);
}

/* Ask the leaves of those peers that were not asked, and are wanted; NULL: all are. */
static int ask_some(struct class *c, bool (*wanted)(struct class *c, size_t i))
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < c->nr; i++)
		if (!c->pupils[i].leaf_asked && (!wanted || wanted(c, i)))
			ret = add_leaves(c, &c->pupils[i], 1 + class_spare(c));
	return ret ?: class_ask(c);
}

/* Are those that were asked between two others of a leaf under this leaf? */
static bool follow(const struct class *c)
{
	unsigned int checks = 0;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		if (!c->pupils[i].leaf_asked || !is_between(c, i))
			continue;
		if (!circuits_meet(&c->pupils[i].t->circuits, &c->pupils[i - 1].t->circuits))
			return false;
		checks++;
	}
	return checks >= CLASS_CONFIRMATIONS;
}

/* The others are under the leaf of the peer before. */
static void take_leaves(struct class *c)
{
	size_t i;

	for (i = 1; i < c->nr; i++)
		if (!c->pupils[i].leaf_asked)
			circuits_add(&c->pupils[i].t->circuits,
				     c->pupils[i - 1].t->circuits.addr[0]);
}

int class_ask_all_leaves(struct class *c)
{
	int ret = ask_some(c, is_even) ?: ask_some(c, may_differ);

	if (ret || !follow(c))
		return ret ?: ask_some(c, NULL);
	take_leaves(c);
	return 0;
}

int class_ask_leaves(struct class *c, struct pupil *first)
{
	size_t i;
	int ret;

	for (i = 0; i < c->nr; i++)
		if (c->pupils[i].early)
			circuits_note(&c->pupils[i].t->circuits,
				      class_label(c, c->pupils[i].early),
				      c->pupils[i].t->circuits.addr[0]);
	ret = add_leaves(c, first, (first->early ? 1 : 2) + class_spare(c)) ?:
	      class_ask_all_leaves(c);
	if (ret || first->t->circuits.nr_addrs < 2 || c->run->discover->enough)
		return ret;
	return ask_again(c, first);
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
