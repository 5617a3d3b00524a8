// SPDX-License-Identifier: GPL-2.0
#include "chunk_step.h"

#include <errno.h>
#include <string.h>

#define MAX_SIZE	0x100000u
#define MAX_DEPTH	8
#define FORMAT		1

const char * const chunk_groups[] = {
	[CHUNK_GROUP_ALL] = "all",
	[CHUNK_GROUP_MODEL] = "model",
	[CHUNK_GROUP_DATA] = "data",
	NULL
};

const struct chunk_known chunk_known[CHUNK_KNOWN] = {
	{
		/* The authors' ResNet-50, with 11.56 in place of 4.12 GFLOP, and 60.2 M weights */
		.step = {
			.name = "resnet-152", .compute = 799047000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 120385616 } },
		},
		.speedup = 149, .most = 225, .ideal = 154,
	}, {
		.step = {
			.name = "gnmt", .compute = 2054200000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 267788288 } },
		},
		.speedup = 130, .most = 178, .ideal = 132,
	}, {
		/* Computation hides the All-to-All of the embeddings. */
		.step = {
			.name = "dlrm", .compute = 873399000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 114823168 } },
		},
		.speedup = 130, .most = 177, .ideal = 133,
	}, {
		/* Two of its layers, which compute the forward pass twice */
		.step = {
			.name = "transformer-1t", .compute = 58931640000, .model = 128, .nr = 3,
			.collective = {
				{ CHUNK_ALL_REDUCE, CHUNK_GROUP_MODEL, 12, 805306368 },
				{ CHUNK_ALL_GATHER, CHUNK_GROUP_MODEL, 2, 6291456 },
				{ CHUNK_ALL_REDUCE, CHUNK_GROUP_DATA, 1, 240316416 },
			},
		},
		.speedup = 125, .most = 153, .ideal = 126,
	},
};

static int read_collective(struct reader *r, struct json_object *obj,
			   struct chunk_step_collective *collective)
{
	int kind, group, ret;
	__u64 count;

	ret = reader_word(r, obj, "collective", chunk_kinds, &kind) ?:
	      reader_word(r, obj, "group", chunk_groups, &group) ?:
	      reader_uint(r, obj, "count", 1, CHUNK_STEP_COUNT, &count) ?:
	      reader_uint(r, obj, "size", 1, CHUNK_MAX_SIZE, &collective->size);
	collective->kind = kind;
	collective->group = group;
	collective->count = count;
	return ret;
}

static int read_step(struct reader *r, struct json_object *root, struct chunk_step *step)
{
	struct json_object *array, *obj;
	__u64 format, compute, model;
	size_t n, i, mark;
	int ret;

	if (json_object_get_type(root) != json_type_object)
		return reader_invalid(r, "(root)", "is not an object");
	ret = reader_uint(r, root, "format", FORMAT, FORMAT, &format) ?:
	      reader_string(r, root, "name", step->name, sizeof(step->name)) ?:
	      reader_uint(r, root, "compute_us", 0, CHUNK_MAX_TIME / 1000000, &compute) ?:
	      reader_uint(r, root, "model", 1, 1u << 31, &model) ?:
	      reader_get(r, root, "collectives", json_type_array, &array);
	if (ret)
		return ret;
	step->compute = compute * 1000000;
	step->model = model;
	n = json_object_array_length(array);
	if (!n || n > CHUNK_STEP_COLLECTIVES)
		return reader_invalid(r, "collectives", "has %zu elements, not 1 to %u", n,
				      CHUNK_STEP_COLLECTIVES);
	for (i = 0; !ret && i < n; i++) {
		obj = json_object_array_get_idx(array, i);
		mark = reader_enter(r, "collectives", i);
		if (json_object_get_type(obj) != json_type_object)
			return reader_invalid(r, "", "is not an object");
		ret = read_collective(r, obj, &step->collective[i]);
		if (!ret)
			reader_leave(r, mark);
	}
	step->nr = n;
	return ret;
}

int chunk_step_read(struct chunk_step *step, const char *file, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root;
	int ret;

	*step = (struct chunk_step) {};
	ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_step(&r, root, step);
	json_object_put(root);
	return ret;
}

int chunk_step_group(struct chunk_collective *of, enum chunk_group group, __u32 model)
{
	bool any = false;
	__u32 k;

	for (k = 0; k < of->dims && group != CHUNK_GROUP_ALL; k++) {
		struct chunk_dim *dim = &of->dim[k];
		__u32 n = model % dim->endpoints ? model : dim->endpoints;

		if (dim->endpoints % n)
			return -EINVAL;
		model /= n;
		/* The latency is that of the group's own steps. */
		n = group == CHUNK_GROUP_MODEL ? n : dim->endpoints / n;
		dim->latency = chunk_step_latency(dim) * chunk_alg_steps(dim->alg, n);
		dim->endpoints = n;
	}
	if (group != CHUNK_GROUP_ALL && model > 1)
		return -EINVAL;
	for (k = 0; k < of->dims; k++)
		any |= of->dim[k].endpoints > 1;
	return any ? 0 : -EINVAL;
}
