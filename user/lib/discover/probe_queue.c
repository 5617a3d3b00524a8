// SPDX-License-Identifier: GPL-2.0
#include "probe_queue.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "probe_batch.h"

#define RATE		10000	/* probes a second: a bound, no target */
#define RETRIES		2

/**
 * struct probe_queue - state
 * @ifindex: device that probes leave by
 * @config: the caller's
 * @device: name of the device
 * @batch: while probes are out, else NULL
 * @probe_batch_config: of @batch
 * @source: answers to @batch
 * @due: when @batch has something to do
 * @probes: that wait to be sent, from @next on; one whose owner is NULL is
 *	forgotten
 * @nr: end of these
 * @next: the first
 * @out: that are sent; owner NULL: forgotten, or the place is free
 * @used: places of @out
 */
struct probe_queue {
	__u32 ifindex;
	const struct probe_queue_config *config;
	char device[IF_NAMESIZE];
	struct probe_batch *batch;
	struct probe_batch_config probe_batch_config;
	struct source source;
	__u64 due;
	struct queued_probe *probes;
	size_t nr;
	size_t next;
	struct queued_probe out[PROBE_BATCH_ACTIVE];
	bool used[PROBE_BATCH_ACTIVE];
};

struct probe_queue *probe_queue_new(__u32 ifindex,
				    const struct probe_queue_config *config)
{
	struct probe_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->ifindex = ifindex;
	queue->config = config;
	queue->due = LOOP_NEVER;
	return queue;
}

/* All probes are done, or can not be. */
static void finish(struct probe_queue *queue)
{
	if (queue->batch)
		loop_remove(queue->config->loop, &queue->source);
	probe_batch_end(queue->batch);
	free(queue->probes);
	memset(queue->used, 0, sizeof(queue->used));
	queue->batch = NULL;
	queue->probes = NULL;
	queue->nr = 0;
	queue->next = 0;
	queue->due = LOOP_NEVER;
}

void probe_queue_free(struct probe_queue *queue)
{
	if (!queue)
		return;
	finish(queue);
	free(queue);
}

/* Remove the probes that were sent, once they are half of all. */
static void make_room(struct probe_queue *queue)
{
	if (!queue->next || queue->next < queue->nr / 2)
		return;
	queue->nr -= queue->next;
	memmove(queue->probes, queue->probes + queue->next, queue->nr * sizeof(*queue->probes));
	queue->next = 0;
}

int probe_queue_add(struct probe_queue *queue, const struct queued_probe *probe)
{
	struct queued_probe *bigger;

	make_room(queue);
	bigger = reallocarray(queue->probes, queue->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	queue->probes = bigger;
	bigger[queue->nr++] = *probe;
	if (queue->batch)
		probe_batch_more(queue->batch);
	queue->due = 0;
	return 0;
}

void probe_queue_forget(struct probe_queue *queue, const void *owner)
{
	size_t i;

	for (i = 0; i < queue->nr; i++)
		if (queue->probes[i].owner == owner)
			queue->probes[i].owner = NULL;
	for (i = 0; i < PROBE_BATCH_ACTIVE; i++)
		if (queue->out[i].owner == owner)
			queue->out[i].owner = NULL;
}

__u64 probe_queue_due(const struct probe_queue *queue)
{
	return queue->due;
}

static int next_probe(void *client, struct batch_probe *probe,
		      const __u8 **source, const __u8 **peer)
{
	struct probe_queue *queue = client;
	const struct queued_probe *next;
	__u32 place = 0;

	while (queue->next < queue->nr && !queue->probes[queue->next].owner)
		queue->next++;
	if (queue->next == queue->nr)
		return -EAGAIN;
	while (queue->used[place])	/* there are as many as can be out */
		place++;
	next = &queue->out[place];
	queue->out[place] = queue->probes[queue->next++];
	queue->used[place] = true;
	probe->peer = place;
	probe->kind = next->kind;
	probe->ttl = next->ttl;
	probe->port = next->port;
	*source = next->source;
	*peer = next->peer;
	return 0;
}

static int probe_done(struct probe_queue *queue, const struct batch_probe *probe,
		      const __u8 *from, bool unreachable)
{
	struct queued_probe done = queue->out[probe->peer];

	queue->out[probe->peer].owner = NULL;
	queue->used[probe->peer] = false;
	if (done.owner)
		queue->config->done(&done, from, probe->sent, unreachable, queue->config->arg);
	return 0;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	bool unreachable = answer->type == PROBE_UNREACHABLE;

	/* A router that cannot reach the peer is no way to it. */
	return probe_done(client, probe, unreachable ? NULL : answer->from, unreachable);
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	return probe_done(client, probe, NULL, false);
}

static void tell_note(void *client, const char *line)
{
	struct probe_queue *queue = client;

	queue->config->note(queue->ifindex, line, queue->config->arg);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.note = tell_note,
};

static int answers_ready(void *arg)
{
	struct probe_queue *queue = arg;

	queue->due = 0;
	return 0;
}

static int start(struct probe_queue *queue, struct err *err)
{
	int ret;

	if (!if_indextoname(queue->ifindex, queue->device)) {
		err_set(err, EXIT_FAILED, "no-device",
			"there is no network device %u", queue->ifindex);
		return -ENODEV;
	}
	queue->probe_batch_config = (struct probe_batch_config) {
		.device = queue->device,
		.rate = RATE,
		.steady = true,
		.retries = RETRIES,
		.timeout_ms = queue->config->timeout_ms,
		.short_quotes = queue->config->short_quotes,
	};
	ret = probe_batch_start(&queue->batch, &queue->probe_batch_config, &ops, queue);
	if (ret)
		return ret;
	queue->source = (struct source) {
		.fd = probe_batch_fd(queue->batch),
		.ready = answers_ready,
		.arg = queue,
	};
	return loop_add(queue->config->loop, &queue->source);
}

int probe_queue_step(struct probe_queue *queue, struct err *err)
{
	int ret = 0;

	if (!queue->batch)
		ret = start(queue, err);
	if (!ret)
		ret = probe_batch_step(queue->batch, &queue->due, err);
	if (ret)
		finish(queue);
	return ret < 0 ? ret : 0;
}
