/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of path prove. */
#ifndef ROCESTEER_CLI_PATH_PROVE_H
#define ROCESTEER_CLI_PATH_PROVE_H

#include "path.h"
#include "prove/prove.h"

/**
 * struct proof - state of the command
 * @args: options
 * @err: filled on failure
 * @map: port map, or none
 * @file: of the port map, or NULL
 * @config: how to ask
 * @prove: the device
 * @labels: flow labels that were given
 * @nr_labels: their number
 * @rows: what became of labels
 * @nr_rows: their number
 * @hop: where packets end, but where the port map says so of a peer
 * @progress: line for people
 * @root: result
 * @array: array of the result that is being filled
 */
struct proof {
	const struct cli_args *args;
	struct err *err;
	struct portmap map;
	const char *file;
	struct prove_config config;
	struct prove *prove;
	__u32 *labels;
	size_t nr_labels;
	struct prove_row *rows;
	size_t nr_rows;
	unsigned int hop;
	struct progress progress;
	struct json_object *root;
	struct json_object *array;
};

/* Where packets to a peer end, of which the port map may know; NULL: nothing is known. */
unsigned int path_prove_hop(const struct proof *p, const struct portmap_peer *peer);

/* Say where packets ended: of all @labels at once, or of each where they differ. */
void path_prove_put_hops(const struct proof *p, struct json_object *root,
			 struct json_object *labels);

/**
 * path_prove_job() - connect a queue pair from the job's cgroup
 * @p: state; "flow" is added to the result
 * @job: its number
 * @peer: peer to connect to
 * @steered: set: the job steers the queue pair, and its packet took the path of its port
 *
 * The process stays in the job's cgroup.
 *
 * Return: 0 or a negative errno.
 */
int path_prove_job(struct proof *p, __u32 job, const struct portmap_peer *peer, bool *steered);

/* Write the result to a file, without addresses and names. Return: 0 or a negative errno. */
int path_prove_report(const struct proof *p, const char *file);

#endif /* ROCESTEER_CLI_PATH_PROVE_H */
