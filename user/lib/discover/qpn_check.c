// SPDX-License-Identifier: GPL-2.0
#include "qpn_check.h"

#include <string.h>

#include "base/base.h"
#include "discover_run.h"

#define SUSPECTS	4	/* that are asked again */
#define PASSES		3	/* how often */
#define ATTEMPTS	3

/*
 * Many bits are set in all three bytes. No number is the XOR of others: if a hash is
 * linear, as CRCs are, one number changes the paths of all ports or of none.
 */
static __u32 other_number(unsigned int i)
{
	return (i + 1) * 0x9e3779b1u >> 8;
}

static const __u8 *find_router(const struct portmap_peer *peer, __u16 port)
{
	const struct portmap_path *path = peer ? portmap_peer_port_path(peer, port) : NULL;

	return path ? path->router : NULL;
}

/* Begin the first pass. Routers that @peer has are known; @peer may be NULL. */
static void begin(struct qpn_check *check, const struct portmap_peer *peer)
{
	unsigned int i;

	check->nr_ports = check->nr_all;
	check->pass = 0;
	check->next = 0;
	for (i = 0; i < check->nr_ports; i++) {
		struct qpn_port *port = &check->port[i];
		const __u8 *router;

		*port = (struct qpn_port) {
			.port = check->all[i],
			.dqpn = { 0, other_number(i) },
		};
		router = find_router(peer, port->port);
		if (router)
			memcpy(port->router[0], router, 16);
	}
}

/* Skip what is known. */
static void skip_known(struct qpn_check *check)
{
	while (!check->pass && check->next < 2 * check->nr_ports &&
	       !addr_is_none(check->port[check->next / 2].router[check->next % 2]))
		check->next++;
}

void qpn_check_start(struct qpn_check *check, const struct portmap_peer *peer,
		     unsigned int walked, unsigned int most)
{
	unsigned int i;

	*check = (struct qpn_check) {};
	for (i = 0; i < most && check->nr_all < QPN_CHECK_PORTS; i++)
		if (i >= walked || find_router(peer, discover_port(i)))
			check->all[check->nr_all++] = discover_port(i);
	begin(check, peer);
	skip_known(check);
}

bool qpn_check_has_next(const struct qpn_check *check)
{
	return check->next < 2 * check->nr_ports;
}

void qpn_check_next(struct qpn_check *check, __u16 *port, __u32 *dqpn)
{
	const struct qpn_port *next = &check->port[check->next / 2];

	*port = next->port;
	*dqpn = next->dqpn[check->next % 2];
	check->next++;
	skip_known(check);
}

void qpn_check_saw(struct qpn_check *check, __u16 port, __u32 dqpn, const __u8 router[16])
{
	struct qpn_port *asked = check->port;
	bool other = dqpn;

	while (asked->port != port)
		asked++;
	if (asked->answers[other] && addr_compare(asked->router[other], router))
		asked->changed = true;
	memcpy(asked->router[other], router, 16);
	if (check->pass)
		asked->answers[other]++;
}

static bool differs(const struct qpn_port *port)
{
	return !addr_is_none(port->router[0]) && !addr_is_none(port->router[1]) &&
	       addr_compare(port->router[0], port->router[1]);
}

static void keep_suspects(struct qpn_check *check)
{
	unsigned int i, n = 0;

	for (i = 0; i < check->nr_ports && n < SUSPECTS; i++)
		if (differs(&check->port[i]))
			check->port[n++] = check->port[i];
	check->nr_ports = n;
	check->suspected |= n;
}

/* Judge by the repetitions. Return: true if they decide. */
static bool judge(struct qpn_check *check)
{
	unsigned int i, changed = 0, hashed = 0;

	for (i = 0; i < check->nr_ports; i++) {
		const struct qpn_port *port = &check->port[i];

		if (port->changed)
			changed++;
		else if (port->answers[0] == PASSES && port->answers[1] == PASSES)
			hashed += differs(port);
	}
	/* A fabric that changes once does not do so in two attempts. */
	if (changed && check->unstable)
		check->verdict = QPN_SPRAYED;
	else if (!changed && hashed)
		check->verdict = QPN_HASHED;
	check->unstable = changed;
	return check->verdict;
}

bool qpn_check_go_on(struct qpn_check *check)
{
	if (!check->pass)
		keep_suspects(check);
	if (!check->nr_ports)
		return false;
	if (check->pass < PASSES) {
		check->pass++;
		check->next = 0;
		return true;
	}
	if (judge(check) || ++check->attempt == ATTEMPTS)
		return false;
	begin(check, NULL);
	return true;
}
