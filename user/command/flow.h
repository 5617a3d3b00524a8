/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_CLI_FLOW_H
#define ROCESTEER_CLI_FLOW_H

#include <json-c/json.h>

#include "steer/steer.h"

/* Add the fields of the module, for flow show and monitor. */
void flow_put(struct json_object *obj, const struct genl_flow *flow);

/* Add a flow's key; @device is the name of its device. */
void flow_put_key(struct json_object *obj, const char *device,
		  const struct rocesteer_flow_key *key);

#endif /* ROCESTEER_CLI_FLOW_H */
