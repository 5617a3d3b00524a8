// SPDX-License-Identifier: GPL-2.0
#include "reduction.h"

#include <errno.h>
#include <rocesteer/label.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/layout.h"
#include "portmap/portmap.h"

#define MAX_SIZE	(16u << 20)	/* 64 groups of 64 ranks need 300 KiB */
#define MAX_DEPTH	8		/* the format needs 5 */

static int read_group(struct reader *r, struct json_object *obj, __u32 ranks, struct group *group)
{
	int ret = reduce_config_read(r, obj, &group->config);

	if (ret)
		return ret;
	if (group->config.nr_ranks != ranks)
		return reader_invalid(r, "ranks", "has %u entries; by --dims there are %u ranks",
				      group->config.nr_ranks, ranks);
	group->planned = true;
	group_find_switches(group);
	return 0;
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
	      reader_array(r, root, "groups", 1, REDUCTION_GROUPS, &array, &n);
	if (ret)
		return ret;
	groups->group = calloc(n, sizeof(*groups->group));
	if (!groups->group)
		return -ENOMEM;
	for (; groups->nr < n; groups->nr++) {
		struct group *group = &groups->group[groups->nr];

		mark = reader_enter(r, "groups", groups->nr);
		ret = read_group(r, json_object_array_get_idx(array, groups->nr), ranks, group);
		for (i = 0; !ret && i < groups->nr; i++)
			if (groups->group[i].config.id == group->config.id)
				ret = reader_invalid(r, "group", "%u is that of groups[%u] too",
						     group->config.id, i);
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
	group_init(groups->group, number, packets, box, ranks);
	return 0;
}

void reduction_free(struct reduction *groups)
{
	free(groups->group);
}

__u64 reduction_hash(const struct reduction *groups)
{
	__u64 hash = FNV1A_NONE;
	__u32 i;

	for (i = 0; i < groups->nr; i++) {
		struct json_object *root = out_root();
		const char *text;

		reduce_config_put(root, &groups->group[i].config);
		text = json_object_to_json_string(root);
		hash = fnv1a(hash, text, strlen(text));
		json_object_put(root);
	}
	return hash;
}

static bool has_router(const struct group *group, __u32 rank)
{
	return !addr_is_none(group->config.rank[rank].router);
}

bool reduction_have_routers(const struct reduction *groups)
{
	__u32 i, rank;

	for (i = 0; i < groups->nr; i++)
		for (rank = 0; rank < groups->group[i].config.nr_ranks; rank++)
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
	const struct reduce_config *config = &group->config;
	const __u8 *to = config->rank[(rank + 1) % config->nr_ranks].address;
	const __u8 *router = config->rank[rank].router;
	const __u8 *from = config->rank[rank].address;
	char text[ADDR_STRLEN], by[ADDR_STRLEN];
	const struct portmap_peer *peer = find_peer(map, from, to);
	unsigned int i;

	addr_format(to, text);
	if (!peer)
		return err_set(err, EXIT_BAD_INPUT, "no-peer",
			       "%s: there is no peer %s of the source %s, the rank after %u in group %u",
			       file, text, addr_format(from, by), rank, config->id);
	for (i = 0; i < peer->nr_paths; i++)
		if (!addr_compare(peer->paths[i].router, router)) {
			*label = rocesteer_label_of(peer->paths[i].ports[0]);
			return 0;
		}
	return err_set(err, EXIT_BAD_INPUT, "no-path",
		       "%s: no path to %s has the router %s, as rank %u needs in group %u", file,
		       text, addr_format(router, by), rank, config->id);
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
