/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parallel links between a spine and the leaf of a peer. If a leaf answers from the address
 * of the interface by which a probe came in, the answers tell links apart: paths by one
 * router that enter the leaf by different interfaces are different paths.
 */
#ifndef ROCESTEER_LIB_CIRCUITS_H
#define ROCESTEER_LIB_CIRCUITS_H

#include <stdbool.h>
#include <stddef.h>
#include <rocesteer/types.h>

#include "portmap/portmap.h"

/* The leaf of a peer answered from address number @leaf, by a port of path @path. */
struct circuit_sighting {
	__u16 port;
	__u8 path;
	__u8 leaf;
};

/**
 * struct circuits - answers from behind the routers on the way to a peer
 * @asked: for each path, number of probed ports
 * @leaves: for each path, or label of a model, bit i for each @addr[i] that answered
 * @addr: addresses of the leaf
 * @nr_addrs: number of addresses
 * @many: there are more addresses
 * @seen: answers, by port
 * @nr_seen: number of answers
 *
 * Paths are told apart by router only.
 */
struct circuits {
	unsigned int asked[ROCESTEER_MAX_PATHS];
	__u64 leaves[HASH_MAX_LABELS];
	__u8 addr[ROCESTEER_MAX_PATHS][16];
	unsigned int nr_addrs;
	bool many;
	struct circuit_sighting *seen;
	size_t nr_seen;
};

/**
 * circuits_next() - the next port to probe
 * @circuits: counts the port
 * @peer: paths by router
 * @most: ports of each path, at most
 *
 * Return: a port of the path with the fewest probed ports, or 0.
 */
__u16 circuits_next(struct circuits *circuits, const struct portmap_peer *peer, unsigned int most);

/* Is there a port left? */
bool circuits_has_next(const struct circuits *circuits,
		       const struct portmap_peer *peer, unsigned int most);

/* The leaf has this address. Return: its number, or -1 where there are too many. */
int circuits_add(struct circuits *circuits, const __u8 leaf[16]);

/* An address answered behind a path. Return: its number, or -1 where there are too many. */
int circuits_note(struct circuits *circuits, unsigned int path, const __u8 leaf[16]);

/**
 * circuits_saw() - note an answer
 * @circuits: circuits
 * @peer: paths by router
 * @port: port of a path
 * @leaf: address of the sender
 *
 * Return: 0 or -ENOMEM.
 */
int circuits_saw(struct circuits *circuits, const struct portmap_peer *peer,
		 __u16 port, const __u8 leaf[16]);

/**
 * circuits_joined() - do answers hide the interface by which a probe came?
 * @circuits: circuits
 * @nr_paths: by router
 *
 * Each link of a leaf leads to one spine. A leaf that answers from the interface by which the
 * answer leaves, or always from one, shows the same addresses behind all routers. So does a
 * leaf with a single spine: its links are not told apart.
 *
 * Return: true if common addresses connect all routers, directly or by way of others.
 */
bool circuits_joined(const struct circuits *circuits, unsigned int nr_paths);

/* Has an address answered behind two routers? Then none is that of a link. */
bool circuits_shared(const struct circuits *circuits);

/* Has a router several paths, as far as answers tell? */
bool circuits_found(const struct circuits *circuits, unsigned int nr_paths);

/* Is there an address that answered in both? */
bool circuits_meet(const struct circuits *one, const struct circuits *other);

/* Number of paths by router and leaf; a router without an answer behind it has one. */
unsigned int circuits_paths(const struct circuits *circuits, unsigned int nr_paths);

/**
 * circuits_split() - tell the paths apart
 * @circuits: circuits
 * @peer: paths by router
 * @apart: gets the paths by router and leaf, with the ports that were answered; to be
 *	freed by portmap_peer_free(), on failure too
 *
 * Return: 0, -ENOSPC beyond ROCESTEER_MAX_PATHS, or -ENOMEM.
 */
int circuits_split(const struct circuits *circuits,
		   const struct portmap_peer *peer, struct portmap_peer *apart);

#endif /* ROCESTEER_LIB_CIRCUITS_H */
