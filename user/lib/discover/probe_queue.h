/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single probes of paths, whenever somebody wants one, beside everything else
 * that is waited for.
 */
#ifndef ROCESTEER_LIB_PROBE_QUEUE_H
#define ROCESTEER_LIB_PROBE_QUEUE_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "probe.h"

/**
 * struct probe_queue_key - probes that differ in this have another queue
 * @ifindex: device they leave by
 * @hop: TTL that ends at the routers that tell paths apart
 */
struct probe_queue_key {
	__u32 ifindex;
	__u32 hop;
};

/**
 * struct queued_probe - one probe
 * @owner: the caller's
 * @path: the caller's
 * @kind: what for
 * @port: UDP source port, host order
 * @source: our address
 * @peer: destination
 */
struct queued_probe {
	void *owner;
	__u32 path;
	enum probe_kind kind;
	__u16 port;
	__u8 source[16];
	__u8 peer[16];
};

/**
 * struct probe_queue_config - what is common to all
 * @loop: where answers are waited for
 * @timeout_ms: wait for the first answer; two repetitions wait twice as long
 *	each
 * @short_quotes: as in struct probe_batch_config
 * @done: a probe was answered by a router or the peer, @from, or not at all,
 *	NULL; it had been sent @sent times
 * @note: what is odd about the answers by a device, for people
 * @arg: passed to both
 */
struct probe_queue_config {
	struct loop *loop;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*done)(const struct queued_probe *probe, const __u8 *from,
		     unsigned int sent, void *arg);
	void (*note)(__u32 ifindex, const char *line, void *arg);
	void *arg;
};

struct probe_queue;

/* Return: to be given back by probe_queue_free(), or NULL without memory. */
struct probe_queue *probe_queue_new(const struct probe_queue_key *key,
				    const struct probe_queue_config *config);

void probe_queue_free(struct probe_queue *queue);

/**
 * probe_queue_add() - send a probe
 * @queue: queue
 * @probe: is copied
 *
 * It is sent by probe_queue_step(). Return: 0 or -ENOMEM.
 */
int probe_queue_add(struct probe_queue *queue, const struct queued_probe *probe);

/* Forget the probes of an owner: they will not come back. */
void probe_queue_forget(struct probe_queue *queue, const void *owner);

/* When probe_queue_step() is to be called, CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 probe_queue_due(const struct probe_queue *queue);

/**
 * probe_queue_step() - send, repeat, take answers
 * @queue: queue
 * @err: filled on failure, when nothing can be sent; no probe is left then
 *
 * Calls @done for probes that are done. Return: 0 or a negative errno.
 */
int probe_queue_step(struct probe_queue *queue, struct err *err);

#endif /* ROCESTEER_LIB_PROBE_QUEUE_H */
