/* SPDX-License-Identifier: GPL-2.0 */
/* Events as JSON objects, for the daemon's clients and for its own output. */
#ifndef ROCESTEER_LIB_EVENT_H
#define ROCESTEER_LIB_EVENT_H

#include "base/base.h"
#include "group.h"

/* An event, with the present time. */
struct json_object *event_new(const char *name);

/* An event about a group. */
struct json_object *event_group(const char *name, const struct group *group);

/* An event about one of its paths. */
struct json_object *event_path(const char *name, const struct group *group, __u32 path);

/* The text of an event, valid as long as the event. */
const char *event_line(struct json_object *event);

#endif /* ROCESTEER_LIB_EVENT_H */
