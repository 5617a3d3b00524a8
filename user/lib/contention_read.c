// SPDX-License-Identifier: GPL-2.0
/* Slices and lists of flows from files. */
#include <errno.h>
#include <stdlib.h>

#include "contention.h"
#include "jsonfile.h"
#include "reader.h"
#include "slice.h"

#define MAX_SIZE	(256u << 20)
#define MAX_DEPTH	16	/* a flow needs 3 */
#define MAX_STEP	65535

static int read_spines(struct reader *r, struct json_object *obj,
		       struct contention_slice *slice)
{
	struct json_object *spines;
	__u64 spine;
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
		if (!reader_in_range(json_object_array_get_idx(spines, i), 0,
				     SLICE_MAX_SPINES - 1, &spine)) {
			reader_enter(r, "spines", i);
			return reader_invalid(r, "", "is not a spine");
		}
		slice->spines[slice->nr_spines++] = spine;
	}
	return 0;
}

/* Ranks count through the servers in their order. */
static int add_ranks(struct reader *r, struct contention_slice *slice, __u32 leaf,
		     __u32 gpus)
{
	struct contention_layout *layout = &slice->layout;
	__u32 last = layout->leaves - 1, place = 0, i;

	if (!layout->leaves || slice->leaf[last] != leaf) {
		for (i = 0; i < layout->leaves; i++)
			if (slice->leaf[i] == leaf)
				return reader_invalid(r, "servers", "those of leaf %u are apart",
						      leaf);
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
	return 0;
}

/* Leaf and GPUs of a server. */
static int read_server(struct reader *r, struct json_object *servers, size_t i,
		       __u32 *leaf, __u32 *gpus)
{
	struct json_object *server = json_object_array_get_idx(servers, i);
	size_t mark = reader_enter(r, "servers", i);
	__u64 a, b;
	int ret;

	if (json_object_get_type(server) != json_type_object)
		return reader_invalid(r, "", "is not an object");
	ret = reader_uint(r, server, "leaf", 0, SLICE_MAX_LEAVES - 1, &a) ?:
	      reader_uint(r, server, "gpus", 1, SLICE_MAX_GPUS, &b);
	if (ret)
		return ret;
	*leaf = a;
	*gpus = b;
	reader_leave(r, mark);
	return 0;
}

static int read_servers(struct reader *r, struct json_object *obj,
			struct contention_slice *slice)
{
	struct contention_layout *layout = &slice->layout;
	struct json_object *servers;
	__u32 leaf, gpus;
	size_t i, n, room = 0;
	int ret;

	ret = reader_get(r, obj, "servers", json_type_array, &servers);
	if (ret)
		return ret;
	n = json_object_array_length(servers);
	if (!n)
		return reader_invalid(r, "servers", "is empty");
	for (i = 0; !ret && i < n; i++) {
		ret = read_server(r, servers, i, &leaf, &gpus);
		room += gpus;
	}
	if (ret)
		return ret;
	if (room > SLICE_MAX_LEAVES * SLICE_MAX_GPUS)
		return reader_invalid(r, "servers", "have %zu GPUs, at most %u",
				      room, SLICE_MAX_LEAVES * SLICE_MAX_GPUS);
	layout->leaf = calloc(room, sizeof(*layout->leaf));
	layout->place = calloc(room, sizeof(*layout->place));
	slice->leaf = calloc(n, sizeof(*slice->leaf));
	if (!layout->leaf || !layout->place || !slice->leaf)
		return -ENOMEM;
	for (i = 0; !ret && i < n; i++)
		ret = read_server(r, servers, i, &leaf, &gpus) ?:
		      add_ranks(r, slice, leaf, gpus);
	return ret;
}

int contention_read_slice(struct contention_slice *slice,
			  struct json_object *obj, const char *file,
			  struct err *err)
{
	struct reader r = { .file = file, .err = err };
	int ret;

	*slice = (struct contention_slice) {};
	if (json_object_get_type(obj) != json_type_object)
		return reader_invalid(&r, "(root)", "is not an object");
	ret = read_spines(&r, obj, slice) ?: read_servers(&r, obj, slice);
	if (!ret && slice->layout.leaves > 1 &&
	    slice->layout.width > slice->nr_spines)
		ret = reader_invalid(&r, "spines", "%u are fewer than the %u GPUs of a leaf",
				     slice->nr_spines, slice->layout.width);
	return ret;
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
