// SPDX-License-Identifier: GPL-2.0
#include "circuits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Return: number of a path, or -1. */
static int least_asked(const struct circuits *c, const struct portmap_peer *peer, unsigned int most)
{
	unsigned int i;
	int best = -1;

	for (i = 0; i < peer->nr_paths; i++)
		if (c->asked[i] < most && c->asked[i] < peer->paths[i].nr_ports &&
		    (best < 0 || c->asked[i] < c->asked[best]))
			best = i;
	return best;
}

bool circuits_has_next(const struct circuits *c, const struct portmap_peer *peer, unsigned int most)
{
	return least_asked(c, peer, most) >= 0;
}

__u16 circuits_next(struct circuits *c, const struct portmap_peer *peer, unsigned int most)
{
	int path = least_asked(c, peer, most);

	return path < 0 ? 0 : peer->paths[path].ports[c->asked[path]++];
}

int circuits_add(struct circuits *c, const __u8 leaf[16])
{
	unsigned int i;

	for (i = 0; i < c->nr_addrs; i++)
		if (!addr_compare(c->addr[i], leaf))
			return i;
	if (c->nr_addrs == ARRAY_SIZE(c->addr))
		return -1;
	memcpy(c->addr[c->nr_addrs], leaf, 16);
	return c->nr_addrs++;
}

int circuits_note(struct circuits *c, unsigned int path, const __u8 leaf[16])
{
	int number = circuits_add(c, leaf);

	if (number < 0)
		c->many = true;
	else
		c->leaves[path] |= 1ull << number;
	return number;
}

int circuits_saw(struct circuits *c, const struct portmap_peer *peer,
		 __u16 port, const __u8 leaf[16])
{
	unsigned int path = portmap_peer_find_port(peer, port);
	int number = circuits_note(c, path, leaf);
	struct circuit_sighting *seen;

	if (number < 0)
		return 0;
	seen = reallocarray(c->seen, c->nr_seen + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	c->seen = seen;
	seen[c->nr_seen++] = (struct circuit_sighting) { port, path, number };
	return 0;
}

bool circuits_joined(const struct circuits *c, unsigned int nr_paths)
{
	__u64 joined = 1, before;	/* from the first address on */
	unsigned int i;

	do {
		before = joined;
		for (i = 0; i < nr_paths; i++)
			if (c->leaves[i] & joined)
				joined |= c->leaves[i];
	} while (joined != before);
	for (i = 0; i < nr_paths; i++)
		if (c->leaves[i] & ~joined)
			return false;
	return true;
}

bool circuits_shared(const struct circuits *c)
{
	__u64 seen = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->leaves); i++) {
		if (c->leaves[i] & seen)
			return true;
		seen |= c->leaves[i];
	}
	return false;
}

bool circuits_found(const struct circuits *c, unsigned int nr_paths)
{
	unsigned int i;

	for (i = 0; i < nr_paths; i++)
		if (c->leaves[i] & (c->leaves[i] - 1))
			return !c->many && !circuits_joined(c, nr_paths);
	return false;
}

bool circuits_meet(const struct circuits *one, const struct circuits *other)
{
	unsigned int i, k;

	for (i = 0; i < one->nr_addrs; i++)
		for (k = 0; k < other->nr_addrs; k++)
			if (!addr_compare(one->addr[i], other->addr[k]))
				return true;
	return false;
}

unsigned int circuits_paths(const struct circuits *c, unsigned int nr_paths)
{
	unsigned int n = 0, i;

	for (i = 0; i < nr_paths; i++)
		n += __builtin_popcountll(c->leaves[i]) ?: 1;
	return n;
}

int circuits_split(const struct circuits *c, const struct portmap_peer *peer,
		   struct portmap_peer *apart)
{
	int ret = 0;
	size_t i;

	*apart = *peer;
	apart->paths = NULL;
	apart->cut = NULL;
	apart->nr_paths = 0;
	for (i = 0; ret >= 0 && i < c->nr_seen; i++) {
		const struct circuit_sighting *seen = &c->seen[i];
		struct hash_router router = portmap_peer_router(peer, seen->path);

		ret = portmap_peer_add_port(apart, &router, c->addr[seen->leaf], seen->port);
	}
	return ret < 0 ? ret : 0;
}
