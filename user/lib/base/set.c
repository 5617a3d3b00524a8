// SPDX-License-Identifier: GPL-2.0
#include "set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

static int compare(const void *a, const void *b, size_t size)
{
	__u32 x, y;

	if (size != sizeof(x))
		return memcmp(a, b, size);
	memcpy(&x, a, size);
	memcpy(&y, b, size);
	return (x > y) - (x < y);
}

/* Index of the key (@found), or the index at which to insert it. */
static size_t position(const struct set *set, const void *key, size_t size, bool *found)
{
	size_t from = 0, to = set->nr;

	*found = false;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = compare(key, set->item[middle], size);

		if (!order) {
			*found = true;
			return middle;
		}
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

void *set_find(const struct set *set, const void *key, size_t size)
{
	bool found;
	size_t at = position(set, key, size, &found);

	return found ? set->item[at] : NULL;
}

static int grow(struct set *set)
{
	size_t room = set->room * 2 ?: 16;
	void **item;

	if (set->nr < set->room)
		return 0;
	item = reallocarray(set->item, room, sizeof(*item));
	if (!item)
		return -1;
	set->item = item;
	set->room = room;
	return 0;
}

void *set_get(struct set *set, const void *key, size_t size, size_t item_size)
{
	bool found;
	size_t at = position(set, key, size, &found);
	void *item;

	if (found)
		return set->item[at];
	item = grow(set) ? NULL : calloc(1, item_size);
	if (!item)
		return NULL;
	memcpy(item, key, size);
	memmove(&set->item[at + 1], &set->item[at], (set->nr++ - at) * sizeof(item));
	set->item[at] = item;
	return item;
}

void set_remove(struct set *set, const void *key, size_t size)
{
	bool found;
	size_t at = position(set, key, size, &found);

	if (found)
		memmove(&set->item[at], &set->item[at + 1],
			(--set->nr - at) * sizeof(set->item[at]));
}

void set_clear(struct set *set, void (*fn)(void *item))
{
	while (set->nr)
		fn(set->item[--set->nr]);
	free(set->item);
	*set = (struct set){};
}
