/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peers that a search has found: which may be relied on, and which are kept for later jobs. Jobs
 * that were loaded by --dev begin with what the host knows, see path_store.h.
 */
#ifndef ROCESTEER_LIB_FOUND_PEERS_H
#define ROCESTEER_LIB_FOUND_PEERS_H

#include <stdbool.h>

#include "portmap/portmap.h"
#include "steer/steer.h"

/* May one rely on the paths that were found? A peer under our own leaf has none. */
bool found_peer_is_usable(const struct portmap_peer *peer);

/**
 * found_peers_keep() - keep what was found for a job, if it was loaded by --dev
 * @steer: tables
 * @job: number
 * @found: loses the peers that may not be relied on, or of which paths are missing; gets those
 *	that were kept before
 *
 * A failure is none: what is not kept is found again.
 */
void found_peers_keep(struct steer *steer, __u32 job, struct portmap *found);

/* What is kept for a job of the device is out of date. */
void found_peers_forget(struct steer *steer, __u32 job, const char *device);

#endif /* ROCESTEER_LIB_FOUND_PEERS_H */
