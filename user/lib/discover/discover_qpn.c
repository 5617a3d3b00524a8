// SPDX-License-Identifier: GPL-2.0
/*
 * Ports for queue pairs, where switches hash the destination queue pair number: by a model of the
 * hash, or by probes.
 */
#include "discover_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE_IN		1e4	/* a path that is there is missed */
#define SILENT_PORTS	8	/* unanswered: nobody answers */
#define NONE		ROCESTEER_MAX_PATHS

/* Answers to @port agree with path @path: @kind is to be asked, to tell it from others. */
struct half {
	__u16 port;
	__u8 path;
	bool asked;
	enum probe_kind kind;
};

/*
 * A queue pair. @missing are the paths without a port: few more probes than these are
 * @active, which would be in vain. @half are ports that are asked at a leaf too, they
 * count as active.
 */
struct search {
	struct discover_qpn *what;
	unsigned int bound;
	unsigned int walked;
	unsigned int active;
	unsigned int answered;
	unsigned int missing;
	struct half half[ROCESTEER_MAX_PATHS];
	unsigned int nr_half;
};

struct searches {
	struct search *search;
	size_t nr;
	size_t cursor;
};

static struct half *next_half(struct search *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_half; i++)
		if (!s->half[i].asked)
			return &s->half[i];
	return NULL;
}

static bool wants_port(const struct search *s)
{
	if (!s->missing || s->active > s->missing ||
	    s->active == ARRAY_SIZE(s->half) || s->walked >= s->bound)
		return false;
	return s->answered || s->walked < SILENT_PORTS;
}

/* Return: whether there is a probe. */
static bool fill_probe(struct search *s, struct batch_probe *probe)
{
	struct half *half = next_half(s);

	probe->dqpn = s->what->dqpn;
	if (half) {
		half->asked = true;
		probe->kind = half->kind;
		probe->port = half->port;
		return true;
	}
	if (!wants_port(s))
		return false;
	probe->kind = PROBE_QPN;
	probe->port = discover_port(s->walked++);
	s->active++;
	return true;
}

static int next_probe(void *client, struct batch_probe *probe,
		      const __u8 **source, const __u8 **peer)
{
	struct searches *run = client;
	size_t i;

	for (i = 0; i < run->nr; i++) {
		struct search *s = &run->search[run->cursor];

		probe->peer = run->cursor;
		run->cursor = (run->cursor + 1) % run->nr;
		if (!fill_probe(s, probe))
			continue;
		probe->ttl = probe_ttl(probe->kind, s->what->peer->hop, s->what->peer->leaf_hop);
		*source = s->what->peer->source;
		*peer = s->what->peer->addr;
		return 0;
	}
	return -EAGAIN;
}

static void found(struct search *s, unsigned int path, __u16 port)
{
	if (path == NONE || s->what->port[path])
		return;
	s->what->port[path] = port;
	s->missing--;
}

/* The port is half known no more. Return: the path that answers before agree with. */
static unsigned int take_half(struct search *s, __u16 port)
{
	struct half *half = s->half;
	unsigned int path;

	while (half->port != port)
		half++;
	path = half->path;
	*half = s->half[--s->nr_half];
	return path;
}

/* A probe is done. @from: sender of the answer, or NULL. */
static void end_probe(struct search *s, const struct batch_probe *probe, const __u8 *from)
{
	unsigned int path = probe->kind == PROBE_QPN ? 0 : take_half(s, probe->port);
	enum probe_kind kind = probe->kind;

	s->answered += from && kind == PROBE_QPN;
	path = from ? discover_narrow(s->what->peer, path, &kind, from) : NONE;
	if (path != NONE && kind != PROBE_QPN) {
		s->half[s->nr_half++] = (struct half) { .port = probe->port, .path = path,
							.kind = kind };
		return;
	}
	s->active--;
	found(s, path, probe->port);
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct searches *run = client;

	end_probe(&run->search[probe->peer], probe,
		  answer->type == PROBE_TIME_EXCEEDED ? answer->from : NULL);
	return 0;
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	struct searches *run = client;

	end_probe(&run->search[probe->peer], probe, NULL);
	return 0;
}

static void status(void *client, char *line, size_t size)
{
	struct searches *run = client;
	size_t i, missing = 0;

	for (i = 0; i < run->nr; i++)
		missing += run->search[i].missing;
	snprintf(line, size, "probing: %zu queue pairs, %zu paths without a port",
		 run->nr, missing);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
};

/* The constant on which the ports of all paths agree, or -1 */
static int constant_of(const struct hash_model *model, const struct portmap_peer *peer)
{
	int constant = -1, one;
	unsigned int p;

	for (p = 0; p < peer->nr_paths; p++) {
		const struct portmap_path *path = &peer->paths[p];
		struct hash_router router = portmap_peer_router(peer, p);

		if (!path->nr_ports && hash_model_find(model, &router) >= 0)
			continue;
		if (!path->nr_ports || !addr_is_none(path->leaf))
			return -1;
		one = hash_model_constant(model, path->ports[0], &router);
		if (one < 0 || (constant >= 0 && one != constant))
			return -1;
		constant = one;
	}
	return constant;
}

/* Does a model say which ports there are? */
static bool follows(struct discover_qpn *what)
{
	const struct hash_model *model = what->model;
	unsigned int p;
	__u8 differs;
	int constant;

	if (!model || !hash_model_has_qpn(model))
		return false;
	constant = constant_of(model, what->peer);
	if (constant < 0)
		return false;
	differs = constant ^ hash_model_qpn(model, what->dqpn);
	for (p = 0; p < what->peer->nr_paths; p++) {
		struct hash_router router = portmap_peer_router(what->peer, p);

		what->port[p] = hash_model_port(model, differs ^ hash_model_find(model, &router));
	}
	return true;
}

static void start(struct search *s, struct discover_qpn *what, unsigned int ports)
{
	unsigned int paths = what->peer->nr_paths;
	unsigned int bound = paths ? discover_bound(paths, ONE_IN) : 0;

	memset(what->port, 0, sizeof(what->port));
	s->what = what;
	s->missing = follows(what) ? 0 : paths;
	s->bound = bound > 1 ? bound : SILENT_PORTS;
	if (s->bound > ports)
		s->bound = ports;
}

int discover_qpn(const struct probe_batch_config *config, struct discover_qpn *what,
		 size_t nr, struct err *err)
{
	struct searches run = { .nr = nr };
	size_t i;
	int ret;

	run.search = calloc(nr ?: 1, sizeof(*run.search));
	if (!run.search)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		start(&run.search[i], &what[i], config->ports);
	ret = probe_batch_run(config, &ops, &run, err);
	free(run.search);
	return ret;
}
