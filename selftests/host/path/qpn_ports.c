// SPDX-License-Identifier: GPL-2.0
/*
 * qpn_ports FILE QPN...: ports by which packets to these queue pairs take the paths of a port
 * map. Lines "ADDRESS QPN ROUTER LEAF PORT"; port 0: none was found.
 */
#include <stdio.h>
#include <stdlib.h>

#include "discover/discover_run.h"

static void print(const struct discover_qpn *found)
{
	char addr[ADDR_STRLEN], router[ADDR_STRLEN], leaf[ADDR_STRLEN];
	unsigned int i;

	for (i = 0; i < found->peer->nr_paths; i++) {
		const struct portmap_path *path = &found->peer->paths[i];

		printf("%s %u %s %s %u\n", addr_format(found->peer->addr, addr),
		       found->dqpn, addr_format(path->router, router),
		       addr_is_none(path->leaf) ? "-" : addr_format(path->leaf, leaf),
		       found->port[i]);
	}
}

static const struct hash_model *model_of(const struct portmap *map, const struct portmap_peer *peer)
{
	const struct portmap_model *model = portmap_find_model(map, peer->source, peer->hop);

	return model ? &model->hash : NULL;
}

int main(int argc, char **argv)
{
	struct probe_batch_config config = {
		.ports = 1024, .rate = 2000, .steady = true, .retries = 1, .timeout_ms = 40,
	};
	struct discover_qpn *what;
	struct portmap map;
	struct err err = {};
	size_t n = 0, i;
	int q;

	if (argc < 2 || portmap_read(argv[1], &map, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	what = calloc(map.nr_peers * argc, sizeof(*what));
	if (!what)
		return 1;
	for (i = 0; i < map.nr_peers; i++)
		for (q = 2; q < argc; q++)
			what[n++] = (struct discover_qpn) {
				.peer = &map.peers[i],
				.model = model_of(&map, &map.peers[i]),
				.dqpn = strtoul(argv[q], NULL, 0),
			};
	config.device = map.device;
	if (discover_qpn(&config, what, n, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	for (i = 0; i < n; i++)
		print(&what[i]);
	free(what);
	portmap_free(&map);
	return 0;
}
