/* SPDX-License-Identifier: GPL-2.0 */
/* Flows as the tables, the module or both know them. */
#ifndef ROCESTEER_CLI_FLOW_H
#define ROCESTEER_CLI_FLOW_H

#include <net/if.h>
#include <json-c/json.h>

#include "steer/steer.h"

/* Add the fields of the module, for flow show and monitor. */
void flow_put(struct json_object *obj, const struct genl_flow *flow);

/* Add a flow's key; @device is the name of its device. */
void flow_put_key(struct json_object *obj, const char *device,
		  const struct rocesteer_flow_key *key);

/* State of a device; @serves: packets of its flows get ports. */
struct flow_device {
	__u32 ifindex;
	char name[IF_NAMESIZE];
	bool serves;
};

/* Classes of a job's chunks, 0: it has none. */
struct flow_classes {
	__u32 job;
	bool asked;
	__u32 nr;
};

/**
 * struct flow_row - one flow, as the tables, the module or both know it
 * @key: which
 * @registered: the module knows it
 * @path: NULL if it is not steered
 * @tags: NULL if its packets are not tagged by their chunks
 * @flow: as the module knows it
 * @device: its
 * @classes: of the job of @tags
 * @promise: of its paths
 */
struct flow_row {
	struct rocesteer_flow_key key;
	bool registered;
	struct rocesteer_flow_path *path;
	struct rocesteer_tags *tags;
	struct genl_flow flow;
	const struct flow_device *device;
	const struct flow_classes *classes;
	enum promise promise;
};

/* The job of a flow, as the tables or else the module say; 0: it has none. */
__u32 flow_row_job(const struct flow_row *row);

/* Add all fields of a flow; @steer: NULL where no job is loaded. */
void flow_row_put(struct json_object *obj, const struct flow_row *row, struct steer *steer);

/* Add all fields of one flow. Return: 0; -ENOENT: nobody knows it; another negative errno. */
int flow_put_one(struct json_object *obj, const struct rocesteer_flow_key *key, struct err *err);

#endif /* ROCESTEER_CLI_FLOW_H */
