// SPDX-License-Identifier: GPL-2.0
/* Changes of a cluster file in memory: jobs and marks. */
#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "cluster_addr.h"
#include "cluster_priv.h"

const char * const cluster_stages[] = {
	[SLICE_SERVER] = "server",
	[SLICE_LEAF] = "leaf",
	[SLICE_VCLOS] = "vclos",
	[SLICE_OCS] = "ocs",
	NULL
};

const char *cluster_stage_name(const struct slice *slice)
{
	return cluster_stages[slice->stage];
}

static void add_pair(struct json_object *array, __u32 a, __u32 b)
{
	struct json_object *pair = out_append_array(array);

	out_append_uint(pair, a);
	out_append_uint(pair, b);
}

struct json_object *cluster_slice_json(__u32 gpus, const struct slice *slice)
{
	struct json_object *root = out_root(), *array;
	__u32 i, j;

	out_uint(root, "gpus", gpus);
	out_string(root, "stage", cluster_stage_name(slice));
	array = out_array(root, "leaves");
	for (i = 0; i < slice->nr_leaves; i++)
		out_append_uint(array, slice->leaves[i]);
	array = out_array(root, "spines");
	for (i = 0; i < slice->nr_spines; i++)
		out_append_uint(array, slice->spines[i]);
	array = slice->nr_spines ? out_array(root, "lane_links") : NULL;
	for (i = 0; array && i < slice->nr_leaves; i++)
		out_append_uint(array, slice->lane_links[i]);
	array = out_array(root, "servers");
	for (i = 0; i < slice->nr_servers; i++) {
		struct json_object *server = out_append_object(array);

		out_uint(server, "leaf", slice->servers[i].leaf);
		out_uint(server, "server", slice->servers[i].server);
		out_uint(server, "gpus", slice->servers[i].gpus);
	}
	array = out_array(root, "links");
	for (i = 0; i < slice->nr_leaves; i++)
		for (j = 0; j < slice->nr_spines * slice->lane_links[i]; j++)
			add_pair(array, slice->leaves[i], slice->spines[j / slice->lane_links[i]]);
	if (slice->oxcs) {
		array = out_array(root, "oxcs");
		for (i = 0; i < slice_links(slice); i++)
			out_append_uint(array, slice->oxcs[i]);
	}
	out_uint(root, "objective", slice->objective);
	return root;
}

struct json_object *cluster_job(const struct cluster *c, const char *id)
{
	return member(member(c->root, "jobs"), id);
}

static void change(struct cluster *c, const char *key, __u32 row, __u32 column, int by)
{
	struct json_object *rows = member(c->root, key), *columns;

	columns = json_object_array_get_idx(rows, row);
	json_object_int_inc(json_object_array_get_idx(columns, column), by);
}

/* Add the parts of a job to the free parts, or remove them. */
static void move(struct cluster *c, struct json_object *job, int sign)
{
	struct json_object *servers = member(job, "servers");
	struct json_object *links = member(job, "links");
	size_t i;

	for (i = 0; i < json_object_array_length(servers); i++) {
		struct json_object *server;

		server = json_object_array_get_idx(servers, i);
		change(c, "free_gpus",
		       json_object_get_int64(member(server, "leaf")),
		       json_object_get_int64(member(server, "server")),
		       sign * json_object_get_int64(member(server, "gpus")));
	}
	/* The file does not list free circuits. */
	for (i = 0; !c->ocs.oxcs && i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		change(c, "free_links", element_uint(link, 0), element_uint(link, 1), sign);
	}
}

void cluster_add_job(struct cluster *c, const char *id, __u32 gpus, const struct slice *slice)
{
	struct json_object *job = cluster_slice_json(gpus, slice);
	struct json_object *entry = cluster_queue_take(c, id);
	char text[UTC_SIZE];

	if (entry)
		json_object_object_add(job, "submitted",
				       json_object_get(member(entry, "submitted")));
	json_object_put(entry);
	out_string(job, "since", utc_format(time(NULL), text));
	move(c, job, -1);
	json_object_object_add(member(c->root, "jobs"), id, job);
}

void cluster_remove_job(struct cluster *c, const char *id)
{
	move(c, cluster_job(c, id), 1);
	json_object_object_del(member(c->root, "jobs"), id);
}

bool cluster_job_degraded(const struct cluster *c, struct json_object *job)
{
	struct json_object *servers = member(job, "servers");
	struct json_object *links = member(job, "links");
	const struct slice_fabric *fabric = &c->fabric;
	size_t i;

	for (i = 0; i < json_object_array_length(servers); i++) {
		struct json_object *server;
		__u32 leaf, v;

		server = json_object_array_get_idx(servers, i);
		leaf = json_object_get_int64(member(server, "leaf"));
		v = json_object_get_int64(member(server, "server"));
		if (c->failed_servers[leaf * (fabric->gpus_per_leaf / fabric->gpus_per_server) + v])
			return true;
	}
	for (i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		if (c->failed_links[element_uint(link, 0) * fabric->spines + element_uint(link, 1)])
			return true;
	}
	return false;
}

/* An element that is @a, or [@a, @b]. */
static bool is_part(struct json_object *obj, enum cluster_part part, __u32 a, __u32 b)
{
	if (part == CLUSTER_LEAVES || part == CLUSTER_SPINES)
		return json_object_get_int64(obj) == a;
	return element_uint(obj, 0) == a && element_uint(obj, 1) == b;
}

/* The list of a mark's parts, created if it is missing. */
static struct json_object *marked(struct cluster *c, enum cluster_mark mark, enum cluster_part part)
{
	struct json_object *parts = member(c->root, cluster_mark_names[mark]);
	struct json_object *array;

	if (!parts)
		parts = out_object(c->root, cluster_mark_names[mark]);
	array = member(parts, cluster_part_names[part]);
	return array ?: out_array(parts, cluster_part_names[part]);
}

bool cluster_mark(struct cluster *c, enum cluster_mark mark, bool set,
		  enum cluster_part part, __u32 a, __u32 b)
{
	struct json_object *array = marked(c, mark, part);
	size_t i, n = json_object_array_length(array);
	__u32 most, found = 0;

	most = part == CLUSTER_LINKS ? c->fabric.links_per_pair : 1;
	for (i = n; i--;) {
		if (!is_part(json_object_array_get_idx(array, i), part, a, b))
			continue;
		if (!set)
			json_object_array_del_idx(array, i, 1);
		found++;
	}
	if (!set)
		return found;
	if (found >= most)
		return false;
	if (part == CLUSTER_LEAVES || part == CLUSTER_SPINES)
		out_append_uint(array, a);
	else
		add_pair(array, a, b);
	return true;
}

struct json_object *cluster_find_job(const struct cluster *c, const char *id, struct err *err)
{
	struct json_object *job = cluster_job(c, id);

	if (job)
		return job;
	err_set(err, EXIT_FAILED, "no-job", "%s: jobs.%s: there is no such job", c->file, id);
	err_hint(err, "See: rocesteer slice list --cluster %s", c->file);
	return NULL;
}

/* A copy: addresses come into its servers. */
struct json_object *cluster_job_json(const struct cluster *c, const char *id,
				     struct json_object *job)
{
	struct json_object *root = out_root(), *copy;

	out_string(root, "job", id);
	json_object_object_foreach(job, key, value) {
		if (!strcmp(key, "job"))
			continue;
		copy = NULL;
		json_object_deep_copy(value, &copy, NULL);
		json_object_object_add(root, key, copy);
	}
	cluster_addr_put(c, root);
	return root;
}
