// SPDX-License-Identifier: GPL-2.0
/* rocesteer flow show: the path table merged with the module's registry. */
#include "flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/roce.h>

#include "steer/steer.h"
#include "job/job.h"
#include "module.h"

enum { JOB };

static const struct cli_option options[] = {
	[JOB] = { "job", "ID", "only the flows of this job", CLI_NAMES },
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
	{ "promise", "PROMISE" },
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

/* State of a device; @serves: packets of its flows get ports. */
struct device {
	__u32 ifindex;
	char name[IF_NAMESIZE];
	bool serves;
};

/* Classes of a job's chunks, 0: it has none. */
struct classes {
	__u32 job;
	bool asked;
	__u32 nr;
};

/**
 * struct row - one flow, as the tables, the module or both know it
 * @key: which
 * @registered: the module knows it
 * @path: NULL if it is not steered
 * @tags: NULL if its packets are not tagged by their chunks
 * @flow: as the module knows it
 * @device: its
 * @classes: of the job of @tags
 * @promise: of its paths
 */
struct row {
	struct rocesteer_flow_key key;
	bool registered;
	struct rocesteer_flow_path *path;
	struct rocesteer_tags *tags;
	struct genl_flow flow;
	const struct device *device;
	const struct classes *classes;
	enum promise promise;
};

struct rows {
	struct row *row;
	size_t n;
	size_t room;
};

/**
 * struct show - to be shown
 * @steer: NULL where no job is loaded
 * @rows: flows
 * @devices: of @rows
 * @classes: of the jobs of @rows that have chunks
 */
struct show {
	struct steer *steer;
	struct rows rows;
	struct set devices;
	struct set classes;
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

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size);

	return to ? memcpy(to, from, size) : NULL;
}

static int add_steered(const struct rocesteer_flow_key *key,
		       const struct rocesteer_flow_path *path, void *arg)
{
	struct row *row = add(arg, key);

	if (!row)
		return -ENOMEM;
	row->path = copy(path, sizeof(*path));
	return row->path ? 0 : -ENOMEM;
}

static int add_tagged(const struct rocesteer_flow_key *key,
		      const struct rocesteer_tags *tags, void *arg)
{
	struct row *row = add(arg, key);

	if (!row)
		return -ENOMEM;
	row->tags = copy(tags, sizeof(*tags));
	return row->tags ? 0 : -ENOMEM;
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
	return 0;
}

static void free_row(struct row *row)
{
	free(row->path);
	free(row->tags);
}

/*
 * Whether the flow was steered when the table was read, and went before the module's
 * registry was: with its queue pair, the registry first and then the table. Or only
 * its tags are left.
 */
static bool is_gone(const struct row *row, struct steer *steer, bool module)
{
	struct rocesteer_flow_path path;

	if (row->registered)
		return false;
	return !row->path ||
	       (module && steer_flow_get(steer, &row->key, &path) == -ENOENT);
}

static void leave_out_gone(struct show *show, bool module)
{
	struct rows *rows = &show->rows;
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++) {
		if (is_gone(&rows->row[i], show->steer, module))
			free_row(&rows->row[i]);
		else
			rows->row[n++] = rows->row[i];
	}
	rows->n = n;
}

/* Sort, and join the rows of each flow: each of the tables has one at most. */
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
			continue;
		}
		last->path = last->path ?: row->path;
		last->tags = last->tags ?: row->tags;
		if (row->registered) {
			last->registered = true;
			last->flow = row->flow;
		}
	}
	rows->n = n;
}

static struct device *device_of(struct show *show, __u32 ifindex)
{
	struct device *device = set_get(&show->devices, &ifindex,
					sizeof(ifindex), sizeof(*device));

	if (!device || device->name[0])
		return device;
	out_device_name(ifindex, device->name);
	device->serves = show->steer && steer_serves(show->steer, ifindex);
	return device;
}

static struct classes *classes_of(struct show *show, __u32 job)
{
	struct classes *classes = set_get(&show->classes, &job, sizeof(job),
					  sizeof(*classes));
	struct rocesteer_chunk_job chunks;

	if (!classes || classes->asked)
		return classes;
	classes->asked = true;
	if (!steer_chunks_get(show->steer, job, &chunks))
		classes->nr = chunks.nr_classes;
	return classes;
}

static int ask(struct show *show)
{
	struct promises promises = {};
	size_t i;
	int ret = 0;

	if (show->steer)
		ret = promises_read(&promises, show->steer, 0);
	for (i = 0; i < show->rows.n; i++) {
		struct row *row = &show->rows.row[i];

		row->device = device_of(show, row->key.ifindex);
		if (row->tags)
			row->classes = classes_of(show, row->tags->job);
		if (row->path)
			row->promise = promise_of(&promises, &row->key, row->path);
		if (!row->device || (row->tags && !row->classes))
			ret = -ENOMEM;
	}
	promises_free(&promises);
	return ret;
}

void flow_put_key(struct json_object *obj, const char *device,
		  const struct rocesteer_flow_key *key)
{
	out_string(obj, "device", device);
	out_addr(obj, "peer", key->peer);
	out_uint(obj, "dqpn", key->dqpn & ROCESTEER_QPN_MASK);
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

/* Is it not known yet which path the flow's own port takes? */
static bool is_unknown(const struct rocesteer_flow_path *path)
{
	return path->piece[0].path == ROCESTEER_PATH_UNKNOWN;
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
		if (!is_unknown(path))
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

/* Bytes of each path; for people "path:bytes" if there are several. */
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
		if (p || !is_unknown(path))
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

/* The actuator of a flow, or NULL. */
static const char *actuator_of(const struct row *row)
{
	if (!row->path)
		return NULL;
	if (row->path->flags & ROCESTEER_FLOW_OBSERVED)
		return row->device->serves ? "none" : NULL;
	if (!(row->path->flags & ROCESTEER_FLOW_QP))
		return row->device->serves ? "packet" : NULL;
	return row->flow.label == ROCESTEER_LABEL_POLICY ? "qp" : NULL;
}

/* Has the flow's job port maps of the source of the queue pair? */
static bool is_mapped(const struct row *row, struct steer *steer)
{
	struct rocesteer_source_key key = { .job = job_of(row), .ifindex = row->key.ifindex };
	struct rocesteer_source source;

	memcpy(key.addr, row->flow.source, 16);
	return !steer_source_get(steer, &key, &source) && source.mapped;
}

/* Why the job could not steer the flow's queue pair, or NULL. */
static const char *reason_of(const struct row *row, struct steer *steer)
{
	const struct genl_flow *flow = &row->flow;
	struct rocesteer_peer peer;
	struct rocesteer_job job;

	if (flow->origin != ROCESTEER_ORIGIN_LEARNT || !steer ||
	    steer_job_get(steer, job_of(row), &job) ||
	    job.actuator == ROCESTEER_ACTUATOR_PACKET ||
	    (job.actuator == ROCESTEER_ACTUATOR_AUTO && flow->software))
		return NULL;
	if (flow->label == ROCESTEER_LABEL_OWN)
		return "own-label";
	if (job.keep_labels && (flow->label == ROCESTEER_LABEL_LANE ||
				flow->label == ROCESTEER_LABEL_CM))
		return "kept-label";
	if (steer_ports_get(steer, job_of(row), &row->key, flow->source, &peer))
		return is_mapped(row, steer) ? "no-peer" : "other-source";
	return peer.qpn_hash ? "qpn-hash" : "connected-before";
}

/* Packets by class, 0 first, where the job has chunks. */
static void put_classes(struct json_object *obj, const struct row *row)
{
	struct json_object *array;
	__u32 i;

	if (!row->classes || !row->classes->nr)
		return;
	array = out_array(obj, "classes");
	for (i = 0; i <= row->classes->nr && i < ROCESTEER_MAX_CLASSES; i++)
		out_append_uint(array, row->tags->packets[i]);
}

static void put_row(struct json_object *obj, const struct row *row,
		    struct steer *steer)
{
	const char *actuator = actuator_of(row);
	const char *reason = actuator ? NULL : reason_of(row, steer);

	const __u8 *source = row->path ? row->path->source : row->flow.source;

	out_uint(obj, "job", job_of(row));
	if (!addr_is_none(source))
		out_addr(obj, "source", source);
	flow_put_key(obj, row->device->name, &row->key);
	if (actuator)
		out_string(obj, "actuator", actuator);
	if (reason)
		out_string(obj, "reason", reason);
	if (row->path) {
		if (!is_unknown(row->path))
			out_uint(obj, "path", row->path->piece[0].path);
		out_uint(obj, "port", ntohs(row->path->piece[0].sport));
		out_bool(obj, "share", row->path->flags & ROCESTEER_FLOW_SHARE);
		put_pieces(obj, row->path);
		if (actuator && row->promise)
			out_string(obj, "promise", promise_name(row->promise));
		out_addr(obj, "leaf", row->path->leaf);
		put_sent(obj, row->path);
		if (row->path->cnps)
			out_uint(obj, "cnps", row->path->cnps);
	}
	put_classes(obj, row);
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

/* @show->steer is left NULL where no job is loaded; @job 0: the flows of all. */
static int collect(struct show *show, __u32 job, struct err *err)
{
	struct genl *genl;
	int ret;

	ret = steer_open(&show->steer, STEER_READ, err);
	if (!ret)
		ret = steer_flow_each(show->steer, add_steered, &show->rows) ?:
		      steer_tags_each(show->steer, add_tagged, &show->rows);
	else if (ret == -ENOENT)
		ret = 0;
	if (ret)
		return ret;
	err->code = NULL;
	ret = module_open(&genl, MODULE_AUTO, err);
	if (ret)
		return ret;
	if (genl)
		ret = genl_flow_each(genl, add_registered, &show->rows, err);
	if (!ret && job && !has_job(show->steer, genl, job))
		ret = steer_job_missing(job, err);
	if (!ret) {
		merge(&show->rows);
		leave_out_gone(show, genl);
		ret = ask(show);
	}
	genl_close(genl);
	return ret;
}

static struct json_object *to_json(const struct show *show, __u32 job)
{
	struct json_object *root = out_root();
	struct json_object *array = out_array(root, "flows");
	size_t i;

	for (i = 0; i < show->rows.n; i++) {
		const struct row *row = &show->rows.row[i];

		if (!job || job_of(row) == job)
			put_row(out_append_object(array), row, show->steer);
	}
	return root;
}

static void clear(struct show *show)
{
	size_t i;

	for (i = 0; i < show->rows.n; i++)
		free_row(&show->rows.row[i]);
	free(show->rows.row);
	set_clear(&show->devices, free);
	set_clear(&show->classes, free);
}

static int run(const struct cli_args *args, struct err *err)
{
	struct json_object *root = NULL;
	struct show show = {};
	__u64 job = 0;
	int ret;

	ret = cli_uint(args, JOB, 1, 0xffffffff, &job, err) ?:
	      collect(&show, job, err);
	if (!ret)
		root = to_json(&show, job);
	steer_close(show.steer);
	clear(&show);
	return ret ?: out_show(&args->out, root, views);
}

static const struct cli_verb verbs[] = {
	{
		.name = "show",
		.help = "Show the flows that are steered or known to the module",
		.options = options,
		.example = "flow show 1",
		.shows = true,
		.run = run,
	},
	{}
};

const struct cli_object cli_flow = {
	.name = "flow",
	.help = "show flows, their paths and owners",
	.verbs = verbs,
};
