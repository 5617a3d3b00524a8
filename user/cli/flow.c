// SPDX-License-Identifier: GPL-2.0
/* rocesteer flow show: the path table merged with the module's registry. */
#include "flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/steer.h"
#include "cli.h"
#include "module.h"

enum { JOB };

static const struct cli_option options[] = {
	[JOB] = { "job", "ID", "only the flows of this job" },
	{}
};

static const struct out_column columns[] = {
	{ "job", "JOB" },
	{ "device", "DEVICE" },
	{ "peer", "PEER" },
	{ "dqpn", "DQPN" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "leaf", "LEAF" },
	{ "packets", "PACKETS" },
	{ "bytes", "BYTES" },
	{ "sqpn", "SQPN" },
	{ "rdma_device", "RDMA" },
	{ "pid", "PID" },
	{ "mtu", "MTU" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "flows", .columns = columns, .empty = "no flow is known" },
	{}
};

/* One flow as one side, or both, know it. */
struct row {
	struct rocesteer_flow_key key;
	bool steered;
	bool registered;
	struct rocesteer_flow_path path;
	struct genl_flow flow;
};

struct rows {
	struct row *row;
	size_t n;
	size_t room;
};

static struct row *add(struct rows *rows, const struct rocesteer_flow_key *key)
{
	struct row *bigger, *row;

	if (rows->n == rows->room) {
		rows->room = rows->room * 2 ?: 64;
		bigger = reallocarray(rows->row, rows->room, sizeof(*bigger));
		if (!bigger)
			return NULL;
		rows->row = bigger;
	}
	row = &rows->row[rows->n++];
	memset(row, 0, sizeof(*row));
	row->key = *key;
	return row;
}

static int add_steered(const struct rocesteer_flow_key *key,
		       const struct rocesteer_flow_path *path, void *arg)
{
	struct row *row = add(arg, key);

	if (!row)
		return -ENOMEM;
	row->steered = true;
	row->path = *path;
	return 0;
}

static int add_registered(const struct genl_flow *flow, void *arg)
{
	struct row *row = add(arg, &flow->key);

	if (!row)
		return -ENOMEM;
	row->registered = true;
	row->flow = *flow;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = addr_compare(left->key.peer, right->key.peer);

	if (order)
		return order;
	if (left->key.dqpn != right->key.dqpn)
		return left->key.dqpn < right->key.dqpn ? -1 : 1;
	if (left->key.ifindex != right->key.ifindex)
		return left->key.ifindex < right->key.ifindex ? -1 : 1;
	return right->steered - left->steered;
}

/* Sort, and join the two rows of a flow that both sides know. */
static void merge(struct rows *rows)
{
	size_t i, n = 0;

	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), compare);
	for (i = 0; i < rows->n; i++) {
		struct row *last = n ? &rows->row[n - 1] : NULL;

		if (last && !memcmp(&last->key, &rows->row[i].key,
				    sizeof(last->key))) {
			last->registered = true;
			last->flow = rows->row[i].flow;
		} else {
			rows->row[n++] = rows->row[i];
		}
	}
	rows->n = n;
}

void flow_put_key(struct json_object *obj,
		  const struct rocesteer_flow_key *key)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(key->ifindex, name))
		snprintf(name, sizeof(name), "if%u", key->ifindex);
	out_string(obj, "device", name);
	out_addr(obj, "peer", key->peer);
	out_uint(obj, "dqpn", key->dqpn);
}

void flow_put(struct json_object *obj, const struct genl_flow *flow)
{
	bool learnt = flow->origin == ROCESTEER_ORIGIN_LEARNT;

	out_string(obj, "origin", learnt ? "learnt" : "netlink");
	if (!learnt)
		return;
	out_uint(obj, "sqpn", flow->sqpn);
	out_string(obj, "rdma_device", flow->rdma_device);
	if (flow->pid)
		out_uint(obj, "pid", flow->pid);
	out_uint(obj, "mtu", flow->path_mtu);
}

static __u32 job_of(const struct row *row)
{
	return row->steered ? row->path.job : row->flow.job;
}

static void put_row(struct json_object *obj, const struct row *row)
{
	out_uint(obj, "job", job_of(row));
	flow_put_key(obj, &row->key);
	if (row->steered) {
		out_uint(obj, "path", row->path.path);
		out_uint(obj, "port", ntohs(row->path.sport));
		out_addr(obj, "leaf", row->path.leaf);
		out_uint(obj, "packets", row->path.packets);
		out_uint(obj, "bytes", row->path.bytes);
	}
	if (row->registered)
		flow_put(obj, &row->flow);
}

static int collect(struct rows *rows, struct err *err)
{
	struct steer *steer;
	struct genl *genl;
	int ret;

	ret = steer_open(&steer, 0, err);
	if (!ret) {
		ret = steer_flow_each(steer, add_steered, rows);
		steer_close(steer);
	} else if (ret == -ENOENT) {
		ret = 0;
	}
	if (ret)
		return ret;
	err->code = NULL;
	ret = module_open(&genl, MODULE_AUTO, err);
	if (ret || !genl)
		return ret;
	ret = genl_flow_each(genl, add_registered, rows, err);
	genl_close(genl);
	return ret;
}

static int show(const struct cli_args *args, struct err *err)
{
	struct json_object *root, *array;
	struct rows rows = {};
	__u64 job = 0;
	size_t i;
	int ret;

	ret = cli_uint(args, JOB, 1, 0xffffffff, &job, err) ?:
	      collect(&rows, err);
	if (ret)
		goto out_free;
	merge(&rows);
	root = out_root();
	array = out_array(root, "flows");
	for (i = 0; i < rows.n; i++)
		if (!job || job_of(&rows.row[i]) == job)
			put_row(out_append_object(array), &rows.row[i]);
	ret = out_show(&args->out, root, views);
out_free:
	free(rows.row);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "show",
		.help = "Show the flows that are steered or known to the module",
		.options = options,
		.run = show,
	},
	{}
};

const struct cli_object cli_flow = {
	.name = "flow",
	.help = "show flows, their paths and owners",
	.verbs = verbs,
};
