// SPDX-License-Identifier: GPL-2.0
/* Requests: GPUs anywhere, or servers by name; and shapes that no cluster has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slice.h"

struct reading {
	const struct cluster *c;
	struct slice_request *request;
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
		if (cli_pair(item, fabric->leaves, fabric->gpus_per_leaf / each, &a, &b))
			return err_set(r->err, EXIT_BAD_INPUT, "usage",
				       "--servers: '%s' is not L/V, a leaf and a server, in %s",
				       item, r->c->file);
		leaf = a;
		server = b;
	}
	more = reallocarray(r->request->servers, r->request->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->request->servers = more;
	more[r->request->nr++] = (struct slice_server) { leaf, server, each };
	r->request->gpus += each;
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

int slice_request_read(const struct cluster *c, const char *list, bool nodes,
		       struct slice_request *request, struct err *err)
{
	struct reading r = { .c = c, .request = request, .nodes = nodes, .err = err };
	const char *option = nodes ? "nodes" : "servers";
	__u32 i;
	int ret;

	ret = cli_each(option, list, read_server, &r, err);
	if (ret && nodes && strchr(list, '['))
		err_hint(err,
			 "Names are wanted: --nodes \"$(scontrol show hostnames '%.150s' | paste -sd ,)\"",
			 list);
	if (ret)
		return ret;
	qsort(request->servers, request->nr, sizeof(*request->servers), compare);
	for (i = 1; i < request->nr; i++)
		if (!compare(&request->servers[i - 1], &request->servers[i]))
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--%s: server %u/%u is given twice",
				       option, request->servers[i].leaf,
				       request->servers[i].server);
	return 0;
}

static __u32 number(struct json_object *server, const char *key)
{
	return json_object_get_int64(json_object_object_get(server, key));
}

bool slice_request_matches(const struct slice_request *request, struct json_object *job)
{
	struct json_object *servers = json_object_object_get(job, "servers");
	__u32 i;

	if (!request->nr || json_object_array_length(servers) != request->nr)
		return false;
	for (i = 0; i < request->nr; i++) {
		struct json_object *server;
		struct slice_server has;

		server = json_object_array_get_idx(servers, i);
		has.leaf = number(server, "leaf");
		has.server = number(server, "server");
		if (compare(&has, &request->servers[i]) ||
		    number(server, "gpus") != request->servers[i].gpus)
			return false;
	}
	return true;
}

int slice_request_refuse(const struct cluster *c, const struct slice_request *request,
			 int refusal, struct err *err)
{
	const struct slice_fabric *fabric = &c->fabric;
	__u32 row = fabric->gpus_per_leaf / fabric->gpus_per_server, i;

	if (refusal == SLICE_NO_NETWORK)
		return err_set(err, EXIT_REFUSED, "network",
			       "%s: %u GPUs: the leaves of these servers share too few free spines",
			       c->file, request->gpus);
	for (i = 0; i < request->nr; i++) {
		const struct slice_server *s = &request->servers[i];
		__u32 free = fabric->free_gpus[(size_t)s->leaf * row +
					       s->server];

		if (free < s->gpus)
			return err_set(err, EXIT_REFUSED, "locality",
				       "%s: server %u/%u: %u of %u GPUs are free",
				       c->file, s->leaf, s->server, free,
				       s->gpus);
	}
	return -EINVAL;
}

/* The empty cluster, without marks. Return: 0 or -ENOMEM; to be freed. */
static int make_empty(const struct cluster *c, struct slice_fabric *fabric, struct ocs *ocs)
{
	size_t servers = (size_t)c->fabric.leaves *
			 slice_servers_per_leaf(&c->fabric), i;
	size_t pairs = (size_t)c->fabric.leaves * c->fabric.spines;

	*fabric = c->fabric;
	*ocs = (struct ocs) {
		.leaves = c->ocs.leaves, .spines = c->ocs.spines,
		.oxcs = c->ocs.oxcs, .spine_ports = c->ocs.spine_ports,
	};
	fabric->free_gpus = calloc(servers, sizeof(*fabric->free_gpus));
	fabric->free_links = calloc(pairs, sizeof(*fabric->free_links));
	if (!fabric->free_gpus || !fabric->free_links || (ocs->oxcs && ocs_init(ocs)))
		return -ENOMEM;
	for (i = 0; i < servers; i++)
		fabric->free_gpus[i] = fabric->gpus_per_server;
	for (i = 0; !ocs->oxcs && i < pairs; i++)
		fabric->free_links[i] = fabric->links_per_pair;
	return 0;
}

/* Has a job a place there? Return: 1, 0, or -ENOMEM. */
static int fits(const struct slice_fabric *fabric, const struct ocs *ocs, __u32 gpus)
{
	struct slice slice = {};
	__u16 *circuit;
	int ret;

	if (!ocs->oxcs || gpus <= fabric->gpus_per_leaf) {
		ret = slice_place(fabric, gpus, &slice);
	} else {
		circuit = calloc((size_t)ocs->leaves * ocs->oxcs, sizeof(*circuit));
		ret = circuit ? ocs_place(fabric, ocs, gpus, &slice, circuit) : -ENOMEM;
		free(circuit);
	}
	slice_free(&slice);
	return ret < 0 ? ret : !ret;
}

/* The nearest number of GPUs with a place, as far as a leaf away, or 0. */
static __u32 nearest(const struct slice_fabric *fabric, const struct ocs *ocs,
		     __u32 gpus, int direction)
{
	__u32 each = fabric->gpus_per_server, i;

	for (i = 1; i <= fabric->gpus_per_leaf; i++) {
		__u32 near = gpus + direction * i;

		if (near % each && near > fabric->gpus_per_leaf)
			continue;
		if (near > fabric->leaves * fabric->gpus_per_leaf)
			break;
		if (fits(fabric, ocs, near) > 0)
			return near;
	}
	return 0;
}

static void refuse_shape(const struct cluster *c, const struct slice_fabric *fabric,
			 const struct ocs *ocs, __u32 gpus, struct err *err)
{
	__u32 below = nearest(fabric, ocs, gpus, -1), above = nearest(fabric, ocs, gpus, 1);

	if (gpus % fabric->gpus_per_server)
		err_set(err, EXIT_REFUSED, "shape",
			"%s: %u GPUs: under several leaves a job has whole servers of %u GPUs",
			c->file, gpus, fabric->gpus_per_server);
	else
		err_set(err, EXIT_REFUSED, "shape",
			"%s: %u GPUs: even in the empty cluster, leaves share no number of lanes that divides the job",
			c->file, gpus);
	if (below && above)
		err_hint(err, "The nearest numbers of GPUs that fit are %u and %u.", below, above);
	else if (below || above)
		err_hint(err, "The nearest number of GPUs that fits is %u.", below + above);
}

int slice_check_shape(const struct cluster *c, __u32 gpus, struct err *err)
{
	struct slice_fabric fabric;
	struct ocs ocs = {};
	int ret;

	if (gpus <= c->fabric.gpus_per_leaf)
		return 0;
	ret = make_empty(c, &fabric, &ocs);
	ret = ret ?: fits(&fabric, &ocs, gpus);
	if (!ret)
		refuse_shape(c, &fabric, &ocs, gpus, err);
	free(fabric.free_gpus);
	free(fabric.free_links);
	if (ocs.oxcs)
		ocs_free(&ocs);
	return ret > 0 ? 0 : ret ?: -EINVAL;
}
