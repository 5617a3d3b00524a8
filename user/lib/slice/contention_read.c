// SPDX-License-Identifier: GPL-2.0
/* Slices and lists of flows in files. */
#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "contention.h"
#include "slice_place.h"

#define MAX_SIZE	(256u << 20)
#define MAX_DEPTH	16	/* a flow needs 3 */
#define MAX_STEP	65535

static int read_spines(struct reader *r, struct json_object *obj, struct contention_slice *slice)
{
	struct json_object *spines;
	__u64 spine = 0;
	size_t i, n;
	int ret;

	ret = reader_get(r, obj, "spines", json_type_array, &spines);
	if (ret)
		return ret;
	n = json_object_array_length(spines);
	slice->spines = calloc(n + 1, sizeof(*slice->spines));
	if (!slice->spines)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		__u64 last = spine;

		if (!reader_in_range(json_object_array_get_idx(spines, i), 0,
				     SLICE_MAX_SPINES - 1, &spine)) {
			reader_enter(r, "spines", i);
			return reader_invalid(r, "", "is not a number from 0 to %u",
					      SLICE_MAX_SPINES - 1);
		}
		if (spine < last) {
			reader_enter(r, "spines", i);
			return reader_invalid(r, "", "%llu follows %llu: spines ascend",
					      spine, last);
		}
		slice->spines[slice->nr_spines++] = spine;
	}
	return 0;
}

/* Ranks count through the servers in their order. */
static void add_ranks(struct contention_slice *slice, __u32 leaf, __u32 gpus)
{
	struct contention_layout *layout = &slice->layout;
	bool new_leaf = !layout->leaves || slice->leaf[layout->leaves - 1] != leaf;

	if (new_leaf)
		slice->leaf[layout->leaves] = leaf;
	contention_layout_add(layout, new_leaf, gpus);
}

/* @leaf: of the server before, and of this one; @sum: of GPUs, up to this one. */
static int read_server(struct reader *r, struct json_object *server,
		       struct contention_slice *slice, __u64 max, __u64 *leaf,
		       __u64 *sum)
{
	__u64 gpus;
	int ret;

	ret = reader_uint(r, server, "leaf", *leaf, SLICE_MAX_LEAVES - 1, leaf) ?:
	      reader_uint(r, server, "gpus", 1, SLICE_MAX_GPUS, &gpus);
	if (ret)
		return ret;
	*sum += gpus;
	if (*sum <= max)
		add_ranks(slice, *leaf, gpus);
	return 0;
}

static int read_servers(struct reader *r, struct json_object *obj, struct contention_slice *slice)
{
	__u64 gpus, sum = 0, leaf = 0;
	struct json_object *servers, *server;
	size_t i, n, mark;
	int ret;

	ret = reader_uint(r, obj, "gpus", 1, SLICE_MAX_LEAVES * SLICE_MAX_GPUS, &gpus) ?:
	      reader_get(r, obj, "servers", json_type_array, &servers);
	if (ret)
		return ret;
	n = json_object_array_length(servers);
	slice->leaf = calloc(n + 1, sizeof(*slice->leaf));
	if (contention_layout_init(&slice->layout, gpus, n, slice->nr_spines) || !slice->leaf)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ret = reader_item(r, "servers", servers, i, &server, &mark) ?:
		      read_server(r, server, slice, gpus, &leaf, &sum);
		if (ret)
			return ret;
		reader_leave(r, mark);
	}
	if (sum != gpus)
		return reader_invalid(r, "gpus", "%llu is not the %llu of the servers", gpus, sum);
	return 0;
}

static int read_lane_links(struct reader *r, struct json_object *obj,
			   struct contention_layout *layout)
{
	struct json_object *array;
	__u64 links;
	__u32 i;
	int ret;

	ret = reader_get(r, obj, "lane_links", json_type_array, &array);
	if (ret)
		return ret;
	if (json_object_array_length(array) != layout->leaves)
		return reader_invalid(r, "lane_links",
				      "has %zu entries, for servers under %u leaves",
				      json_object_array_length(array), layout->leaves);
	for (i = 0; i < layout->leaves; i++) {
		if (reader_in_range(json_object_array_get_idx(array, i), 1,
				    SLICE_MAX_UPLINKS / layout->lanes, &links)) {
			layout->links[i] = links;
			continue;
		}
		reader_enter(r, "lane_links", i);
		return reader_invalid(r, "", "is not a number from 1 to %u",
				      SLICE_MAX_UPLINKS / layout->lanes);
	}
	return 0;
}

/* Links to one spine cannot be told apart. */
static void join_lanes(struct contention_slice *slice)
{
	__u32 *pair = slice->layout.pair, i;

	slice->layout.joined = true;
	for (i = 1; i < slice->nr_spines; i++)
		if (slice->spines[i] == slice->spines[i - 1])
			pair[i] = pair[i - 1];
}

/* Has the leaf as many links as its ranks need, or as all other leaves have? */
static int check_lane_links(struct reader *r, const struct contention_layout *layout, bool given)
{
	__u32 all = 0, i;

	for (i = 0; i < layout->leaves; i++)
		all += contention_links_needed(layout, i);
	for (i = 0; i < layout->leaves; i++) {
		__u32 need = contention_links_needed(layout, i);

		if (layout->links[i] >= need || layout->links[i] == all - need)
			continue;
		if (given)
			reader_enter(r, "lane_links", i);
		return reader_invalid(r, given ? "" : "spines",
				      "in each of %u lanes, a leaf with %u GPUs needs %u links, and has %u",
				      layout->lanes, layout->first[i + 1] - layout->first[i],
				      need, layout->links[i]);
	}
	return 0;
}

static int read_lanes(struct reader *r, struct json_object *obj, struct contention_slice *slice)
{
	struct contention_layout *layout = &slice->layout;
	bool given = json_object_object_get_ex(obj, "lane_links", NULL);
	int ret = 0;

	if (layout->leaves == 1 && slice->nr_spines)
		return reader_invalid(r, "spines", "is not empty, under one leaf");
	if (layout->leaves > 1 && !slice->nr_spines)
		return reader_invalid(r, "spines", "is empty, over %u leaves", layout->leaves);
	if (slice->nr_spines > SLICE_MAX_UPLINKS)
		return reader_invalid(r, "spines", "has %u entries, at most %u",
				      slice->nr_spines, SLICE_MAX_UPLINKS);
	if (!layout->lanes)
		return 0;
	if (given)
		ret = read_lane_links(r, obj, layout);
	ret = ret ?: check_lane_links(r, layout, given);
	if (ret)
		return ret;
	contention_layout_count(layout);
	if (!given)
		join_lanes(slice);
	return 0;
}

static bool is_number(struct json_object *value, __u32 number)
{
	__u64 found;

	return reader_in_range(value, number, number, &found);
}

static int check_leaves(struct reader *r, struct json_object *obj,
			const struct contention_slice *slice)
{
	struct json_object *leaves;
	size_t i, n = slice->layout.leaves;
	int ret;

	ret = reader_get(r, obj, "leaves", json_type_array, &leaves);
	if (ret)
		return ret;
	if (json_object_array_length(leaves) != n)
		return reader_invalid(r, "leaves", "has %zu entries, for servers under %zu leaves",
				      json_object_array_length(leaves), n);
	for (i = 0; i < n; i++) {
		if (is_number(json_object_array_get_idx(leaves, i), slice->leaf[i]))
			continue;
		reader_enter(r, "leaves", i);
		return reader_invalid(r, "", "is not %u, the leaf of the servers", slice->leaf[i]);
	}
	return 0;
}

/* Does a link join the leaf to the spine? */
static int check_link(struct reader *r, struct json_object *links, size_t i, __u32 leaf,
		      __u32 spine)
{
	struct json_object *link = json_object_array_get_idx(links, i);

	if (json_object_get_type(link) == json_type_array &&
	    json_object_array_length(link) == 2 &&
	    is_number(json_object_array_get_idx(link, 0), leaf) &&
	    is_number(json_object_array_get_idx(link, 1), spine))
		return 0;
	reader_enter(r, "links", i);
	return reader_invalid(r, "", "is not [%u,%u], as leaves and spines say", leaf, spine);
}

/* Each leaf has links to the spine of each lane. */
static int check_links(struct reader *r, struct json_object *obj,
		       const struct contention_slice *slice)
{
	const struct contention_layout *layout = &slice->layout;
	size_t n = 0, at = 0;
	struct json_object *links;
	__u32 i, k, u;
	int ret;

	ret = reader_get(r, obj, "links", json_type_array, &links);
	if (ret)
		return ret;
	for (i = 0; i < layout->leaves; i++)
		n += layout->lanes * layout->links[i];
	if (json_object_array_length(links) != n)
		return reader_invalid(r, "links",
				      "has %zu entries, for %u leaves and %u spines %zu are needed",
				      json_object_array_length(links), layout->leaves,
				      slice->nr_spines, n);
	for (i = 0; i < layout->leaves; i++)
		for (k = 0; k < layout->lanes; k++)
			for (u = 0; !ret && u < layout->links[i]; u++)
				ret = check_link(r, links, at++, slice->leaf[i], slice->spines[k]);
	return ret;
}

int contention_read_slice(struct contention_slice *slice, struct reader *r, struct json_object *obj)
{
	*slice = (struct contention_slice) {};
	return reader_object(r, obj) ?:
	       read_spines(r, obj, slice) ?: read_servers(r, obj, slice) ?:
	       read_lanes(r, obj, slice) ?: check_leaves(r, obj, slice) ?:
	       check_links(r, obj, slice);
}

void contention_slice_free(struct contention_slice *slice)
{
	contention_layout_free(&slice->layout);
	free(slice->leaf);
	free(slice->spines);
}

static int compare_steps(const void *a, const void *b)
{
	const struct contention_flow *left = a, *right = b;

	return left->step < right->step ? -1 : left->step > right->step;
}

static int read_flow(struct reader *r, struct json_object *obj, __u32 ranks,
		     struct contention_flow *flow)
{
	__u64 from, to, step = 0;
	int ret;

	ret = reader_uint(r, obj, "from", 0, ranks - 1, &from) ?:
	      reader_uint(r, obj, "to", 0, ranks - 1, &to);
	if (!ret && from == to)
		ret = reader_invalid(r, "to", "%llu is the sender of the flow as well", to);
	if (!ret && json_object_object_get_ex(obj, "step", NULL))
		ret = reader_uint(r, obj, "step", 0, MAX_STEP, &step);
	if (!ret)
		*flow = (struct contention_flow) { from, to, step };
	return ret;
}

static int read_flows(struct reader *r, struct json_object *root, __u32 ranks,
		      struct contention_flow **flows, size_t *n)
{
	struct json_object *array, *flow;
	size_t i, mark;
	int ret;

	ret = reader_object(r, root) ?:
	      reader_get(r, root, "flows", json_type_array, &array);
	if (ret)
		return ret;
	*n = json_object_array_length(array);
	*flows = calloc(*n + 1, sizeof(**flows));
	if (!*flows)
		return -ENOMEM;
	for (i = 0; !ret && i < *n; i++) {
		ret = reader_item(r, "flows", array, i, &flow, &mark) ?:
		      read_flow(r, flow, ranks, &(*flows)[i]);
		reader_leave(r, mark);
	}
	if (ret) {
		free(*flows);
		return ret;
	}
	qsort(*flows, *n, sizeof(**flows), compare_steps);
	return 0;
}

int contention_read_flows(const char *file, __u32 ranks,
			  struct contention_flow **flows, size_t *n,
			  struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root;
	int ret;

	ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_flows(&r, root, ranks, flows, n);
	json_object_put(root);
	return ret;
}
