/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender of a frame within the fabric: link_mac of tiers.sh gives every device
 * an address 02:00:00:kind:leaf:index, so that one program, attached anywhere,
 * knows which link a frame came by.
 */
#ifndef LINK_BPF_H
#define LINK_BPF_H

#include <linux/if_ether.h>
#include <linux/types.h>

enum link_sender {
	LINK_HOST = 1,		/* a host; index: the host under its leaf */
	LINK_BRIDGE = 2,	/* a leaf, to a host of its own */
	LINK_UP = 3,		/* a leaf, to a spine or agg; index: the spine or agg */
	LINK_DOWN = 4,		/* a spine or agg, to a leaf; index: the spine or agg */
	LINK_CORE_UP = 5,	/* an agg, to a core; index: the core */
	LINK_CORE_DOWN = 6,	/* a core, to an agg; index: the core */
};

/**
 * struct link - where a frame comes from
 * @prefix: the same in all of the fabric
 * @sender: enum link_sender
 * @leaf: leaf of the link, or its agg where the other end is a core
 * @index: the other end
 */
struct link {
	__u8 prefix[3];
	__u8 sender;
	__u8 leaf;
	__u8 index;
};

_Static_assert(sizeof(struct link) == ETH_ALEN, "an Ethernet address");

#endif /* LINK_BPF_H */
