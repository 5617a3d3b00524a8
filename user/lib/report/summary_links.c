// SPDX-License-Identifier: GPL-2.0
/* Links that flows share, and links that are gray. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "summary_priv.h"

/* Flows of a collision that are listed, at most. */
#define MAX_FLOWS	64

static void put_flow(struct json_object *obj, const struct report_group *group,
		     const struct recording_flow *flow, __u64 bytes)
{
	out_string(obj, "host", group->recording->host);
	out_uint(obj, "job", group->group->job);
	if (group->group->name[0])
		out_string(obj, "name", group->group->name);
	out_addr(obj, "peer", flow->peer);
	out_uint(obj, "dqpn", flow->dqpn);
	out_uint(obj, "port", flow->port);
	out_uint(obj, "bytes", bytes);
}

static bool has_link(const size_t links[REPORT_PATH_LINKS], size_t link)
{
	int i;

	for (i = 0; i < REPORT_PATH_LINKS; i++)
		if (links[i] == link)
			return true;
	return false;
}

/* Bytes that a flow sent over a link; 0: it did not. */
static __u64 bytes_over(const struct report_group *group, const struct recording_flow *flow,
			size_t link)
{
	__u64 bytes = 0;
	__u32 i;

	for (i = 0; i < flow->nr_sent; i++) {
		__u32 p = flow->sent[i].path;

		if (p < group->group->nr_paths && has_link(group->link[p], link))
			bytes += flow->sent[i].sent.bytes;
	}
	return bytes;
}

static void put_flows(struct json_object *array, const struct report_join *join, size_t link)
{
	size_t g, i, nr = 0;
	__u64 bytes;

	for (g = 0; g < join->nr_groups; g++) {
		const struct report_group *group = &join->group[g];
		const struct recording *recording = group->recording;

		for (i = 0; i < recording->nr_flows && nr < MAX_FLOWS; i++) {
			const struct recording_flow *flow = &recording->flow[i];

			if (&recording->group[flow->group] != group->group || !flow->share)
				continue;
			bytes = bytes_over(group, flow, link);
			if (!bytes)
				continue;
			put_flow(out_append_object(array), group, flow, bytes);
			nr++;
		}
	}
}

int summary_collisions(struct json_object *root, const struct report_join *join)
{
	struct json_object *array = out_array(root, "collisions"), *obj;
	struct report_share *shares = calloc(join->nr_links ?: 1, sizeof(*shares));
	struct report_collision *found = calloc(join->nr_links ?: 1, sizeof(*found));
	long nr = -ENOMEM, i;
	size_t link;

	for (link = 0; shares && link < join->nr_links; link++)
		shares[link] = join->link[link].share;
	if (shares && found)
		nr = report_collisions(shares, join->nr_links, found, join->nr_links);
	for (i = 0; i < nr; i++) {
		obj = out_append_object(array);
		summary_link(obj, join, found[i].link);
		out_uint(obj, "flows_on", found[i].flows);
		out_uint(obj, "fair", found[i].fair);
		put_flows(out_array(obj, "flows"), join, found[i].link);
	}
	free(shares);
	free(found);
	return nr < 0 ? nr : 0;
}

/* Paths of all groups; those from one leaf to another are compared with each other. */
static size_t get_paths(const struct report_join *join, struct report_path *paths)
{
	size_t g, first, nr = 0;
	__u32 p;

	for (g = 0; g < join->nr_groups; g++) {
		const struct report_group *group = &join->group[g];

		for (first = 0; join->group[first].own != group->own ||
		     join->group[first].leaf != group->leaf;)
			first++;
		for (p = 0; p < group->group->nr_paths; p++) {
			const struct recording_path *path = &group->group->path[p];

			paths[nr] = (struct report_path) {
				.packets = path->sent.packets,
				.rounds = path->sent.rounds,
				.cnps = path->cnps,
				.probes = path->probes,
				.lost = path->lost,
				.delay_min_ns = path->delay_ns,
				.group = first,
			};
			memcpy(paths[nr++].link, group->link[p], sizeof(group->link[p]));
		}
	}
	return nr;
}

static void put_gray(struct json_object *obj, const struct report_join *join,
		     const struct report_gray *gray)
{
	struct json_object *other = obj;
	unsigned int i;

	out_string(obj, "cause", report_cause_words[gray->cause]);
	summary_link(obj, join, gray->link);
	for (i = 0; i < gray->nr_others; i++) {
		other = out_object(other, "other");
		summary_link(other, join, gray->other[i]);
	}
	out_uint(obj, "sure", gray->sure);
	if (gray->cause == REPORT_DELAY) {
		summary_real(obj, "delay_us", gray->delay_ns / 1e3, 1);
		return;
	}
	out_uint(obj, "packets", gray->packets);
	out_uint(obj, "events", gray->events);
	summary_real(obj, "rate", gray->rate, 6);
}

int summary_gray(struct json_object *root, const struct report_join *join)
{
	struct json_object *array = out_array(root, "gray");
	struct report_gray found[3 * REPORT_GRAY_MAX];
	struct report_path *paths;
	int nr, i;

	paths = calloc(join->nr_groups * ROCESTEER_MAX_PATHS + 1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	nr = report_gray(paths, get_paths(join, paths), join->nr_links, found, ARRAY_SIZE(found));
	for (i = 0; i < nr; i++)
		put_gray(out_append_object(array), join, &found[i]);
	free(paths);
	return nr < 0 ? nr : 0;
}
