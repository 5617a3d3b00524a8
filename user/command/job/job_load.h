/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of rocesteer job load. */
#ifndef ROCESTEER_JOB_LOAD_H
#define ROCESTEER_JOB_LOAD_H

#include <time.h>

#include "cluster/cluster.h"
#include "portmap/portmap.h"
#include "steer/steer.h"
#include "job.h"
#include "../module.h"
#include "../peer_list.h"

/**
 * struct load - a job to be loaded
 * @args: arguments
 * @err: filled on failure
 * @map_file: name of the port map
 * @peers: hosts of the job that --peer-file names
 * @by_dev: the port map is the host's own, and may be empty: there is no --port-map
 * @sources: addresses of the device, with @by_dev
 * @map: port map, restricted to @slice
 * @slice: of the job; without ranks where it has none
 * @rank: of its GPU in the slice
 * @chunks: of the job, without any where it has none
 * @spec: what the tables get
 * @flows: of @spec
 * @use: of the module
 * @no_verify: the port map is not compared with the fabric
 * @verified: when every port that was probed took its path, CLOCK_REALTIME seconds, or 0
 * @may_split: flows are split where that works, else not: --split is auto, or not given
 * @needs_order: --split or --resequence was given, so the module is needed
 * @how: the job is loaded, or replaced
 * @over: the job is replaced
 * @loaded: the job that is replaced, or zeros
 * @genl: the module, or NULL
 * @steer: the tables
 * @moved: flows that have another path, or another port of theirs
 */
struct load {
	const struct cli_args *args;
	struct err *err;
	const char *map_file;
	struct peer_list peers;
	bool by_dev;
	__u8 (*sources)[16];
	struct portmap map;
	struct job_slice slice;
	__u32 rank;
	struct chunk_table chunks;
	struct steer_job_spec spec;
	struct rocesteer_flow_key *flows;
	enum module_use use;
	bool no_verify;
	time_t verified;
	bool may_split;
	bool needs_order;
	enum job_put how;
	bool over;
	struct rocesteer_job loaded;
	struct genl *genl;
	struct steer *steer;
	size_t moved;
};

/* Fill @l from its arguments. Return: 0 or a negative errno. */
int job_options(struct load *l);

/* --split auto: no flow is split after all. */
void job_load_unsplit(struct load *l);

/*
 * Take the device of --dev, or with NULL that of the RDMA devices, its addresses, and what the host
 * has found of it before. Return: 0 or a negative errno.
 */
int job_load_device(struct load *l, const char *device);

/* What the host has found is not right any more: leave it out. */
void job_load_forget(struct load *l);

/* Peers of the map that are not local: paths lead to them. */
size_t job_load_steered(const struct load *l);

/*
 * Probe a few ports of the map. Fail if a port takes another path than the map says, or no
 * path leads to a peer. A path whose router says that the peer is unreachable is marked so. A
 * probe without an answer is only a note. Return: 0 or a negative errno.
 */
int job_load_verify(struct load *l);

/* Hosts of the job under the leaf of this one, which is among them; 0: not known. */
__u32 job_load_hosts(const struct load *l);

/* Where flows stay whole, and paths are not loaded alike: say what helps, and put it into @root. */
void job_load_whole(const struct load *l, struct json_object *root);

/* Write the record of the job. */
void job_load_remember(struct load *l);

#endif /* ROCESTEER_JOB_LOAD_H */
