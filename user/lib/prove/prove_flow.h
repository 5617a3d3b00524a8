/* SPDX-License-Identifier: GPL-2.0 */
/* Do queue pairs that were steered take their paths? Asked of their NIC. */
#ifndef ROCESTEER_LIB_PROVE_FLOW_H
#define ROCESTEER_LIB_PROVE_FLOW_H

#include <linux/types.h>
#include <rocesteer/types.h>

#include "base/base.h"
#include "prove_verdict.h"
#include "steer/steer.h"

/* Length of what prove_flow_say() says, with its NUL */
#define PROVE_FLOW_TEXT	256

/**
 * enum prove_found - what a NIC's own packets show
 * @PROVE_FOUND_NOTHING: the NIC was not asked
 * @PROVE_FOUND_PATH: the packet took the path
 * @PROVE_FOUND_SILENT: no router answered
 * @PROVE_FOUND_PORT: the packet has another port
 * @PROVE_FOUND_ROUTER: the packet has the port, and took another path
 */
enum prove_found {
	PROVE_FOUND_NOTHING,
	PROVE_FOUND_PATH,
	PROVE_FOUND_SILENT,
	PROVE_FOUND_PORT,
	PROVE_FOUND_ROUTER,
};

/**
 * struct prove_flow - a queue pair that was steered
 * @job: its job
 * @source: its address
 * @peer: address of its peer
 * @dqpn: destination queue pair of packets that prove
 * @port: UDP source port that it was given, host order
 * @hop: where packets end
 * @router: router of its path, at this hop
 * @found: what was found
 * @answer: answer of a router, unless there was none
 */
struct prove_flow {
	__u32 job;
	__u8 source[16];
	__u8 peer[16];
	__u32 dqpn;
	__u16 port;
	__u8 hop;
	__u8 router[16];
	enum prove_found found;
	struct prove_answer answer;
};

/**
 * prove_flow_get() - describe a flow that the NIC can be asked about
 * @steer: tables
 * @key: of the flow
 * @path: its entry there
 * @flow: filled
 *
 * Return: false for flows whose packets are steered, and for those whose path is down.
 */
bool prove_flow_get(struct steer *steer, const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, struct prove_flow *flow);

/**
 * prove_flows() - ask the NICs
 * @flows: flows, whose @found is set
 * @nr: their number
 * @err: filled on failure
 *
 * Connects a queue pair for each, which sends a packet or three. The rest is not asked after a
 * failure.
 *
 * Return: 0 or a negative errno.
 */
int prove_flows(struct prove_flow *flows, size_t nr, struct err *err);

/* Say what is wrong with a flow. Return: @text. */
const char *prove_flow_say(const struct prove_flow *flow, char text[PROVE_FLOW_TEXT]);

#endif /* ROCESTEER_LIB_PROVE_FLOW_H */
