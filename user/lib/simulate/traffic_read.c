// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "base/base.h"
#include "fabric.h"
#include "traffic.h"

#define MAX_SIZE	(256u << 20)
#define MAX_DEPTH	8
#define MAX_STEP	65535u
#define MAX_BYTES	0x4000000000000ull
#define MAX_WAYS	1024u		/* of a flow */

/**
 * struct reading - flows that are read
 * @r: where
 * @shape: fabric
 * @traffic: result
 * @way_room: room of its ways
 */
struct reading {
	struct reader *r;
	const struct sim_shape *shape;
	struct sim_traffic *traffic;
	size_t way_room;
};

static int add_way(struct reading *reading, const struct sim_way *way)
{
	struct sim_traffic *traffic = reading->traffic;
	size_t room = reading->way_room ? 2 * reading->way_room : 1024;
	struct sim_way *more;

	if (traffic->nr_ways == reading->way_room) {
		more = reallocarray(traffic->way, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		traffic->way = more;
		reading->way_room = room;
	}
	traffic->way[traffic->nr_ways++] = *way;
	return 0;
}

static int read_ways(struct reading *reading, struct json_object *obj, struct sim_flow *flow)
{
	struct json_object *array, *item;
	size_t n, i, mark;
	int ret;

	if (!json_object_object_get_ex(obj, "paths", NULL))
		return 0;
	if (sim_leaf(reading->shape, flow->from) == sim_leaf(reading->shape, flow->to))
		return reader_invalid(reading->r, "paths",
				      "is for hosts below different leaves, %u and %u are below one",
				      flow->from, flow->to);
	flow->first_way = reading->traffic->nr_ways;
	ret = reader_array(reading->r, obj, "paths", 1, MAX_WAYS, &array, &n);
	for (i = 0; !ret && i < n; i++) {
		__u32 paths = sim_paths(reading->shape, flow->from, flow->to);
		__u64 path = 0, bytes = 0;

		ret = reader_item(reading->r, "paths", array, i, &item, &mark) ?:
		      reader_uint(reading->r, item, "path", 0, paths - 1, &path) ?:
		      reader_uint(reading->r, item, "bytes", 1, MAX_BYTES, &bytes) ?:
		      add_way(reading, &(struct sim_way) { path, bytes });
		reader_leave(reading->r, mark);
		flow->nr_ways++;
	}
	return ret;
}

static int read_flow(struct reading *reading, struct json_object *obj, struct sim_flow *flow)
{
	__u64 hosts = sim_hosts(reading->shape), from = 0, to = 0, step = 0, bytes = 0;
	struct reader *r = reading->r;
	int ret;

	ret = reader_uint(r, obj, "from", 0, hosts - 1, &from) ?:
	      reader_uint(r, obj, "to", 0, hosts - 1, &to) ?:
	      reader_uint(r, obj, "bytes", 1, MAX_BYTES, &bytes);
	if (!ret && from == to)
		ret = reader_invalid(r, "to", "%llu is the sender of the flow as well", to);
	if (!ret && json_object_object_get_ex(obj, "step", NULL))
		ret = reader_uint(r, obj, "step", 0, MAX_STEP, &step);
	*flow = (struct sim_flow) { .from = from, .to = to, .step = step, .bytes = bytes };
	return ret ?: read_ways(reading, obj, flow);
}

static int read_flows(struct reading *reading, struct json_object *root)
{
	struct sim_traffic *traffic = reading->traffic;
	struct json_object *array, *flow;
	size_t mark;
	int ret;

	ret = reader_object(reading->r, root) ?:
	      reader_array(reading->r, root, "flows", 1, SIM_MAX_FLOWS, &array, &traffic->nr);
	if (ret)
		return ret;
	traffic->flow = calloc(traffic->nr, sizeof(*traffic->flow));
	if (!traffic->flow)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < traffic->nr; i++) {
		ret = reader_item(reading->r, "flows", array, i, &flow, &mark) ?:
		      read_flow(reading, flow, &traffic->flow[i]);
		reader_leave(reading->r, mark);
	}
	if (!ret)
		sim_traffic_order(traffic);
	return ret;
}

int sim_traffic_read(struct sim_traffic *traffic, const char *file, const struct sim_shape *shape,
		     struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct reading reading = { .r = &r, .shape = shape, .traffic = traffic };
	struct json_object *root;
	int ret;

	*traffic = (struct sim_traffic) {};
	ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_flows(&reading, root);
	json_object_put(root);
	return ret;
}
