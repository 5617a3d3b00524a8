/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many probes at a bounded rate, several outstanding, repeated when lost, and
 * slower where routers limit their ICMP. Which probes is the client's affair.
 */
#ifndef ROCESTEER_SURVEY_H
#define ROCESTEER_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "err.h"
#include "probe.h"
#include "progress.h"

/* Probes outstanding or waiting to be repeated, at most. */
#define SURVEY_ACTIVE	256

/**
 * struct survey_config - how to probe
 * @device: network device
 * @hop: TTL that ends at the routers that tell paths apart
 * @ports: source ports to probe per peer, at most
 * @rate: probes per second, at most
 * @steady: not fewer, also where routers limit their ICMP
 * @retries: times that a lost probe is repeated
 * @timeout_ms: wait for the first answer; doubled with each repetition
 * @short_quotes: believe answers that quote the UDP header only: anybody can forge
 *	these who guesses 16 bits
 */
struct survey_config {
	const char *device;
	unsigned int hop;
	unsigned int ports;
	unsigned int rate;
	bool steady;
	unsigned int retries;
	unsigned int timeout_ms;
	bool short_quotes;
};

/**
 * struct survey_probe - one probe as the client sees it
 * @peer: the client's number of the peer
 * @kind: what for
 * @port: UDP source port
 * @sent: how many times it was sent, when it comes back
 */
struct survey_probe {
	__u32 peer;
	enum probe_kind kind;
	__u16 port;
	unsigned int sent;
};

/**
 * struct survey_ops - the client
 * @next: the next probe and its addresses; -EAGAIN: none before an answer to
 *	an earlier one, or survey_more()
 * @answer: a probe was answered; nonzero ends the survey
 * @lost: a probe was not answered and not repeated any more
 * @status: write a line about the progress
 * @note: what is odd about the answers, each thing once; the line is for people
 */
struct survey_ops {
	int (*next)(void *client, struct survey_probe *probe,
		    const __u8 **source, const __u8 **peer);
	int (*answer)(void *client, const struct survey_probe *probe,
		      const struct probe_answer *answer);
	int (*lost)(void *client, const struct survey_probe *probe);
	void (*status)(void *client, char *line, size_t size);
	void (*note)(void *client, const char *line);
};

/**
 * survey_run() - probe until the client has no more probes and none is out
 * @config: how
 * @ops: the client
 * @client: passed to @ops
 * @err: filled on failure
 *
 * Return: 0, a negative errno, or what the client ended it with.
 */
int survey_run(const struct survey_config *config,
	       const struct survey_ops *ops, void *client, struct err *err);

struct survey;

/**
 * survey_start() - the same for who has more to wait for
 * @survey: set; to be given back by survey_end()
 * @config: how; has to stay
 * @ops: the client; @status is not called
 * @client: passed to @ops
 *
 * Return: 0 or a negative errno.
 */
int survey_start(struct survey **survey, const struct survey_config *config,
		 const struct survey_ops *ops, void *client);

void survey_end(struct survey *survey);

/* File descriptor to wait for: it can be read when there are answers. */
int survey_fd(const struct survey *survey);

/* The client has probes again. */
void survey_more(struct survey *survey);

/**
 * survey_step() - do what can be done now
 * @survey: survey
 * @until: set: when to be called again, CLOCK_MONOTONIC ns, unless there are
 *	answers before
 * @err: filled on failure
 *
 * Return: 0; 1: no probe is out and the client has none; a negative errno, or
 * what the client ended it with.
 */
int survey_step(struct survey *survey, __u64 *until, struct err *err);

#endif /* ROCESTEER_SURVEY_H */
