// SPDX-License-Identifier: GPL-2.0
/* What rocesteer slice alloc asks for: GPUs anywhere, or servers by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slice.h"

struct reading {
	const struct cluster *c;
	struct slice_want *want;
	bool nodes;
	struct err *err;
};

static int read_server(const char *item, void *arg)
{
	struct reading *r = arg;
	const struct slice_fabric *fabric = &r->c->fabric;
	__u32 each = fabric->gpus_per_server, leaf, server;
	struct slice_server *more;
	__u64 a, b;

	if (r->nodes) {
		if (!cluster_find_node(r->c, item, &leaf, &server))
			return err_set(r->err, EXIT_BAD_INPUT, "no-node",
				       "%s: nodes: there is no '%s'",
				       r->c->file, item);
	} else {
		if (cli_pair(item, fabric->leaves,
			     fabric->gpus_per_leaf / each, &a, &b))
			return err_set(r->err, EXIT_BAD_INPUT, "usage",
				       "--servers: '%s' is not L/V, a leaf and a server, in %s",
				       item, r->c->file);
		leaf = a;
		server = b;
	}
	more = reallocarray(r->want->servers, r->want->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->want->servers = more;
	more[r->want->nr++] = (struct slice_server) { leaf, server, each };
	r->want->gpus += each;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct slice_server *left = a, *right = b;

	if (left->leaf != right->leaf)
		return left->leaf < right->leaf ? -1 : 1;
	return left->server < right->server ? -1 :
					      left->server > right->server;
}

int slice_want_read(const struct cluster *c, const char *list, bool nodes,
		    struct slice_want *want, struct err *err)
{
	struct reading r = { .c = c, .want = want, .nodes = nodes, .err = err };
	const char *option = nodes ? "nodes" : "servers";
	__u32 i;
	int ret;

	ret = cli_each(list, read_server, &r);
	if (ret && !err->code)
		err_set(err, EXIT_BAD_INPUT, "usage",
			"--%s: an item is empty or too long", option);
	if (ret)
		return ret;
	qsort(want->servers, want->nr, sizeof(*want->servers), compare);
	for (i = 1; i < want->nr; i++)
		if (!compare(&want->servers[i - 1], &want->servers[i]))
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--%s: server %u/%u is given twice",
				       option, want->servers[i].leaf,
				       want->servers[i].server);
	return 0;
}

static __u32 number(struct json_object *server, const char *key)
{
	return json_object_get_int64(json_object_object_get(server, key));
}

bool slice_want_is(const struct slice_want *want, struct json_object *job)
{
	struct json_object *servers = json_object_object_get(job, "servers");
	__u32 i;

	if (!want->nr || json_object_array_length(servers) != want->nr)
		return false;
	for (i = 0; i < want->nr; i++) {
		struct json_object *server;
		struct slice_server has;

		server = json_object_array_get_idx(servers, i);
		has.leaf = number(server, "leaf");
		has.server = number(server, "server");
		if (compare(&has, &want->servers[i]) ||
		    number(server, "gpus") != want->servers[i].gpus)
			return false;
	}
	return true;
}

int slice_want_refuse(const struct cluster *c, const struct slice_want *want,
		      int refusal, struct err *err)
{
	const struct slice_fabric *fabric = &c->fabric;
	__u32 row = fabric->gpus_per_leaf / fabric->gpus_per_server, i;

	if (refusal == SLICE_NO_NETWORK)
		return err_set(err, EXIT_REFUSED, "network",
			       "%s: %u GPUs: the leaves of these servers share too few free spines",
			       c->file, want->gpus);
	for (i = 0; i < want->nr; i++) {
		const struct slice_server *s = &want->servers[i];
		__u32 free = fabric->free_gpus[(size_t)s->leaf * row +
					       s->server];

		if (free < s->gpus)
			return err_set(err, EXIT_REFUSED, "locality",
				       "%s: server %u/%u: of %u GPUs %u can be had",
				       c->file, s->leaf, s->server, s->gpus,
				       free);
	}
	return -EINVAL;
}
