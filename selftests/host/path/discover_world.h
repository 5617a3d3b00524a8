/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world of switches and 10,000 peers behind them, in two tiers or in three, in which
 * discover_run() searches: routes and probes are fakes.
 */
#ifndef ROCESTEER_TEST_DISCOVER_WORLD_H
#define ROCESTEER_TEST_DISCOVER_WORLD_H

#include <stdbool.h>
#include <linux/types.h>

#include "discover/discover_run.h"
#include "hash_models.h"

#define PEERS		10000

/**
 * struct world - a fabric, and the peers behind it
 * @fabric: our leaf
 * @aggs: the aggs of our pod, if there are three tiers
 * @each: the hash of each agg has another offset
 * @bond: chooses one of our leaves, if it has next hops
 * @shared: all aggs have the same cores
 * @pod: leaves of a pod, if there are three tiers; the first pod is ours
 * @dead: core that does not answer, or 0
 * @hosts: peers of each leaf
 * @loss: answers of 1000 that are lost; each probe is sent again three times
 * @rails: peers of a subnet are under two leaves in turn
 * @moved: one peer of so many is under another leaf, or 0
 * @odd: one peer of so many has another hash, or 0
 * @order: one leaf of so many has its next hops in another order, or 0
 * @own: this leaf is ours, or -1
 * @asked: probes, by kind, of which each may be sent several times
 */
struct world {
	struct fabric fabric;
	struct fabric bond;
	struct fabric aggs;
	bool each;
	bool shared;
	unsigned int pod;
	__u32 dead;
	unsigned int hosts;
	unsigned int loss;
	bool rails;
	unsigned int moved;
	unsigned int odd;
	unsigned int order;
	int own;
	unsigned long asked[PROBE_PEER + 1];
};

extern struct world world;

/**
 * struct found - what was found of all peers
 * @wrong: peers of which a port takes another path than the map says, or paths are missing
 * @astray: peers that are under another leaf than the map says
 * @local: peers under our own leaf
 * @linear: peers that follow from the model
 * @predicted: of these, peers of which no port was asked
 * @across: peers of other pods that follow from the model
 * @learn: most probes of one peer that follows, which the model was learnt from
 * @asked: probes to the routers of paths
 * @leaves: probes to leaves
 * @shared: it was said that aggs share cores
 * @cpu: s
 */
struct found {
	unsigned int wrong;
	unsigned int astray;
	unsigned int local;
	unsigned int linear;
	unsigned int predicted;
	unsigned int across;
	unsigned int learn;
	unsigned long asked;
	unsigned long leaves;
	bool shared;
	double cpu;
};

/*
 * Search for @nr peers all over the world, in no order; @known: an earlier map, or NULL. Nothing is
 * printed for a search without a name.
 */
struct found search_again(const char *what, const struct portmap *known, struct portmap *map,
			  unsigned int nr);

/* The same without a map; of all peers */
struct found search_some(const char *what, unsigned int nr);
struct found search(const char *what);

#endif /* ROCESTEER_TEST_DISCOVER_WORLD_H */
