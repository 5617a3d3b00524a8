// SPDX-License-Identifier: GPL-2.0
/* The reader of recordings: a file is untrusted, every field is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "recording.h"

#define MAX_DEPTH	8	/* the format needs 6 */

static bool has(struct json_object *obj, const char *key)
{
	return json_object_object_get_ex(obj, key, NULL);
}

static int read_bool(struct reader *r, struct json_object *obj, const char *key, bool *value)
{
	struct json_object *found;
	int ret = reader_get(r, obj, key, json_type_boolean, &found);

	if (!ret)
		*value = json_object_get_boolean(found);
	return ret;
}

static int read_u64(struct reader *r, struct json_object *obj, const char *key, __u64 *value)
{
	return reader_uint(r, obj, key, 0, INT64_MAX, value);
}

static int read_u32(struct reader *r, struct json_object *obj, const char *key, __u32 max,
		    __u32 *value)
{
	__u64 number = 0;
	int ret = reader_uint(r, obj, key, 0, max, &number);

	*value = number;
	return ret;
}

/* Length of a period, or time since its beginning */
static int read_ms(struct reader *r, struct json_object *obj, __u64 *ms)
{
	return reader_uint(r, obj, "ms", 0, UINT32_MAX, ms);
}

/* An address that may be absent. */
static int read_addr(struct reader *r, struct json_object *obj, const char *key, __u8 addr[16])
{
	return has(obj, key) ? reader_addr(r, obj, key, addr) : 0;
}

static int read_path(struct reader *r, struct json_object *obj, struct recording_path *path)
{
	int ret = reader_addr(r, obj, "router", path->router) ?:
		  read_addr(r, obj, "via", path->via) ?:
		  read_addr(r, obj, "behind", path->behind) ?:
		  read_addr(r, obj, "entry", path->entry) ?:
		  read_bool(r, obj, "up", &path->up);

	if (!ret && has(obj, "probes"))
		ret = read_u32(r, obj, "probes", UINT32_MAX, &path->probes) ?:
		      read_u32(r, obj, "lost", path->probes, &path->lost);
	if (!ret && has(obj, "delay_ns"))
		ret = read_u64(r, obj, "delay_ns", &path->delay_ns);
	return ret;
}

static int read_paths(struct reader *r, struct json_object *obj, struct recording_group *group)
{
	struct json_object *array, *item;
	size_t n, mark;
	int ret = reader_array(r, obj, "paths", 0, ROCESTEER_MAX_PATHS, &array, &n);

	for (; !ret && group->nr_paths < n; group->nr_paths++) {
		ret = reader_item(r, "paths", array, group->nr_paths, &item, &mark) ?:
		      read_path(r, item, &group->path[group->nr_paths]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int read_group(struct reader *r, struct json_object *obj, struct recording_group *group)
{
	int ret = read_u32(r, obj, "job", UINT32_MAX, &group->job) ?:
		  reader_string(r, obj, "device", group->device, sizeof(group->device)) ?:
		  reader_addr(r, obj, "leaf", group->leaf) ?:
		  read_addr(r, obj, "via", group->via) ?:
		  reader_addr(r, obj, "source", group->source) ?:
		  read_bool(r, obj, "observed", &group->observed);

	if (!ret && has(obj, "cores"))
		ret = read_bool(r, obj, "cores", &group->cores);
	if (!ret && has(obj, "name"))
		ret = reader_string(r, obj, "name", group->name, sizeof(group->name));
	return ret ?: read_paths(r, obj, group);
}

static int read_groups(struct reader *r, struct json_object *root, struct recording *recording)
{
	struct json_object *array, *item;
	size_t n, mark;
	int ret = reader_array(r, root, "groups", 0, ROCESTEER_MAX_PEERS, &array, &n);

	if (ret)
		return ret;
	recording->group = calloc(n ?: 1, sizeof(*recording->group));
	if (!recording->group)
		return -ENOMEM;
	for (; !ret && recording->nr_groups < n; recording->nr_groups++) {
		ret = reader_item(r, "groups", array, recording->nr_groups, &item, &mark) ?:
		      read_group(r, item, &recording->group[recording->nr_groups]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int read_sent(struct reader *r, struct json_object *obj, __u32 nr_paths,
		     struct recording_sent *sent)
{
	int ret = 0;

	sent->path = ROCESTEER_PATH_UNKNOWN;
	if (has(obj, "path") && !nr_paths)
		return reader_invalid(r, "path", "is given, but the group has no paths");
	if (has(obj, "path"))
		ret = read_u32(r, obj, "path", nr_paths - 1, &sent->path);
	return ret ?: read_u64(r, obj, "packets", &sent->sent.packets) ?:
	       read_u64(r, obj, "bytes", &sent->sent.bytes) ?:
	       read_u64(r, obj, "rounds", &sent->sent.rounds);
}

static int read_flow(struct reader *r, struct json_object *obj,
		     const struct recording *recording, struct recording_flow *flow)
{
	struct json_object *array, *item;
	__u32 group = 0, port = 0;
	size_t n, mark;
	int ret;

	if (!recording->nr_groups)
		return reader_invalid(r, "", "is of no group: there is none");
	ret = read_u32(r, obj, "group", recording->nr_groups - 1, &group) ?:
	      reader_addr(r, obj, "peer", flow->peer) ?:
	      read_u32(r, obj, "dqpn", 0xffffff, &flow->dqpn) ?:
	      read_u32(r, obj, "port", UINT16_MAX, &port) ?:
	      read_bool(r, obj, "share", &flow->share) ?:
	      read_bool(r, obj, "observed", &flow->observed) ?:
	      read_u64(r, obj, "cnps", &flow->cnps) ?:
	      reader_array(r, obj, "sent", 0, ROCESTEER_MAX_PATHS + 1, &array, &n);
	if (ret)
		return ret;
	flow->group = group;
	flow->port = port;
	flow->sent = calloc(n ?: 1, sizeof(*flow->sent));
	if (!flow->sent)
		return -ENOMEM;
	for (; !ret && flow->nr_sent < n; flow->nr_sent++) {
		ret = reader_item(r, "sent", array, flow->nr_sent, &item, &mark) ?:
		      read_sent(r, item, recording->group[group].nr_paths,
				&flow->sent[flow->nr_sent]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int read_flows(struct reader *r, struct json_object *root, struct recording *recording)
{
	struct json_object *array, *item;
	size_t n, mark, i;
	int ret = reader_array(r, root, "flows", 0, 4 * ROCESTEER_MAX_FLOWS, &array, &n);

	if (ret)
		return ret;
	recording->flow = calloc(n ?: 1, sizeof(*recording->flow));
	if (!recording->flow)
		return -ENOMEM;
	for (i = 0; !ret && i < n; i++) {
		recording->nr_flows++;	/* so that it is freed */
		ret = reader_item(r, "flows", array, i, &item, &mark) ?:
		      read_flow(r, item, recording, &recording->flow[i]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int read_event(struct reader *r, struct json_object *obj, struct recording_event *event)
{
	int ret = read_ms(r, obj, &event->ms) ?:
		  reader_string(r, obj, "event", event->name, sizeof(event->name)) ?:
		  read_addr(r, obj, "leaf", event->leaf);

	if (!ret && has(obj, "device"))
		ret = reader_string(r, obj, "device", event->device, sizeof(event->device));
	event->path = ROCESTEER_PATH_UNKNOWN;
	if (!ret && has(obj, "path"))
		ret = read_u32(r, obj, "path", ROCESTEER_MAX_PATHS - 1, &event->path);
	return ret;
}

static int read_events(struct reader *r, struct json_object *root, struct recording *recording)
{
	struct json_object *array, *item;
	size_t n, mark;
	int ret = reader_array(r, root, "events", 0, RECORDING_MAX_EVENTS, &array, &n);

	if (ret)
		return ret;
	recording->event = calloc(n ?: 1, sizeof(*recording->event));
	if (!recording->event)
		return -ENOMEM;
	for (; !ret && recording->nr_events < n; recording->nr_events++) {
		ret = reader_item(r, "events", array, recording->nr_events, &item, &mark) ?:
		      read_event(r, item, &recording->event[recording->nr_events]);
		if (!ret)
			reader_leave(r, mark);
	}
	return ret;
}

static int read_head(struct reader *r, struct json_object *root, struct recording *recording)
{
	char begin[UTC_SIZE];
	__u64 format;
	int ret;

	ret = reader_uint(r, root, "format", RECORDING_FORMAT, RECORDING_FORMAT, &format) ?:
	      reader_string(r, root, "host", recording->host, sizeof(recording->host)) ?:
	      reader_string(r, root, "version", recording->version, sizeof(recording->version)) ?:
	      reader_string(r, root, "kernel", recording->kernel, sizeof(recording->kernel)) ?:
	      reader_string(r, root, "begin", begin, sizeof(begin)) ?:
	      read_ms(r, root, &recording->ms) ?:
	      read_bool(r, root, "probed", &recording->probed) ?:
	      read_u64(r, root, "naks", &recording->naks) ?:
	      read_u64(r, root, "cnps", &recording->cnps);
	if (!ret && !utc_parse_ms(begin, &recording->begin))
		ret = reader_invalid(r, "begin", "is not a time");
	return ret;
}

int recording_read(const char *file, struct recording *recording, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root = NULL;
	int ret;

	ret = json_file_read(file, RECORDING_MAX_SIZE, MAX_DEPTH, &root, err);
	ret = ret ?: reader_object(&r, root) ?: read_head(&r, root, recording) ?:
	      read_groups(&r, root, recording) ?: read_flows(&r, root, recording) ?:
	      read_events(&r, root, recording);
	json_object_put(root);
	if (!ret)
		recording_sum(recording);
	return ret;
}
