// SPDX-License-Identifier: GPL-2.0
/* What jobs ask for: GPUs anywhere, or servers by name; and what no cluster has. */
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

/* Uplinks to the same spines that so many leaves can have. */
static __u32 common_uplinks(const struct cluster *c, __u32 leaves)
{
	const struct ocs *ocs = &c->ocs;
	__u32 common;

	if (!ocs->oxcs)
		return c->fabric.spines * c->fabric.links_per_pair;
	common = ocs->spines * (ocs->oxcs * ocs->spine_ports / leaves);
	return common < ocs->oxcs ? common : ocs->oxcs;
}

/*
 * Whether a job has a place if nothing is in use or marked. @shape: set if not: the shape
 * that needs the fewest uplinks; no leaves: whole servers do not divide the job.
 */
static bool fits_empty(const struct cluster *c, __u32 gpus,
		       struct slice_shape *shape)
{
	struct slice_shape shapes[SLICE_MAX_SHAPES];
	struct slice_fabric ample = c->fabric;
	unsigned int n;

	*shape = (struct slice_shape) {};
	if (gpus <= ample.gpus_per_leaf)
		return true;
	ample.spines = ample.gpus_per_leaf;
	ample.links_per_pair = 1;
	n = slice_shapes(&ample, gpus, shapes);
	if (n)
		*shape = shapes[n - 1];
	while (n && shapes[n - 1].gpus > common_uplinks(c, shapes[n - 1].leaves))
		n--;
	return n;
}

int slice_check_shape(const struct cluster *c, __u32 gpus, struct err *err)
{
	const struct slice_fabric *fabric = &c->fabric;
	__u32 end = fabric->leaves * fabric->gpus_per_leaf, next;
	struct slice_shape shape, any;

	if (fits_empty(c, gpus, &shape))
		return 0;
	if (shape.leaves)
		err_set(err, EXIT_REFUSED, "shape",
			"%s: %u GPUs: each of %u leaves needs %u uplinks to the same spines, and has %u",
			c->file, gpus, shape.leaves, shape.gpus,
			common_uplinks(c, shape.leaves));
	else
		err_set(err, EXIT_REFUSED, "shape",
			"%s: %u GPUs do not divide over up to %u leaves by whole servers of %u",
			c->file, gpus, fabric->leaves, fabric->gpus_per_server);
	if (end - gpus > fabric->gpus_per_leaf)
		end = gpus + fabric->gpus_per_leaf;
	for (next = gpus + 1; next <= end; next++)
		if (fits_empty(c, next, &any))
			break;
	if (next <= end)
		err_hint(err, "The next number of GPUs that fits is %u.", next);
	return -EINVAL;
}
