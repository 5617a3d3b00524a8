// SPDX-License-Identifier: GPL-2.0
#include "reduction.h"

#include <errno.h>
#include <rocesteer/label.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "netreduce.h"
#include "portmap/portmap.h"

#define MAX_SIZE	(16u << 20)	/* 64 groups of 64 ranks need 300 KiB */
#define MAX_DEPTH	8		/* the format needs 5 */
#define MAX_SWITCH	65535

static int read_rank(struct reader *r, struct json_object *obj, struct group_rank *rank)
{
	__u64 leaf;
	int ret;

	ret = reader_addr(r, obj, "address", rank->address) ?:
	      reader_uint(r, obj, "leaf", 0, MAX_SWITCH, &leaf);
	if (ret)
		return ret;
	rank->leaf = leaf;
	return json_object_object_get_ex(obj, "router", NULL) ?
	       reader_addr(r, obj, "router", rank->router) : 0;
}

static int read_ranks(struct reader *r, struct json_object *obj, __u32 ranks,
		      struct group *group)
{
	struct json_object *array;
	size_t n, mark;
	int ret;

	ret = reader_get(r, obj, "ranks", json_type_array, &array);
	if (ret)
		return ret;
	n = json_object_array_length(array);
	if (n != ranks)
		return reader_invalid(r, "ranks", "has %zu entries; by --dims there are %u ranks",
				      n, ranks);
	for (; group->ranks < ranks; group->ranks++) {
		struct group_rank *rank = &group->rank[group->ranks];

		mark = reader_enter(r, "ranks", group->ranks);
		ret = read_rank(r, json_object_array_get_idx(array, group->ranks), rank);
		if (ret)
			return ret;
		if (group->ranks && rank->leaf < rank[-1].leaf)
			return reader_invalid(r, "leaf", "%u is below that of the rank before",
					      rank->leaf);
		reader_leave(r, mark);
	}
	return 0;
}

/* Where leaves meet. */
static int read_root(struct reader *r, struct json_object *obj, struct group *group)
{
	bool one = group->rank[0].leaf == group->rank[group->ranks - 1].leaf;
	__u64 root = GROUP_NO_ROOT;
	int ret = 0;

	if (json_object_object_get_ex(obj, "root", NULL))
		ret = reader_uint(r, obj, "root", 0, MAX_SWITCH, &root);
	else if (!one)
		ret = reader_invalid(r, "root", "is missing: the ranks have more than one leaf");
	group->root = root;
	return ret;
}

static int read_group(struct reader *r, struct json_object *obj, __u32 ranks,
		      struct group *group)
{
	__u64 number, mtu, packets, window;
	int ret;

	ret = reader_uint(r, obj, "group", 0, GROUP_MAX, &number) ?:
	      reader_uint(r, obj, "mtu", 256, 4096, &mtu) ?:
	      reader_uint(r, obj, "packets", 1, GROUP_PACKETS, &packets) ?:
	      reader_uint(r, obj, "window", 1, GROUP_PACKETS / packets, &window);
	if (ret)
		return ret;
	if (mtu & (mtu - 1))
		return reader_invalid(r, "mtu", "%llu is not one of 256, 512, 1024, 2048, 4096",
				      mtu);
	group->planned = true;
	group->number = number;
	group->mtu = mtu;
	group->packets = packets;
	group->window = window;
	ret = read_ranks(r, obj, ranks, group) ?: read_root(r, obj, group);
	if (!ret)
		group_find_switches(group);
	return ret;
}

static int read_all(struct reader *r, struct json_object *root, __u32 ranks,
		    struct reduction *groups)
{
	struct json_object *array;
	size_t n, mark;
	__u64 format;
	__u32 i;
	int ret;

	ret = reader_uint(r, root, "format", 1, 1, &format) ?:
	      reader_get(r, root, "groups", json_type_array, &array);
	if (ret)
		return ret;
	n = json_object_array_length(array);
	if (!n || n > REDUCTION_GROUPS)
		return reader_invalid(r, "groups", "has %zu entries, not 1 to %u", n,
				      REDUCTION_GROUPS);
	groups->group = calloc(n, sizeof(*groups->group));
	if (!groups->group)
		return -ENOMEM;
	for (; groups->nr < n; groups->nr++) {
		struct group *group = &groups->group[groups->nr];

		mark = reader_enter(r, "groups", groups->nr);
		ret = read_group(r, json_object_array_get_idx(array, groups->nr), ranks, group);
		for (i = 0; !ret && i < groups->nr; i++)
			if (groups->group[i].number == group->number)
				ret = reader_invalid(r, "group", "%u is that of groups[%u] too",
						     group->number, i);
		if (ret)
			return ret;
		reader_leave(r, mark);
	}
	return 0;
}

int reduction_read(const char *file, __u32 ranks, struct reduction *groups, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root;
	int ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);

	if (ret)
		return ret;
	ret = read_all(&r, root, ranks, groups);
	json_object_put(root);
	return ret;
}

int reduction_single(__u32 number, __u32 packets, const __u8 box[16], __u32 ranks,
		     struct reduction *groups)
{
	groups->group = calloc(1, sizeof(*groups->group));
	if (!groups->group)
		return -ENOMEM;
	groups->nr = 1;
	*groups->group = (struct group) {
		.number = number,
		.root = GROUP_NO_ROOT,
		.packets = packets,
		.window = NETREDUCE_WINDOW,
		.ranks = ranks,
	};
	memcpy(groups->group->box, box, sizeof(groups->group->box));
	group_find_switches(groups->group);
	return 0;
}

void reduction_free(struct reduction *groups)
{
	free(groups->group);
}

__u64 reduction_hash(const struct reduction *groups)
{
	__u64 hash = FNV1A_NONE;
	__u32 i, k;

	for (i = 0; i < groups->nr; i++) {
		const struct group *group = &groups->group[i];
		const __u32 numbers[] = { group->number, group->planned, group->root, group->mtu,
					  group->packets, group->window };

		hash = fnv1a(hash, numbers, sizeof(numbers));
		for (k = 0; k < group->ranks; k++) {
			const struct group_rank *rank = &group->rank[k];

			hash = fnv1a(hash, rank->address, sizeof(rank->address));
			hash = fnv1a(hash, rank->router, sizeof(rank->router));
			hash = fnv1a(hash, &rank->leaf, sizeof(rank->leaf));
		}
	}
	return hash;
}

static bool has_router(const struct group *group, __u32 rank)
{
	return !addr_is_none(group->rank[rank].router);
}

bool reduction_have_routers(const struct reduction *groups)
{
	__u32 i, rank;

	for (i = 0; i < groups->nr; i++)
		for (rank = 0; rank < groups->group[i].ranks; rank++)
			if (has_router(&groups->group[i], rank))
				return true;
	return false;
}

static const struct portmap_peer *find_peer(const struct portmap *map, const __u8 source[16],
					    const __u8 address[16])
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!addr_compare(map->peers[i].addr, address) &&
		    !addr_compare(map->peers[i].source, source))
			return &map->peers[i];
	return NULL;
}

static int find_label(const struct group *group, __u32 rank, const struct portmap *map,
		      const char *file, __u32 *label, struct err *err)
{
	const __u8 *to = group->rank[(rank + 1) % group->ranks].address;
	const __u8 *router = group->rank[rank].router;
	const __u8 *from = group->rank[rank].address;
	char text[ADDR_STRLEN], by[ADDR_STRLEN];
	const struct portmap_peer *peer = find_peer(map, from, to);
	unsigned int i;

	addr_format(to, text);
	if (!peer)
		return err_set(err, EXIT_BAD_INPUT, "no-peer",
			       "%s: there is no peer %s of the source %s, the rank after %u in group %u",
			       file, text, addr_format(from, by), rank, group->number);
	for (i = 0; i < peer->nr_paths; i++)
		if (!addr_compare(peer->paths[i].router, router)) {
			*label = rocesteer_label_of(peer->paths[i].ports[0]);
			return 0;
		}
	return err_set(err, EXIT_BAD_INPUT, "no-path",
		       "%s: no path to %s has the router %s, as rank %u needs in group %u", file,
		       text, addr_format(router, by), rank, group->number);
}

int reduction_labels(const struct reduction *groups, __u32 rank, const char *file,
		     __u32 label[REDUCTION_GROUPS], struct err *err)
{
	struct portmap map = {};
	int ret = 0;
	__u32 i;

	for (i = 0; !ret && i < groups->nr; i++) {
		label[i] = 0;
		if (!has_router(&groups->group[i], rank))
			continue;
		if (!map.nr_peers)
			ret = portmap_read(file, &map, err);
		ret = ret ?: find_label(&groups->group[i], rank, &map, file, &label[i], err);
	}
	if (map.nr_peers)
		portmap_free(&map);
	return ret;
}

__u64 reduction_share(__u64 bytes, __u32 parts, __u64 message, __u32 packet)
{
	__u64 share = bytes / parts, unit = message;

	if (parts == 1)
		return bytes;
	if (share / 16 < unit)
		unit = packet;
	if (share / 16 < unit)
		unit = ELEMENT;
	return (share + unit / 2) / unit * unit;
}
