// SPDX-License-Identifier: GPL-2.0
#include "event.h"

#include <string.h>
#include <time.h>

struct json_object *event_new(const char *name)
{
	struct json_object *event = out_root();
	struct timespec now;
	char text[UTC_SIZE];

	clock_gettime(CLOCK_REALTIME, &now);
	out_string(event, "time", utc_format_fraction(now.tv_sec, now.tv_nsec / 1000, 6, text));
	out_string(event, "event", name);
	return event;
}

struct json_object *event_group(const char *name, const struct group *group)
{
	struct json_object *event = event_new(name);

	out_uint(event, "job", group->key.job);
	out_device(event, "device", group->key.ifindex);
	out_addr(event, "leaf", group->key.leaf);
	return event;
}

struct json_object *event_path(const char *name, const struct group *group, __u32 path)
{
	struct json_object *event = event_group(name, group);

	out_uint(event, "path", path);
	if (!addr_is_none(group->via[path]))
		out_addr(event, "via", group->via[path]);
	out_addr(event, "router", group->router[path]);
	if (!addr_is_none(group->leaf[path]))
		out_addr(event, "path_leaf", group->leaf[path]);
	return event;
}

const char *event_line(struct json_object *event)
{
	return json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}
