/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single probes of paths, whenever somebody wants one, beside everything else
 * that is waited for.
 */
#ifndef ROCESTEER_PROBER_H
#define ROCESTEER_PROBER_H

#include <stdbool.h>
#include <linux/types.h>

#include "err.h"
#include "loop.h"
#include "probe.h"

/**
 * struct prober_key - probes that differ in this have another prober
 * @ifindex: device they leave by
 * @hop: TTL that ends at the routers that tell paths apart
 */
struct prober_key {
	__u32 ifindex;
	__u32 hop;
};

/**
 * struct prober_probe - one probe
 * @owner: the caller's
 * @path: the caller's
 * @kind: what for
 * @port: UDP source port, host order
 * @source: our address
 * @peer: destination
 */
struct prober_probe {
	void *owner;
	__u32 path;
	enum probe_kind kind;
	__u16 port;
	__u8 source[16];
	__u8 peer[16];
};

/**
 * struct prober_config - what is common to all
 * @loop: where answers are waited for
 * @timeout_ms: wait for the first answer; two repetitions wait twice as long
 *	each
 * @short_quotes: as in struct survey_config
 * @done: a probe was answered by a router or the peer, @from, or not at all,
 *	NULL; it had been sent @sent times
 * @note: what is odd about the answers by a device, for people
 * @arg: passed to both
 */
struct prober_config {
	struct loop *loop;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*done)(const struct prober_probe *probe, const __u8 *from,
		     unsigned int sent, void *arg);
	void (*note)(__u32 ifindex, const char *line, void *arg);
	void *arg;
};

struct prober;

/* Return: to be given back by prober_free(), or NULL without memory. */
struct prober *prober_new(const struct prober_key *key,
			  const struct prober_config *config);

void prober_free(struct prober *prober);

/**
 * prober_add() - send a probe
 * @prober: prober
 * @probe: is copied
 *
 * It is sent by prober_step(). Return: 0 or -ENOMEM.
 */
int prober_add(struct prober *prober, const struct prober_probe *probe);

/* Forget the probes of an owner: they will not come back. */
void prober_forget(struct prober *prober, const void *owner);

/* When prober_step() is to be called, CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 prober_due(const struct prober *prober);

/**
 * prober_step() - send, repeat, take answers
 * @prober: prober
 * @err: filled on failure, when nothing can be sent; no probe is left then
 *
 * Calls @done for probes that are done. Return: 0 or a negative errno.
 */
int prober_step(struct prober *prober, struct err *err);

#endif /* ROCESTEER_PROBER_H */
