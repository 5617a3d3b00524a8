// SPDX-License-Identifier: GPL-2.0
/* Measure paths by probes: their links by address, and their delay. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "report.h"

/**
 * struct round - probes to paths over one device
 * @target: the paths
 * @nr: how many
 * @next: probes that were sent
 * @first: path of the first one: in each round another, as the first one takes longer
 * @kind: PROBE_LEAF: to the entries; PROBE_BEFORE: to our leaf; PROBE_PATH: to the aggs behind
 *	cores that are not known yet
 * @at: when each was sent, CLOCK_MONOTONIC ns
 */
struct round {
	struct report_target **target;
	size_t nr;
	size_t next;
	size_t first;
	enum probe_kind kind;
	__u64 *at;
};

static bool has_tiers(const struct report_target *target)
{
	return target->leaf_hop > target->hop + 1;
}

static unsigned int ttl_of(const struct round *round, const struct report_target *target)
{
	if (round->kind == PROBE_PATH)
		return target->hop + 1;
	if (round->kind == PROBE_BEFORE && has_tiers(target))
		return 1;
	return probe_ttl(round->kind, target->hop, target->leaf_hop);
}

static int next_probe(void *client, struct batch_probe *probe, const __u8 **source,
		      const __u8 **peer)
{
	struct round *round = client;
	const struct report_target *target;
	size_t i;

	do {
		if (round->next == round->nr)
			return -EAGAIN;
		i = (round->first + round->next++) % round->nr;
		target = round->target[i];
	} while (round->kind == PROBE_PATH &&
		 (!has_tiers(target) || !addr_is_none(target->behind)));
	probe->peer = i;
	probe->kind = round->kind;
	probe->ttl = ttl_of(round, target);
	probe->port = target->port;
	*source = target->source;
	*peer = target->peer;
	round->at[i] = clock_ns();
	return 0;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct round *round = client;
	struct report_target *target = round->target[probe->peer];
	__u64 delay = clock_ns() - round->at[probe->peer];

	if (answer->type != PROBE_TIME_EXCEEDED)
		return 0;
	if (round->kind == PROBE_BEFORE) {
		memcpy(target->via, answer->from, sizeof(target->via));
		return 0;
	}
	if (round->kind == PROBE_PATH) {
		memcpy(target->behind, answer->from, sizeof(target->behind));
		return 0;
	}
	target->sent++;
	memcpy(target->entry, answer->from, sizeof(target->entry));
	if (!target->delay_ns || delay < target->delay_ns)
		target->delay_ns = delay;
	return 0;
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	struct round *round = client;
	struct report_target *target = round->target[probe->peer];

	target->sent += round->kind == PROBE_LEAF;
	target->lost += round->kind == PROBE_LEAF;
	return 0;
}

static void status(void *client, char *line, size_t size)
{
	const struct round *round = client;

	snprintf(line, size, "probing: %zu of %zu paths", round->next, round->nr);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
};

/* Each probe is sent once: a repeated one would say nothing of the delay. */
static int probe(struct round *round, enum probe_kind kind, struct err *err)
{
	char device[IF_NAMESIZE];
	struct probe_batch_config config = {
		.device = device, .rate = 1000, .steady = true, .timeout_ms = 200,
	};

	round->kind = kind;
	round->next = 0;
	round->first = random() % round->nr;
	if (!if_indextoname(round->target[0]->ifindex, device))
		return -errno;
	return probe_batch_run(&config, &ops, round, err);
}

static bool is_alike(const struct report_target *left, const struct report_target *right)
{
	return left->ifindex == right->ifindex;
}

/* Is it the first of those that are alike? */
static bool is_first(const struct report_target *targets, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_alike(&targets[k], &targets[i]))
			return false;
	return true;
}

int report_probe(struct report_target *targets, size_t nr, bool via, struct err *err)
{
	struct round round = {};
	size_t i, k;
	int ret = 0;

	round.target = calloc(nr ?: 1, sizeof(struct report_target *));
	round.at = calloc(nr ?: 1, sizeof(*round.at));
	if (!round.target || !round.at)
		ret = -ENOMEM;
	for (i = 0; !ret && i < nr; i++) {
		if (!is_first(targets, i))
			continue;
		for (round.nr = 0, k = i; k < nr; k++)
			if (is_alike(&targets[k], &targets[i]))
				round.target[round.nr++] = &targets[k];
		if (via && targets[i].hop > 1)
			ret = probe(&round, PROBE_BEFORE, err);
		ret = ret ?: probe(&round, PROBE_PATH, err) ?: probe(&round, PROBE_LEAF, err);
	}
	free(round.target);
	free(round.at);
	return ret;
}
