// SPDX-License-Identifier: GPL-2.0
#include "nic_proof.h"

#include <stdlib.h>
#include <string.h>

/* Interval between rounds, ns */
#define ROUND	10000000000ull

static struct json_object *proof_event(const struct nic_proof *proof)
{
	struct json_object *event = event_new(proof->proved ? "nic-proved" : "nic-unproved");

	if (!proof->proved)
		out_string(event, "message", proof->wrong);
	return event;
}

/* A router that does not answer proves nothing, unless none does. */
static const struct prove_flow *find_wrong(const struct prove_flow *flows, size_t nr)
{
	const struct prove_flow *silent = NULL;
	size_t i, proved = 0;

	for (i = 0; i < nr; i++)
		if (flows[i].found == PROVE_FOUND_SILENT)
			silent = &flows[i];
		else if (flows[i].found == PROVE_FOUND_PATH)
			proved++;
		else
			return &flows[i];
	return proved ? NULL : silent;
}

static int run(void *what, struct err *err)
{
	struct nic_proof *proof = what;
	const struct prove_flow *wrong;
	char text[PROVE_FLOW_TEXT];
	int ret = prove_flows(proof->flows, proof->nr, err);

	if (ret)
		return ret;
	wrong = find_wrong(proof->flows, proof->nr);
	return wrong ? err_set(err, EXIT_FAILED, "nic", "%s", prove_flow_say(wrong, text)) : 0;
}

/* Each round may find another queue pair wrong: say when the first one is. */
static int done(const char *message, void *arg)
{
	struct nic_proof *proof = arg;
	bool changed = message[0] ? !proof->wrong[0] : !proof->proved;

	snprintf(proof->wrong, sizeof(proof->wrong), "%s", message);
	proof->proved = !message[0];
	if (changed)
		proof->emit(proof_event(proof), proof->arg);
	return 0;
}

/* Choose flows at random, each alike. */
static void choose(struct nic_proof *proof, struct prove_flow *flows)
{
	const struct set *groups = &proof->groups->group;
	struct rocesteer_flow_path path;
	size_t i, k, at, met = 0;

	for (i = 0; i < groups->nr; i++) {
		const struct group *group = groups->item[i];

		for (k = 0; k < group->flows.nr; k++) {
			const struct flow *flow = group->flows.item[k];

			if (!flow->stays)
				continue;
			at = met++ < NIC_PROOF_FLOWS ? met - 1 : random() % met;
			if (at < NIC_PROOF_FLOWS &&
			    !steer_flow_get(proof->groups->steer, &flow->key, &path))
				prove_flow_get(proof->groups->steer, &flow->key, &path, &flows[at]);
		}
	}
}

void nic_proof_step(struct nic_proof *proof)
{
	struct prove_flow flows[NIC_PROOF_FLOWS] = {};
	size_t i;

	if (clock_ns() < nic_proof_due(proof))
		return;
	proof->at = clock_ns() + ROUND;
	choose(proof, flows);
	proof->nr = 0;
	for (i = 0; i < NIC_PROOF_FLOWS; i++)
		if (flows[i].hop)
			proof->flows[proof->nr++] = flows[i];
	if (!proof->nr) {
		proof->proved = false;
		proof->wrong[0] = '\0';
		return;
	}
	proof->task.run = run;
	proof->task.what = proof;
	proof->task.done = done;
	proof->task.arg = proof;
	task_start(&proof->task);
}

__u64 nic_proof_due(const struct nic_proof *proof)
{
	return proof->task.pid || !proof->groups->group.nr ? LOOP_NEVER : proof->at;
}

void nic_proof_each(const struct nic_proof *proof,
		    void (*fn)(struct json_object *event, void *arg), void *arg)
{
	if (proof->wrong[0])
		fn(proof_event(proof), arg);
}
