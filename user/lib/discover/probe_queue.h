/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single probes of paths at any time, for an event loop.
 */
#ifndef ROCESTEER_LIB_PROBE_QUEUE_H
#define ROCESTEER_LIB_PROBE_QUEUE_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "probe.h"

/**
 * struct queued_probe - one probe
 * @owner: chosen by the caller
 * @path: chosen by the caller
 * @kind: kind
 * @ttl: probe_ttl()
 * @port: UDP source port, host order
 * @source: our address
 * @peer: destination
 */
struct queued_probe {
	void *owner;
	__u32 path;
	enum probe_kind kind;
	__u8 ttl;
	__u16 port;
	__u8 source[16];
	__u8 peer[16];
};

/**
 * struct probe_queue_config - settings and callbacks of all queues
 * @loop: event loop
 * @timeout_ms: time to wait for the first answer; doubled with each of two repetitions
 * @short_quotes: as in struct probe_batch_config
 * @done: called when a probe was answered by @from, or by nobody, NULL, after it was sent
 *	@sent times; @unreachable: a router says that the peer is, and @from is NULL
 * @note: report odd answers by a device to the user
 * @arg: passed to the callbacks
 */
struct probe_queue_config {
	struct loop *loop;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*done)(const struct queued_probe *probe, const __u8 *from,
		     unsigned int sent, bool unreachable, void *arg);
	void (*note)(__u32 ifindex, const char *line, void *arg);
	void *arg;
};

struct probe_queue;

/* A queue of a device. Return: to be given back by probe_queue_free(), or NULL without memory. */
struct probe_queue *probe_queue_new(__u32 ifindex,
				    const struct probe_queue_config *config);

void probe_queue_free(struct probe_queue *queue);

/**
 * probe_queue_add() - send a probe
 * @queue: queue
 * @probe: copied
 *
 * probe_queue_step() sends the probe. Return: 0 or -ENOMEM.
 */
int probe_queue_add(struct probe_queue *queue, const struct queued_probe *probe);

/* Forget the probes of an owner; @done is not called for them. */
void probe_queue_forget(struct probe_queue *queue, const void *owner);

/* When probe_queue_step() is to be called, CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 probe_queue_due(const struct probe_queue *queue);

/**
 * probe_queue_step() - send and repeat probes, and take answers
 * @queue: queue
 * @err: filled on failure: probes cannot be sent, and none is left
 *
 * Calls @done for probes that are done. Return: 0 or a negative errno.
 */
int probe_queue_step(struct probe_queue *queue, struct err *err);

#endif /* ROCESTEER_LIB_PROBE_QUEUE_H */
