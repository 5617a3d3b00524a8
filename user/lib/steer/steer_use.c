// SPDX-License-Identifier: GPL-2.0
#include "steer_use.h"

#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "steer_priv.h"

static int count(int fd, const void *key, const void *value, void *arg)
{
	__u32 *used = arg;

	(void)fd;
	(void)key;
	(void)value;
	++*used;
	return 0;
}

static int use_of(int fd, struct steer_use *use)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_HASH)
		return 0;
	memset(use, 0, sizeof(*use));
	snprintf(use->name, sizeof(use->name), "%s", info.name);
	use->room = info.max_entries;
	return steer_map_each(fd, count, &use->used);
}

/* Compare the shares, by products of 64 bits. */
static bool is_fuller(const struct steer_use *a, const struct steer_use *b)
{
	return (__u64)a->used * b->room > (__u64)b->used * a->room;
}

int steer_fullest(struct steer *s, struct steer_use *fullest)
{
	struct steer_use use = {};
	int ret = 0, i;

	*fullest = (struct steer_use){ .room = 1 };
	for (i = 0; !ret && i < MAP_MAX; i++) {
		ret = use_of(s->maps[i], &use);
		if (!ret && use.room && (!i || is_fuller(&use, fullest)))
			*fullest = use;
	}
	return ret;
}
