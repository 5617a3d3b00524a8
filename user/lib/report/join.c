// SPDX-License-Identifier: GPL-2.0
#include "join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The spine by which an entry of a leaf is reached, or the core by which one of an agg is. */
struct entry {
	struct {
		__u64 tier;
		__u8 addr[16];
	} key;
	__u8 router[16];
};

/* Key of a link; @address is as in struct report_link. */
struct link_key {
	struct report_router from;
	struct report_router to;
	__u8 address[16];
};

struct link {
	struct link_key key;
	size_t number;
};

/* The entry of a leaf from the router before it. */
struct way {
	struct report_router ends[2];
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

/* Two addresses that are known, and alike */
static bool is_same(const __u8 a[16], const __u8 b[16])
{
	return !addr_is_none(a) && !addr_compare(a, b);
}

/*
 * Does the address by which a path of the group enters the leaf tell from which router? Behind
 * cores, paths by one agg of our pod are by one agg of the other, and share its address.
 */
static bool has_entries(const struct recording_group *group)
{
	__u32 i, k;

	for (i = 0; i < group->nr_paths; i++) {
		if (addr_is_none(group->path[i].entry))
			return false;
		for (k = 0; k < i; k++)
			if (!addr_compare(group->path[i].entry, group->path[k].entry) &&
			    !(group->cores && is_same(group->path[i].via, group->path[k].via)))
				return false;
	}
	return true;
}

/* Does an agg behind several cores have an address for each of them? */
static bool has_behinds(const struct recording_group *group)
{
	bool several = false;
	__u32 i, k;

	for (i = 0; i < group->nr_paths; i++) {
		if (addr_is_none(group->path[i].behind))
			return false;
		for (k = 0; k < i; k++) {
			if (!addr_compare(group->path[i].behind, group->path[k].behind))
				return false;
			several |= is_same(group->path[i].via, group->path[k].via);
		}
	}
	return several;
}

static const __u8 *own_address(const struct recording_group *group)
{
	return addr_is_none(group->via) ? group->source : group->via;
}

/* Join the addresses by which other hosts know the leaf of this host. */
static int join_own(struct report_join *join, const struct recording_group *own)
{
	struct report_leaves *leaves = &join->routers[REPORT_LEAF];
	size_t r, i;
	int ret = report_leaves_join(leaves, own_address(own), own_address(own));

	for (r = 0; !ret && r < join->nr; r++) {
		const struct recording *other = &join->recording[r];

		for (i = 0; !ret && i < other->nr_flows; i++)
			if (!addr_compare(other->flow[i].peer, own->source))
				ret = report_leaves_join(leaves, own_address(own),
							 other->group[other->flow[i].group].leaf);
	}
	return ret;
}

static int join_leaves(struct report_join *join, const struct recording_group *group)
{
	struct report_leaves *leaves = &join->routers[REPORT_LEAF];
	int ret = report_leaves_join(leaves, group->leaf, group->leaf);
	__u32 p;

	for (p = 0; !ret && p < group->nr_paths; p++)
		if (!addr_is_none(group->path[p].entry))
			ret = report_leaves_join(leaves, group->leaf, group->path[p].entry);
	return ret;
}

/* Add an address of a router to its tier. If @entry is, the router alone leads to this address. */
static int join_router(struct work *w, enum report_tier tier, const __u8 router[16],
		       const __u8 *entry)
{
	struct report_leaves *routers = &w->join->routers[tier];
	struct entry find = { .key.tier = tier }, *found;
	int ret = report_leaves_join(routers, router, router);

	if (ret || !entry)
		return ret;
	memcpy(find.key.addr, entry, 16);
	found = set_get(&w->entries, &find.key, sizeof(find.key), sizeof(*found));
	if (!found)
		return -ENOMEM;
	if (addr_is_none(found->router))
		memcpy(found->router, router, 16);
	return report_leaves_join(routers, router, found->router);
}

static int join_routers(struct work *w, const struct recording_group *group)
{
	bool entries = has_entries(group), behinds = group->cores && has_behinds(group);
	int ret = 0;
	__u32 p;

	for (p = 0; !ret && p < group->nr_paths; p++) {
		const struct recording_path *path = &group->path[p];
		const __u8 *entry = entries ? path->entry : NULL;

		if (!group->cores) {
			ret = join_router(w, REPORT_SPINE, path->router, entry);
			continue;
		}
		if (!addr_is_none(path->via))
			ret = join_router(w, REPORT_SPINE, path->via, NULL);
		if (!ret && !addr_is_none(path->behind))
			ret = join_router(w, REPORT_SPINE, path->behind, entry);
		ret = ret ?: join_router(w, REPORT_CORE, path->router,
					 behinds ? path->behind : NULL);
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
	return join_leaves(w->join, group) ?: join_routers(w, group);
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
	const struct report_leaves *leaves = &w->join->routers[REPORT_LEAF];
	const __u8 **name = &w->join->leaf_name[report_leaves_find(leaves, group->leaf)];

	if (!*name || addr_compare(group->leaf, *name) < 0)
		*name = group->leaf;
	return 0;
}

static int name_leaves(struct work *w)
{
	struct report_join *join = w->join;
	const struct report_leaves *leaves = &join->routers[REPORT_LEAF];
	size_t i;

	join->leaf_name = calloc(leaves->nr ?: 1, sizeof(__u8 *));
	if (!join->leaf_name)
		return -ENOMEM;
	walk_groups(w, name_leaf);
	for (i = 0; i < leaves->nr; i++)
		join->leaf_name[i] = join->leaf_name[i] ?: leaves->leaves[i];
	return 0;
}

static struct report_router router_of(const struct work *w, enum report_tier tier,
				      const __u8 addr[16])
{
	return (struct report_router) { tier, report_leaves_find(&w->join->routers[tier], addr) };
}

/* Routers on a path, in their order, and the addresses by which the path enters them. */
struct walk {
	struct report_router router[REPORT_PATH_LINKS + 1];
	const __u8 *address[REPORT_PATH_LINKS + 1];
	unsigned int nr;
};

static void step(const struct work *w, struct walk *walk, enum report_tier tier,
		 const __u8 addr[16])
{
	walk->router[walk->nr] = router_of(w, tier, addr);
	walk->address[walk->nr++] = addr;
}

/* Aggs that are not known are left out. */
static struct walk walk_path(const struct work *w, const struct recording_group *group, __u32 p)
{
	const struct recording_path *path = &group->path[p];
	struct walk walk = {};

	step(w, &walk, REPORT_LEAF, own_address(group));
	if (group->cores && !addr_is_none(path->via))
		step(w, &walk, REPORT_SPINE, path->via);
	step(w, &walk, group->cores ? REPORT_CORE : REPORT_SPINE, path->router);
	if (group->cores && !addr_is_none(path->behind))
		step(w, &walk, REPORT_SPINE, path->behind);
	step(w, &walk, REPORT_LEAF, group->leaf);
	return walk;
}

static int note_ways(struct work *w, const struct recording_group *group)
{
	__u32 p;

	for (p = 0; has_entries(group) && p < group->nr_paths; p++) {
		struct walk walk = walk_path(w, group, p);
		struct way *way = set_get(&w->ways, &walk.router[walk.nr - 2],
					  sizeof(way->ends), sizeof(*way));

		if (!way)
			return -ENOMEM;
		memcpy(way->entry, group->path[p].entry, 16);
	}
	return 0;
}

/* By what the path enters its last router, as it is known there. */
static const __u8 *last_address(const struct work *w, const struct recording_group *group, __u32 p,
				const struct walk *walk)
{
	const struct report_router *ends = &walk->router[walk->nr - 2];
	const struct way *way;

	if (has_entries(group))
		return group->path[p].entry;
	way = set_find(&w->ways, ends, sizeof(way->ends));
	return way ? way->entry : w->join->routers[ends->tier].leaves[ends->number];
}

/* The number of what a switch chooses a link of: one up from its router, or down to its end. */
static __u32 choice_of(const struct report_link *link)
{
	bool down = report_link_is_down(link);
	const struct report_router *end = down ? &link->to : &link->from;
	bool over = link->from.tier != REPORT_SPINE && link->to.tier != REPORT_SPINE;

	return ((end->number * REPORT_TIERS + end->tier) * 2 + over) * 2 + down;
}

/* The number of a link, which is added where it is new; REPORT_NO_LINK without memory. */
static size_t link_number(struct work *w, const struct report_router *ends, const __u8 address[16])
{
	struct link_key key = { .from = ends[0], .to = ends[1] };
	struct report_join *join = w->join;
	struct report_link *bigger, *added;
	struct link *link;

	memcpy(key.address, address, 16);
	link = set_find(&w->links, &key, sizeof(key));
	if (link)
		return link->number;
	bigger = reallocarray(join->link, join->nr_links + 1, sizeof(*bigger));
	if (!bigger)
		return REPORT_NO_LINK;
	join->link = bigger;
	link = set_get(&w->links, &key, sizeof(key), sizeof(*link));
	if (!link)
		return REPORT_NO_LINK;
	link->number = join->nr_links;
	added = &bigger[join->nr_links];
	*added = (struct report_link) { .from = key.from, .to = key.to };
	added->share.choice = choice_of(added);
	memcpy(added->address, address, 16);
	return join->nr_links++;
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

static int add_path(struct work *w, struct report_group *to, __u32 p)
{
	struct walk walk = walk_path(w, to->group, p);
	unsigned int i;

	walk.address[walk.nr - 1] = last_address(w, to->group, p, &walk);
	for (i = 0; i + 1 < walk.nr; i++) {
		to->link[p][i] = link_number(w, &walk.router[i], walk.address[i + 1]);
		if (to->link[p][i] == REPORT_NO_LINK)
			return -ENOMEM;
		count(&w->join->link[to->link[p][i]], &to->group->path[p]);
	}
	while (i < REPORT_PATH_LINKS)
		to->link[p][i++] = REPORT_NO_LINK;
	return 0;
}

static int add_group(struct work *w, struct report_group *to)
{
	int ret = 0;
	__u32 p;

	to->own = router_of(w, REPORT_LEAF, own_address(to->group)).number;
	to->leaf = router_of(w, REPORT_LEAF, to->group->leaf).number;
	for (p = 0; !ret && p < to->group->nr_paths; p++)
		ret = add_path(w, to, p);
	return ret;
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

static int number_routers(struct report_join *join)
{
	enum report_tier tier;
	int ret = 0;

	for (tier = 0; !ret && tier < REPORT_TIERS; tier++)
		ret = report_leaves_number(&join->routers[tier]);
	return ret;
}

int report_join(struct report_join *join, const struct recording *recording, size_t nr)
{
	struct work w = { .join = join };
	int ret;

	*join = (struct report_join) { .recording = recording, .nr = nr };
	ret = walk_groups(&w, join_group) ?: join_hosts(&w) ?: number_routers(join) ?:
	      name_leaves(&w) ?: walk_groups(&w, note_ways) ?: add_groups(&w);
	set_clear(&w.entries, free);
	set_clear(&w.ways, free);
	set_clear(&w.links, free);
	return ret;
}

void report_join_free(struct report_join *join)
{
	enum report_tier tier;

	for (tier = 0; tier < REPORT_TIERS; tier++)
		report_leaves_clear(&join->routers[tier]);
	free(join->leaf_name);
	free(join->link);
	free(join->group);
}

const __u8 *report_join_name(const struct report_join *join, const struct report_router *router)
{
	return router->tier == REPORT_LEAF ? join->leaf_name[router->number] :
	       join->routers[router->tier].leaves[router->number];
}
