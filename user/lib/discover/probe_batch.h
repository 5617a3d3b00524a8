/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send many probes at a bounded rate, several at a time; repeat lost ones, and slow down if
 * routers limit their ICMP. The client chooses the probes.
 */
#ifndef ROCESTEER_LIB_PROBE_BATCH_H
#define ROCESTEER_LIB_PROBE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/base.h"
#include "probe.h"

/* Probes outstanding or waiting to be repeated, at most. */
#define PROBE_BATCH_ACTIVE	256

/* Defaults of struct probe_batch_config. */
#define PROBE_BATCH_HOP		2
#define PROBE_BATCH_PORTS	1024
#define PROBE_BATCH_RATE	1000
#define PROBE_BATCH_RETRIES	3
#define PROBE_BATCH_TIMEOUT	200	/* ms */

/* Initializer for few probes, whose answers a command or a flow waits for. */
#define PROBE_BATCH_QUICK	.rate = 2000, .steady = true, .retries = 1, .timeout_ms = 40

/**
 * struct probe_batch_config - how to probe
 * @device: network device
 * @ports: source ports to probe per peer, at most
 * @rate: probes per second, at most
 * @steady: keep the rate even if routers limit their ICMP
 * @retries: times that a lost probe is repeated
 * @timeout_ms: wait for the first answer; doubled with each repetition
 * @short_quotes: believe answers that quote the UDP header only, which can be forged by
 *	guessing 16 bits
 */
struct probe_batch_config {
	const char *device;
	unsigned int ports;
	unsigned int rate;
	bool steady;
	unsigned int retries;
	unsigned int timeout_ms;
	bool short_quotes;
};

/**
 * struct batch_probe - a probe
 * @peer: number of the peer, chosen by the client
 * @kind: kind
 * @ttl: probe_ttl()
 * @port: UDP source port
 * @dqpn: destination queue pair number, mostly 0
 * @sent: in results: number of times that the probe was sent
 */
struct batch_probe {
	__u32 peer;
	enum probe_kind kind;
	__u8 ttl;
	__u16 port;
	__u32 dqpn;
	unsigned int sent;
};

/**
 * struct probe_batch_ops - the client
 * @next: the next probe and its addresses; -EAGAIN: none before an answer to
 *	an earlier one, or probe_batch_more()
 * @answer: a probe was answered; nonzero ends the batch
 * @lost: a probe was not answered and will not be repeated
 * @status: write a line about the progress
 * @note: report odd answers to the user, each kind once; may be NULL
 */
struct probe_batch_ops {
	int (*next)(void *client, struct batch_probe *probe,
		    const __u8 **source, const __u8 **peer);
	int (*answer)(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer);
	int (*lost)(void *client, const struct batch_probe *probe);
	void (*status)(void *client, char *line, size_t size);
	void (*note)(void *client, const char *line);
};

/**
 * probe_batch_run() - probe until the client has no more probes and none is outstanding
 * @config: settings
 * @ops: the client
 * @client: passed to @ops
 * @err: filled on failure
 *
 * Return: 0, a negative errno, or the value by which the client ended the batch.
 */
int probe_batch_run(const struct probe_batch_config *config,
		    const struct probe_batch_ops *ops, void *client,
		    struct err *err);

struct probe_batch;

/**
 * probe_batch_start() - start a batch beside other work
 * @batch: set; to be ended by probe_batch_end()
 * @config: settings; kept
 * @ops: the client; @status is not called
 * @client: passed to @ops
 *
 * Return: 0 or a negative errno.
 */
int probe_batch_start(struct probe_batch **batch,
		      const struct probe_batch_config *config,
		      const struct probe_batch_ops *ops, void *client);

void probe_batch_end(struct probe_batch *batch);

/* File descriptor that can be read when there are answers. */
int probe_batch_fd(const struct probe_batch *batch);

/* The client has probes again. */
void probe_batch_more(struct probe_batch *batch);

/**
 * probe_batch_step() - send probes and take answers
 * @batch: batch
 * @until: set to the time of the next call, CLOCK_MONOTONIC ns, unless answers come before
 * @err: filled on failure
 *
 * Return: 0; 1 if no probe is outstanding and the client has none; a negative errno, or the
 * value by which the client ended the batch.
 */
int probe_batch_step(struct probe_batch *batch, __u64 *until, struct err *err);

#endif /* ROCESTEER_LIB_PROBE_BATCH_H */
