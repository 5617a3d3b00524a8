// SPDX-License-Identifier: GPL-2.0
#include "recording.h"

#include <stdlib.h>
#include <json-c/json.h>

static void put_count(struct json_object *obj, const struct recording_count *count)
{
	out_uint(obj, "packets", count->packets);
	out_uint(obj, "bytes", count->bytes);
	out_uint(obj, "rounds", count->rounds);
}

static void put_addr(struct json_object *obj, const char *key, const __u8 addr[16])
{
	if (!addr_is_none(addr))
		out_addr(obj, key, addr);
}

static void put_path(struct json_object *obj, const struct recording_path *path)
{
	out_addr(obj, "router", path->router);
	put_addr(obj, "via", path->via);
	put_addr(obj, "behind", path->behind);
	put_addr(obj, "entry", path->entry);
	out_bool(obj, "up", path->up);
	if (!path->probes)
		return;
	out_uint(obj, "probes", path->probes);
	out_uint(obj, "lost", path->lost);
	if (path->delay_ns)
		out_uint(obj, "delay_ns", path->delay_ns);
}

static void put_group(struct json_object *obj, const struct recording_group *group)
{
	struct json_object *paths;
	__u32 p;

	out_uint(obj, "job", group->job);
	if (group->name[0])
		out_string(obj, "name", group->name);
	out_string(obj, "device", group->device);
	out_addr(obj, "leaf", group->leaf);
	put_addr(obj, "via", group->via);
	out_addr(obj, "source", group->source);
	if (group->cores)
		out_bool(obj, "cores", true);
	out_bool(obj, "observed", group->observed);
	paths = out_array(obj, "paths");
	for (p = 0; p < group->nr_paths; p++)
		put_path(out_append_object(paths), &group->path[p]);
}

static void put_flow(struct json_object *obj, const struct recording_flow *flow)
{
	struct json_object *array, *item;
	__u32 i;

	out_uint(obj, "group", flow->group);
	out_addr(obj, "peer", flow->peer);
	out_uint(obj, "dqpn", flow->dqpn);
	out_uint(obj, "port", flow->port);
	out_bool(obj, "share", flow->share);
	out_bool(obj, "observed", flow->observed);
	out_uint(obj, "cnps", flow->cnps);
	array = out_array(obj, "sent");
	for (i = 0; i < flow->nr_sent; i++) {
		item = out_append_object(array);
		if (flow->sent[i].path != ROCESTEER_PATH_UNKNOWN)
			out_uint(item, "path", flow->sent[i].path);
		put_count(item, &flow->sent[i].sent);
	}
}

void recording_event_put(struct json_object *obj, const struct recording_event *event)
{
	out_string(obj, "event", event->name);
	if (event->device[0])
		out_string(obj, "device", event->device);
	put_addr(obj, "leaf", event->leaf);
	if (event->path != ROCESTEER_PATH_UNKNOWN)
		out_uint(obj, "path", event->path);
}

struct json_object *recording_to_json(const struct recording *recording)
{
	struct json_object *root = out_root(), *array, *event;
	char text[UTC_SIZE];
	size_t i;

	out_uint(root, "format", RECORDING_FORMAT);
	out_string(root, "host", recording->host);
	out_string(root, "version", recording->version);
	out_string(root, "kernel", recording->kernel);
	out_string(root, "begin", utc_format_ms(recording->begin, text));
	out_uint(root, "ms", recording->ms);
	out_bool(root, "probed", recording->probed);
	out_uint(root, "naks", recording->naks);
	out_uint(root, "cnps", recording->cnps);
	array = out_array(root, "groups");
	for (i = 0; i < recording->nr_groups; i++)
		put_group(out_append_object(array), &recording->group[i]);
	array = out_array(root, "flows");
	for (i = 0; i < recording->nr_flows; i++)
		put_flow(out_append_object(array), &recording->flow[i]);
	array = out_array(root, "events");
	for (i = 0; i < recording->nr_events; i++) {
		event = out_append_object(array);
		out_uint(event, "ms", recording->event[i].ms);
		recording_event_put(event, &recording->event[i]);
	}
	return root;
}

static void add(struct recording_count *sum, const struct recording_count *count)
{
	sum->packets += count->packets;
	sum->bytes += count->bytes;
	sum->rounds += count->rounds;
}

static void sum_flow(struct recording_group *group, const struct recording_flow *flow)
{
	__u32 i;

	group->flows += flow->share;
	for (i = 0; i < flow->nr_sent; i++) {
		const struct recording_sent *sent = &flow->sent[i];
		struct recording_path *path = &group->path[sent->path % ROCESTEER_MAX_PATHS];

		if (sent->path >= group->nr_paths) {
			add(&group->unknown, &sent->sent);
			continue;
		}
		add(&path->sent, &sent->sent);
		path->flows += flow->share;
		if (flow->nr_sent == 1)
			path->cnps += flow->cnps;
	}
}

void recording_sum(struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->nr_flows; i++)
		sum_flow(&recording->group[recording->flow[i].group], &recording->flow[i]);
}

void recording_free(struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->nr_flows; i++)
		free(recording->flow[i].sent);
	free(recording->flow);
	free(recording->group);
	free(recording->event);
}
