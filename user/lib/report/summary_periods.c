// SPDX-License-Identifier: GPL-2.0
/* Two periods side by side, and what happened in the later one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary_priv.h"

struct summary_sum summary_sum(const struct report_join *join)
{
	struct summary_sum sum = {};
	size_t r, i;
	__u32 k;

	for (r = 0; r < join->nr; r++) {
		const struct recording *recording = &join->recording[r];

		sum.naks += recording->naks;
		sum.cnps += recording->cnps;
		if (recording->ms > sum.ms)
			sum.ms = recording->ms;
		for (i = 0; i < recording->nr_events; i++)
			sum.detours += !strcmp(recording->event[i].name, "detour");
		for (i = 0; i < recording->nr_flows; i++) {
			const struct recording_flow *flow = &recording->flow[i];

			for (k = 0; k < flow->nr_sent; k++) {
				sum.count.packets += flow->sent[k].sent.packets;
				sum.count.bytes += flow->sent[k].sent.bytes;
				sum.count.rounds += flow->sent[k].sent.rounds;
			}
		}
	}
	return sum;
}

static void put_real(struct json_object *obj, const char *key, double value, int digits)
{
	if (isnan(value))
		json_object_object_add(obj, key, NULL);
	else
		summary_real(obj, key, value, digits);
}

/* A value that a period does not have is NAN, and null in the output. */
static void put(struct json_object *array, const char *measure, double before, double now,
		int digits)
{
	struct json_object *obj = out_append_object(array);

	out_string(obj, "measure", measure);
	put_real(obj, "before", before, digits);
	put_real(obj, "now", now, digits);
	put_real(obj, "difference", now - before, digits);
}

/* Imbalance of the worst router that sent up: its uplinks carry what all hosts below it send. */
static double worst(const struct report_join *join)
{
	struct json_object *root = out_root(), *first;
	double most = 0;

	if (!summary_uplinks(root, join, NULL)) {
		first = json_object_array_get_idx(json_object_object_get(root, "uplinks"), 0);
		most = json_object_get_double(json_object_object_get(first, "imbalance"));
	}
	json_object_put(root);
	return most ?: NAN;
}

static double rate(__u64 count, __u64 of, double unit)
{
	return of ? count * unit / of : NAN;
}

void summary_comparison(struct json_object *root, const struct report_join *now,
			const struct report_join *before)
{
	struct summary_sum a = summary_sum(before), b = summary_sum(now);
	struct json_object *array = out_array(root, "comparison");

	put(array, "imbalance", worst(before), worst(now), 3);
	put(array, "bytes", a.count.bytes, b.count.bytes, 0);
	put(array, "bytes_per_second", rate(a.count.bytes, a.ms, 1000),
	    rate(b.count.bytes, b.ms, 1000), 0);
	put(array, "rounds", a.count.rounds, b.count.rounds, 0);
	put(array, "rounds_per_million_packets", rate(a.count.rounds, a.count.packets, 1e6),
	    rate(b.count.rounds, b.count.packets, 1e6), 1);
	put(array, "naks", a.naks, b.naks, 0);
	put(array, "cnps", a.cnps, b.cnps, 0);
	put(array, "detours", a.detours, b.detours, 0);
}

static double seconds_of(const void *item)
{
	struct json_object *obj = *(struct json_object *const *)item;

	return json_object_get_double(json_object_object_get(obj, "seconds"));
}

static int compare(const void *a, const void *b)
{
	double x = seconds_of(a), y = seconds_of(b);

	return (x > y) - (x < y);
}

static void put_event(struct json_object *obj, const struct recording *recording,
		      const struct recording_event *event, __s64 begin)
{
	__s64 at = recording->begin + event->ms;
	char text[UTC_SIZE];

	out_string(obj, "time", utc_format_ms(at, text));
	out_decimal(obj, "seconds", at - begin, 3);
	out_string(obj, "host", recording->host);
	recording_event_put(obj, event);
}

void summary_timeline(struct json_object *root, const struct report_join *join)
{
	struct json_object *array = out_array(root, "timeline");
	__s64 begin = join->recording[0].begin;
	size_t r, i;

	for (r = 0; r < join->nr; r++)
		if (join->recording[r].begin < begin)
			begin = join->recording[r].begin;
	for (r = 0; r < join->nr; r++)
		for (i = 0; i < join->recording[r].nr_events; i++)
			put_event(out_append_object(array), &join->recording[r],
				  &join->recording[r].event[i], begin);
	json_object_array_sort(array, compare);
}
