// SPDX-License-Identifier: GPL-2.0
/* Prove a port map again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carrier.h"
#include "discover_run.h"

struct verification {
	const struct portmap *map;
	struct verify *verify;
	const struct verify_extent *extent;
	size_t sampled;		/* peers */
	size_t peer;		/* position of the next probe */
	unsigned int path;
	size_t port;
	enum probe_kind kind;	/* of the same port */
	size_t far_step;	/* one of so many ports is probed beyond its router as well */
	size_t answered;
	void (*note)(void *arg, const char *line);
	void *arg;
};

/* Length of a step through @all that takes at most @most of them; 0: all. */
static size_t stride(size_t all, size_t most)
{
	return most && all > most ? (all + most - 1) / most : 1;
}

/* The next that is steered, @step on. Peers have other paths in turn: each path is met. */
static void next_peer(struct verification *run, size_t step)
{
	const struct portmap *map = run->map;

	run->peer += step;
	while (run->peer < map->nr_peers && !map->peers[run->peer].nr_paths)
		run->peer++;
	if (run->peer < map->nr_peers)
		run->path = run->sampled++ % stride(map->peers[run->peer].nr_paths,
						    run->extent->paths);
}

/* Where the leaf itself tells paths apart, the peer is behind it. */
static bool is_last_hop(const struct portmap_peer *peer)
{
	return portmap_peer_find_path(peer, peer->leaf, NULL, NULL) < ROCESTEER_MAX_PATHS;
}

/* In a sample, each path in turn; else each path once, and each port that a leaf tells apart. */
static bool goes_far(const struct verification *run, const struct portmap_peer *peer,
		     const struct portmap_path *path)
{
	if (is_last_hop(peer))
		return false;
	if (run->extent->far)
		return !((run->verify->checked + run->sampled) % run->far_step);
	return !run->port || !addr_is_none(path->leaf);
}

/* What the port is asked next; PROBE_PATH: nothing. Our leaf comes before that of the peer. */
static enum probe_kind next_kind(const struct verification *run, const struct portmap_peer *peer)
{
	bool far = goes_far(run, peer, &peer->paths[run->path]);

	if (run->kind == PROBE_PATH && portmap_peer_has_leaves(peer) && (far || !run->extent->far))
		return PROBE_BEFORE;
	return far && run->kind != PROBE_LEAF ? PROBE_LEAF : PROBE_PATH;
}

static int next_probe(void *client, struct batch_probe *probe,
		      const __u8 **source, const __u8 **dest)
{
	struct verification *run = client;

	while (run->peer < run->map->nr_peers) {
		const struct portmap_peer *peer = &run->map->peers[run->peer];

		if (run->path >= peer->nr_paths) {
			next_peer(run, stride(run->map->nr_peers, run->extent->peers));
			continue;
		}
		if (run->port == (run->extent->all ? peer->paths[run->path].nr_ports : 1)) {
			run->path += stride(peer->nr_paths, run->extent->paths);
			run->port = 0;
			continue;
		}
		probe->peer = run->peer;
		probe->kind = run->kind;
		probe->ttl = probe_ttl(probe->kind, peer->hop, peer->leaf_hop);
		probe->port = peer->paths[run->path].ports[run->port];
		if (probe->ttl > run->verify->hop)
			run->verify->hop = probe->ttl;
		*source = peer->source;
		*dest = peer->addr;
		run->verify->checked += run->kind == PROBE_PATH;
		run->verify->far += run->kind == PROBE_LEAF;
		run->kind = next_kind(run, peer);
		run->port += run->kind == PROBE_PATH;
		return 0;
	}
	return -EAGAIN;
}

static int record(struct verification *run, const struct batch_probe *probe,
		  const __u8 *actual, bool unreachable)
{
	const struct portmap_peer *peer = &run->map->peers[probe->peer];
	struct verify *verify = run->verify;
	unsigned int path = portmap_peer_find_port(peer, probe->port);
	bool leaf = probe->kind == PROBE_LEAF, near = probe->kind == PROBE_BEFORE;
	bool any = leaf && (run->extent->far || addr_is_none(peer->paths[path].leaf));
	const __u8 *expected = leaf ? any ? peer->leaf : peer->paths[path].leaf :
			       near ? peer->paths[path].via : peer->paths[path].router;
	struct verify_result *moved;

	if (actual && !unreachable && (any || !addr_compare(actual, expected)))
		return 0;
	verify->far_lost += leaf && !actual;
	moved = reallocarray(verify->moved, verify->nr_moved + 1, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	verify->moved = moved;
	moved += verify->nr_moved++;
	memset(moved, 0, sizeof(*moved));
	moved->peer = probe->peer;
	moved->path = path;
	moved->port = probe->port;
	moved->hop = probe->ttl;
	moved->leaf = leaf;
	moved->unreachable = unreachable;
	memcpy(moved->expected, expected, 16);
	if (actual)
		memcpy(moved->actual, actual, 16);
	return 0;
}

static int got_answer(void *client, const struct batch_probe *probe,
		      const struct probe_answer *answer)
{
	struct verification *run = client;
	bool leaf = probe->kind == PROBE_LEAF;
	bool silent = answer->type == PROBE_PORT_UNREACHABLE && !leaf;

	run->answered += probe->kind == PROBE_PATH;
	return record(run, probe, silent ? NULL : answer->from, answer->type == PROBE_UNREACHABLE);
}

static int got_nothing(void *client, const struct batch_probe *probe)
{
	return record(client, probe, NULL, false);
}

static void status(void *client, char *line, size_t size)
{
	struct verification *run = client;

	snprintf(line, size, "verifying: %zu ports, %zu moved", run->answered,
		 run->verify->nr_moved);
}

static void pass_note(void *client, const char *line)
{
	struct verification *run = client;

	if (run->note)
		run->note(run->arg, line);
}

static const struct probe_batch_ops ops = {
	.next = next_probe,
	.answer = got_answer,
	.lost = got_nothing,
	.status = status,
	.note = pass_note,
};

static int compare(const void *a, const void *b)
{
	const struct verify_result *left = a, *right = b;

	if (left->peer != right->peer)
		return left->peer < right->peer ? -1 : 1;
	if (left->path != right->path)
		return left->path < right->path ? -1 : 1;
	return (int)left->port - (int)right->port ?: left->leaf - right->leaf ?:
	       left->hop - right->hop;
}

/* Behind a router that cannot reach the peer is nothing more to be said of the port. */
static void drop_far(struct verify *verify)
{
	size_t i, n = 0;

	for (i = 0; i < verify->nr_moved; i++) {
		const struct verify_result *last = n ? &verify->moved[n - 1] : NULL;
		const struct verify_result *moved = &verify->moved[i];

		if (moved->leaf && last && last->unreachable && last->peer == moved->peer &&
		    last->port == moved->port)
			verify->far_lost -= addr_is_none(moved->actual);
		else
			verify->moved[n++] = *moved;
	}
	verify->nr_moved = n;
}

/* A device that is down sends no probe, which would look like silent routers. */
static int check_device(const char *device, struct err *err)
{
	if (!carrier_is_missing(device))
		return 0;	/* where there is no device the probes say so */
	err_set(err, EXIT_FAILED, "no-carrier", "the device %s is down, or has no carrier", device);
	err_hint(err, "See: ip link show %s", device);
	return -ENETDOWN;
}

/* Ports of the map that verify_run() can probe, and how many of a sample go with a far one. */
static void count_ports(struct verification *run)
{
	const struct verify_extent *extent = run->extent;
	const struct portmap *map = run->map;
	size_t i, paths = 0;
	unsigned int p;

	for (i = 0; i < map->nr_peers; i++) {
		for (p = 0; p < map->peers[i].nr_paths; p++)
			run->verify->ports += extent->all ? map->peers[i].paths[p].nr_ports : 1;
		if (map->peers[i].nr_paths > paths)
			paths = map->peers[i].nr_paths;
	}
	if (extent->paths && paths > extent->paths)
		paths = extent->paths;
	run->far_step = stride(paths * (map->nr_peers < extent->peers ? map->nr_peers :
								      extent->peers), extent->far);
}

int verify_run(const struct probe_batch_config *config, const struct portmap *map,
	       const struct verify_extent *extent,
	       void (*note)(void *arg, const char *line), void *arg,
	       struct verify *verify, struct err *err)
{
	struct probe_batch_config own = *config;
	struct verification run = {
		.map = map,
		.verify = verify,
		.extent = extent,
		.note = note,
		.arg = arg,
	};
	int ret;

	memset(verify, 0, sizeof(*verify));
	own.device = map->device;
	count_ports(&run);
	next_peer(&run, 0);
	ret = check_device(map->device, err) ?:
	      probe_batch_run(&own, &ops, &run, err);
	if (ret) {
		free(verify->moved);
		memset(verify, 0, sizeof(*verify));
		return ret;
	}
	if (verify->nr_moved)
		qsort(verify->moved, verify->nr_moved, sizeof(*verify->moved), compare);
	drop_far(verify);
	return 0;
}

int verify_sample(const struct portmap *map, struct verify *verify, struct err *err)
{
	static const struct probe_batch_config config = { PROBE_BATCH_QUICK };
	static const struct verify_extent extent = {
		.far = VERIFY_SAMPLE_FAR,
		.peers = VERIFY_SAMPLE_PEERS,
		.paths = VERIFY_SAMPLE_PATHS,
	};

	return verify_run(&config, map, &extent, NULL, NULL, verify, err);
}
