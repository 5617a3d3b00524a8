/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors of routers that have no way to a peer, about any RoCE v2 packet of the network
 * namespace. Nobody tells a queue pair of the errors: it finds out by its timer.
 */
#ifndef ROCESTEER_LIB_REFUSAL_H
#define ROCESTEER_LIB_REFUSAL_H

#include "base/base.h"
#include "discover/discover.h"

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
	void (*heard)(const struct quote *refusal, void *arg);
	void *arg;
};

/* @refusals: @loop, @heard and @arg are set. Return: 0 or a negative errno. */
int refusals_open(struct refusals *refusals);
void refusals_close(struct refusals *refusals);

#endif /* ROCESTEER_LIB_REFUSAL_H */
