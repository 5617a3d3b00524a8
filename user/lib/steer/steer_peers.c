// SPDX-License-Identifier: GPL-2.0
/* The entries that a job's port map makes: its peers, and the groups of their leaves. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <rocesteer/roce.h>

#include "steer_priv.h"

/* Number of @path among the group's paths. */
static int path_index(const struct portmap_path *paths, int nr, const struct portmap_path *path)
{
	int i;

	for (i = 0; i < nr; i++)
		if (portmap_path_same(&paths[i], path))
			return i;
	return -1;
}

/*
 * The paths that lead to @leaf, over all its peers: path p has to mean the
 * same for each of them, also where one peer lacks a port for it.
 */
static int group_paths(const struct portmap *map, const __u8 leaf[16], struct portmap_path *paths)
{
	unsigned int nr = 0, p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];

		if (peer->local || memcmp(peer->leaf, leaf, 16))
			continue;
		for (p = 0; p < peer->nr_paths; p++) {
			if (path_index(paths, nr, &peer->paths[p]) >= 0)
				continue;
			if (nr == ROCESTEER_MAX_PATHS)
				return -E2BIG;
			paths[nr++] = peer->paths[p];
		}
	}
	portmap_order(paths, nr);
	return nr;
}

/* If there is a home path, all flows take it while it is up; the others are equal. */
static __u16 path_weight(const struct steer_job_spec *spec, const struct portmap_path *path)
{
	if (!spec->home)
		return path->weight;
	return path->home ? ROCESTEER_WEIGHT_HOME : 1;
}

/* Weights of the paths, and which of them are down. */
static void set_weights(const struct steer_job_spec *spec, const __u8 leaf[16],
			const struct portmap_path *paths,
			struct rocesteer_group *group)
{
	unsigned int p;
	size_t n;

	for (n = 0; n < spec->map->nr_peers; n++) {
		const struct portmap_peer *peer = &spec->map->peers[n];

		if (peer->local || memcmp(peer->leaf, leaf, 16))
			continue;
		for (p = 0; p < peer->nr_paths; p++) {
			int i = path_index(paths, group->nr_paths, &peer->paths[p]);
			__u16 weight = path_weight(spec, &peer->paths[p]);

			if (group->weight[i] < weight)
				group->weight[i] = weight;
			group->down |= (__u64)peer->paths[p].unreachable << i;
		}
	}
}

int steer_group_path(const struct rocesteer_group *group, const __u8 router[16],
		     const __u8 via[16], const __u8 leaf[16])
{
	__u32 p;

	for (p = 0; p < group->nr_paths; p++)
		if (!memcmp(group->router[p], router, 16) && !memcmp(group->leaf[p], leaf, 16) &&
		    portmap_via_same(group->via[p], via))
			return p;
	return -1;
}

/* Give a group that is there these paths. Its counts stay. */
static int put_paths(struct steer *s, const struct rocesteer_group_key *key,
		     const struct rocesteer_group *group, __u64 down)
{
	struct rocesteer_set_paths set = {
		.key = *key,
		.nr_paths = group->nr_paths,
		.first = group->first,
		.down = down,
	};

	memcpy(set.weight, group->weight, sizeof(set.weight));
	memcpy(set.router, group->router, sizeof(set.router));
	memcpy(set.leaf, group->leaf, sizeof(set.leaf));
	memcpy(set.via, group->via, sizeof(set.via));
	return steer_set_paths(s, &set);
}

/* Paths that are down stay down. */
static int replace_group(struct steer *s, const struct rocesteer_group_key *key,
			 const struct rocesteer_group *group)
{
	struct rocesteer_group old;
	__u64 down = group->down;
	__u32 p;
	int q;

	if (bpf_map_lookup_elem(s->maps[MAP_GROUPS], key, &old))
		return -errno;
	for (p = 0; p < group->nr_paths; p++) {
		q = steer_group_path(&old, group->router[p], group->via[p], group->leaf[p]);
		if (q >= 0)
			down |= (old.down >> q & 1) << p;
	}
	return put_paths(s, key, group, down);
}

/* The group of a leaf comes before its peers. */
static int put_group(struct steer *s, const struct steer_job_spec *spec,
		     const struct rocesteer_group_key *key,
		     const struct rocesteer_group *group)
{
	if (!bpf_map_update_elem(s->maps[MAP_GROUPS], key, group, BPF_NOEXIST))
		return 0;
	if (errno != EEXIST)
		return -errno;
	return spec->replace ? replace_group(s, key, group) : 0;
}

/* Packets of this source have port maps. */
static int put_source(struct steer *s, const struct steer_job_spec *spec, const __u8 addr[16])
{
	struct rocesteer_source_key skey = { .job = spec->id, .ifindex = spec->ifindex };
	struct rocesteer_source source = { .mapped = 1 };

	memcpy(skey.addr, addr, 16);
	return bpf_map_update_elem(s->maps[MAP_SOURCES], &skey, &source, BPF_ANY) ? -errno : 0;
}

static int put_peer(struct steer *s, const struct steer_job_spec *spec,
		    const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *peer)
{
	struct rocesteer_set_peer set = { .key = *key, .peer = *peer };
	int ret = put_source(s, spec, key->source);

	if (ret)
		return ret;
	if (!bpf_map_update_elem(s->maps[MAP_PEERS], key, peer, BPF_NOEXIST))
		return 0;
	if (errno != EEXIST || !spec->replace)
		return -errno;
	return steer_set_peer(s, &set);
}

/**
 * struct leaf - what the peers under one leaf share
 * @addr: router address of the leaf
 * @nr: paths that lead there
 * @paths: the paths, by number
 */
struct leaf {
	__u8 addr[16];
	int nr;
	struct portmap_path paths[ROCESTEER_MAX_PATHS];
};

static int add_group(struct steer *s, const struct steer_job_spec *spec, const struct leaf *leaf)
{
	struct rocesteer_group_key key = { .job = spec->id,
					   .ifindex = spec->ifindex };
	unsigned int order[ROCESTEER_MAX_PATHS];
	struct rocesteer_group group = { .nr_paths = leaf->nr, .observe = spec->observe };
	int i;

	memcpy(key.leaf, leaf->addr, 16);
	random_order(spec->seed ^ key.leaf[15], leaf->nr, order);
	group.first = spec->deal == ROCESTEER_DEAL_PLACE ? spec->place % leaf->nr :
							   order[0];
	for (i = 0; i < leaf->nr; i++) {
		memcpy(group.router[i], leaf->paths[i].router, 16);
		memcpy(group.leaf[i], leaf->paths[i].leaf, 16);
		memcpy(group.via[i], leaf->paths[i].via, 16);
	}
	set_weights(spec, leaf->addr, leaf->paths, &group);
	return put_group(s, spec, &key, &group);
}

/* Peers of one leaf follow each other in most port maps: its paths are found once. */
static int see_leaf(struct steer *s, const struct steer_job_spec *spec,
		    struct leaf *leaf, const __u8 addr[16])
{
	if (leaf->nr && !memcmp(leaf->addr, addr, 16))
		return 0;
	memcpy(leaf->addr, addr, 16);
	leaf->nr = group_paths(spec->map, addr, leaf->paths);
	if (leaf->nr <= 0)
		return leaf->nr ?: -ENOENT;
	return add_group(s, spec, leaf);
}

static int add_peer(struct steer *s, const struct steer_job_spec *spec,
		    const struct leaf *leaf, const struct portmap_peer *from)
{
	struct rocesteer_peer_key key = { .job = spec->id,
					  .ifindex = spec->ifindex };
	struct rocesteer_peer peer = { .nr_paths = leaf->nr,
				       .hop = from->hop,
				       .leaf_hop = from->leaf_hop,
				       .qpn_hash = from->qpn_hash };
	unsigned int p;

	memcpy(key.addr, from->addr, 16);
	memcpy(peer.leaf, from->leaf, 16);
	memcpy(key.source, from->source, 16);
	for (p = 0; p < from->nr_paths; p++)
		peer.sport[path_index(leaf->paths, leaf->nr, &from->paths[p])] =
			htons(from->paths[p].ports[0]);
	return put_peer(s, spec, &key, &peer);
}

int steer_peers_put(struct steer *s, const struct steer_job_spec *spec)
{
	const struct portmap *map = spec->map;
	struct leaf leaf = {};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < spec->nr_sources; i++)
		ret = put_source(s, spec, spec->sources[i]);
	for (i = 0; !ret && i < map->nr_peers; i++)
		if (!map->peers[i].local)
			ret = see_leaf(s, spec, &leaf, map->peers[i].leaf) ?:
			      add_peer(s, spec, &leaf, &map->peers[i]);
	return ret;
}

static void add_path(struct rocesteer_group *group, const struct portmap_path *path)
{
	__u32 p = group->nr_paths++;

	memcpy(group->router[p], path->router, 16);
	memcpy(group->leaf[p], path->leaf, 16);
	memcpy(group->via[p], path->via, 16);
	group->weight[p] = path->weight;
}

/* A group of a leaf that the job has had no peer of */
static int new_group(struct steer *s, const struct rocesteer_job *job,
		     const struct rocesteer_group_key *key, const struct portmap_peer *peer,
		     struct rocesteer_group *group)
{
	unsigned int p;

	*group = (struct rocesteer_group) { .observe = job->observe };
	group->first = (job->deal == ROCESTEER_DEAL_PLACE ? job->place : arc4random()) %
		       peer->nr_paths;
	for (p = 0; p < peer->nr_paths; p++)
		add_path(group, &peer->paths[p]);
	return bpf_map_update_elem(s->maps[MAP_GROUPS], key, group, BPF_NOEXIST) ? -errno : 0;
}

/* Paths that only this peer takes come after the others, whose numbers stay. */
static int extend_group(struct steer *s, const struct rocesteer_group_key *key,
			const struct portmap_peer *peer, struct rocesteer_group *group)
{
	__u32 nr = group->nr_paths;
	unsigned int q;

	for (q = 0; q < peer->nr_paths && group->nr_paths < ROCESTEER_MAX_PATHS; q++) {
		const struct portmap_path *path = &peer->paths[q];

		if (steer_group_path(group, path->router, path->via, path->leaf) < 0)
			add_path(group, path);
	}
	return group->nr_paths == nr ? 0 : put_paths(s, key, group, group->down);
}

int steer_peer_add(struct steer *s, __u32 job, __u32 ifindex,
		   const struct portmap_peer *from, bool partial)
{
	struct rocesteer_set_peer set = { .key.job = job, .key.ifindex = ifindex };
	struct rocesteer_group_key gkey = { .job = job, .ifindex = ifindex };
	struct rocesteer_peer *peer = &set.peer;
	struct rocesteer_group group;
	struct rocesteer_job loaded;
	unsigned int p, q;
	bool known;
	int ret = 0;

	memcpy(set.key.addr, from->addr, 16);
	memcpy(set.key.source, from->source, 16);
	known = !steer_peer_get(s, &set.key, peer);
	if (known && !peer->partial)
		return -EEXIST;
	if (!known)
		memcpy(peer->leaf, from->leaf, 16);
	memcpy(gkey.leaf, peer->leaf, 16);
	if (!from->nr_paths || steer_job_get(s, job, &loaded) || loaded.ifindex != ifindex)
		return -ENOENT;
	if (steer_group_get(s, &gkey, &group))
		ret = new_group(s, &loaded, &gkey, from, &group);
	else if (known || partial)
		ret = extend_group(s, &gkey, from, &group);
	if (ret)
		return ret;
	peer->hop = from->hop;
	peer->leaf_hop = from->leaf_hop;
	peer->nr_paths = group.nr_paths;
	peer->qpn_hash = from->qpn_hash;
	peer->partial = partial;
	for (p = 0; p < group.nr_paths; p++) {
		q = portmap_peer_find_path(from, group.router[p], group.via[p], group.leaf[p]);
		if (q < ROCESTEER_MAX_PATHS)
			peer->sport[p] = htons(portmap_path_port(&from->paths[q],
								 ntohs(peer->sport[p])));
		else if (known || partial || group.down >> p & 1)
			peer->sport[p] = 0;
		else
			return -ENOENT;
	}
	if (known)
		return steer_set_peer(s, &set) ?: steer_qpns_forget(s, job, &set.key);
	return bpf_map_update_elem(s->maps[MAP_PEERS], &set.key, peer, BPF_NOEXIST) ? -errno : 0;
}

/* Packets of split flows announce the number of paths. */
int steer_check_paths(const struct steer_job_spec *spec, struct err *err)
{
	struct portmap_path paths[ROCESTEER_MAX_PATHS];
	char leaf[ADDR_STRLEN];
	__u32 bits, most;
	size_t i;
	int ret;

	if (!spec->split || !spec->reseq)
		return 0;
	ret = steer_module_param("bth_paths", &bits, err);
	if (ret)
		return ret;
	most = rocesteer_bth_paths_most(bits) + 1;
	for (i = 0; i < spec->map->nr_peers; i++) {
		const struct portmap_peer *peer = &spec->map->peers[i];

		if (peer->local || group_paths(spec->map, peer->leaf, paths) <= (int)most)
			continue;
		err_set(err, EXIT_REFUSED, "few-bits",
			"bth_paths=%#x of the module can announce %u paths, but leaf %s has more",
			bits, most, addr_format(peer->leaf, leaf));
		err_hint(err,
			 "Load the module with more bits in bth_paths, at all hosts, or the job with --split none");
		return -ERANGE;
	}
	return 0;
}
