/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which UDP source port does a NIC make of a flow label, and which way do its packets go? Asked
 * of the NIC itself: a queue pair writes nothing to a queue pair that need not exist, with a hop
 * limit, and the router where the limit ends quotes the packet.
 */
#ifndef ROCESTEER_LIB_PROVE_H
#define ROCESTEER_LIB_PROVE_H

#include <rocesteer/roce.h>

#include "base/base.h"
#include "prove_flow.h"
#include "prove_verdict.h"
#include "verbs/verbs.h"

/* The first of 256 queue pairs that no host has, below those of sums */
#define PROVE_DQPN	(ROCESTEER_QPN_REDUCE - 256)

/* Packets that one queue pair sends at most */
#define PROVE_PACKETS	8

struct prove;

/**
 * struct prove_config - how to ask
 * @device: name of the RDMA device; NULL: the one that has @source
 * @gid_index: index of the source GID, or NIC_ANY_GID
 * @source: source address; all zero: any of the family of @peer
 * @peer: an address of the family that is proved
 * @timeout: ns to wait for an answer
 */
struct prove_config {
	const char *device;
	int gid_index;
	__u8 source[16];
	__u8 peer[16];
	__u64 timeout;
};

/**
 * struct prove_question - a queue pair
 * @peer: address that it is connected to
 * @hop: hop limit
 * @label: flow label; 0: the driver, or the module, chooses the port
 * @dqpn: destination queue pair
 * @packets: number of packets, 1 to PROVE_PACKETS
 * @heard: called with the answers while the queue pair is still connected; NULL: nothing is
 * @arg: passed to @heard
 */
struct prove_question {
	__u8 peer[16];
	__u8 hop;
	__u32 label;
	__u32 dqpn;
	unsigned int packets;
	int (*heard)(const struct prove_answer *answers, int nr, void *arg);
	void *arg;
};

/**
 * prove_open() - open the device
 * @prove: set; to be closed by prove_close()
 * @config: copied, but for the name
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int prove_open(struct prove **prove, const struct prove_config *config, struct err *err);
void prove_close(struct prove *prove);

/* The address that packets are sent from, and the network device */
const __u8 *prove_source(const struct prove *prove);
__u32 prove_ifindex(const struct prove *prove);

/* Add what the device is: its driver, firmware, and the numbers of vendor and part. */
void prove_describe(const struct prove *prove, struct json_object *obj);

/**
 * prove_ask() - limit the hops of what this process connects, connect a queue pair, and hear what
 * routers say of its packets
 * @prove: device
 * @question: what to ask
 * @answers: filled, @question->packets of them at most
 * @sqpn: set to the number of the queue pair
 * @err: filled on failure
 *
 * The queue pair is destroyed.
 *
 * Return: number of answers, or a negative errno, also of @question->heard.
 */
int prove_ask(struct prove *prove, const struct prove_question *question,
	      struct prove_answer *answers, __u32 *sqpn, struct err *err);

#endif /* ROCESTEER_LIB_PROVE_H */
