// SPDX-License-Identifier: GPL-2.0
#include "join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The spine by which an entry of a leaf is reached. */
struct entry {
	__u8 addr[16];
	__u8 router[16];
};

/* Key of a link; @address is the entry, or the spine where nobody knows the entry. */
struct link_key {
	__u64 down;
	__u64 leaf;
	__u8 address[16];
};

struct link {
	struct link_key key;
	size_t number;
};

/* The entry of a leaf from a spine. */
struct way {
	__u64 spine;
	__u64 leaf;
	__u8 entry[16];
};

/**
 * struct work - joining
 * @join: result
 * @entries: set of struct entry
 * @ways: set of struct way
 * @links: set of struct link
 */
struct work {
	struct report_join *join;
	struct set entries;
	struct set ways;
	struct set links;
};

/* Does each path of the group enter the leaf by an address of its own? */
static bool has_entries(const struct recording_group *group)
{
	__u32 i, k;

	for (i = 0; i < group->nr_paths; i++) {
		if (addr_is_none(group->path[i].entry))
			return false;
		for (k = 0; k < i; k++)
			if (!addr_compare(group->path[i].entry, group->path[k].entry))
				return false;
	}
	return true;
}

static const __u8 *own_address(const struct recording_group *group)
{
	return addr_is_none(group->via) ? group->source : group->via;
}

/* Join the addresses by which other hosts know the leaf of this host. */
static int join_own(struct report_join *join, const struct recording_group *own)
{
	size_t r, i;
	int ret = report_leaves_join(&join->leaves, own_address(own), own_address(own));

	for (r = 0; !ret && r < join->nr; r++) {
		const struct recording *other = &join->recording[r];

		for (i = 0; !ret && i < other->nr_flows; i++)
			if (!addr_compare(other->flow[i].peer, own->source))
				ret = report_leaves_join(&join->leaves, own_address(own),
							 other->group[other->flow[i].group].leaf);
	}
	return ret;
}

static int join_leaves(struct report_join *join, const struct recording_group *group)
{
	int ret = report_leaves_join(&join->leaves, group->leaf, group->leaf);
	__u32 p;

	for (p = 0; !ret && p < group->nr_paths; p++)
		if (!addr_is_none(group->path[p].entry))
			ret = report_leaves_join(&join->leaves, group->leaf, group->path[p].entry);
	return ret;
}

static int join_spines(struct work *w, const struct recording_group *group)
{
	struct report_leaves *spines = &w->join->spines;
	bool tell = has_entries(group);
	struct entry *entry;
	int ret = 0;
	__u32 p;

	for (p = 0; !ret && p < group->nr_paths; p++) {
		const struct recording_path *path = &group->path[p];

		ret = report_leaves_join(spines, path->router, path->router);
		if (ret || !tell)
			continue;
		entry = set_get(&w->entries, path->entry, 16, sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		if (addr_is_none(entry->router))
			memcpy(entry->router, path->router, 16);
		ret = report_leaves_join(spines, path->router, entry->router);
	}
	return ret;
}

typedef int group_fn(struct work *w, const struct recording_group *group);

static int walk_groups(struct work *w, group_fn *fn)
{
	size_t r, i;
	int ret = 0;

	for (r = 0; r < w->join->nr; r++)
		for (i = 0; !ret && i < w->join->recording[r].nr_groups; i++)
			ret = fn(w, &w->join->recording[r].group[i]);
	return ret;
}

static int join_group(struct work *w, const struct recording_group *group)
{
	return join_leaves(w->join, group) ?: join_spines(w, group);
}

/* Devices of a host have a leaf each, and one source: the groups of one are alike. */
static int join_hosts(struct work *w)
{
	size_t r, i;
	int ret = 0;

	for (r = 0; r < w->join->nr; r++) {
		const struct recording *recording = &w->join->recording[r];

		for (i = 0; !ret && i < recording->nr_groups; i++)
			if (!i || addr_compare(recording->group[i].source,
					       recording->group[i - 1].source))
				ret = join_own(w->join, &recording->group[i]);
	}
	return ret;
}

static int name_leaf(struct work *w, const struct recording_group *group)
{
	const __u8 **name = &w->join->leaf_name[report_leaves_find(&w->join->leaves, group->leaf)];

	if (!*name || addr_compare(group->leaf, *name) < 0)
		*name = group->leaf;
	return 0;
}

static int name_leaves(struct work *w)
{
	struct report_join *join = w->join;
	size_t i;

	join->leaf_name = calloc(join->leaves.nr ?: 1, sizeof(__u8 *));
	if (!join->leaf_name)
		return -ENOMEM;
	walk_groups(w, name_leaf);
	for (i = 0; i < join->leaves.nr; i++)
		join->leaf_name[i] = join->leaf_name[i] ?: join->leaves.leaves[i];
	return 0;
}

static int note_ways(struct work *w, const struct recording_group *group)
{
	size_t leaf = report_leaves_find(&w->join->leaves, group->leaf);
	__u32 p;

	for (p = 0; has_entries(group) && p < group->nr_paths; p++) {
		const __u8 *router = group->path[p].router;
		__u64 key[2] = { report_leaves_find(&w->join->spines, router), leaf };
		struct way *way = set_get(&w->ways, key, sizeof(key), sizeof(*way));

		if (!way)
			return -ENOMEM;
		memcpy(way->entry, group->path[p].entry, 16);
	}
	return 0;
}

/* The number of a link, which is added where it is new; REPORT_NO_LEAF without memory. */
static size_t link_number(struct work *w, bool down, size_t leaf, size_t spine,
			  const __u8 address[16])
{
	struct link_key key = { .down = down, .leaf = leaf };
	struct report_join *join = w->join;
	struct report_link *bigger;
	struct link *link;

	memcpy(key.address, address, 16);
	link = set_find(&w->links, &key, sizeof(key));
	if (link)
		return link->number;
	bigger = reallocarray(join->link, join->nr_links + 1, sizeof(*bigger));
	if (!bigger)
		return REPORT_NO_LEAF;
	join->link = bigger;
	link = set_get(&w->links, &key, sizeof(key), sizeof(*link));
	if (!link)
		return REPORT_NO_LEAF;
	link->number = join->nr_links;
	bigger[join->nr_links] = (struct report_link) {
		.down = down, .leaf = leaf, .spine = spine,
		.share = { .choice = 2 * leaf + down },
	};
	memcpy(bigger[join->nr_links].address, address, 16);
	return join->nr_links++;
}

static size_t down_link(struct work *w, const struct recording_group *group, __u32 p,
			size_t leaf, size_t spine)
{
	const __u8 *address = group->path[p].entry;
	__u64 key[2] = { spine, leaf };
	const struct way *way;

	if (!has_entries(group)) {
		way = set_find(&w->ways, key, sizeof(key));
		address = way ? way->entry : w->join->spines.leaves[spine];
	}
	return link_number(w, true, leaf, spine, address);
}

static void count(struct report_link *link, const struct recording_path *path)
{
	link->share.bytes += path->sent.bytes;
	link->share.flows += path->flows;
	link->share.up |= path->up;
	link->packets += path->sent.packets;
	link->rounds += path->sent.rounds;
	link->cnps += path->cnps;
}

static int add_group(struct work *w, struct report_group *to)
{
	const struct recording_group *group = to->group;
	struct report_join *join = w->join;
	size_t spine;
	__u32 p;

	to->own = report_leaves_find(&join->leaves, own_address(group));
	to->leaf = report_leaves_find(&join->leaves, group->leaf);
	for (p = 0; p < group->nr_paths; p++) {
		spine = report_leaves_find(&join->spines, group->path[p].router);
		to->up[p] = link_number(w, false, to->own, spine, group->path[p].router);
		to->down[p] = down_link(w, group, p, to->leaf, spine);
		if (to->up[p] == REPORT_NO_LEAF || to->down[p] == REPORT_NO_LEAF)
			return -ENOMEM;
		count(&join->link[to->up[p]], &group->path[p]);
		count(&join->link[to->down[p]], &group->path[p]);
	}
	return 0;
}

static int add_groups(struct work *w)
{
	struct report_join *join = w->join;
	size_t r, i, nr = 0;
	int ret = 0;

	for (r = 0; r < join->nr; r++)
		nr += join->recording[r].nr_groups;
	join->group = calloc(nr ?: 1, sizeof(*join->group));
	if (!join->group)
		return -ENOMEM;
	for (r = 0; r < join->nr; r++) {
		for (i = 0; !ret && i < join->recording[r].nr_groups; i++) {
			struct report_group *group = &join->group[join->nr_groups++];

			group->recording = &join->recording[r];
			group->group = &join->recording[r].group[i];
			ret = add_group(w, group);
		}
	}
	return ret;
}

int report_join(struct report_join *join, const struct recording *recording, size_t nr)
{
	struct work w = { .join = join };
	int ret;

	*join = (struct report_join) { .recording = recording, .nr = nr };
	ret = walk_groups(&w, join_group) ?: join_hosts(&w) ?:
	      report_leaves_number(&join->leaves) ?: report_leaves_number(&join->spines);
	if (!ret && 2 * join->leaves.nr > REPORT_CHOICES_MAX)
		ret = -E2BIG;
	ret = ret ?: name_leaves(&w) ?: walk_groups(&w, note_ways) ?: add_groups(&w);
	set_clear(&w.entries, free);
	set_clear(&w.ways, free);
	set_clear(&w.links, free);
	return ret;
}

void report_join_free(struct report_join *join)
{
	report_leaves_clear(&join->leaves);
	report_leaves_clear(&join->spines);
	free(join->leaf_name);
	free(join->link);
	free(join->group);
}
