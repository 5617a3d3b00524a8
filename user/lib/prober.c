// SPDX-License-Identifier: GPL-2.0
#include "prober.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "survey.h"

#define RATE		10000	/* probes a second: a bound, no target */
#define RETRIES		2

/**
 * struct prober - state
 * @key: which
 * @config: the caller's
 * @device: name of the device
 * @survey: while probes are out, else NULL
 * @survey_config: of @survey
 * @source: answers to @survey
 * @due: when @survey has something to do
 * @probes: that wait to be sent, from @next on; one whose owner is NULL is
 *	forgotten
 * @nr: end of these
 * @next: the first
 * @out: that are sent; owner NULL: forgotten, or the place is free
 * @used: places of @out
 */
struct prober {
	struct prober_key key;
	const struct prober_config *config;
	char device[IF_NAMESIZE];
	struct survey *survey;
	struct survey_config survey_config;
	struct source source;
	__u64 due;
	struct prober_probe *probes;
	size_t nr;
	size_t next;
	struct prober_probe out[SURVEY_ACTIVE];
	bool used[SURVEY_ACTIVE];
};

struct prober *prober_new(const struct prober_key *key,
			  const struct prober_config *config)
{
	struct prober *prober = calloc(1, sizeof(*prober));

	if (!prober)
		return NULL;
	prober->key = *key;
	prober->config = config;
	prober->due = LOOP_NEVER;
	return prober;
}

/* All probes are done, or can not be. */
static void finish(struct prober *prober)
{
	if (prober->survey)
		loop_remove(prober->config->loop, &prober->source);
	survey_end(prober->survey);
	free(prober->probes);
	memset(prober->used, 0, sizeof(prober->used));
	prober->survey = NULL;
	prober->probes = NULL;
	prober->nr = 0;
	prober->next = 0;
	prober->due = LOOP_NEVER;
}

void prober_free(struct prober *prober)
{
	if (!prober)
		return;
	finish(prober);
	free(prober);
}

/* Forget those that were sent, when they are half of all or more. */
static void make_room(struct prober *prober)
{
	if (!prober->next || prober->next < prober->nr / 2)
		return;
	prober->nr -= prober->next;
	memmove(prober->probes, prober->probes + prober->next,
		prober->nr * sizeof(*prober->probes));
	prober->next = 0;
}

int prober_add(struct prober *prober, const struct prober_probe *probe)
{
	struct prober_probe *bigger;

	make_room(prober);
	bigger = reallocarray(prober->probes, prober->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	prober->probes = bigger;
	bigger[prober->nr++] = *probe;
	if (prober->survey)
		survey_more(prober->survey);
	prober->due = 0;
	return 0;
}

void prober_forget(struct prober *prober, const void *owner)
{
	size_t i;

	for (i = 0; i < prober->nr; i++)
		if (prober->probes[i].owner == owner)
			prober->probes[i].owner = NULL;
	for (i = 0; i < SURVEY_ACTIVE; i++)
		if (prober->out[i].owner == owner)
			prober->out[i].owner = NULL;
}

__u64 prober_due(const struct prober *prober)
{
	return prober->due;
}

static int next_probe(void *client, struct survey_probe *probe,
		      const __u8 **source, const __u8 **peer)
{
	struct prober *prober = client;
	const struct prober_probe *next;
	__u32 place = 0;

	while (prober->next < prober->nr && !prober->probes[prober->next].owner)
		prober->next++;
	if (prober->next == prober->nr)
		return -EAGAIN;
	while (prober->used[place])	/* there are as many as can be out */
		place++;
	next = &prober->out[place];
	prober->out[place] = prober->probes[prober->next++];
	prober->used[place] = true;
	probe->peer = place;
	probe->kind = next->kind;
	probe->port = next->port;
	*source = next->source;
	*peer = next->peer;
	return 0;
}

static int probe_done(struct prober *prober, const struct survey_probe *probe,
		      const __u8 *from)
{
	struct prober_probe done = prober->out[probe->peer];

	prober->out[probe->peer].owner = NULL;
	prober->used[probe->peer] = false;
	if (done.owner)
		prober->config->done(&done, from, probe->sent,
				     prober->config->arg);
	return 0;
}

static int got_answer(void *client, const struct survey_probe *probe,
		      const struct probe_answer *answer)
{
	/* A router that cannot reach the peer is no way to it. */
	return probe_done(client, probe, answer->type == PROBE_UNREACHABLE ?
					 NULL : answer->from);
}

static int got_nothing(void *client, const struct survey_probe *probe)
{
	return probe_done(client, probe, NULL);
}

static void tell_note(void *client, const char *line)
{
	struct prober *prober = client;

	prober->config->note(prober->key.ifindex, line, prober->config->arg);
}

static const struct survey_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.note = tell_note,
};

static int answers_ready(void *arg)
{
	struct prober *prober = arg;

	prober->due = 0;
	return 0;
}

static int start(struct prober *prober, struct err *err)
{
	int ret;

	if (!if_indextoname(prober->key.ifindex, prober->device)) {
		err_set(err, EXIT_FAILED, "no-device",
			"there is no network device %u", prober->key.ifindex);
		return -ENODEV;
	}
	prober->survey_config = (struct survey_config) {
		.device = prober->device,
		.hop = prober->key.hop,
		.rate = RATE,
		.steady = true,
		.retries = RETRIES,
		.timeout_ms = prober->config->timeout_ms,
		.short_quotes = prober->config->short_quotes,
	};
	ret = survey_start(&prober->survey, &prober->survey_config, &ops,
			   prober);
	if (ret)
		return ret;
	prober->source = (struct source) {
		.fd = survey_fd(prober->survey),
		.ready = answers_ready,
		.arg = prober,
	};
	return loop_add(prober->config->loop, &prober->source);
}

int prober_step(struct prober *prober, struct err *err)
{
	int ret = 0;

	if (!prober->survey)
		ret = start(prober, err);
	if (!ret)
		ret = survey_step(prober->survey, &prober->due, err);
	if (ret)
		finish(prober);
	return ret < 0 ? ret : 0;
}
