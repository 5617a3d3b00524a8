/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of discover_run(). */
#ifndef ROCESTEER_LIB_DISCOVER_PRIV_H
#define ROCESTEER_LIB_DISCOVER_PRIV_H

#include "circuits.h"
#include "discover_run.h"
#include "qpn_check.h"

/**
 * discover_narrow() - which path does a port take, after another answer?
 * @peer: paths
 * @path: the first one that the answers before agree with
 * @kind: what was asked, PROBE_QPN first; set to what is to be asked next: our leaf, or that of the
 *	peer, if that tells paths by one router apart, else PROBE_QPN
 * @from: who answered
 *
 * Return: the first path that agrees, or ROCESTEER_MAX_PATHS.
 */
unsigned int discover_narrow(const struct portmap_peer *peer, unsigned int path,
			     enum probe_kind *kind, const __u8 from[16]);

#define AGAIN_PORTS	64
#define PEER_ACTIVE	32	/* probes out per peer */
#define SMALL_PORTS	225	/* a path with 3 of 100 ports is missed by 1 in 1000 */

enum phase { PATHS, AGAIN, EXTRA, LEAF, AROUND, NEAR, QPN, PROVE, DONE };

/* A port whose router has answered; @asked: the probe to our leaf is out */
struct half_port {
	__u16 port;
	bool asked;
	__u8 router[16];
};

/*
 * A peer on its way through the phases. @started, @active, @answered and @lost count the probes
 * of the current phase. @unreachable is the last router that said that the peer is. Ports
 * without an answer are @silent: they are probed again, slowly, as long as some answer then,
 * because a router may only limit its ICMP.
 *
 * A few ports of each path are probed one hop further. If @circuits shows several paths by one
 * router, the paths are @split: all ports are probed there, and more ports if so many paths need
 * them. @walked counts the ports.
 *
 * If the peer seems to be one hop further, the routers may be its leaf, by each of its
 * interfaces: the hops @around are probed. The routers are the leaf, @at_leaf, if nobody answers
 * at the hop @before.
 *
 * Weights are measured behind the first peer of each leaf, the @leader of the others, with at
 * least @least ports. If its paths are @weighted, all peers of the leaf are probed likewise.
 *
 * Then some ports are probed with other queue pair numbers: @qpn. At last the first port of each
 * path, and ports from the first to the last, are probed once more: if one has @moved, the search
 * starts @anew.
 *
 * Where ports choose one of our leaves as well, the peer is @bonded: paths are known by this leaf
 * and by their router. A port whose router has answered is @half known, and still active, until
 * our leaf has answered.
 *
 * Where nobody has said the hops of a peer, they are @open: class_find_hops(). So many @paths to
 * the peer are known to be there; 0: that is not known.
 *
 * A peer that is @left_out has no route, or no answer, and does not get into the map.
 */
struct target {
	struct portmap_peer *peer;
	struct circuits circuits;
	struct qpn_check qpn;
	struct target *leader;
	unsigned int least;
	bool weighted;
	bool split;
	bool joined;
	bool around;
	bool before;
	bool at_leaf;
	bool moved;
	bool anew;
	bool left_out;
	bool open;
	bool bonded;
	struct half_port half[PEER_ACTIVE];
	unsigned int nr_half;
	unsigned int paths;
	unsigned int walked;
	size_t extra;
	enum phase phase;
	unsigned int started;
	unsigned int active;
	unsigned int answered;
	unsigned int lost;
	__u8 unreachable[16];
	__u16 silent[AGAIN_PORTS];
	unsigned int nr_silent;
};

/*
 * A search. @goal: ports that must be answered, by whether the number of paths is known, and by
 * paths found; @left_out: peers that are; @vias: set of aggs, for discover_vias()
 */
struct discovery {
	const struct discover *discover;
	struct portmap *map;
	struct target *targets;
	unsigned int goal[2][ROCESTEER_MAX_PATHS + 1];
	size_t cursor;
	size_t done;
	size_t left_out;
	struct set vias;
	__u64 started;
	struct err *err;
};

/*
 * Find the paths of peers by learning what the switches make of ports: they are DONE. Return: 0 or
 * a negative errno.
 */
int discover_learn(struct discovery *run);

/* Paths by a core go by an agg. Return: 0 or -ENOMEM. */
int discover_via_note(struct discovery *run, const __u8 source[16], const __u8 core[16],
		      const __u8 agg[16]);

/* Name the agg of each path that has one. Return: 0 or a negative errno. */
int discover_vias(struct discovery *run);

/* Set @run->goal: how many ports must be answered, by the number of paths found. */
void discover_ports_goals(struct discovery *run);

/* Skip ports of the phase that another phase probes: no port is probed twice. */
void discover_ports_skip(const struct discovery *run, struct target *t);

/*
 * Were ports enough, with @active that are being asked, for the paths that were found? Paths
 * are told apart by router until they are split.
 */
bool discover_ports_suffice(const struct discovery *run, const struct target *t,
			    unsigned int active);

/* Does the phase want another probe now? */
bool discover_ports_wanted(const struct discovery *run, const struct target *t);

/* Fill in the probe that the phase wants. */
void discover_ports_take(const struct discovery *run, struct target *t, struct batch_probe *probe);

/* Begin a phase, of which no probe is out. */
void discover_phase_enter(struct discovery *run, struct target *t, enum phase phase);

/*
 * Go on to the next phase when the probes of this one are all in. Return: 0 or a negative
 * errno.
 */
int discover_phase_advance(struct discovery *run, struct target *t);

/* The search for a peer has failed, but goes on for others: it is not in the map. */
void discover_phase_leave_out(struct discovery *run, struct target *t);

/* Tell the caller of the search: @fmt takes the peer's address and the hop. */
void discover_phase_note(const struct discovery *run, const struct target *t, const char *fmt);

#endif /* ROCESTEER_LIB_DISCOVER_PRIV_H */
