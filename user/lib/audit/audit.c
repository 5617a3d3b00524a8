// SPDX-License-Identifier: GPL-2.0
#include "audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct agg {
	__u8 addr[16];
	unsigned int cores;
};

static struct agg *add_agg(struct audit_sight *sight, const __u8 addr[16])
{
	return set_get(&sight->aggs, addr, 16, sizeof(struct agg));
}

/* A path by a core: the agg has one more if the core is new, as an agg has cores of its own. */
static int add_core(struct audit_sight *sight, const struct portmap_path *path)
{
	bool known = set_find(&sight->cores, path->router, 16);
	struct agg *agg;

	if (!set_get(&sight->cores, path->router, 16, 16))
		return -ENOMEM;
	if (addr_is_none(path->via)) {
		sight->silent = true;
		return 0;
	}
	agg = add_agg(sight, path->via);
	if (!agg)
		return -ENOMEM;
	agg->cores += !known;
	return 0;
}

static int see_peer(struct audit_sight *sight, const struct portmap_peer *peer)
{
	bool across = portmap_peer_has_tiers(peer);
	unsigned int p;
	int ret = 0;

	for (p = 0; !ret && p < peer->nr_paths; p++)
		if (across)
			ret = add_core(sight, &peer->paths[p]);
		else if (!add_agg(sight, peer->paths[p].router))
			ret = -ENOMEM;
	return ret;
}

/* Cores that have no path, as a peer may have fewer */
static int see_models(struct audit_sight *sight, const struct portmap *map,
		      const struct portmap_peer *peer)
{
	const struct portmap_model *model = portmap_find_model(map, peer->source, peer->hop);
	const struct portmap_model *aggs = portmap_find_model(map, peer->source, peer->hop - 1);
	struct portmap_path path = {};
	unsigned int label;
	int ret = 0;

	if (!portmap_peer_has_tiers(peer) || !peer->linear || !model || !aggs ||
	    aggs->hash.base != model->hash.base)
		return 0;
	for (label = 0; !ret && label < hash_model_size(&model->hash); label++) {
		memcpy(path.router, model->hash.router[label].addr, 16);
		memcpy(path.via, hash_tiers_agg(&model->hash, &aggs->hash, label), 16);
		if (!addr_is_none(path.router) && !set_find(&sight->cores, path.router, 16))
			ret = add_core(sight, &path);
	}
	return ret;
}

static void compare_aggs(struct audit_sight *sight)
{
	unsigned int least = audit_per_agg(sight);
	size_t i;

	for (i = 0; i < sight->aggs.nr; i++)
		sight->uneven |= ((struct agg *)sight->aggs.item[i])->cores != least;
}

static void free_sight(struct audit_sight *sight)
{
	set_clear(&sight->aggs, free);
	set_clear(&sight->cores, free);
}

unsigned int audit_per_agg(const struct audit_sight *sight)
{
	unsigned int least = sight->cores.nr;
	size_t i;

	for (i = 0; i < sight->aggs.nr; i++) {
		const struct agg *agg = sight->aggs.item[i];

		if (agg->cores < least)
			least = agg->cores;
	}
	return least;
}

enum audit_verdict audit_judge(const struct audit_sight *sight, struct audit_known known)
{
	unsigned int reached = sight->cores.nr;

	if (!reached)
		return AUDIT_NO_CORES;
	if (!known.cores)
		return audit_per_agg(sight) < sight->aggs.nr ? AUDIT_FEWER : AUDIT_UNKNOWN;
	if (reached > known.cores)
		return AUDIT_MORE;
	if (reached == known.cores)
		return AUDIT_ALL;
	if (sight->uneven || sight->silent || (!known.at_least && known.cores % reached))
		return AUDIT_MISSING;
	return AUDIT_POLARISED;
}

int audit_judge_peer(const struct portmap_peer *peer, bool silent, unsigned int expected)
{
	struct audit_sight sight = { .silent = silent };
	int ret = portmap_peer_has_tiers(peer) ? see_peer(&sight, peer) : 0;

	compare_aggs(&sight);
	ret = ret ?: (int)audit_judge(&sight, (struct audit_known) { .cores = expected });
	free_sight(&sight);
	return ret;
}

static bool has_weights(const struct portmap_peer *peer)
{
	unsigned int p;

	for (p = 1; p < peer->nr_paths; p++)
		if (peer->paths[p].weight != peer->paths[0].weight)
			return true;
	return false;
}

static bool same_part(const struct portmap_peer *left, const struct portmap_peer *right)
{
	return !left->local && left->hop == right->hop && left->leaf_hop == right->leaf_hop &&
	       !addr_compare(left->source, right->source);
}

/* Does a port that both have take another router? */
static enum audit_fact compare_ports(const struct portmap_peer *left,
				     const struct portmap_peer *right)
{
	enum audit_fact fact = AUDIT_UNTOLD;
	unsigned int p;
	size_t i;

	for (p = 0; p < left->nr_paths; p++)
		for (i = 0; i < left->paths[p].nr_ports; i++) {
			const struct portmap_path *other =
				portmap_peer_port_path(right, left->paths[p].ports[i]);

			if (other && addr_compare(other->router, left->paths[p].router))
				return AUDIT_YES;
			if (other)
				fact = AUDIT_NO;
		}
	return fact;
}

/* Compare the peer with the first one of its part. */
static void note_address(struct audit_part *part, const struct portmap *map, size_t peer)
{
	enum audit_fact fact;
	size_t i = 0;

	while (!same_part(&map->peers[i], &map->peers[peer]))
		i++;
	fact = i < peer ? compare_ports(&map->peers[i], &map->peers[peer]) : AUDIT_UNTOLD;
	if (fact > part->address)
		part->address = fact;
}

static void note_model(struct audit_part *part, const struct hash_model *hash)
{
	unsigned int silent = 0, i;

	for (i = 0; i < HASH_PORT_BITS; i++)
		part->port_bits |= (__u32)!!hash->column[i] << i;
	for (i = 0; i < HASH_QPN_BITS; i++)
		part->qpn_bits |= (__u32)!!hash->qpn_column[i] << i;
	for (i = 0; i < hash_model_size(hash); i++)
		silent += addr_is_none(hash->router[i].addr);
	if (silent > part->silent_routers)
		part->silent_routers = silent;
}

static void note_peer(struct audit_part *part, const struct portmap *map, size_t i)
{
	const struct portmap_peer *peer = &map->peers[i];
	const struct portmap_model *model = portmap_find_model(map, peer->source, peer->hop);

	part->hop = peer->hop;
	part->peers++;
	part->linear += peer->linear;
	part->weighted += has_weights(peer);
	part->moved += peer->moved;
	part->silent += !peer->linear && portmap_peer_is_silent(peer);
	part->qpn_hash += peer->qpn_hash;
	note_address(part, map, i);
	if (peer->linear && model)
		note_model(part, &model->hash);
}

int audit_read(struct audit_site *site, const struct portmap *map)
{
	const struct audit_part *across = &site->part[AUDIT_ACROSS];
	size_t i;
	int ret = 0;

	*site = (struct audit_site) {};
	for (i = 0; !ret && i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];

		if (peer->local) {
			site->local++;
			continue;
		}
		note_peer(&site->part[portmap_peer_has_tiers(peer) ? AUDIT_ACROSS : AUDIT_POD],
			  map, i);
		ret = see_peer(&site->sight, peer) ?: see_models(&site->sight, map, peer);
	}
	site->sight.silent |= across->silent || across->silent_routers;
	compare_aggs(&site->sight);
	return ret;
}

void audit_free(struct audit_site *site)
{
	free_sight(&site->sight);
}

static bool share(const struct set *left, const struct set *right)
{
	size_t i;

	for (i = 0; i < left->nr; i++)
		if (set_find(right, left->item[i], 16))
			return true;
	return false;
}

int audit_union(const struct audit_site *sites, size_t nr, const struct audit_site *own,
		unsigned int *cores, unsigned int *apart)
{
	struct set all = {};
	size_t i, k;
	int ret = 0;

	*apart = 0;
	for (i = 0; !ret && i < nr; i++) {
		const struct audit_sight *sight = &sites[i].sight;

		if (!share(&sight->cores, &own->sight.cores) &&
		    !share(&sight->aggs, &own->sight.aggs)) {
			(*apart)++;
			continue;
		}
		for (k = 0; !ret && k < sight->cores.nr; k++)
			if (!set_get(&all, sight->cores.item[k], 16, 16))
				ret = -ENOMEM;
	}
	*cores = all.nr;
	set_clear(&all, free);
	return ret;
}
