// SPDX-License-Identifier: GPL-2.0
/* Jobs of a cluster file that wait, in the order of arrival. */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster_priv.h"

static struct json_object *waiting(const struct cluster *c)
{
	return json_object_object_get(c->root, "queue");
}

size_t cluster_queue_length(const struct cluster *c)
{
	return waiting(c) ? json_object_array_length(waiting(c)) : 0;
}

struct json_object *cluster_queue_entry(const struct cluster *c, size_t i)
{
	return json_object_array_get_idx(waiting(c), i);
}

/* Return: index of a job, or the number of jobs. */
static size_t find(const struct cluster *c, const char *id)
{
	size_t n = cluster_queue_length(c), i;

	for (i = 0; i < n; i++)
		if (!strcmp(cluster_entry_job(cluster_queue_entry(c, i)), id))
			break;
	return i;
}

struct json_object *cluster_queue_find(const struct cluster *c, const char *id)
{
	size_t i = find(c, id);

	return i < cluster_queue_length(c) ? cluster_queue_entry(c, i) : NULL;
}

const char *cluster_entry_job(struct json_object *entry)
{
	return json_object_get_string(json_object_object_get(entry, "job"));
}

struct queue_job cluster_entry_wants(struct json_object *entry, __u32 number)
{
	struct json_object *gpus = json_object_object_get(entry, "gpus");
	struct json_object *duration;

	duration = json_object_object_get(entry, "duration");
	return (struct queue_job) {
		.number = number,
		.gpus = json_object_get_int64(gpus),
		.duration = duration ? json_object_get_uint64(duration) :
				       UINT64_MAX,
	};
}

__u64 cluster_seconds_since(struct json_object *obj, const char *key)
{
	struct json_object *text = json_object_object_get(obj, key);
	time_t now = time(NULL), then;

	if (!text || !utc_parse(json_object_get_string(text), &then))
		return 0;
	return then < now ? now - then : 0;
}

void cluster_queue_add(struct cluster *c, const char *id, __u32 gpus, __u64 duration)
{
	struct json_object *array = waiting(c) ?: out_array(c->root, "queue");
	struct json_object *entry = out_append_object(array);
	char text[UTC_SIZE];

	out_string(entry, "job", id);
	out_uint(entry, "gpus", gpus);
	if (duration)
		out_uint(entry, "duration", duration);
	out_string(entry, "submitted", utc_format(time(NULL), text));
}

struct json_object *cluster_queue_take(struct cluster *c, const char *id)
{
	struct json_object *entry;
	size_t i = find(c, id);

	if (i == cluster_queue_length(c))
		return NULL;
	entry = json_object_get(cluster_queue_entry(c, i));
	json_object_array_del_idx(waiting(c), i, 1);
	return entry;
}

int cluster_read_time(struct reader *r, struct json_object *obj, const char *key)
{
	char text[UTC_SIZE];
	time_t at;
	int ret = reader_string(r, obj, key, text, sizeof(text));

	if (ret)
		return ret;
	if (!utc_parse(text, &at))
		return reader_invalid(r, key, "is not an RFC 3339 time");
	return 0;
}

static int read_entry(struct cluster *c, struct reader *r, size_t i)
{
	struct json_object *entry = cluster_queue_entry(c, i);
	char id[CLUSTER_MAX_ID + 1];
	__u64 number;
	int ret;

	ret = reader_object(r, entry) ?:
	      reader_string(r, entry, "job", id, sizeof(id)) ?:
	      reader_uint(r, entry, "gpus", 1, (__u64)c->fabric.leaves *
			  c->fabric.gpus_per_leaf, &number) ?:
	      cluster_read_time(r, entry, "submitted");
	if (!ret && json_object_object_get_ex(entry, "duration", NULL))
		ret = reader_uint(r, entry, "duration", 1, INT64_MAX, &number);
	if (ret)
		return ret;
	if (!cluster_id_valid(id))
		return reader_invalid(r, "job", "is not the name of a job");
	if (cluster_job(c, id) || find(c, id) != i)
		return reader_invalid(r, "job", "is there more than once");
	return 0;
}

int cluster_read_queue(struct cluster *c, struct reader *r)
{
	struct json_object *array;
	size_t i, mark;
	int ret;

	if (!json_object_object_get_ex(c->root, "queue", NULL))
		return 0;
	ret = reader_get(r, c->root, "queue", json_type_array, &array);
	for (i = 0; !ret && i < json_object_array_length(array); i++) {
		mark = reader_enter(r, "queue", i);
		ret = read_entry(c, r, i);
		reader_leave(r, mark);
	}
	return ret;
}
