/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What port maps say of the fabric: tiers, fields that switches hash, and cores that no port
 * reaches. Where leaves and aggs hash the same bits, an agg sends all that a leaf sends to it to
 * few of its cores. One host cannot tell such polarisation from a fabric with fewer cores: the
 * number of cores has to be given, or maps of other hosts have more of them.
 */
#ifndef ROCESTEER_LIB_AUDIT_H
#define ROCESTEER_LIB_AUDIT_H

#include <stdbool.h>
#include <linux/types.h>

#include "portmap/portmap.h"

/**
 * struct audit_sight - routers that ports reach
 * @aggs: next hops of our leaf, and how many cores each leads to; in two tiers the spines
 * @cores: of three tiers
 * @uneven: some aggs lead to more cores than others
 * @silent: a router does not answer, or the agg before a core is not known
 */
struct audit_sight {
	struct set aggs;
	struct set cores;
	bool uneven;
	bool silent;
};

/* Cores that an agg leads to, the least number */
unsigned int audit_per_agg(const struct audit_sight *sight);

enum audit_verdict {
	AUDIT_NO_CORES,		/* no peer is in another pod */
	AUDIT_UNKNOWN,		/* nothing says how many cores there are */
	AUDIT_FEWER,		/* neither, and an agg leads to fewer cores than there are aggs */
	AUDIT_ALL,		/* all are reached */
	AUDIT_MORE,		/* more than there are */
	AUDIT_POLARISED,	/* the same part of each agg's cores is reached */
	AUDIT_MISSING,		/* some are not reached, in another way */
};

/**
 * struct audit_known - what is known of the number of cores
 * @cores: number; 0: nothing is known
 * @at_least: there may be more
 */
struct audit_known {
	unsigned int cores;
	bool at_least;
};

/* Judge how many of the cores are reached. */
enum audit_verdict audit_judge(const struct audit_sight *sight, struct audit_known known);

/*
 * The same of one peer with @expected cores; @silent: as in struct audit_sight. Return: the
 * verdict, or -ENOMEM.
 */
int audit_judge_peer(const struct portmap_peer *peer, bool silent, unsigned int expected);

enum audit_fact { AUDIT_UNTOLD, AUDIT_NO, AUDIT_YES };

/**
 * struct audit_part - peers in our pod, or those across
 * @hop: distance of the routers that tell paths apart
 * @peers: number
 * @linear: of these, peers whose ports follow from the model
 * @weighted: peers whose paths have different weights
 * @moved: peers whose ports moved during the search
 * @silent: peers with a router that does not answer
 * @silent_routers: that the model has no address of
 * @qpn_hash: peers for which switches hash the destination queue pair
 * @address: does the path of a port depend on the address of the peer?
 * @port_bits: that matter to the model; 0: there is no model
 * @qpn_bits: likewise, of the destination queue pair
 */
struct audit_part {
	unsigned int hop;
	unsigned int peers;
	unsigned int linear;
	unsigned int weighted;
	unsigned int moved;
	unsigned int silent;
	unsigned int silent_routers;
	unsigned int qpn_hash;
	enum audit_fact address;
	__u32 port_bits;
	__u32 qpn_bits;
};

/* AUDIT_PARTS: peers under our own leaf are in none */
enum { AUDIT_POD, AUDIT_ACROSS, AUDIT_PARTS };

/**
 * struct audit_site - what the map of one host says
 * @sight: routers
 * @part: peers
 * @local: number of peers on-link or under our own leaf
 */
struct audit_site {
	struct audit_sight sight;
	struct audit_part part[AUDIT_PARTS];
	unsigned int local;
};

/* Read a map. @site: to be freed, also after a failure. Return: 0 or -ENOMEM. */
int audit_read(struct audit_site *site, const struct portmap *map);
void audit_free(struct audit_site *site);

/**
 * audit_union() - the cores that some hosts reach together
 * @sites: of one fabric
 * @nr: how many
 * @own: one of them
 * @cores: set
 * @apart: set to the number of sites left out: they share no router with @own
 *
 * A router that answers from the address of an interface has another address for each pod, and
 * counts several times. Hosts of two pods share a core only where cores have one address each, and
 * hosts of one pod share an agg where aggs have.
 *
 * Return: 0 or -ENOMEM.
 */
int audit_union(const struct audit_site *sites, size_t nr, const struct audit_site *own,
		unsigned int *cores, unsigned int *apart);

#endif /* ROCESTEER_LIB_AUDIT_H */
