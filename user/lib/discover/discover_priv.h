/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of discover_run(). */
#ifndef ROCESTEER_LIB_DISCOVER_PRIV_H
#define ROCESTEER_LIB_DISCOVER_PRIV_H

#include "circuits.h"
#include "discover_run.h"
#include "qpn_check.h"

#define AGAIN_PORTS	64
#define SMALL_PORTS	225	/* a path with 3 of 100 ports is missed by 1 in 1000 */

enum phase { PATHS, AGAIN, EXTRA, LEAF, AROUND, NEAR, QPN, PROVE, DONE };

/*
 * One peer on its way through the phases. @started, @active, @answered and
 * @lost count the probes of the current phase, @unreachable is the router that
 * last said so. @silent are ports that got no answer: they are asked again, slowly,
 * as long as some answer then, as routers that limit their ICMP are not silent.
 *
 * A few ports of each path are asked one hop further. Where @circuits says that paths
 * by one router are different ones, they are @split: all ports are asked, and more
 * ports are probed if it takes more for so many paths. @walked counts them.
 *
 * Where the peer itself is one hop further, as far as is seen, the routers may be its leaf by
 * each of its interfaces: the hops @around are asked. It is so, @at_leaf, if nobody answers
 * at the hop @before.
 *
 * Weights are looked for behind the first peer of each leaf, the @leader of the others: at
 * least @least ports are asked. Where its paths are @weighted, all peers of the leaf are
 * searched so.
 *
 * Then some ports are asked with other queue pair numbers: @qpn. At last the first port of each
 * path and ports from the first to the last are asked once more: if one has @moved, the search
 * starts @anew.
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

/* A search. @goal: ports that must be answered, by paths found. */
struct discovery {
	const struct discover *discover;
	struct portmap *map;
	struct target *targets;
	unsigned int goal[ROCESTEER_MAX_PATHS + 1];
	size_t cursor;
	size_t done;
	__u64 started;
	struct err *err;
};

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
void discover_ports_take(const struct discovery *run, struct target *t,
			 struct batch_probe *probe);

/* Begin a phase, of which no probe is out. */
void discover_phase_enter(struct discovery *run, struct target *t, enum phase phase);

/*
 * Go on to the next phase when the probes of this one are all in. Return: 0 or a negative
 * errno.
 */
int discover_phase_advance(struct discovery *run, struct target *t);

/* Tell the caller of the search: @fmt takes the peer's address and the hop. */
void discover_phase_note(const struct discovery *run, const struct target *t, const char *fmt);

#endif /* ROCESTEER_LIB_DISCOVER_PRIV_H */
