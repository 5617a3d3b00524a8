/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every so often, do packets of the NICs themselves take the paths that queue pairs were given?
 * No program sees these packets, and the probes of the daemon are none of them.
 */
#ifndef ROCESTEER_LIB_NIC_PROOF_H
#define ROCESTEER_LIB_NIC_PROOF_H

#include <json-c/json.h>

#include "base/base.h"
#include "groups/groups.h"
#include "prove/prove.h"
#include "task.h"

/* Queue pairs of one round */
#define NIC_PROOF_FLOWS	4

/**
 * struct nic_proof - state
 * @groups: tables and groups
 * @emit: called with an event where what is found has changed, which it releases
 * @arg: passed to @emit
 * @task: the round; the caller sets @loop
 * @at: time of the next round, CLOCK_MONOTONIC ns
 * @flows: what is asked
 * @nr: their number
 * @proved: the last round found nothing wrong
 * @wrong: what the last round found wrong, or empty
 */
struct nic_proof {
	struct groups *groups;
	void (*emit)(struct json_object *event, void *arg);
	void *arg;
	struct task task;
	__u64 at;
	struct prove_flow flows[NIC_PROOF_FLOWS];
	size_t nr;
	bool proved;
	char wrong[PROVE_FLOW_TEXT];
};

/* Begin a round if it is time, and none runs. */
void nic_proof_step(struct nic_proof *proof);

/* When nic_proof_step() is to be called. */
__u64 nic_proof_due(const struct nic_proof *proof);

/* Call @fn with an event if something is wrong. */
void nic_proof_each(const struct nic_proof *proof,
		    void (*fn)(struct json_object *event, void *arg), void *arg);

#endif /* ROCESTEER_LIB_NIC_PROOF_H */
