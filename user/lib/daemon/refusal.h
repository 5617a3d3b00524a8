/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors of routers that have no way to a peer, about any RoCE v2 packet of the network
 * namespace. Nobody tells a queue pair of the errors: it finds out by its timer.
 */
#ifndef ROCESTEER_LIB_REFUSAL_H
#define ROCESTEER_LIB_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/base.h"

/**
 * struct refusal - a packet that a router did not forward, as its ICMP error quotes it
 * @source: source address
 * @peer: destination address
 * @sport: UDP source port, network byte order
 */
struct refusal {
	__u8 source[16];
	__u8 peer[16];
	__be16 sport;
};

/**
 * struct refusals - a listener
 * @loop: event loop
 * @v4: IPv4
 * @v6: IPv6
 * @heard: called for each error
 * @arg: passed to @heard
 */
struct refusals {
	struct loop *loop;
	struct source v4;
	struct source v6;
	void (*heard)(const struct refusal *refusal, void *arg);
	void *arg;
};

/* Read an ICMP packet from the IPv4 header on, or an ICMPv6 packet. Return: true for a refusal. */
bool refusal_read_v4(const __u8 *data, size_t len, struct refusal *refusal);
bool refusal_read_v6(const __u8 *data, size_t len, struct refusal *refusal);

/* @refusals: @loop, @heard and @arg are set. Return: 0 or a negative errno. */
int refusals_open(struct refusals *refusals);
void refusals_close(struct refusals *refusals);

#endif /* ROCESTEER_LIB_REFUSAL_H */
