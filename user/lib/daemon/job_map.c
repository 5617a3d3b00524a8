// SPDX-License-Identifier: GPL-2.0
#include "job_map.h"

void job_map_read(struct steer *steer, __u32 job, struct portmap *map)
{
	struct json_object *record = job_record_read(steer, job);
	const char *file = json_object_get_string(json_object_object_get(record, "port_map"));
	struct err err = {};

	if (!file || portmap_read(file, map, &err))
		*map = (struct portmap) {};
	json_object_put(record);
}
