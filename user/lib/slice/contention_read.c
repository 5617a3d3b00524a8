// SPDX-License-Identifier: GPL-2.0
/* Slices and lists of flows from files. */
#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "contention.h"
#include "slice_place.h"

#define MAX_SIZE	(256u << 20)
#define MAX_DEPTH	16	/* a flow needs 3 */
#define MAX_STEP	65535

static int read_spines(struct reader *r, struct json_object *obj,
		       struct contention_slice *slice)
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
	__u32 last = layout->leaves - 1, place = 0;

	if (!layout->leaves || slice->leaf[last] != leaf) {
		slice->leaf[layout->leaves++] = leaf;
		last = layout->leaves - 1;
	}
	if (layout->ranks && layout->leaf[layout->ranks - 1] == last)
		place = layout->place[layout->ranks - 1] + 1;
	for (; gpus; gpus--, place++) {
		layout->leaf[layout->ranks] = last;
		layout->place[layout->ranks++] = place;
	}
	if (place > layout->width)
		layout->width = place;
}

/* @leaf: of the server before, and of this one; @sum: of GPUs, up to this one. */
static int read_server(struct reader *r, struct json_object *server,
		       struct contention_slice *slice, __u64 max, __u64 *leaf,
		       __u64 *sum)
{
	__u64 gpus;
	int ret;

	if (json_object_get_type(server) != json_type_object)
		return reader_invalid(r, "", "is not an object");
	ret = reader_uint(r, server, "leaf", *leaf, SLICE_MAX_LEAVES - 1, leaf) ?:
	      reader_uint(r, server, "gpus", 1, SLICE_MAX_GPUS, &gpus);
	if (ret)
		return ret;
	*sum += gpus;
	if (*sum <= max)
		add_ranks(slice, *leaf, gpus);
	return 0;
}

static int read_servers(struct reader *r, struct json_object *obj,
			struct contention_slice *slice)
{
	struct contention_layout *layout = &slice->layout;
	__u64 gpus, sum = 0, leaf = 0;
	struct json_object *servers;
	size_t i, n, mark;
	int ret;

	ret = reader_uint(r, obj, "gpus", 1, SLICE_MAX_LEAVES * SLICE_MAX_GPUS,
			  &gpus) ?:
	      reader_get(r, obj, "servers", json_type_array, &servers);
	if (ret)
		return ret;
	n = json_object_array_length(servers);
	layout->leaf = calloc(gpus, sizeof(*layout->leaf));
	layout->place = calloc(gpus, sizeof(*layout->place));
	slice->leaf = calloc(n + 1, sizeof(*slice->leaf));
	if (!layout->leaf || !layout->place || !slice->leaf)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		mark = reader_enter(r, "servers", i);
		ret = read_server(r, json_object_array_get_idx(servers, i),
				  slice, gpus, &leaf, &sum);
		if (ret)
			return ret;
		reader_leave(r, mark);
	}
	if (sum != gpus)
		return reader_invalid(r, "gpus", "%llu is not the %llu of the servers",
				      gpus, sum);
	return 0;
}

static int check_spines(struct reader *r, const struct contention_slice *slice)
{
	if (slice->layout.leaves == 1 && slice->nr_spines)
		return reader_invalid(r, "spines", "is not empty, under one leaf");
	if (slice->layout.leaves > 1 && slice->layout.width > slice->nr_spines)
		return reader_invalid(r, "spines", "%u are fewer than the %u GPUs of a leaf",
				      slice->nr_spines, slice->layout.width);
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
		return reader_invalid(r, "", "is not %u, which servers are under",
				      slice->leaf[i]);
	}
	return 0;
}

/* From each leaf to each spine. */
static int check_links(struct reader *r, struct json_object *obj,
		       const struct contention_slice *slice)
{
	size_t i, n = (size_t)slice->layout.leaves * slice->nr_spines;
	struct json_object *links;
	int ret;

	ret = reader_get(r, obj, "links", json_type_array, &links);
	if (ret)
		return ret;
	if (json_object_array_length(links) != n)
		return reader_invalid(r, "links", "has %zu entries, for %u leaves and %u spines",
				      json_object_array_length(links),
				      slice->layout.leaves, slice->nr_spines);
	for (i = 0; i < n; i++) {
		struct json_object *link = json_object_array_get_idx(links, i);
		__u32 leaf = slice->leaf[i / slice->nr_spines];
		__u32 spine = slice->spines[i % slice->nr_spines];

		if (json_object_get_type(link) == json_type_array &&
		    json_object_array_length(link) == 2 &&
		    is_number(json_object_array_get_idx(link, 0), leaf) &&
		    is_number(json_object_array_get_idx(link, 1), spine))
			continue;
		reader_enter(r, "links", i);
		return reader_invalid(r, "", "is not [%u,%u], as leaves and spines say",
				      leaf, spine);
	}
	return 0;
}

int contention_read_slice(struct contention_slice *slice, struct reader *r,
			  struct json_object *obj)
{
	*slice = (struct contention_slice) {};
	if (json_object_get_type(obj) != json_type_object)
		return reader_invalid(r, "(root)", "is not an object");
	return read_spines(r, obj, slice) ?: read_servers(r, obj, slice) ?:
	       check_spines(r, slice) ?: check_leaves(r, obj, slice) ?:
	       check_links(r, obj, slice);
}

void contention_join_cables(struct contention_slice *slice)
{
	struct contention_layout *layout = &slice->layout;
	__u32 rank;

	for (rank = 0; slice->nr_spines && rank < layout->ranks; rank++) {
		__u32 *place = &layout->place[rank];

		while (*place && slice->spines[*place - 1] == slice->spines[*place])
			--*place;
	}
}

void contention_slice_free(struct contention_slice *slice)
{
	free(slice->layout.leaf);
	free(slice->layout.place);
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

	if (json_object_get_type(obj) != json_type_object)
		return reader_invalid(r, "", "is not an object");
	ret = reader_uint(r, obj, "from", 0, ranks - 1, &from) ?:
	      reader_uint(r, obj, "to", 0, ranks - 1, &to);
	if (!ret && from == to)
		ret = reader_invalid(r, "to", "%llu is where the flow is from", to);
	if (!ret && json_object_object_get_ex(obj, "step", NULL))
		ret = reader_uint(r, obj, "step", 0, MAX_STEP, &step);
	if (!ret)
		*flow = (struct contention_flow) { from, to, step };
	return ret;
}

static int read_flows(struct reader *r, struct json_object *root, __u32 ranks,
		      struct contention_flow **flows, size_t *n)
{
	struct json_object *array;
	size_t i, mark;
	int ret;

	if (json_object_get_type(root) != json_type_object)
		return reader_invalid(r, "(root)", "is not an object");
	ret = reader_get(r, root, "flows", json_type_array, &array);
	if (ret)
		return ret;
	*n = json_object_array_length(array);
	*flows = calloc(*n + 1, sizeof(**flows));
	if (!*flows)
		return -ENOMEM;
	for (i = 0; !ret && i < *n; i++) {
		mark = reader_enter(r, "flows", i);
		ret = read_flow(r, json_object_array_get_idx(array, i), ranks,
				&(*flows)[i]);
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
