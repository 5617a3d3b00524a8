/* SPDX-License-Identifier: GPL-2.0 */
/* Peers that share a source, what they are asked in rounds of probes, and their leaves. */
#ifndef ROCESTEER_LIB_DISCOVER_CLASS_H
#define ROCESTEER_LIB_DISCOVER_CLASS_H

#include "discover_priv.h"
#include "hash/hash.h"

/*
 * What addresses say of peers is believed if so many checks agree, and none disagrees; of the peers
 * that follow, one of so many is checked. If a share s of the peers is otherwise, and one of N
 * next hops agrees by chance, k checks agree with a probability of (1 - rs)^k, r = 1 - 1/N. So the
 * share that is believed wrongly is s(1 - rs)^k in the mean, at most 1/(rek) whatever s is: with
 * the 657 checks of 10,000 peers 1 in 1,300 for N = 4, and 1 in 890 for N = 2.
 */
#define CLASS_CONFIRMATIONS	16
#define CLASS_CHECK_ONE_IN	16

#define CLASS_FIRST	11	/* discover_bound() of two leaves */

/**
 * struct pupil - a peer
 * @t: its search
 * @asks: ports of the model, the base first
 * @nr: number of @asks, 0 until more than the base is asked
 * @judged: their answers are in
 * @refused: they do not agree with the model
 * @probed: ports that were asked
 * @leaf_asked: its leaf was asked
 * @early: port by which the leaf answered before there was a model, or 0
 * @met: addresses of its leaf, before the round
 * @taught: the model holds
 * @constant: of the model
 */
struct pupil {
	struct target *t;
	struct hash_ask asks[HASH_PORT_BITS];
	unsigned int nr;
	bool judged;
	bool refused;
	unsigned int probed;
	bool leaf_asked;
	__u16 early;
	unsigned int met;
	bool taught;
	__u8 constant;
};

/*
 * Marks of a leaf: the known map has a peer of it that the model holds for; ports of a peer of it
 * were asked; the model holds for that peer.
 */
#define LEAF_KNOWN	1
#define LEAF_ASKED	2
#define LEAF_TAUGHT	4

/**
 * struct leaf - an address by which a leaf answers
 * @addr: the address
 * @first: the first peer behind it, or NULL
 * @marks: LEAF_...
 */
struct leaf {
	__u8 addr[16];
	struct pupil *first;
	unsigned int marks;
};

struct question;

/**
 * struct class - peers that share a source
 * @run: search
 * @source: that they share
 * @first: ports that are asked at hop 1
 * @known_bonded: @bonded need not be found out
 * @bonded: ports choose our leaf as well: next hops are known by it, and by themselves
 * @model: known before, if @recalled
 * @learn: learner, with the model
 * @aggs: model of aggs, where @learn has that of cores; no bits: there is none
 * @chosen: by label: the router has a path of each peer
 * @address: constants by address
 * @confirmed: peers whose constant was what their address says
 * @doubted: a peer contradicted its address, or the model that holds for others of its leaf
 * @leaves: struct leaf
 * @pupils: peers, ascending by address
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
	struct hash_ask first[CLASS_FIRST];
	bool known_bonded;
	bool bonded;
	struct hash_model model;
	bool recalled;
	struct hash_learn learn;
	struct hash_model aggs;
	bool chosen[HASH_MAX_LABELS];
	struct hash_address address;
	unsigned int confirmed;
	bool doubted;
	struct set leaves;
	struct pupil *pupils;
	size_t nr;
	struct question *questions;
	size_t nr_questions;
	size_t next;
	size_t room;
	bool noted;
	bool late;
};

/*
 * The label of a port, which is as good as its path: they differ by a constant. Behind our leaves
 * paths by one router have the label of one of them.
 */
unsigned int class_label(const struct class *c, __u16 port);

/* Ports to ask besides, as some may take a router that does not answer */
unsigned int class_spare(const struct class *c);

/* Have a port of a peer asked, by class_ask(). Return: 0 or -ENOMEM. */
int class_add_port(struct class *c, struct pupil *pupil, struct hash_ask *ask);

/*
 * Have the leaf of a peer asked, by a port. Behind a core the probe is none of RoCE as long as
 * there is no model, so that peers that are no further away answer at once. Return: 0 or -ENOMEM.
 */
int class_add_leaf(struct class *c, struct pupil *pupil, __u16 port);

/* Have the router before that of the path asked instead of it. Return: 0 or -ENOMEM. */
int class_add_before(struct class *c, struct pupil *pupil, struct hash_ask *ask);

/*
 * Have a router asked behind the leaf, where none should be. An answer may be the peer's own.
 * Return: 0 or -ENOMEM.
 */
int class_add_beyond(struct class *c, struct pupil *pupil, struct hash_ask *ask);

/*
 * Ask what was added. Routers that limit their ICMP answer late: this goes on as long as such
 * answers come. Return: 0 or a negative errno.
 */
int class_ask(struct class *c);

/* The same where hosts may be silent, and routers answer at once: with fewer repetitions. */
int class_ask_briefly(struct class *c, unsigned int retries);

/* Some peers all over the class, of which one has to answer; they check what addresses say. */
size_t class_samples(const struct class *c);
struct pupil *class_sample(struct class *c, size_t i);

/*
 * Have the routers at hop 1 asked, unless it is known whether ports choose our leaf, as behind a
 * bond to several. Return: 0 or -ENOMEM.
 */
int class_add_first(struct class *c);

/* Do they? Then these routers differ. */
bool class_is_bonded(const struct class *c);

/*
 * Find the distances of peers, unless they are known. The peers are sorted by them then, the
 * farthest first. Return: 0 or a negative errno.
 */
int class_find_hops(struct class *c);

/*
 * The model of cores was learnt from @teacher: does it hold for all aggs? @aggs and the verdict are
 * set. Return: 0 or a negative errno.
 */
int class_learn_tiers(struct class *c, struct pupil *teacher);

/*
 * Choose the routers of paths, if the model has more than a peer may have: equally many behind each
 * agg, others for each host.
 */
void class_choose(struct class *c);

/* Draw by lot which peers are checked. */
static inline bool class_draw(struct class *c)
{
	return !(xorshift32(&c->learn.seed) % CLASS_CHECK_ONE_IN);
}

/*
 * Find the leaf of each peer that was not asked for it. Where there are many peers, one between two
 * others of a leaf is taken as of this leaf, if those that are checked are. Return: 0 or a negative
 * errno.
 */
int class_ask_all_leaves(struct class *c);

/*
 * Find the leaf of each peer by a port of the model. Two ports of the first peer show whether its
 * leaf has one address. If not, the first peer of each leaf is asked until its addresses are known,
 * unless the caller knows what is enough: it knows the leaves. Return: 0 or a negative errno.
 */
int class_ask_leaves(struct class *c, struct pupil *first);

/*
 * Are links told apart by the addresses of a leaf, unless the caller says which are? Then the walk
 * tells paths by them.
 */
bool class_shows_links(const struct class *c, const struct pupil *first);

/* The leaf's address, added if it is new; NULL without memory. */
struct leaf *class_leaf(struct class *c, const __u8 addr[16]);

/* Marks of the peer's leaf; add some. */
unsigned int class_leaf_marks(const struct class *c, const struct pupil *pupil);
void class_mark_leaf(struct class *c, const struct pupil *pupil, unsigned int marks);

#endif /* ROCESTEER_LIB_DISCOVER_CLASS_H */
