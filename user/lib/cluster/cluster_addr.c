// SPDX-License-Identifier: GPL-2.0
#include "cluster_addr.h"

#include "base/base.h"
#include "cluster_priv.h"

static struct json_object *at(struct json_object *array, struct json_object *i)
{
	return json_object_array_get_idx(array, json_object_get_int64(i));
}

static int check_leaf(struct reader *r, struct json_object *leaf,
		      const struct slice_fabric *fabric)
{
	__u32 each = fabric->gpus_per_server;
	__u32 n = fabric->gpus_per_leaf / each, i;
	size_t mark;
	int ret;

	ret = reader_length(r, leaf, n);
	for (i = 0; !ret && i < n; i++) {
		mark = reader_enter_index(r, i);
		ret = reader_addrs(r, "", json_object_array_get_idx(leaf, i),
				   each, NULL);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int check_nics(struct reader *r, struct json_object *nics,
		      const struct slice_fabric *fabric)
{
	size_t outer = reader_enter_key(r, "nics"), mark;
	__u32 i;
	int ret;

	ret = reader_length(r, nics, fabric->leaves);
	for (i = 0; !ret && i < fabric->leaves; i++) {
		mark = reader_enter_index(r, i);
		ret = check_leaf(r, json_object_array_get_idx(nics, i), fabric);
		if (!ret)
			reader_leave(r, mark);
	}
	if (!ret)
		reader_leave(r, outer);
	return ret;
}

int cluster_addr_check(struct reader *r, struct json_object *root,
		       const struct slice_fabric *fabric)
{
	struct json_object *value;
	int ret = 0;

	if (json_object_object_get_ex(root, "routers", &value))
		ret = reader_addrs(r, "routers", value, fabric->spines, NULL);
	if (!ret && json_object_object_get_ex(root, "nics", &value))
		ret = check_nics(r, value, fabric);
	return ret;
}

static void put_routers(struct json_object *routers, struct json_object *slice)
{
	struct json_object *spines = member(slice, "spines"), *array;
	size_t i;

	array = out_array(slice, "routers");
	for (i = 0; i < json_object_array_length(spines); i++) {
		struct json_object *spine = json_object_array_get_idx(spines, i);

		json_object_array_add(array,
				      json_object_get(at(routers, spine)));
	}
}

void cluster_addr_put(const struct cluster *c, struct json_object *slice)
{
	struct json_object *routers = member(c->root, "routers");
	struct json_object *nics = member(c->root, "nics");
	struct json_object *servers = member(slice, "servers");
	size_t i;

	if (routers)
		put_routers(routers, slice);
	for (i = 0; nics && i < json_object_array_length(servers); i++) {
		struct json_object *server, *own;

		server = json_object_array_get_idx(servers, i);
		own = at(at(nics, member(server, "leaf")),
			 member(server, "server"));
		if (json_object_array_length(own) ==
		    (size_t)json_object_get_int64(member(server, "gpus")))
			json_object_object_add(server, "nics",
					       json_object_get(own));
	}
}
