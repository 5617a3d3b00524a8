/* SPDX-License-Identifier: GPL-2.0 */
/* Peers that share a source, and what they are asked in rounds of probes. */
#ifndef ROCESTEER_LIB_DISCOVER_CLASS_H
#define ROCESTEER_LIB_DISCOVER_CLASS_H

#include "discover_priv.h"
#include "hash/hash.h"

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

struct question;

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

/* Ports to ask besides, as some may take a router that does not answer */
unsigned int class_spare(const struct class *c);

/* Have a port of a peer asked, by class_ask(). Return: 0 or -ENOMEM. */
int class_add_port(struct class *c, struct pupil *pupil, struct hash_ask *ask);

/*
 * Ask what was added. Routers that limit their ICMP answer late: this goes on as long as such
 * answers come. Return: 0 or a negative errno.
 */
int class_ask(struct class *c);

/*
 * Ask a port of those of peers @from..@to - 1 that have not answered yet. Those that never do are
 * under our own leaf, or lost.
 */
int class_ask_bases(struct class *c, size_t from, size_t to, __u16 port);

/*
 * Ask a port of each peer one hop further, and two of the first: does its leaf have one address? If
 * not, the first peer of each leaf is asked until its addresses are known, unless the caller knows
 * what is enough: it knows the leaves.
 */
int class_ask_leaves(struct class *c, struct pupil *first);

/*
 * Are links told apart by the addresses of a leaf, unless the caller says which are? Then the walk
 * tells paths by them.
 */
bool class_shows_links(const struct class *c, const struct pupil *first);

#endif /* ROCESTEER_LIB_DISCOVER_CLASS_H */
