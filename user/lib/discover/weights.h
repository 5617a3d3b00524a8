/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weights of paths, by the shares of the ports that take them. Switches that weigh next hops
 * (WCMP) send more ports by some paths than by others, and so do two routers that answer from
 * one address: one path then has the ports of two.
 *
 * Pearson's chi-square test compares the shares with those of equal paths. With five ports or
 * more for a path, equal paths are called weighted less than once in 10,000 peers, more
 * ports that were probed in doubt included.
 */
#ifndef ROCESTEER_LIB_WEIGHTS_H
#define ROCESTEER_LIB_WEIGHTS_H

#include "portmap/portmap.h"

/**
 * enum weights_verdict - what shares say
 * @WEIGHTS_EQUAL: paths may well be equal
 * @WEIGHTS_DOUBT: equal paths are like this once in twenty times: probe more ports
 * @WEIGHTS_DIFFER: equal paths are like this less than once in a million times
 */
enum weights_verdict {
	WEIGHTS_EQUAL,
	WEIGHTS_DOUBT,
	WEIGHTS_DIFFER,
};

/* Judge the paths of a peer by their ports. */
enum weights_verdict weights_judge(const struct portmap_peer *peer);

/* Set the weights of the paths: the least whole numbers that agree with the ports. */
void weights_propose(struct portmap_peer *peer);

#endif /* ROCESTEER_LIB_WEIGHTS_H */
