/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of rocesteer path export. */
#ifndef ROCESTEER_CLI_PATH_EXPORT_H
#define ROCESTEER_CLI_PATH_EXPORT_H

#include "cli/cli.h"
#include "export/export.h"
#include "portmap/portmap.h"

/**
 * struct exporter - what a library's settings are made of
 * @args: arguments
 * @map: the port map
 * @peers: the peers that are meant
 * @nr_peers: how many
 * @e: their ports
 * @libraries: gets an object for each library
 * @err: for failures
 */
struct exporter {
	const struct cli_args *args;
	struct portmap map;
	const struct portmap_peer **peers;
	size_t nr_peers;
	struct export e;
	struct json_object *libraries;
	struct err *err;
};

/*
 * Add the settings of a library, or of all, to @x->libraries. Return: 0 or a negative errno;
 * where all are added, a failure of one is in its place.
 */
int path_export_settings(struct exporter *x, enum export_for library);

#endif /* ROCESTEER_CLI_PATH_EXPORT_H */
