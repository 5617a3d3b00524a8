// SPDX-License-Identifier: GPL-2.0
/* The daemon's prober, over a survey that is none: what it keeps of probes. */
#include "../../user/lib/prober.c"
#include "ktap.h"

#define PROBES	100000

/* What stands in takes arguments that it does not need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct survey_ops *survey_ops;
static void *survey_client;

int survey_start(struct survey **survey, const struct survey_config *config,
		 const struct survey_ops *client_ops, void *client)
{
	survey_ops = client_ops;
	survey_client = client;
	*survey = client;
	return 0;
}

void survey_end(struct survey *survey)
{
}

int survey_fd(const struct survey *survey)
{
	return -1;
}

void survey_more(struct survey *survey)
{
}

int survey_step(struct survey *survey, __u64 *until, struct err *err)
{
	return 0;
}

int loop_add(struct loop *loop, struct source *source)
{
	return 0;
}

void loop_remove(struct loop *loop, const struct source *source)
{
}

static void count(const struct prober_probe *probe, const __u8 *from,
		  unsigned int sent, void *arg)
{
	++*(unsigned int *)arg;
}

int main(void)
{
	unsigned int done = 0, sent = 0, i;
	struct prober_config config = { .done = count, .arg = &done };
	struct prober_key key = { .ifindex = 1, .hop = 2 };
	struct prober *prober = prober_new(&key, &config);
	struct prober_probe probe = { .owner = &key };
	struct survey_probe out[2];
	const __u8 *source, *peer;
	size_t most = 0;

	ktap_begin();
	/* One is out at any time, as with paths that are dead. */
	for (i = 0; i < PROBES; i++) {
		prober_add(prober, &probe);
		prober_step(prober, NULL);
		sent += !survey_ops->next(survey_client, &out[i % 2], &source,
					  &peer);
		if (i)
			survey_ops->lost(survey_client, &out[(i + 1) % 2]);
		if (prober->nr > most)
			most = prober->nr;
	}
	ktap_result(sent == PROBES && done == PROBES - 1,
		    "each probe is sent, and comes back");
	ktap_result(most <= 4, "it keeps those that wait, not what was sent: %zu",
		    most);
	prober_free(prober);
	return ktap_end();
}
