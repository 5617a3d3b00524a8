// SPDX-License-Identifier: GPL-2.0
#include "refusal.h"

#include <errno.h>
#include <unistd.h>

/* Errors that are read before other work is done */
#define BATCH	64

static void read_all(struct refusals *refusals, const struct source *from)
{
	struct quote refusal;
	int i, ret = 0;

	for (i = 0; i < BATCH && ret >= 0; i++) {
		ret = quote_receive(from->fd, from == &refusals->v4, &refusal);
		if (ret > 0)
			refusals->heard(&refusal, refusals->arg);
	}
}

static int v4_ready(void *arg)
{
	struct refusals *refusals = arg;

	read_all(refusals, &refusals->v4);
	return 0;
}

static int v6_ready(void *arg)
{
	struct refusals *refusals = arg;

	read_all(refusals, &refusals->v6);
	return 0;
}

int refusals_open(struct refusals *refusals)
{
	int ret;

	refusals->v6 = (struct source) { .fd = quote_open(false, QUOTE_UNREACHABLE),
					 .ready = v6_ready, .arg = refusals };
	refusals->v4 = (struct source) { .fd = quote_open(true, QUOTE_UNREACHABLE),
					 .ready = v4_ready, .arg = refusals };
	if (refusals->v4.fd < 0)
		return refusals->v4.fd;
	ret = loop_add(refusals->loop, &refusals->v4);
	if (ret || refusals->v6.fd == -EAFNOSUPPORT)	/* a kernel without IPv6 */
		return ret;
	return refusals->v6.fd < 0 ? refusals->v6.fd : loop_add(refusals->loop, &refusals->v6);
}

static void close_source(struct refusals *refusals, struct source *source)
{
	if (source->fd < 0)
		return;
	loop_remove(refusals->loop, source);
	close(source->fd);
}

void refusals_close(struct refusals *refusals)
{
	if (!refusals->loop)
		return;
	close_source(refusals, &refusals->v4);
	close_source(refusals, &refusals->v6);
}
