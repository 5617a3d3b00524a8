// SPDX-License-Identifier: GPL-2.0
#include "cluster_addr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster_priv.h"

static struct json_object *at(struct json_object *array, struct json_object *i)
{
	return json_object_array_get_idx(array, json_object_get_int64(i));
}

static int check_leaf(struct reader *r, struct json_object *leaf, const struct slice_fabric *fabric)
{
	__u32 each = fabric->gpus_per_server;
	__u32 n = fabric->gpus_per_leaf / each, i;
	size_t mark;
	int ret;

	ret = reader_length(r, leaf, n);
	for (i = 0; !ret && i < n; i++) {
		mark = reader_enter_index(r, i);
		ret = reader_addrs(r, "", json_object_array_get_idx(leaf, i), each, NULL);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int check_nics(struct reader *r, struct json_object *nics, const struct slice_fabric *fabric)
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

/* Read the addresses by which a leaf knows the spines into @router. */
static int read_row(struct reader *r, struct json_object *row, __u32 n,
		    const __u32 *spines, __u8 (*router)[16], __u8 (*copy)[16])
{
	char text[ADDR_STRLEN];
	__u32 i, kept = 0;
	__u8 twice[16];
	int ret;

	ret = reader_addrs(r, "", row, n, router);
	if (ret)
		return ret;
	if (copy)
		memcpy(copy, router, n * sizeof(*copy));
	for (i = 0; i < n; i++)
		if (!spines || !i || spines[i] != spines[i - 1])
			memmove(router[kept++], router[i], sizeof(*router));
	ret = addr_find_twice((const __u8 (*)[16])router, kept, twice);
	return ret <= 0 ? ret : reader_invalid(r, "", "two spines have the router %s",
					       addr_format(twice, text));
}

static int read_rows(struct reader *r, struct json_object *array, __u32 leaves,
		     __u32 n, const __u32 *spines, __u8 (*routers)[16],
		     __u8 (*router)[16])
{
	size_t mark;
	__u32 i;
	int ret;

	ret = reader_length(r, array, leaves);
	for (i = 0; !ret && i < leaves; i++) {
		mark = reader_enter_index(r, i);
		ret = read_row(r, json_object_array_get_idx(array, i), n, spines,
			       router, routers ? routers + (size_t)i * n : NULL);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static bool is_by_leaf(struct json_object *routers)
{
	return json_object_get_type(routers) == json_type_array &&
	       json_object_get_type(json_object_array_get_idx(routers, 0)) ==
	       json_type_array;
}

int cluster_routers_read(struct reader *r, struct json_object *array,
			 __u32 leaves, __u32 n, const __u32 *spines,
			 __u8 (*routers)[16])
{
	size_t mark = reader_enter_key(r, "routers");
	__u8 (*router)[16] = calloc(n, sizeof(*router));
	__u32 i;
	int ret;

	if (!router)
		return -ENOMEM;
	if (is_by_leaf(array)) {
		ret = read_rows(r, array, leaves, n, spines, routers, router);
	} else {
		ret = read_row(r, array, n, spines, router, routers);
		for (i = 1; !ret && routers && i < leaves; i++)
			memcpy(routers + (size_t)i * n, routers, n * sizeof(*routers));
	}
	free(router);
	if (!ret)
		reader_leave(r, mark);
	return ret;
}

/* An address, or a list of addresses. */
static int check_addrs(struct reader *r, struct json_object *value)
{
	size_t n = 1;

	if (json_object_get_type(value) != json_type_array) {
		__u8 addr[16];

		if (json_object_get_type(value) == json_type_string &&
		    !addr_parse(json_object_get_string(value), addr))
			return 0;
		return reader_invalid(r, "",
				      "is neither the address of a host nor a list of these");
	}
	n = json_object_array_length(value);
	return n ? reader_addrs(r, "", value, n, NULL) :
		   reader_invalid(r, "", "is empty");
}

/* Addresses of interfaces, by router, then number of the link there. */
static int check_links(struct reader *r, const char *key, struct json_object *rows,
		       __u32 nr, __u32 links)
{
	size_t outer = reader_enter_key(r, key), mark, inner;
	int ret = reader_length(r, rows, nr);
	__u32 i, k;

	for (i = 0; !ret && i < nr; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		mark = reader_enter_index(r, i);
		ret = reader_length(r, row, links);
		for (k = 0; !ret && k < links; k++) {
			inner = reader_enter_index(r, k);
			ret = check_addrs(r, json_object_array_get_idx(row, k));
			if (!ret)
				reader_leave(r, inner);
		}
		if (!ret)
			reader_leave(r, mark);
	}
	if (!ret)
		reader_leave(r, outer);
	return ret;
}

/* To tell links apart, both of their ends are needed. */
static int check_ends(struct reader *r, struct json_object *root,
		      const struct slice_fabric *fabric, __u32 oxcs)
{
	struct json_object *leaves = member(root, "leaf_addrs");
	struct json_object *spines = member(root, "spine_addrs");
	__u32 uplinks = oxcs ?: fabric->spines * fabric->links_per_pair;

	if (!leaves && !spines)
		return 0;
	if (!leaves || !spines)
		return reader_invalid(r, leaves ? "spine_addrs" : "leaf_addrs",
				      "is missing beside %s",
				      leaves ? "leaf_addrs" : "spine_addrs");
	return check_links(r, "leaf_addrs", leaves, fabric->leaves, uplinks) ?:
	       check_links(r, "spine_addrs", spines, fabric->spines,
			   oxcs ?: fabric->leaves * fabric->links_per_pair);
}

int cluster_addr_check(struct reader *r, struct json_object *root,
		       const struct slice_fabric *fabric, __u32 oxcs)
{
	struct json_object *value;
	int ret = check_ends(r, root, fabric, oxcs);

	if (!ret && json_object_object_get_ex(root, "routers", &value))
		ret = cluster_routers_read(r, value, fabric->leaves, fabric->spines, NULL, NULL);
	if (!ret && json_object_object_get_ex(root, "nics", &value))
		ret = check_nics(r, value, fabric);
	return ret;
}

/* Addresses of a slice's spines, from the addresses of all spines. */
static void put_row(struct json_object *array, struct json_object *routers,
		    struct json_object *spines)
{
	size_t i;

	for (i = 0; i < json_object_array_length(spines); i++) {
		struct json_object *spine = json_object_array_get_idx(spines, i);

		json_object_array_add(array, json_object_get(at(routers, spine)));
	}
}

static void put_routers(struct json_object *routers, struct json_object *slice)
{
	struct json_object *spines = member(slice, "spines");
	struct json_object *leaves = member(slice, "leaves");
	struct json_object *array = out_array(slice, "routers");
	size_t i;

	if (!is_by_leaf(routers)) {
		put_row(array, routers, spines);
		return;
	}
	for (i = 0; i < json_object_array_length(leaves); i++)
		put_row(out_append_array(array),
			at(routers, json_object_array_get_idx(leaves, i)), spines);
}

static bool is_link(struct json_object *links, size_t i, __u32 leaf, __u32 spine)
{
	struct json_object *link = json_object_array_get_idx(links, i);

	return element_uint(link, 0) == leaf && element_uint(link, 1) == spine;
}

static void add_addr(struct json_object *array, struct json_object *from, __u32 i)
{
	json_object_array_add(array, json_object_get(element(from, i)));
}

/* Addresses of both ends of each link: of the first links of its pair, or by its OXC. */
static void put_ends(const struct cluster *c, struct json_object *slice)
{
	struct json_object *links = member(slice, "links"), *oxcs = member(slice, "oxcs");
	struct json_object *up = out_array(slice, "up"), *down = out_array(slice, "down");
	__u32 each = c->fabric.links_per_pair, nth = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);
		__u32 leaf = element_uint(link, 0), spine = element_uint(link, 1);
		__u32 above, below;

		nth = i && is_link(links, i - 1, leaf, spine) ? nth + 1 : 0;
		above = oxcs ? element_uint(oxcs, i) : leaf * each + nth % each;
		below = oxcs ? element_uint(oxcs, i) : spine * each + nth % each;
		add_addr(up, element(member(c->root, "spine_addrs"), spine), above);
		add_addr(down, element(member(c->root, "leaf_addrs"), leaf), below);
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
	if (member(c->root, "leaf_addrs"))
		put_ends(c, slice);
	for (i = 0; nics && i < json_object_array_length(servers); i++) {
		struct json_object *server, *own;

		server = json_object_array_get_idx(servers, i);
		own = at(at(nics, member(server, "leaf")), member(server, "server"));
		if (json_object_array_length(own) ==
		    (size_t)json_object_get_int64(member(server, "gpus")))
			json_object_object_add(server, "nics", json_object_get(own));
	}
}
