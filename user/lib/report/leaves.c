// SPDX-License-Identifier: GPL-2.0
/* Which addresses are of one leaf: see leaves.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaves.h"

/**
 * struct address - an address of a leaf
 * @addr: the address, the key in the set
 * @parent: a smaller address of the same leaf; NULL: there is none
 * @leaf: number of the leaf, where @parent is NULL
 */
struct address {
	__u8 addr[16];
	struct address *parent;
	size_t leaf;
};

static struct address *smallest(struct address *address)
{
	while (address->parent) {
		if (address->parent->parent)
			address->parent = address->parent->parent;
		address = address->parent;
	}
	return address;
}

static struct address *address_get(struct report_leaves *leaves, const __u8 addr[16], int *err)
{
	struct set *set = &leaves->addresses;
	struct address *address = set_find(set, addr, sizeof(address->addr));

	if (address)
		return address;
	if (set->nr >= REPORT_ADDRESSES_MAX) {
		*err = -E2BIG;
		return NULL;
	}
	*err = -ENOMEM;
	return set_get(set, addr, sizeof(address->addr), sizeof(*address));
}

int report_leaves_join(struct report_leaves *leaves, const __u8 a[16], const __u8 b[16])
{
	struct address *first, *second;
	int order, err;

	first = address_get(leaves, a, &err);
	if (!first)
		return err;
	second = address_get(leaves, b, &err);
	if (!second)
		return err;
	first = smallest(first);
	second = smallest(second);
	order = memcmp(first->addr, second->addr, sizeof(first->addr));
	if (order < 0)
		second->parent = first;
	else if (order > 0)
		first->parent = second;
	return 0;
}

int report_leaves_number(struct report_leaves *leaves)
{
	const struct set *set = &leaves->addresses;

	free(leaves->leaves);
	leaves->nr = 0;
	leaves->leaves = calloc(set->nr + 1, sizeof(*leaves->leaves));
	if (!leaves->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr; i++) {
		struct address *address = set->item[i];

		if (address->parent)
			continue;
		address->leaf = leaves->nr;
		leaves->leaves[leaves->nr++] = address->addr;
	}
	return 0;
}

size_t report_leaves_find(const struct report_leaves *leaves, const __u8 addr[16])
{
	struct address *address = set_find(&leaves->addresses, addr, sizeof(address->addr));

	return address ? smallest(address)->leaf : REPORT_NO_LEAF;
}

void report_leaves_clear(struct report_leaves *leaves)
{
	set_clear(&leaves->addresses, free);
	free(leaves->leaves);
	memset(leaves, 0, sizeof(*leaves));
}
