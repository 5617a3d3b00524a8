/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do switches hash the destination queue pair number? Some ports are probed again with
 * another number. A port that takes another path then is suspected, and probed several times
 * with both numbers in turn. A hash gives the same two routers each time, a fabric that has
 * changed in between gives one router, and a fabric that sprays packets gives any router.
 */
#ifndef ROCESTEER_LIB_QPN_CHECK_H
#define ROCESTEER_LIB_QPN_CHECK_H

#include <stdbool.h>
#include <linux/types.h>

#include "portmap/portmap.h"

/* On two paths, all ports take their paths by chance once in 2^16 times. */
#define QPN_CHECK_PORTS		16

enum qpn_verdict {
	QPN_NO_MATTER,
	QPN_HASHED,
	QPN_SPRAYED,
};

/**
 * struct qpn_port - a port under test
 * @port: port, host order
 * @dqpn: the two queue pair numbers, the first is 0
 * @router: router that answered to each number last, or all zero
 * @answers: answers in this attempt, without the first pass
 * @changed: answers came from several routers
 */
struct qpn_port {
	__u16 port;
	__u32 dqpn[2];
	__u8 router[2][16];
	unsigned int answers[2];
	bool changed;
};

/**
 * struct qpn_check - state
 * @port: ports; from @pass 1 on suspected ports only
 * @nr_ports: number of @port
 * @all: ports of the first pass
 * @nr_all: number of @all
 * @pass: 0: the first pass over all ports; then repetitions
 * @next: index of the next probe of the pass, two for each port
 * @attempt: number of attempts without a decision
 * @suspected: a port took another path than that of the peer; unless switches hash queue
 *	pair numbers, the fabric has changed
 * @unstable: routers changed in the last attempt
 * @verdict: outcome
 */
struct qpn_check {
	struct qpn_port port[QPN_CHECK_PORTS];
	unsigned int nr_ports;
	__u16 all[QPN_CHECK_PORTS];
	unsigned int nr_all;
	unsigned int pass;
	unsigned int next;
	unsigned int attempt;
	bool suspected;
	bool unstable;
	enum qpn_verdict verdict;
};

/**
 * qpn_check_start() - begin a check
 * @check: filled
 * @peer: paths found with number 0
 * @walked: number of ports that were probed, in the order of discover_port()
 * @most: number of ports to probe, at most
 *
 * Ports that got no answer are left out.
 */
void qpn_check_start(struct qpn_check *check, const struct portmap_peer *peer,
		     unsigned int walked, unsigned int most);

/* Is there a probe to send now? */
bool qpn_check_has_next(const struct qpn_check *check);

/* Take the next probe, if qpn_check_has_next(). */
void qpn_check_next(struct qpn_check *check, __u16 *port, __u32 *dqpn);

/* A probe was answered. */
void qpn_check_saw(struct qpn_check *check, __u16 port, __u32 dqpn, const __u8 router[16]);

/* All probes are in: go on. Return: false if @verdict is final. */
bool qpn_check_go_on(struct qpn_check *check);

#endif /* ROCESTEER_LIB_QPN_CHECK_H */
