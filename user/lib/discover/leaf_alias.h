/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One name for each leaf. A router may answer from the address of the
 * interface a probe came in by, or goes out by: one leaf then has many
 * addresses. Peers that share any of them are under the same leaf.
 */
#ifndef ROCESTEER_LIB_LEAF_ALIAS_H
#define ROCESTEER_LIB_LEAF_ALIAS_H

#include <stddef.h>
#include <linux/types.h>

/**
 * struct leaf_sighting - a router answered on the way to a peer
 * @addr: its address
 * @peer: number of the peer
 */
struct leaf_sighting {
	__u8 addr[16];
	size_t peer;
};

/**
 * leaf_name() - give each peer's leaf one name
 * @seen: sightings, will be sorted
 * @nr_seen: how many
 * @leaf: 16 bytes per peer; set to the lowest address of its leaf, left alone for a
 *	peer that no router was seen for
 * @nr_peers: how many
 *
 * Return: 0 or -ENOMEM.
 */
int leaf_name(struct leaf_sighting *seen, size_t nr_seen, __u8 *leaf, size_t nr_peers);

#endif /* ROCESTEER_LIB_LEAF_ALIAS_H */
