/* SPDX-License-Identifier: GPL-2.0 */
/* The port map that a job was loaded from. */
#ifndef ROCESTEER_LIB_JOB_MAP_H
#define ROCESTEER_LIB_JOB_MAP_H

#include "portmap/portmap.h"
#include "steer/steer.h"

/**
 * job_map_read() - read the file that the record of a job names
 * @steer: tables
 * @job: number
 * @map: filled, and empty where there is none; to be freed by portmap_free()
 *
 * The tables are right: the file may have changed since.
 */
void job_map_read(struct steer *steer, __u32 job, struct portmap *map);

#endif /* ROCESTEER_LIB_JOB_MAP_H */
