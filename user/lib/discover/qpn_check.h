/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do switches hash the destination queue pair number? Some ports are asked once more,
 * each with another number than before. A port that takes another path then is suspected.
 * Suspected ports are asked with both numbers in turn, some times: a hash gives the same
 * two routers each time. A fabric that has changed in between gives one router by now, and
 * one that sprays packets gives any.
 */
#ifndef ROCESTEER_LIB_QPN_CHECK_H
#define ROCESTEER_LIB_QPN_CHECK_H

#include <stdbool.h>
#include <linux/types.h>

#include "portmap/portmap.h"

/* All ports take their paths with any number once in 2^16 times, on two paths. */
#define QPN_CHECK_PORTS		16

enum qpn_verdict {
	QPN_NO_MATTER,
	QPN_HASHED,
	QPN_SPRAYED,
};

/**
 * struct qpn_port - a port that is asked about
 * @port: port, host order
 * @dqpn: the numbers it is asked with, the first is 0
 * @router: who answered to each last; all zero: nobody did
 * @answers: so many times in this attempt, but for the first look
 * @changed: not always the same one
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
 * @port: ports; from @pass 1 on the suspected ones only
 * @nr_ports: how many
 * @all: the ports of the first look
 * @nr_all: how many
 * @pass: 0: the first look at all ports; then repetitions
 * @next: position of the next probe of the pass, two for each port
 * @attempt: how often it was begun again, as it was not decided
 * @unstable: routers changed in the attempt before
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
	bool unstable;
	enum qpn_verdict verdict;
};

/**
 * qpn_check_start() - begin
 * @check: filled
 * @peer: what was found with number 0
 * @walked: ports that were asked for it, as discover_port() has them
 * @most: ports that may be asked
 *
 * Ports that got no answer are not asked again: they would mostly get none.
 */
void qpn_check_start(struct qpn_check *check, const struct portmap_peer *peer,
		     unsigned int walked, unsigned int most);

/* Is there a probe to send now? */
bool qpn_check_has_next(const struct qpn_check *check);

/* Take it. There has to be one. */
void qpn_check_next(struct qpn_check *check, __u16 *port, __u32 *dqpn);

/* A probe was answered. */
void qpn_check_saw(struct qpn_check *check, __u16 port, __u32 dqpn,
		   const __u8 router[16]);

/* All probes are in: go on. Return: false when @verdict is final. */
bool qpn_check_go_on(struct qpn_check *check);

#endif /* ROCESTEER_LIB_QPN_CHECK_H */
