// SPDX-License-Identifier: GPL-2.0
/* rocesteer path discover: what a port map may lack, and what is odd about one. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "path.h"

static void __printf(4, 5) reason(const struct out *out, struct json_object *reasons,
				  const char *code, const char *fmt, ...)
{
	char line[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (reasons)
		json_object_array_add(reasons, json_object_new_string(code));
	out_note(out, "%s", line);
}

/* Find out which peers answer. Return: 0 or a negative errno. */
static int ask_peers(const struct portmap *map, bool *answers)
{
	__u8 (*addr)[16] = calloc(map->nr_peers, 2 * sizeof(*addr));
	__u8 (*source)[16] = addr + map->nr_peers;
	size_t i;
	int ret;

	if (!addr)
		return -ENOMEM;
	for (i = 0; i < map->nr_peers; i++) {
		memcpy(addr[i], map->peers[i].addr, 16);
		memcpy(source[i], map->peers[i].source, 16);
	}
	ret = answers_check(map->device, (const __u8 (*)[16])source,
			    (const __u8 (*)[16])addr, answers, map->nr_peers);
	free(addr);
	return ret;
}

/* Name the routers that have no way to the peer. */
static void doubt_cut(const struct out *out, const struct portmap_peer *peer,
		      const char *name, struct json_object *reasons)
{
	char router[ADDR_STRLEN];
	unsigned int i;

	for (i = 0; i < portmap_peer_nr_cut(peer); i++) {
		const struct portmap_path *path = &peer->cut->paths[i];

		reason(out, i ? NULL : reasons, "unreachable",
		       "%s: %s says that it is unreachable, %zu of %u ports lead there: the path is not in the map",
		       name, addr_format(path->router, router), path->nr_ports, peer->probed);
	}
}

/* RFC 7600: all routers without an IPv4 address may answer from this one. */
static bool is_dummy(const __u8 addr[16])
{
	static const __u8 dummy[16] = { [10] = 0xff, 0xff, 192, 0, 0, 8 };

	return !addr_compare(addr, dummy);
}

/* A path is known by its leaf, if not by its router. */
static bool has_dummy(const struct portmap_peer *peer)
{
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		if (is_dummy(peer->paths[i].router) && addr_is_none(peer->paths[i].leaf))
			return true;
	return is_dummy(peer->leaf);
}

/*
 * Fewer paths than expected: a part of each agg's cores, or some others? Return: as
 * audit_judge_peer().
 */
static int judge_cores(const struct portmap *map, const struct portmap_peer *peer)
{
	const struct portmap_model *model = portmap_find_model(map, peer->source, peer->hop);
	bool silent = portmap_peer_is_silent(peer) || portmap_peer_nr_cut(peer);
	unsigned int label;

	for (label = 0; peer->linear && model && label < hash_model_size(&model->hash); label++)
		silent |= addr_is_none(model->hash.router[label].addr);
	return audit_judge_peer(peer, silent, peer->expected);
}

static void doubt_missing(const struct out *out, const struct portmap *map,
			  const struct portmap_peer *peer, const char *name,
			  struct json_object *reasons)
{
	unsigned int found = peer->nr_paths + portmap_peer_nr_cut(peer);

	if (judge_cores(map, peer) == AUDIT_POLARISED)
		reason(out, reasons, "polarised",
		       "%s: %u of %u cores are reached: leaves and aggs use the same bits of the hash, see path audit",
		       name, found, peer->expected);
	else
		reason(out, reasons, "missing",
		       "%s: %u of %u paths are missing, no port reaches them",
		       name, peer->expected - found, peer->expected);
}

/* Report why there may be more paths behind routers than were found. */
static void doubt_paths(const struct out *out, const struct portmap *map,
			const struct portmap_peer *peer, const char *name,
			struct json_object *reasons)
{
	unsigned int answered = peer->probed - peer->unanswered;
	unsigned int found = peer->nr_paths + portmap_peer_nr_cut(peer);
	unsigned int enough;

	enough = peer->expected || peer->linear ? 0 : discover_bound(found + 1, DISCOVER_ONE_IN);
	if (found < peer->expected)
		doubt_missing(out, map, peer, name, reasons);
	if (peer->expected && found > peer->expected)
		reason(out, reasons, "more",
		       "%s: %u paths, more than --paths %u", name, found, peer->expected);
	if (answered < enough)
		reason(out, reasons, "few-ports",
		       "%s: %u ports were answered: it takes %u to be sure that there is no path besides these %u, see --ports",
		       name, answered, enough, found);
	doubt_cut(out, peer, name, reasons);
	/* Routers limit how often they say that a peer is unreachable. */
	if (portmap_peer_is_silent(peer) && !portmap_peer_nr_cut(peer) &&
	    (!peer->expected || found < peer->expected))
		reason(out, reasons, "silent",
		       "%s: %u of %u ports got no answer: a router may not answer to expired TTLs, its path is not in the map",
		       name, peer->unanswered, peer->probed);
	if (has_dummy(peer))
		reason(out, reasons, "no-address",
		       "%s: 192.0.0.8 answers, as any router may that has no IPv4 address: paths by such routers are not told apart; give the routers addresses",
		       name);
	else if (!peer->expected && found == 1)
		reason(out, reasons, "one-path",
		       "%s: all ports take one path: routers may hash without ports (Linux: fib_multipath_hash_policy), or --hop is wrong; where there is one path only: --paths 1",
		       name);
	if (peer->sprays)
		reason(out, reasons, "sprays",
		       "%s: packets of one port take several paths: the fabric sprays packets, a port does not choose a path there",
		       name);
	if (peer->moved)
		reason(out, reasons, "moved",
		       "%s: ports moved to other paths during the search, twice: routes keep changing, the map is of no fabric",
		       name);
	if (!addr_compare(peer->leaf, peer->addr))
		reason(out, reasons, "hop",
		       "%s: it answers where its leaf should: --hop is too large",
		       name);
}

/*
 * Does anything else than the port choose our leaf? A queue pair of an mlx5 NIC may; not if packets
 * of the kernel, which take all members, meet one leaf.
 */
static void doubt_bond(const struct out *out, const struct portmap_peer *peer,
		       const struct bond *bond, const char *name, struct json_object *reasons)
{
	bool one_leaf = bond->choice == BOND_PORTS && !portmap_peer_has_leaves(peer) &&
			!peer->bond_hidden;

	if (bond_has_affinity(bond) && !one_leaf)
		reason(out, reasons, "queue-affinity",
		       "%s: the NIC chooses one of its ports by the number of a queue pair (queue_affinity), not by the source port: a queue pair may take another leaf than its path. Make a map for each leaf, from an address of each port of the NIC without the bond, or have the NIC hash, see drivers.rst",
		       name);
	if (bond->choice == BOND_PACKETS)
		reason(out, reasons, "bond-mode",
		       "%s: %s is a bond of mode %s: packets of one port leave by several members, a port does not choose a leaf there",
		       name, bond->device, bond->mode);
	if (peer->bond_hidden)
		reason(out, reasons, "bond-tiers",
		       "%s: ports choose one of our leaves, as behind a bond, and the peer is behind cores: which leaf a path has is not told in three tiers",
		       name);
}

/*
 * Why there may be more than was found of a peer: a word for programs and a line for
 * people. Return: number of reasons.
 */
static size_t doubt(const struct out *out, const struct portmap *map,
		    const struct portmap_peer *peer, const struct bond *bond, bool answers,
		    struct json_object *reasons)
{
	char name[ADDR_STRLEN];

	addr_format(peer->addr, name);
	if (!peer->local) {
		doubt_paths(out, map, peer, name, reasons);
		doubt_bond(out, peer, bond, name, reasons);
	}
	if (peer->near)
		reason(out, reasons, "near",
		       "%s: it is no further away than --hop: it is under our own leaf, or --hop is too large",
		       name);
	if (!answers && !portmap_peer_nr_cut(peer))
		reason(out, reasons, "peer-silent",
		       "%s: the peer does not answer: is this the address of a host?",
		       name);
	return json_object_array_length(reasons);
}

int path_doubt_peers(const struct out *out, const struct portmap *map, const struct bond *bond,
		     struct json_object *root)
{
	struct json_object *peers = json_object_object_get(root, "peers");
	size_t n = map->nr_peers, i;
	bool answers[n];
	int incomplete = 0, ret;

	ret = ask_peers(map, answers);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		const struct portmap_peer *peer = &map->peers[i];
		struct json_object *obj = json_object_array_get_idx(peers, i);

		if (peer->nr_paths + portmap_peer_nr_cut(peer) < peer->expected)
			out_uint(obj, "missing",
				 peer->expected - peer->nr_paths - portmap_peer_nr_cut(peer));
		if (doubt(out, map, peer, bond, answers[i], out_array(obj, "reasons")))
			incomplete++;
		else
			json_object_object_del(obj, "reasons");
	}
	out_bool(root, "incomplete", incomplete);
	return incomplete;
}

void path_doubt_bond(const struct out *out, const struct bond *bond, struct json_object *root)
{
	struct json_object *obj;

	if (!bond->device[0] && !bond->select[0])
		return;
	obj = out_object(root, "bond");
	out_string(obj, "device", bond->device);
	out_string(obj, "mode", bond->mode);
	out_string(obj, "policy", bond->policy);
	out_uint(obj, "members", bond->members);
	out_string(obj, "select", bond->select);
	if (bond_hides_select(bond))
		out_note(out,
			 "%s: whether queue pairs choose the port of the NIC by a hash or by their number cannot be read in debugfs: see drivers.rst.",
			 bond->device);
	if (bond->choice == BOND_ADDRESSES)
		out_note(out,
			 "%s is a bond of the policy %s: all ports to a peer take one member, thus one of our leaves; with the policy layer3+4 ports choose it.",
			 bond->device, bond->policy);
}

/* The paths are there, and a port may choose others: no reason to refuse the map. */
void path_doubt_qpn_hash(const struct out *out, const struct portmap *map)
{
	char name[ADDR_STRLEN];
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (map->peers[i].qpn_hash)
			out_note(out,
				 "%s: switches hash the destination queue pair: one port is not one path; the ports hold for queue pairs that are probed only",
				 addr_format(map->peers[i].addr, name));
}

/* Has a peer before this one the same leaf, and thus the same weights? */
static bool is_told(const struct portmap *map, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!addr_compare(map->peers[i].leaf, map->peers[n].leaf))
			return true;
	return false;
}

/* Weights are proposed where the shares of ports differ. */
void path_doubt_weights(const struct out *out, const struct portmap *map)
{
	char name[ADDR_STRLEN];
	unsigned int p;
	size_t i;

	for (i = 0; i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];
		const struct portmap_path *paths = peer->paths;
		unsigned int least = 0, most = 0;

		for (p = 1; p < peer->nr_paths; p++) {
			if (paths[p].weight < paths[least].weight)
				least = p;
			if (paths[p].weight > paths[most].weight)
				most = p;
		}
		if (least == most || is_told(map, i))
			continue;
		out_note(out,
			 "%s: path %u has %.2f of the ports of path %u: do the switches weigh next hops, or do several routers answer from one address? Paths have weights in the map: see weight.",
			 addr_format(peer->addr, name), least,
			 (double)paths[least].nr_ports / paths[most].nr_ports, most);
	}
}

int path_doubt_cores(const struct out *out, const struct portmap *map)
{
	struct audit_site site;
	char text[32];
	int ret = audit_read(&site, map);

	if (!ret && audit_judge(&site.sight, (struct audit_known) {}) == AUDIT_FEWER)
		out_note(out,
			 "%zu aggs lead to %s each, and there may be more, see path audit.",
			 site.sight.aggs.nr, path_cores(audit_per_agg(&site.sight), text));
	audit_free(&site);
	return ret;
}
