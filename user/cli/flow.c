// SPDX-License-Identifier: GPL-2.0
/* rocesteer flow show: the path table merged with the module's registry. */
#include "flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steer.h"
#include "job.h"
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
	{ "actuator", "ACTUATOR" },
	{ "reason", "REASON" },
	{ "path", "PATH" },
	{ "port", "PORT" },
	{ "shares", "PIECES" },
	{ "leaf", "LEAF" },
	{ "packets", "PACKETS" },
	{ "bytes", "BYTES" },
	{ "classes", "CLASSES" },
	{ "per_path", "BYTES/PATH" },
	{ "sqpn", "SQPN" },
	{ "rdma_device", "RDMA" },
	{ "pid", "PID" },
	{ "mtu", "MTU" },
	{ "waiting", "WAITING" },
	{ "age_us", "AGE-US" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "flows", .columns = columns, .empty = "no flow is known" },
	{}
};

/* One flow as one side, or both, know it; @path is NULL if it is not steered. */
struct row {
	struct rocesteer_flow_key key;
	bool registered;
	struct rocesteer_flow_path *path;
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
	row->path = malloc(sizeof(*path));
	if (!row->path)
		return -ENOMEM;
	*row->path = *path;
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
	return !!right->path - !!left->path;
}

/* Whether the flow was steered when the table was read, and went before the
 * registry was: with its queue pair, the registry first and then the table.
 */
static bool is_gone(const struct row *row, struct steer *steer)
{
	struct rocesteer_flow_path path;

	return !row->registered &&
	       steer_flow_get(steer, &row->key, &path) == -ENOENT;
}

static void leave_out_gone(struct rows *rows, struct steer *steer)
{
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++) {
		if (is_gone(&rows->row[i], steer))
			free(rows->row[i].path);
		else
			rows->row[n++] = rows->row[i];
	}
	rows->n = n;
}

/*
 * Sort, and join the two rows of a flow that both sides know. One that was read
 * twice from the table has one row.
 */
static void merge(struct rows *rows)
{
	size_t i, n = 0;

	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), compare);
	for (i = 0; i < rows->n; i++) {
		struct row *last = n ? &rows->row[n - 1] : NULL;
		struct row *row = &rows->row[i];

		if (!last || memcmp(&last->key, &row->key, sizeof(row->key))) {
			rows->row[n++] = *row;
		} else if (row->path) {
			free(row->path);
		} else {
			last->registered = true;
			last->flow = row->flow;
		}
	}
	rows->n = n;
}

void flow_put_key(struct json_object *obj,
		  const struct rocesteer_flow_key *key)
{
	out_device(obj, "device", key->ifindex);
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
	out_string(obj, "label", label_name(flow->label));
	out_bool(obj, "software", flow->software);
	if (!flow->resequenced)
		return;
	out_uint(obj, "waiting", flow->reseq_depth);
	out_uint(obj, "age_us", flow->reseq_age);
	out_uint(obj, "waited", flow->reseq_held);
	out_uint(obj, "lost", flow->reseq_lost);
	out_uint(obj, "timeout", flow->reseq_timeout);
}

static __u32 job_of(const struct row *row)
{
	return row->path ? row->path->job : row->flow.job;
}

/* Pieces, and for people "path:packets of the period" where there are several. */
static void put_pieces(struct json_object *obj,
		       const struct rocesteer_flow_path *path)
{
	struct json_object *array = out_array(obj, "pieces"), *item;
	char text[ROCESTEER_MAX_PATHS * 20];
	__u32 from = 0, at = 0, i;

	for (i = 0; i < path->nr_pieces && i < ROCESTEER_MAX_PATHS; i++) {
		const struct rocesteer_piece *piece = &path->piece[i];

		item = out_append_object(array);
		out_uint(item, "path", piece->path);
		out_uint(item, "port", ntohs(piece->sport));
		out_uint(item, "from", from);
		out_uint(item, "to", piece->end);
		at += snprintf(text + at, sizeof(text) - at, "%s%u:%u",
			       i ? "," : "", piece->path, piece->end - from);
		from = piece->end;
	}
	if (path->nr_pieces > 1)
		out_string(obj, "shares", text);
}

/* By path, and for people "path:bytes" where there are several. */
static void put_sent(struct json_object *obj,
		     const struct rocesteer_flow_path *path)
{
	struct json_object *array = out_array(obj, "sent"), *item;
	char text[ROCESTEER_MAX_PATHS * 24];
	__u64 packets = 0, bytes = 0;
	__u32 at = 0, p;

	for (p = 0; p < ROCESTEER_MAX_PATHS; p++) {
		const struct rocesteer_sent *sent = &path->sent[p];

		if (!sent->packets)
			continue;
		item = out_append_object(array);
		out_uint(item, "path", p);
		out_uint(item, "packets", sent->packets);
		out_uint(item, "bytes", sent->bytes);
		out_uint(item, "rounds", sent->rounds);
		at += snprintf(text + at, sizeof(text) - at, "%s%u:%llu",
			       at ? "," : "", p, sent->bytes);
		packets += sent->packets;
		bytes += sent->bytes;
	}
	if (json_object_array_length(array) > 1)
		out_string(obj, "per_path", text);
	out_uint(obj, "packets", packets);
	out_uint(obj, "bytes", bytes);
}

/* What gives the flow its source port, or NULL. */
static const char *actuator_of(const struct row *row, struct steer *steer)
{
	if (!row->path)
		return NULL;
	if (!(row->path->flags & ROCESTEER_FLOW_QP))
		return steer_serves(steer, row->key.ifindex) ? "packet" : NULL;
	return row->flow.label == ROCESTEER_LABEL_POLICY ? "qp" : NULL;
}

/* Why the job could not steer the flow's queue pair, or NULL. */
static const char *reason_of(const struct row *row, struct steer *steer)
{
	const struct genl_flow *flow = &row->flow;
	struct rocesteer_job job;

	if (flow->origin != ROCESTEER_ORIGIN_LEARNT || !steer ||
	    steer_job_get(steer, job_of(row), &job) ||
	    job.actuator == ROCESTEER_ACTUATOR_PACKET ||
	    (job.actuator == ROCESTEER_ACTUATOR_AUTO && flow->software))
		return NULL;
	if (flow->label == ROCESTEER_LABEL_OWN)
		return "own-label";
	return steer_has_peer(steer, job_of(row), &row->key) ?
	       "connected-before" : "no-peer";
}

/* Packets by class, 0 first, where the job has chunks. */
static void put_classes(struct json_object *obj, const struct row *row,
			struct steer *steer)
{
	struct rocesteer_chunk_job chunks;
	struct rocesteer_tags tags;
	struct json_object *array;
	__u32 i;

	if (!steer || steer_tags_get(steer, &row->key, &tags) ||
	    steer_chunks_get(steer, tags.job, &chunks))
		return;
	array = out_array(obj, "classes");
	for (i = 0; i <= chunks.nr_classes && i < ROCESTEER_MAX_CLASSES; i++)
		out_append_uint(array, tags.packets[i]);
}

static void put_row(struct json_object *obj, const struct row *row,
		    struct steer *steer)
{
	const char *actuator = actuator_of(row, steer);
	const char *reason = actuator ? NULL : reason_of(row, steer);

	out_uint(obj, "job", job_of(row));
	flow_put_key(obj, &row->key);
	if (actuator)
		out_string(obj, "actuator", actuator);
	if (reason)
		out_string(obj, "reason", reason);
	if (row->path) {
		out_uint(obj, "path", row->path->piece[0].path);
		out_uint(obj, "port", ntohs(row->path->piece[0].sport));
		out_bool(obj, "share", row->path->flags & ROCESTEER_FLOW_SHARE);
		put_pieces(obj, row->path);
		out_addr(obj, "leaf", row->path->leaf);
		put_sent(obj, row->path);
	}
	put_classes(obj, row, steer);
	if (row->registered)
		flow_put(obj, &row->flow);
}

static bool has_job(struct steer *steer, struct genl *genl, __u32 id)
{
	struct rocesteer_job loaded;
	struct genl_job registered;

	return (steer && !steer_job_get(steer, id, &loaded)) ||
	       (genl && !genl_job_get(genl, id, &registered, NULL));
}

/* @steer is left NULL where no job is loaded; @job 0: the flows of all. */
static int collect(struct rows *rows, __u32 job, struct steer **steer,
		   struct err *err)
{
	struct genl *genl;
	int ret;

	ret = steer_open(steer, 0, err);
	if (!ret)
		ret = steer_flow_each(*steer, add_steered, rows);
	else if (ret == -ENOENT)
		ret = 0;
	if (ret)
		return ret;
	err->code = NULL;
	ret = module_open(&genl, MODULE_AUTO, err);
	if (ret)
		return ret;
	if (genl)
		ret = genl_flow_each(genl, add_registered, rows, err);
	if (!ret && job && !has_job(*steer, genl, job))
		ret = job_missing(job, err);
	genl_close(genl);
	return ret;
}

static struct json_object *to_json(const struct rows *rows, __u32 job,
				   struct steer *steer)
{
	struct json_object *root = out_root();
	struct json_object *array = out_array(root, "flows");
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (!job || job_of(&rows->row[i]) == job)
			put_row(out_append_object(array), &rows->row[i], steer);
	return root;
}

static int show(const struct cli_args *args, struct err *err)
{
	struct json_object *root = NULL;
	struct steer *steer = NULL;
	struct rows rows = {};
	__u64 job = 0;
	size_t i;
	int ret;

	ret = cli_uint(args, JOB, 1, 0xffffffff, &job, err) ?:
	      collect(&rows, job, &steer, err);
	if (!ret) {
		merge(&rows);
		leave_out_gone(&rows, steer);
		root = to_json(&rows, job, steer);
	}
	steer_close(steer);
	for (i = 0; i < rows.n; i++)
		free(rows.row[i].path);
	free(rows.row);
	return ret ?: out_show(&args->out, root, views);
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
