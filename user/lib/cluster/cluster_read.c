// SPDX-License-Identifier: GPL-2.0
/* Read cluster files: check every field, and that jobs agree with the free parts. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "slice/slice.h"
#include "cluster_addr.h"
#include "cluster_priv.h"

struct state {
	struct reader r;
	struct cluster *c;
	struct slice_fabric *fabric;
	struct cluster_grid gpus;
	struct cluster_grid links;
};

const char * const cluster_mark_names[] = {
	[CLUSTER_DRAINED] = "drained",
	[CLUSTER_FAILED] = "failed",
};

const char * const cluster_part_names[] = {
	[CLUSTER_LEAVES] = "leaves",
	[CLUSTER_SPINES] = "spines",
	[CLUSTER_SERVERS] = "servers",
	[CLUSTER_LINKS] = "links",
	[CLUSTER_PARTS] = NULL
};

bool cluster_id_valid(const char *id)
{
	size_t len;

	for (len = 0; id[len]; len++)
		if (!isalnum((unsigned char)id[len]) && !strchr("._+-", id[len]))
			return false;
	return len && len <= CLUSTER_MAX_ID;
}

static int read_sizes(struct state *s, struct json_object *root)
{
	__u64 leaves, spines, gpus, each, links = 1, parallel = 1;
	struct reader *r = &s->r;
	int ret;

	ret = reader_uint(r, root, "leaves", 1, SLICE_MAX_LEAVES, &leaves) ?:
	      reader_uint(r, root, "spines", 1, SLICE_MAX_SPINES, &spines) ?:
	      reader_uint(r, root, "gpus_per_leaf", 1, SLICE_MAX_GPUS, &gpus) ?:
	      reader_uint(r, root, "gpus_per_server", 1, gpus, &each);
	if (!ret && json_object_object_get(root, "links_per_pair"))
		ret = reader_uint(r, root, "links_per_pair", 1, SLICE_MAX_LINKS, &links);
	if (!ret && json_object_object_get(root, "parallel_links"))
		ret = reader_uint(r, root, "parallel_links", 1, SLICE_MAX_UPLINKS, &parallel);
	if (ret)
		return ret;
	if (gpus % each)
		return reader_invalid(r, "gpus_per_server", "%llu does not divide gpus_per_leaf",
				      each);
	if (spines * links > SLICE_MAX_UPLINKS)
		return reader_invalid(r, "links_per_pair", "%llu uplinks a leaf, at most %u",
				      spines * links, SLICE_MAX_UPLINKS);
	*s->fabric = (struct slice_fabric) {
		.leaves = leaves, .spines = spines, .gpus_per_leaf = gpus,
		.gpus_per_server = each, .links_per_pair = links,
		.parallel = parallel,
	};
	if (json_object_object_get_ex(root, "oxcs", NULL)) {
		ret = cluster_read_ocs(s->c, r);
		links = s->c->ocs.oxcs;		/* of a pair at most */
	}
	s->gpus = (struct cluster_grid) {
		.key = "free_gpus", .what = "GPUs", .rows = leaves,
		.columns = gpus / each, .each = each,
	};
	s->links = (struct cluster_grid) {
		.key = "free_links", .what = "links", .rows = leaves,
		.columns = spines, .each = links,
	};
	return ret ?: cluster_grid_init(&s->gpus) ?:
	       cluster_grid_init(&s->links);
}

static int invalid_entry(struct state *s, const char *key, size_t i, const char *what)
{
	reader_enter(&s->r, key, i);
	return reader_invalid(&s->r, "", "%s", what);
}

/* Element i of an array: [ROW, COLUMN]. */
static int read_pair(struct state *s, struct json_object *array,
		     const char *key, size_t i,
		     const struct cluster_grid *grid, __u32 *row, __u32 *column)
{
	struct json_object *pair = json_object_array_get_idx(array, i);
	char what[64];
	__u64 a, b;

	if (json_object_get_type(pair) == json_type_array &&
	    json_object_array_length(pair) == 2 &&
	    reader_in_range(json_object_array_get_idx(pair, 0), 0, grid->rows - 1, &a) &&
	    reader_in_range(json_object_array_get_idx(pair, 1), 0, grid->columns - 1, &b)) {
		*row = a;
		*column = b;
		return 0;
	}
	snprintf(what, sizeof(what), "is not a pair of numbers up to %u and %u",
		 grid->rows - 1, grid->columns - 1);
	return invalid_entry(s, key, i, what);
}

/* Element i of an array: a number below @end. */
static int read_number(struct state *s, struct json_object *array,
		       const char *key, size_t i, __u32 end, __u32 *number)
{
	char what[64];
	__u64 value;

	if (reader_in_range(json_object_array_get_idx(array, i), 0, end - 1, &value)) {
		*number = value;
		return 0;
	}
	snprintf(what, sizeof(what), "is not a number from 0 to %u", end - 1);
	return invalid_entry(s, key, i, what);
}

static int read_server(struct state *s, struct json_object *obj)
{
	__u64 leaf, server, gpus;
	int ret;

	ret = reader_uint(&s->r, obj, "leaf", 0, s->gpus.rows - 1, &leaf) ?:
	      reader_uint(&s->r, obj, "server", 0, s->gpus.columns - 1, &server) ?:
	      reader_uint(&s->r, obj, "gpus", 1, s->gpus.each, &gpus);
	if (ret)
		return ret;
	if (!cluster_grid_own(&s->gpus, leaf, server, gpus))
		return reader_invalid(&s->r, "gpus", "jobs own more than the server's %u",
				      s->gpus.each);
	return 0;
}

static int read_servers(struct state *s, struct json_object *job)
{
	struct json_object *servers, *server;
	size_t i, mark;
	int ret;

	ret = reader_get(&s->r, job, "servers", json_type_array, &servers);
	if (ret)
		return ret;
	for (i = 0; i < json_object_array_length(servers); i++) {
		ret = reader_item(&s->r, "servers", servers, i, &server, &mark) ?:
		      read_server(s, server);
		if (ret)
			return ret;
		reader_leave(&s->r, mark);
	}
	return 0;
}

static int read_links(struct state *s, struct json_object *job)
{
	struct json_object *links;
	__u32 leaf, spine;
	size_t i;
	int ret;

	ret = reader_get(&s->r, job, "links", json_type_array, &links);
	for (i = 0; !ret && i < json_object_array_length(links); i++) {
		ret = read_pair(s, links, "links", i, &s->links, &leaf, &spine);
		if (!ret && !cluster_grid_own(&s->links, leaf, spine, 1))
			ret = invalid_entry(s, "links", i, "is owned more than once");
		if (!ret && s->c->ocs.oxcs)
			ret = cluster_own_circuit(s->c, &s->r, job, i, leaf, spine);
	}
	return ret;
}

/* Fields that a file written by hand may leave out. */
static int read_optional(struct state *s, struct json_object *job)
{
	struct reader *r = &s->r;
	__u64 number;
	int ret = 0;

	if (json_object_object_get_ex(job, "objective", NULL))
		ret = reader_uint(r, job, "objective", 0, INT64_MAX, &number);
	if (!ret && json_object_object_get_ex(job, "submitted", NULL))
		ret = cluster_read_time(r, job, "submitted");
	if (!ret && json_object_object_get_ex(job, "since", NULL))
		ret = cluster_read_time(r, job, "since");
	return ret;
}

/* Check that the fields of a job agree. */
static int check_slice(struct state *s, struct json_object *job, int stage)
{
	struct contention_slice slice;
	__u32 leaves;
	int ret;

	ret = contention_read_slice(&slice, &s->r, job);
	leaves = slice.layout.leaves;
	contention_slice_free(&slice);
	if (ret)
		return ret;
	if (stage >= SLICE_VCLOS ? leaves == 1 : leaves > 1)
		ret = reader_invalid(&s->r, "stage", "'%s' is not that of %u leaves",
				     cluster_stages[stage], leaves);
	return ret;
}

static int read_job(struct state *s, const char *id, struct json_object *job)
{
	size_t mark = reader_enter_key(&s->r, "jobs");
	char quoted[CLUSTER_MAX_ID + 1];
	int ret, stage;

	reader_enter_key(&s->r, reader_quote(id, quoted, sizeof(quoted)));
	if (!cluster_id_valid(id))
		return reader_invalid(&s->r, "", "is not the name of a job");
	ret = reader_object(&s->r, job) ?:
	      reader_word(&s->r, job, "stage", cluster_stages, &stage) ?:
	      read_servers(s, job) ?:
	      read_links(s, job) ?:
	      check_slice(s, job, stage) ?:
	      read_optional(s, job);
	reader_leave(&s->r, mark);
	return ret;
}

static int read_jobs(struct state *s, struct json_object *root)
{
	struct json_object *jobs;
	int ret;

	if (!json_object_object_get_ex(root, "jobs", NULL))
		out_object(root, "jobs");
	ret = reader_get(&s->r, root, "jobs", json_type_object, &jobs);
	if (ret)
		return ret;
	json_object_object_foreach(jobs, id, job) {
		ret = read_job(s, id, job);
		if (ret)
			return ret;
	}
	return 0;
}

static void mark_leaf(struct state *s, __u32 leaf, enum cluster_mark mark)
{
	__u32 i;

	for (i = 0; i < s->gpus.columns; i++)
		cluster_grid_mark(&s->gpus, leaf, i, s->gpus.each, mark);
	for (i = 0; i < s->links.columns; i++)
		cluster_grid_mark(&s->links, leaf, i, s->links.each, mark);
}

static void mark_spine(struct state *s, __u32 spine, enum cluster_mark mark)
{
	__u32 leaf;

	for (leaf = 0; leaf < s->links.rows; leaf++)
		cluster_grid_mark(&s->links, leaf, spine, s->links.each, mark);
}

/* Idle circuits of the pair may be moved to another spine. */
static void mark_ocs_spine(struct state *s, __u32 spine, enum cluster_mark mark)
{
	__u32 leaf;

	for (leaf = 0; leaf < s->links.rows; leaf++) {
		s->c->ocs.shut[ocs_pair(&s->c->ocs, leaf, spine)] = true;
		if (mark == CLUSTER_FAILED)
			*cluster_cell(&s->links, s->links.failed, leaf, spine) = s->links.each;
	}
}

/* Element i of a list of marked parts. */
static int read_marked(struct state *s, enum cluster_mark mark,
		       enum cluster_part part, struct json_object *array,
		       size_t i)
{
	const char *key = cluster_part_names[part];
	__u32 a, b;
	int ret;

	switch (part) {
	case CLUSTER_LEAVES:
		ret = read_number(s, array, key, i, s->fabric->leaves, &a);
		if (!ret)
			mark_leaf(s, a, mark);
		return ret;
	case CLUSTER_SPINES:
		ret = read_number(s, array, key, i, s->fabric->spines, &a);
		if (!ret && s->c->ocs.oxcs)
			mark_ocs_spine(s, a, mark);
		else if (!ret)
			mark_spine(s, a, mark);
		return ret;
	case CLUSTER_SERVERS:
		ret = read_pair(s, array, key, i, &s->gpus, &a, &b);
		if (!ret)
			cluster_grid_mark(&s->gpus, a, b, s->gpus.each, mark);
		return ret;
	default:
		ret = read_pair(s, array, key, i, &s->links, &a, &b);
		if (!ret)
			cluster_grid_mark(&s->links, a, b, 1, mark);
		return ret;
	}
}

static int read_marks(struct state *s, struct json_object *root, enum cluster_mark mark)
{
	const char *name = cluster_mark_names[mark];
	struct json_object *parts, *array;
	int part, ret = 0;
	size_t i, at;

	if (!json_object_object_get_ex(root, name, NULL))
		return 0;
	ret = reader_get(&s->r, root, name, json_type_object, &parts);
	at = reader_enter_key(&s->r, name);
	for (part = 0; !ret && part < CLUSTER_PARTS; part++) {
		const char *key = cluster_part_names[part];

		if (!json_object_object_get_ex(parts, key, NULL))
			continue;
		ret = reader_get(&s->r, parts, key, json_type_array, &array);
		for (i = 0; !ret && i < json_object_array_length(array); i++)
			ret = read_marked(s, mark, part, array, i);
	}
	reader_leave(&s->r, at);
	return ret;
}

/* Fill the fabric for the planner. */
static int make_fabric(const struct state *s, struct cluster *c)
{
	size_t servers = (size_t)s->gpus.rows * s->gpus.columns, i;
	size_t pairs = (size_t)s->links.rows * s->links.columns;

	c->fabric.free_gpus = calloc(servers, sizeof(*c->fabric.free_gpus));
	c->fabric.free_links = calloc(pairs, sizeof(*c->fabric.free_links));
	c->failed_servers = calloc(servers, sizeof(*c->failed_servers));
	c->failed_links = calloc(pairs, sizeof(*c->failed_links));
	if (!c->fabric.free_gpus || !c->fabric.free_links || !c->failed_servers || !c->failed_links)
		return -ENOMEM;
	for (i = 0; i < servers; i++) {
		c->fabric.free_gpus[i] = cluster_grid_usable(&s->gpus, i);
		c->failed_servers[i] = s->gpus.failed[i];
	}
	for (i = 0; i < pairs; i++) {
		/* No link of the pair if one is in use: they cannot be told apart. */
		if (s->links.free[i] == s->links.each)
			c->fabric.free_links[i] =
				cluster_grid_usable(&s->links, i);
		/* It is not known which of several links failed: a free one, if any. */
		c->failed_links[i] = s->links.failed[i] > s->links.free[i];
	}
	if (c->ocs.oxcs)
		cluster_mark_circuits(c, &s->links);
	return 0;
}

static int read_free_links(struct state *s, struct json_object *root)
{
	if (!s->c->ocs.oxcs)
		return cluster_grid_read(&s->links, &s->r, root);
	cluster_count_circuits(s->c, &s->links);
	return 0;
}

int cluster_parse(struct cluster *c, struct err *err)
{
	struct state s = {
		.r = { .file = c->file, .err = err },
		.c = c, .fabric = &c->fabric,
	};
	int ret = reader_object(&s.r, c->root);

	if (ret)
		return ret;
	cluster_warn_unknown(c);
	c->generation = 0;
	if (json_object_object_get_ex(c->root, "generation", NULL))
		ret = reader_uint(&s.r, c->root, "generation", 0, INT64_MAX - 1, &c->generation);
	ret = ret ?: read_sizes(&s, c->root) ?:
	      cluster_addr_check(&s.r, c->root, s.fabric, c->ocs.oxcs) ?:
	      cluster_read_nodes(c, &s.r) ?:
	      read_jobs(&s, c->root) ?: cluster_read_queue(c, &s.r) ?:
	      cluster_grid_read(&s.gpus, &s.r, c->root) ?:
	      read_free_links(&s, c->root) ?:
	      read_marks(&s, c->root, CLUSTER_DRAINED) ?:
	      read_marks(&s, c->root, CLUSTER_FAILED) ?: make_fabric(&s, c);
	cluster_grid_free(&s.gpus);
	cluster_grid_free(&s.links);
	return ret;
}
