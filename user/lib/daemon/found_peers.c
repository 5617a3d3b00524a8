// SPDX-License-Identifier: GPL-2.0
#include "found_peers.h"

#include <string.h>
#include <unistd.h>

#include "discover/discover.h"

bool found_peer_is_usable(const struct portmap_peer *peer)
{
	return !peer->local && peer->nr_paths && !peer->sprays && !peer->moved &&
	       !peer->bond_hidden && !portmap_peer_nr_cut(peer) && !portmap_peer_is_silent(peer);
}

/* The file of the device, if the job was loaded from there. */
static bool get_store(struct steer *steer, __u32 job, const char *device,
		      char store[PATH_STORE_NAME])
{
	struct json_object *record = job_record_read(steer, job);
	const char *file = json_object_get_string(json_object_object_get(record, "port_map"));
	struct err err = {};
	bool is = file && !path_store_name(device, store, &err) && !strcmp(store, file);

	json_object_put(record);
	return is;
}

static void drop_doubtful(struct portmap *found)
{
	size_t i, n = 0;

	for (i = 0; i < found->nr_peers; i++) {
		struct portmap_peer *peer = &found->peers[i];

		if (peer->local ||
		    (found_peer_is_usable(peer) && peer->nr_paths >= peer->expected))
			found->peers[n++] = *peer;
		else
			portmap_peer_free(peer);
	}
	found->nr_peers = n;
}

void found_peers_keep(struct steer *steer, __u32 job, struct portmap *found)
{
	char store[PATH_STORE_NAME];
	struct err err = {};

	drop_doubtful(found);
	if (found->nr_peers && get_store(steer, job, found->device, store) && !path_store_make())
		portmap_write(store, found, probe_source_is_own, &err);
}

void found_peers_forget(struct steer *steer, __u32 job, const char *device)
{
	char store[PATH_STORE_NAME];

	if (get_store(steer, job, device, store))
		unlink(store);
}
