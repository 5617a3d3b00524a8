// SPDX-License-Identifier: GPL-2.0
#include "leaf_alias.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static int compare(const void *a, const void *b)
{
	const struct leaf_sighting *left = a, *right = b;

	return addr_compare(left->addr, right->addr);
}

/* Root of a peer's set, halving the path to it. */
static size_t find(size_t *parent, size_t peer)
{
	while (parent[peer] != peer) {
		parent[peer] = parent[parent[peer]];
		peer = parent[peer];
	}
	return peer;
}

int leaf_name(struct leaf_sighting *seen, size_t nr_seen, __u8 *leaf, size_t nr_peers)
{
	size_t *parent = calloc(nr_peers ?: 1, sizeof(*parent));
	__u8 (*name)[16] = calloc(nr_peers ?: 1, sizeof(*name));
	int ret = -ENOMEM;
	size_t i;

	if (!parent || !name)
		goto out_free;
	for (i = 0; i < nr_peers; i++)
		parent[i] = i;
	if (nr_seen)
		qsort(seen, nr_seen, sizeof(*seen), compare);
	for (i = 1; i < nr_seen; i++)
		if (!addr_compare(seen[i - 1].addr, seen[i].addr))
			parent[find(parent, seen[i].peer)] =
				find(parent, seen[i - 1].peer);
	for (i = nr_seen; i--;)		/* descending: the lowest stays */
		memcpy(name[find(parent, seen[i].peer)], seen[i].addr, 16);
	for (i = 0; i < nr_seen; i++)
		memcpy(leaf + seen[i].peer * 16, name[find(parent, seen[i].peer)], 16);
	ret = 0;
out_free:
	free(parent);
	free(name);
	return ret;
}
