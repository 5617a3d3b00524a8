// SPDX-License-Identifier: GPL-2.0
/* Memory of the daemon's probe queue, over a stand-in for the batch */
#include "discover/probe_queue.c"
#include "../../ktap.h"

#define PROBES	100000

/* Stand-ins ignore arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct probe_batch_ops *probe_batch_ops;
static void *probe_batch_client;

int probe_batch_start(struct probe_batch **batch,
		      const struct probe_batch_config *config,
		      const struct probe_batch_ops *client_ops, void *client)
{
	probe_batch_ops = client_ops;
	probe_batch_client = client;
	*batch = client;
	return 0;
}

void probe_batch_end(struct probe_batch *batch)
{
}

int probe_batch_fd(const struct probe_batch *batch)
{
	return -1;
}

void probe_batch_more(struct probe_batch *batch)
{
}

int probe_batch_step(struct probe_batch *batch, __u64 *until, struct err *err)
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

static void count(const struct queued_probe *probe, const __u8 *from,
		  unsigned int sent, bool unreachable, void *arg)
{
	++*(unsigned int *)arg;
}

int main(void)
{
	unsigned int done = 0, sent = 0, i;
	struct probe_queue_config config = { .done = count, .arg = &done };
	struct probe_queue *queue = probe_queue_new(1, &config);
	struct queued_probe probe = { .owner = &config };
	struct batch_probe out[2];
	const __u8 *source, *peer;
	size_t most = 0;

	ktap_begin();
	/* One probe is out at any time, as with dead paths. */
	for (i = 0; i < PROBES; i++) {
		probe_queue_add(queue, &probe);
		probe_queue_step(queue, NULL);
		sent += !probe_batch_ops->next(probe_batch_client, &out[i % 2], &source, &peer);
		if (i)
			probe_batch_ops->lost(probe_batch_client, &out[(i + 1) % 2]);
		if (queue->nr > most)
			most = queue->nr;
	}
	ktap_result(sent == PROBES && done == PROBES - 1, "each probe is sent, and comes back");
	ktap_result(most <= 4, "the queue keeps probes that wait, not those that were sent: %zu",
		    most);
	probe_queue_free(queue);
	return ktap_end();
}
