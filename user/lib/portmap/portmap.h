/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port map: which UDP source port takes which path from this NIC to each
 * peer. Made by probes, kept in a JSON file (Documentation/formats.rst).
 */
#ifndef ROCESTEER_LIB_PORTMAP_H
#define ROCESTEER_LIB_PORTMAP_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <rocesteer/types.h>

#include "base/base.h"
#include "portmap_model.h"

#define PORTMAP_FORMAT		2	/* 1 has one hop for all peers */
#define PORTMAP_MAX_HOP		30
#define PORTMAP_MAX_MODELS	64
/* Bounds of a file, which is untrusted input. */
#define PORTMAP_MAX_SIZE	(64u << 20)
#define PORTMAP_MAX_PORTS	(ROCESTEER_SPORT_MAX - ROCESTEER_SPORT_MIN + 1)

/**
 * struct portmap_path - one path to a peer
 * @router: address of the router that tells this path from the others
 * @leaf: address of the interface by which it enters the peer's leaf, where that tells
 *	paths by one router apart; else all zero
 * @via: router before, which several paths go through: in three tiers the agg of a path to
 *	another pod, whose core is @router; behind a bond to several leaves the one of our leaves,
 *	which tells paths by one router apart; else all zero
 * @ports: probed UDP source ports that take the path, host order, ascending
 *	order of probing; the first is the one to use
 * @nr_ports: at least 1
 * @weight: its capacity, relative to the others; at least 1; by weights_propose() or by hand
 * @unreachable: its router says that the peer is unreachable: a job that is loaded holds the
 *	path down; not in a file
 * @home: flows of a job go here while it is up, where the job has home paths; not in a file
 */
struct portmap_path {
	__u8 router[16];
	__u8 leaf[16];
	__u8 via[16];
	__u16 *ports;
	size_t nr_ports;
	__u16 weight;
	bool unreachable;
	bool home;
};

/**
 * struct portmap_peer - the paths to one peer
 * @addr: its address
 * @source: our address that the flows have
 * @leaf: router of the leaf that the peer is under; all zero when @local
 * @hop: distance of the routers of @paths, from 1; 0 when @local
 * @leaf_hop: distance of @leaf, which is greater
 * @local: the peer is on-link or under our own leaf, there is nothing to steer
 * @near: @local is a guess: the peer is no further away than the hop asked, and may be
 *	under another leaf; not in a file
 * @bond_hidden: ports choose one of our leaves as well, which @paths do not tell; not in a file
 * @qpn_hash: switches hash the destination queue pair number: @paths are those of packets
 *	to queue pair 0, packets to another queue pair may take other paths
 * @sprays: packets of one port take several paths; not in a file
 * @linear: the paths of all ports follow from those of the @probed ones, as the hash of the
 *	switches is linear
 * @silent_port: where @linear, a port whose router does not answer, if there is one such router; or
 *	0; not in a file
 * @moved: ports took other paths at the end of the search for paths, twice
 * @cut: further paths, whose routers say that the peer is unreachable; NULL: none; not
 *	in a file
 * @expected: number of paths by the user, or 0; with a smaller @nr_paths the map is
 *	incomplete
 * @probed: source ports probed
 * @unanswered: of these, ports for which no router answered, also when asked again
 * @paths: as portmap_order() has them, so that numbers are stable
 * @nr_paths: 0 when @local, else 1..ROCESTEER_MAX_PATHS
 */
struct portmap_peer {
	__u8 addr[16];
	__u8 source[16];
	__u8 leaf[16];
	__u8 hop;
	__u8 leaf_hop;
	bool local;
	bool near;
	bool bond_hidden;
	bool qpn_hash;
	bool sprays;
	bool linear;
	__u16 silent_port;
	bool moved;
	struct portmap_peer *cut;
	unsigned int expected;
	unsigned int probed;
	unsigned int unanswered;
	struct portmap_path *paths;
	unsigned int nr_paths;
};

/* Paths of @cut. */
static inline unsigned int portmap_peer_nr_cut(const struct portmap_peer *peer)
{
	return peer->cut ? peer->cut->nr_paths : 0;
}

/* Is the peer in another pod, behind cores? */
static inline bool portmap_peer_has_tiers(const struct portmap_peer *peer)
{
	return peer->leaf_hop > peer->hop + 1;
}

/* Do ports choose one of our leaves, which tells paths to the peer apart? */
static inline bool portmap_peer_has_leaves(const struct portmap_peer *peer)
{
	return peer->nr_paths && !portmap_peer_has_tiers(peer) &&
	       !addr_is_none(peer->paths[0].via);
}

/*
 * Are so many ports without an answer that a path may be silent? Less than a quarter of what a
 * silent path would have is loss.
 */
static inline bool portmap_peer_is_silent(const struct portmap_peer *peer)
{
	return 4ull * peer->unanswered * (peer->nr_paths + 1) > peer->probed;
}

/**
 * struct portmap - a port map
 * @generation: counts the versions of a file, from 1
 * @created: as utc_format() has it
 * @device: network device the peers are reached by
 * @peers: no two with the same address and source
 * @nr_peers: at least 1 in a file
 * @models: of hashes, no two with the same source and hop
 * @nr_models: number of models
 */
struct portmap {
	__u64 generation;
	char created[UTC_SIZE];
	char device[IF_NAMESIZE];
	struct portmap_peer *peers;
	size_t nr_peers;
	struct portmap_model *models;
	size_t nr_models;
};

/**
 * portmap_read() - read and validate a file
 * @file: name; "-" is not special
 * @map: filled; to be freed by portmap_free()
 * @err: names file and field
 *
 * Return: 0 or a negative errno, then @map needs no freeing.
 */
int portmap_read(const char *file, struct portmap *map, struct err *err);

/* Is @source an address of this host, for packets that leave by the device? */
typedef bool portmap_own_fn(const char *device, const __u8 source[16]);

/**
 * portmap_write() - add to a file, atomically and under its lock, FILE.lock
 * @file: replaced by rename, or created; a symbolic link is followed
 * @map: gets the peers that only the old file has, behind its own; its generation
 *	is the old file's plus one, or 1
 * @is_own: whether a source of the old file is an address of this host
 * @err: filled on failure
 *
 * An old FILE has to be a port map of the same device, with a source of this host: any other is
 * refused, as the user may not mean to lose it.
 *
 * Return: 0 or a negative errno.
 */
int portmap_write(const char *file, struct portmap *map, portmap_own_fn *is_own, struct err *err);

/**
 * portmap_check() - check that a map may be added to a file, before the work for it is done
 * @file: as of portmap_write()
 * @map: with a device, and no peers yet
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int portmap_check(const char *file, const struct portmap *map, struct err *err);

struct json_object;

/* The map as the object a file holds; NULL without memory. */
struct json_object *portmap_to_json(const struct portmap *map);

/**
 * portmap_from_json() - validate an object that a file holds
 * @root: the object
 * @file: name for messages
 * @map: filled; to be freed by portmap_free()
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int portmap_from_json(struct json_object *root, const char *file,
		      struct portmap *map, struct err *err);

/**
 * portmap_find_peer() - find the peer with an address
 * @map: may have a peer several times, with a source each
 * @addr: address
 * @file: name for messages
 * @peer: set; NULL: the map has no such peer
 * @err: filled where the map has several sources for the peer: "sources"
 *
 * Return: 0 or -EINVAL.
 */
int portmap_find_peer(const struct portmap *map, const __u8 addr[16], const char *file,
		      const struct portmap_peer **peer, struct err *err);

/* Order of two paths by router, leaf and the router before, as memcmp(). */
int portmap_path_compare(const struct portmap_path *left, const struct portmap_path *right);

/* May these be one router before? One that is not known, all zero, may be any. */
bool portmap_via_same(const __u8 left[16], const __u8 right[16]);

/* Is it one path? */
bool portmap_path_same(const struct portmap_path *left, const struct portmap_path *right);

/**
 * portmap_order() - put paths into the order of their numbers
 * @paths: paths to one leaf
 * @nr: how many
 *
 * By router, then by leaf. Paths of several tiers take turns: the first of each @via, then the
 * second, and so on. So where A aggs have C cores each, path a + A * c goes by core c of agg a, and
 * hosts that begin with successive paths begin with different aggs.
 */
void portmap_order(struct portmap_path *paths, size_t nr);

/**
 * portmap_choose() - choose among more paths to one leaf than a peer may have
 * @paths: put into order; those that are kept come first, in the order of their numbers
 * @nr: how many
 * @most: how many to keep at most, up to ROCESTEER_MAX_PATHS
 * @place: portmap_place() of this host
 *
 * Each @via keeps equally many, evenly apart in the order of their routers. Where they begin
 * depends on the place, so that the hosts of a pod share all routers, also where each flow takes
 * the path of the place alone.
 *
 * Return: how many are kept.
 */
size_t portmap_choose(struct portmap_path *paths, size_t nr, size_t most, __u32 place);

/**
 * portmap_place() - the place of this host, for ROCESTEER_DEAL_PLACE
 * @map: peers of a job
 * @place: set: how many hosts come before this one
 *
 * Of hosts under our own leaf, by address. In three tiers, where a path has @via, of hosts in our
 * pod: leaf by leaf, leaves by their lowest address. All hosts of a job find the same order, if
 * their maps have all of them. A host with several addresses counts once.
 *
 * Return: false: the map has no peer under our leaf, or in our pod.
 */
bool portmap_place(const struct portmap *map, __u32 *place);

/*
 * The hosts under our own leaf, this one among them; 0: the map has no peer there, or a path has
 * @via, so that the leaf has fewer links than paths.
 */
__u32 portmap_hosts(const struct portmap *map);

/* Sort each peer's paths. */
void portmap_sort(struct portmap *map);

/**
 * portmap_peer_add_port() - note that a port was seen to take a path
 * @peer: its paths are extended when the path is new
 * @router: that answered; its @via as in struct portmap_path
 * @leaf: as in struct portmap_path; NULL: none
 * @port: host order
 *
 * Return: 1 when the path is new, 0 when known, -ENOSPC beyond
 * ROCESTEER_MAX_PATHS, -ENOMEM.
 */
int portmap_peer_add_port(struct portmap_peer *peer, const struct hash_router *router,
			  const __u8 *leaf, unsigned int port);

/* The path that a port of the peer takes; NULL where the port is on none. */
const struct portmap_path *portmap_peer_port_path(const struct portmap_peer *peer,
						  unsigned int port);

/* Number of this path; 0 where the port is on none. */
unsigned int portmap_peer_find_port(const struct portmap_peer *peer, unsigned int port);

/**
 * portmap_peer_find_path() - find a path by its routers
 * @peer: its paths
 * @router: that tells the path from others
 * @via: router before; NULL: any
 * @leaf: address by which the path enters the leaf; NULL: any
 *
 * Return: its number, or ROCESTEER_MAX_PATHS.
 */
unsigned int portmap_peer_find_path(const struct portmap_peer *peer, const __u8 *router,
				    const __u8 *via, const __u8 *leaf);

/* The next hop that a model has for the path: behind cores without the agg */
struct hash_router portmap_peer_router(const struct portmap_peer *peer, unsigned int path);

/* The port @before, host order, if it takes the path, else the first one that does. */
__u16 portmap_path_port(const struct portmap_path *path, __u16 before);

/* The model of a source for peers whose paths are told apart at this hop, or NULL. */
const struct portmap_model *portmap_find_model(const struct portmap *map, const __u8 source[16],
					       unsigned int hop);

/* Add a model, in the place of one of its source and hop. Return: 0 or -ENOMEM. */
int portmap_add_model(struct portmap *map, const struct portmap_model *model);

void portmap_peer_free(struct portmap_peer *peer);
void portmap_free(struct portmap *map);

#endif /* ROCESTEER_LIB_PORTMAP_H */
