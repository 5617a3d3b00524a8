// SPDX-License-Identifier: GPL-2.0
/* The names that a workload manager has for servers. */
#include <string.h>

#include "base/base.h"
#include "cluster_priv.h"

#define MAX_NAME	255	/* bytes */

/* A server's name, or null. */
static int read_node(struct cluster *c, struct reader *r,
		     struct json_object *value, __u32 leaf, __u32 server)
{
	const char *name = json_object_get_string(value);
	struct json_object *place;
	size_t len;

	if (!value)
		return 0;
	len = json_object_get_string_len(value);
	if (json_object_get_type(value) != json_type_string || !len ||
	    len > MAX_NAME || strlen(name) != len || strpbrk(name, "\n ,"))
		return reader_invalid(r, "", "is not the name of a node");
	if (json_object_object_get_ex(c->nodes, name, &place))
		return reader_invalid(r, "", "nodes[%u][%u] has the same name",
				      element_uint(place, 0),
				      element_uint(place, 1));
	place = out_array(c->nodes, name);
	out_append_uint(place, leaf);
	out_append_uint(place, server);
	return 0;
}

int cluster_read_nodes(struct cluster *c, struct reader *r)
{
	__u32 servers = c->fabric.gpus_per_leaf / c->fabric.gpus_per_server;
	struct json_object *nodes, *row;
	__u32 leaf, v;
	size_t outer, inner;
	int ret;

	if (!json_object_object_get_ex(c->root, "nodes", &nodes))
		return 0;
	c->nodes = out_root();
	reader_enter_key(r, "nodes");
	ret = reader_length(r, nodes, c->fabric.leaves);
	for (leaf = 0; !ret && leaf < c->fabric.leaves; leaf++) {
		row = element(nodes, leaf);
		outer = reader_enter_index(r, leaf);
		ret = reader_length(r, row, servers);
		for (v = 0; !ret && v < servers; v++) {
			inner = reader_enter_index(r, v);
			ret = read_node(c, r, element(row, v), leaf, v);
			reader_leave(r, inner);
		}
		reader_leave(r, outer);
	}
	reader_leave(r, 0);
	return ret;
}

bool cluster_find_node(const struct cluster *c, const char *name, __u32 *leaf, __u32 *server)
{
	struct json_object *place;

	if (!c->nodes || !json_object_object_get_ex(c->nodes, name, &place))
		return false;
	*leaf = element_uint(place, 0);
	*server = element_uint(place, 1);
	return true;
}
