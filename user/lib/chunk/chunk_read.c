// SPDX-License-Identifier: GPL-2.0
/* Plans, training steps and ranges of memory from files (Documentation/formats.rst). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "chunk_step.h"
#include "chunk_table.h"

#define MAX_SIZE	(256u << 20)
#define MAX_DEPTH	16
#define FORMAT		1

/* The algorithm is part of a plan only in dimensions that leave chunks whole. */
static int read_algorithm(struct reader *r, struct json_object *obj,
			  const struct chunk_collective *of, __u64 endpoints, int *alg)
{
	int ret;

	*alg = CHUNK_RING;
	if (!json_object_object_get_ex(obj, "algorithm", NULL))
		return 0;
	ret = reader_word(r, obj, "algorithm", chunk_algs, alg);
	if (ret || !chunk_alg_is_whole(*alg))
		return ret;
	if (of->kind != CHUNK_ALL_REDUCE)
		return reader_invalid(r, "algorithm", "%s is for an all-reduce", chunk_algs[*alg]);
	if (!chunk_alg_takes(*alg, endpoints))
		return reader_invalid(r, "algorithm", "netreduce is for 2 to %u endpoints",
				      CHUNK_MAX_SUMMED);
	return 0;
}

/* A number with up to six decimals, in millionths; without one @value keeps what it has. */
static int read_millionths(struct reader *r, struct json_object *obj, const char *key, __u64 min,
			   __u64 max, __u64 *value)
{
	struct json_object *number;
	double millionths;

	if (!json_object_object_get_ex(obj, key, &number))
		return 0;
	millionths = round(json_object_get_double(number) * 1e6);
	if ((!json_object_is_type(number, json_type_double) &&
	     !json_object_is_type(number, json_type_int)) ||
	    !(millionths >= min && millionths <= max))
		return reader_invalid(r, key, "is not a number from %g to %llu", min / 1e6,
				      max / 1000000);
	*value = millionths;
	return 0;
}

static int read_dims(struct reader *r, struct json_object *root, struct chunk_collective *of)
{
	struct json_object *array, *obj;
	__u64 endpoints, bandwidth, latency;
	bool any = false;
	size_t n, i, mark;
	int ret, alg;

	ret = reader_array(r, root, "dimensions", 1, CHUNK_MAX_DIMS, &array, &n);
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(r, "dimensions", array, i, &obj, &mark) ?:
		      reader_uint(r, obj, "endpoints", 1, CHUNK_MAX_ENDPOINTS, &endpoints) ?:
		      read_algorithm(r, obj, of, endpoints, &alg);
		bandwidth = 1;
		latency = 0;
		ret = ret ?: read_millionths(r, obj, "bandwidth", 1, CHUNK_MAX_BANDWIDTH,
					     &bandwidth) ?:
			     read_millionths(r, obj, "latency_us", 0, CHUNK_MAX_LATENCY, &latency);
		if (ret)
			break;
		reader_leave(r, mark);
		of->dim[of->dims++] = (struct chunk_dim) {
			.endpoints = endpoints, .bandwidth = bandwidth, .latency = latency,
			.alg = alg,
		};
		any |= endpoints > 1;
	}
	if (!ret && !any)
		ret = reader_invalid(r, "dimensions", "all have one endpoint");
	return ret;
}

static int read_order(struct reader *r, struct json_object *obj,
		      const struct chunk_plan *plan, __u8 *order)
{
	struct json_object *array;
	__u32 dims = plan->of.dims, seen = 0, k;
	__u64 dim;
	int ret = reader_get(r, obj, "order", json_type_array, &array);

	if (ret)
		return ret;
	for (k = 0; k < dims; k++) {
		if (!reader_in_range(json_object_array_get_idx(array, k), 0, dims - 1, &dim))
			break;
		seen |= 1u << dim;
		order[k] = dim;
	}
	if (json_object_array_length(array) != dims || seen != (1u << dims) - 1)
		return reader_invalid(r, "order", "is not one of the %u dimensions", dims);
	return 0;
}

static int read_chunks(struct reader *r, struct json_object *root, struct chunk_plan *plan)
{
	struct json_object *array, *obj;
	size_t n, i, mark;
	__u64 bytes;
	int ret;

	ret = reader_array(r, root, "chunks", 1, CHUNK_MAX_CHUNKS, &array, &n);
	if (ret)
		return ret;
	plan->of.chunks = n;
	plan->order = calloc(n, sizeof(*plan->order));
	if (!plan->order)
		return -ENOMEM;
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(r, "chunks", array, i, &obj, &mark) ?:
		      reader_uint(r, obj, "bytes", 1, CHUNK_MAX_SIZE, &bytes) ?:
		      read_order(r, obj, plan, plan->order[i]);
		if (!ret && bytes != chunk_bytes(&plan->of, i))
			ret = reader_invalid(r, "bytes", "%llu is not the %llu of this chunk",
					     bytes, chunk_bytes(&plan->of, i));
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

/* @want: the expected hash. */
static int check_hash(struct reader *r, struct json_object *root, __u64 want)
{
	char text[17], hash[17];
	int ret = reader_string(r, root, "hash", text, sizeof(text));

	if (ret)
		return ret;
	snprintf(hash, sizeof(hash), "%016" PRIx64, (uint64_t)want);
	if (strcmp(text, hash))
		return reader_invalid(r, "hash", "is not the plan's, %s", hash);
	return 0;
}

static int read_plan(struct reader *r, struct json_object *root, struct chunk_plan *plan)
{
	struct json_object *fused;
	int kind, queue, ret;
	__u64 size;

	ret = reader_object(r, root) ?:
	      reader_word(r, root, "collective", chunk_kinds, &kind) ?:
	      reader_word(r, root, "queue", chunk_queues, &queue) ?:
	      reader_get(r, root, "fused", json_type_boolean, &fused) ?:
	      reader_uint(r, root, "size", 1, CHUNK_MAX_SIZE, &size);
	if (ret)
		return ret;
	plan->of.kind = kind;
	plan->of.size = size;
	plan->queue = queue;
	plan->fused = json_object_get_boolean(fused);
	return read_dims(r, root, &plan->of) ?: read_chunks(r, root, plan) ?:
	       check_hash(r, root, chunk_plan_hash(plan));
}

int chunk_plan_read(struct chunk_plan *plan, const char *file, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root;
	int ret;

	*plan = (struct chunk_plan) {};
	ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_plan(&r, root, plan);
	json_object_put(root);
	return ret;
}

static int read_collective(struct reader *r, struct json_object *obj,
			   struct chunk_step_collective *collective)
{
	int kind, group, ret;
	__u64 count;

	ret = reader_word(r, obj, "collective", chunk_kinds, &kind) ?:
	      reader_word(r, obj, "group", chunk_groups, &group) ?:
	      reader_uint(r, obj, "count", 1, CHUNK_STEP_COUNT, &count) ?:
	      reader_uint(r, obj, "size", 1, CHUNK_MAX_SIZE, &collective->size);
	if (ret)
		return ret;
	collective->kind = kind;
	collective->group = group;
	collective->count = count;
	return 0;
}

static int read_step(struct reader *r, struct json_object *root, struct chunk_step *step)
{
	struct json_object *array, *obj;
	__u64 format, compute, model;
	size_t n, i, mark;
	int ret;

	ret = reader_object(r, root) ?:
	      reader_uint(r, root, "format", FORMAT, FORMAT, &format) ?:
	      reader_string(r, root, "name", step->name, sizeof(step->name)) ?:
	      reader_uint(r, root, "compute_us", 0, CHUNK_MAX_TIME / 1000000, &compute) ?:
	      reader_uint(r, root, "model", 1, 1u << 31, &model) ?:
	      reader_array(r, root, "collectives", 1, CHUNK_STEP_COLLECTIVES, &array, &n);
	if (ret)
		return ret;
	step->compute = compute * 1000000;
	step->model = model;
	step->nr = n;
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(r, "collectives", array, i, &obj, &mark) ?:
		      read_collective(r, obj, &step->collective[i]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

int chunk_step_read(struct chunk_step *step, const char *name, struct err *err)
{
	struct reader r = { .file = name, .err = err };
	struct json_object *root;
	__u32 i;
	int ret;

	for (i = 0; i < CHUNK_KNOWN; i++) {
		if (strcmp(name, chunk_known[i].step.name))
			continue;
		*step = chunk_known[i].step;
		return 0;
	}
	*step = (struct chunk_step) {};
	if (access(name, F_OK))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--step: %s is neither a known step nor a file", name);
	ret = json_file_read(name, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_step(&r, root, step);
	json_object_put(root);
	return ret;
}

/* A file of ranges: devices by dimension, 0 where there is none. */
struct ranges {
	struct reader r;
	struct chunk_table *table;
	__u32 ifindex[CHUNK_MAX_DIMS];
};

static int read_devices(struct ranges *s, struct json_object *root)
{
	struct json_object *array, *obj;
	char name[IF_NAMESIZE];
	size_t n, i, mark;
	__u64 dim;
	int ret;

	ret = reader_array(&s->r, root, "dimensions", 1, CHUNK_MAX_DIMS, &array, &n);
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(&s->r, "dimensions", array, i, &obj, &mark) ?:
		      reader_uint(&s->r, obj, "dimension", 0, s->table->plan.of.dims - 1, &dim) ?:
		      reader_string(&s->r, obj, "netdev", name, sizeof(name));
		if (ret)
			break;
		if (s->ifindex[dim])
			return reader_invalid(&s->r, "dimension", "%llu is there twice", dim);
		s->ifindex[dim] = if_nametoindex(name);
		if (!s->ifindex[dim])
			return reader_invalid(&s->r, "netdev",
					      "there is no network device %s",
					      name);
		reader_leave(&s->r, mark);
	}
	return ret;
}

static int read_address(struct reader *r, struct json_object *obj, __u64 *start)
{
	char text[19], *end;
	int ret = reader_string(r, obj, "start", text, sizeof(text));

	if (ret)
		return ret;
	errno = 0;
	*start = strtoull(text, &end, 16);
	if (strncmp(text, "0x", 2) || errno || *end || end == text + 2)
		return reader_invalid(r, "start", "is not a hexadecimal number behind 0x");
	return 0;
}

static int read_range(struct ranges *s, struct json_object *obj, struct chunk_range *to)
{
	const struct rocesteer_chunk *chunk;
	__u64 dim, number, stage, start, length;
	char peer[ADDR_STRLEN];
	struct reader *r = &s->r;
	int ret;

	ret = reader_string(r, obj, "peer", peer, sizeof(peer)) ?:
	      reader_uint(r, obj, "dimension", 0, s->table->plan.of.dims - 1, &dim) ?:
	      reader_uint(r, obj, "chunk", 0, s->table->plan.of.chunks - 1, &number) ?:
	      read_address(r, obj, &start) ?:
	      reader_uint(r, obj, "length", 1, CHUNK_MAX_SIZE, &length);
	if (ret)
		return ret;
	chunk = &s->table->chunks[number];
	ret = reader_uint(r, obj, "stage", 0, chunk->nr_stages - 1, &stage);
	if (ret)
		return ret;
	if (addr_parse(peer, to->peer))
		return reader_invalid(r, "peer", "is not the address of a host");
	if (chunk->dimension[stage] != dim)
		return reader_invalid(r, "dimension", "%llu is not that of the chunk's stage", dim);
	if (!s->ifindex[dim])
		return reader_invalid(r, "dimension", "%llu has no device", dim);
	if (start + length < start)
		return reader_invalid(r, "length", "ends beyond 64 bits");
	to->ifindex = s->ifindex[dim];
	to->range = (struct rocesteer_range) { start, length, number, stage };
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct chunk_range *x = a, *y = b;
	int order = addr_compare(x->peer, y->peer);

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	if (order)
		return order;
	return (x->range.start > y->range.start) -
	       (x->range.start < y->range.start);
}

static bool overlap(const struct chunk_range *a, const struct chunk_range *b)
{
	return a->ifindex == b->ifindex && !addr_compare(a->peer, b->peer) &&
	       b->range.start - a->range.start < a->range.length;
}

static int sort_ranges(struct ranges *s)
{
	struct chunk_range *range = s->table->ranges;
	char peer[ADDR_STRLEN];
	size_t i;

	qsort(range, s->table->nr_ranges, sizeof(*range), compare_ranges);
	for (i = 1; i < s->table->nr_ranges; i++)
		if (overlap(&range[i - 1], &range[i]))
			return reader_invalid(&s->r, "ranges",
					      "those of %s overlap at 0x%llx",
					      addr_format(range[i].peer, peer),
					      range[i].range.start);
	return 0;
}

static int read_ranges(struct ranges *s, struct json_object *root)
{
	struct json_object *array, *obj;
	size_t n, i, mark;
	__u64 format;
	int ret;

	ret = reader_object(&s->r, root) ?:
	      reader_uint(&s->r, root, "format", FORMAT, FORMAT, &format) ?:
	      check_hash(&s->r, root, s->table->hash) ?:
	      read_devices(s, root) ?:
	      reader_array(&s->r, root, "ranges", 1, ROCESTEER_MAX_RANGES, &array, &n);
	if (ret)
		return ret;
	s->table->nr_ranges = n;
	s->table->ranges = calloc(n, sizeof(*s->table->ranges));
	if (!s->table->ranges)
		return -ENOMEM;
	for (i = 0; !ret && i < n; i++) {
		ret = reader_item(&s->r, "ranges", array, i, &obj, &mark) ?:
		      read_range(s, obj, &s->table->ranges[i]);
		if (!ret)
			reader_leave(&s->r, mark);
	}
	return ret ?: sort_ranges(s);
}

int chunk_table_read(struct chunk_table *table, const char *plan, const char *file, struct err *err)
{
	struct ranges s = { .r = { .file = file, .err = err }, .table = table };
	struct json_object *root;
	int ret;

	ret = chunk_plan_read(&table->plan, plan, err);
	if (ret)
		return ret;
	table->hash = chunk_plan_hash(&table->plan);
	table->chunks = calloc(table->plan.of.chunks, sizeof(*table->chunks));
	if (!table->chunks)
		return -ENOMEM;
	ret = chunk_classes(&table->plan, table->nr_classes, table->chunks) ?:
	      json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_ranges(&s, root);
	json_object_put(root);
	return ret;
}

void chunk_table_free(struct chunk_table *table)
{
	chunk_plan_free(&table->plan);
	free(table->chunks);
	free(table->ranges);
}
