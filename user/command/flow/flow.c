// SPDX-License-Identifier: GPL-2.0
/* rocesteer flow show: the path table merged with the module's registry. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "../module.h"
#include "../objects.h"

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

struct rows {
	struct flow_row *row;
	size_t n;
	size_t room;
};

/**
 * struct show - flows to be shown
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

static struct flow_row *add(struct rows *rows, const struct rocesteer_flow_key *key)
{
	struct flow_row *bigger, *row;

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
	struct flow_row *row = add(arg, key);

	if (!row)
		return -ENOMEM;
	row->path = copy(path, sizeof(*path));
	return row->path ? 0 : -ENOMEM;
}

static int add_tagged(const struct rocesteer_flow_key *key,
		      const struct rocesteer_tags *tags, void *arg)
{
	struct flow_row *row = add(arg, key);

	if (!row)
		return -ENOMEM;
	row->tags = copy(tags, sizeof(*tags));
	return row->tags ? 0 : -ENOMEM;
}

static int add_registered(const struct genl_flow *flow, void *arg)
{
	struct flow_row *row = add(arg, &flow->key);

	if (!row)
		return -ENOMEM;
	row->registered = true;
	row->flow = *flow;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct flow_row *left = a, *right = b;
	int order = addr_compare(left->key.peer, right->key.peer);

	if (order)
		return order;
	if (left->key.dqpn != right->key.dqpn)
		return left->key.dqpn < right->key.dqpn ? -1 : 1;
	if (left->key.ifindex != right->key.ifindex)
		return left->key.ifindex < right->key.ifindex ? -1 : 1;
	return 0;
}

static void free_row(struct flow_row *row)
{
	free(row->path);
	free(row->tags);
}

/*
 * Did the flow end between the reading of the table and that of the module's registry? A
 * queue pair that ends leaves the registry first, then the table. Or are only its tags
 * left?
 */
static bool is_gone(const struct flow_row *row, struct steer *steer, bool module)
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
		struct flow_row *last = n ? &rows->row[n - 1] : NULL;
		struct flow_row *row = &rows->row[i];

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

static struct flow_device *device_of(struct show *show, __u32 ifindex)
{
	struct flow_device *device = set_get(&show->devices, &ifindex,
					     sizeof(ifindex), sizeof(*device));

	if (!device || device->name[0])
		return device;
	out_device_name(ifindex, device->name);
	device->serves = show->steer && steer_serves(show->steer, ifindex);
	return device;
}

static struct flow_classes *classes_of(struct show *show, __u32 job)
{
	struct flow_classes *classes = set_get(&show->classes, &job, sizeof(job), sizeof(*classes));
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
		struct flow_row *row = &show->rows.row[i];

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
		const struct flow_row *row = &show->rows.row[i];

		if (!job || flow_row_job(row) == job)
			flow_row_put(out_append_object(array), row, show->steer);
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

int flow_put_one(struct json_object *obj, const struct rocesteer_flow_key *key, struct err *err)
{
	struct show show = {};
	int ret = collect(&show, 0, err);
	size_t i;

	for (i = 0; !ret && i < show.rows.n; i++)
		if (!memcmp(&show.rows.row[i].key, key, sizeof(*key)))
			break;
	if (!ret && i < show.rows.n)
		flow_row_put(obj, &show.rows.row[i], show.steer);
	else
		ret = ret ?: -ENOENT;
	steer_close(show.steer);
	clear(&show);
	return ret;
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
