// SPDX-License-Identifier: GPL-2.0
#include "rdma_netdevs.h"

#include <stdlib.h>
#include <infiniband/verbs.h>

#define MOST_GIDS	1024	/* that are looked at, of each RDMA device */

static size_t add(__u32 *ifindex, size_t nr, size_t most, const struct ibv_gid_entry *entry)
{
	size_t i;

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2 || !entry->ndev_ifindex)
		return nr;
	for (i = 0; i < nr; i++)
		if (ifindex[i] == entry->ndev_ifindex)
			return nr;
	if (nr < most)
		ifindex[nr++] = entry->ndev_ifindex;
	return nr;
}

size_t rdma_netdevs(__u32 *ifindex, size_t most)
{
	struct ibv_gid_entry *entries = calloc(MOST_GIDS, sizeof(*entries));
	struct ibv_device **list = entries ? ibv_get_device_list(NULL) : NULL;
	size_t nr = 0;
	int i;

	for (i = 0; list && list[i]; i++) {
		struct ibv_context *context = ibv_open_device(list[i]);
		ssize_t n = context ? ibv_query_gid_table(context, entries, MOST_GIDS, 0) : 0;

		while (n > 0)
			nr = add(ifindex, nr, most, &entries[--n]);
		if (context)
			ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
	free(entries);
	return nr;
}
