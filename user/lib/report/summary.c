// SPDX-License-Identifier: GPL-2.0
#include "summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary_priv.h"

void summary_real(struct json_object *obj, const char *key, double value, int digits)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", digits, value);
	json_object_object_add(obj, key, json_object_new_double_s(value, text));
}

static const char *tier_name(const struct report_join *join, enum report_tier tier)
{
	if (tier == REPORT_SPINE)
		return join->routers[REPORT_CORE].nr ? "agg" : "spine";
	return tier == REPORT_LEAF ? "leaf" : "core";
}

static void put_router(struct json_object *obj, const struct report_join *join,
		       const struct report_router *router)
{
	out_addr(obj, tier_name(join, router->tier), report_join_name(join, router));
}

static void put_tier(struct json_object *obj, const struct report_join *join,
		     enum report_tier from, enum report_tier to)
{
	char text[16];

	snprintf(text, sizeof(text), "%s-%s", tier_name(join, from), tier_name(join, to));
	out_string(obj, "tier", text);
}

void summary_link(struct json_object *obj, const struct report_join *join, size_t number)
{
	const struct report_link *link = &join->link[number];
	bool down = report_link_is_down(link);

	put_tier(obj, join, link->from.tier, link->to.tier);
	out_string(obj, "direction", down ? "down" : "up");
	put_router(obj, join, down ? &link->to : &link->from);
	put_router(obj, join, down ? &link->from : &link->to);
	out_addr(obj, "address", link->address);
}

static void put_period(struct json_object *root, const char *key, const struct report_join *join)
{
	struct json_object *obj = out_object(root, key);
	__s64 begin = join->recording[0].begin, end = begin;
	char text[UTC_SIZE];
	size_t i;

	for (i = 0; i < join->nr; i++) {
		__s64 last = join->recording[i].begin + join->recording[i].ms;

		if (join->recording[i].begin < begin)
			begin = join->recording[i].begin;
		if (last > end)
			end = last;
	}
	out_string(obj, "begin", utc_format_ms(begin, text));
	out_string(obj, "end", utc_format_ms(end, text));
	out_decimal(obj, "seconds", summary_sum(join).ms, 3);
}

static const char *mode_of(const struct recording_group *group)
{
	return group->observed ? "observed" : "steered";
}

/* Each job and device once: groups of a job follow each other. */
static void put_jobs(struct json_object *obj, const struct recording *recording)
{
	struct json_object *devices = out_array(obj, "devices");
	struct json_object *jobs = out_array(obj, "jobs"), *job;
	const char *last = NULL;
	size_t i;

	for (i = 0; i < recording->nr_groups; i++) {
		const struct recording_group *group = &recording->group[i];

		if (!last || strcmp(last, group->device))
			json_object_array_add(devices, json_object_new_string(group->device));
		last = group->device;
		if (i && group->job == group[-1].job && group->observed == group[-1].observed)
			continue;
		job = out_append_object(jobs);
		out_uint(job, "job", group->job);
		if (group->name[0])
			out_string(job, "name", group->name);
		out_string(job, "mode", mode_of(group));
	}
}

static void put_hosts(struct json_object *root, const struct report_join *join)
{
	struct json_object *array = out_array(root, "hosts"), *obj;
	size_t r, g;

	for (r = 0; r < join->nr; r++) {
		const struct recording *recording = &join->recording[r];

		obj = out_append_object(array);
		out_string(obj, "host", recording->host);
		for (g = 0; g < join->nr_groups && join->group[g].recording != recording;)
			g++;
		if (g < join->nr_groups)
			out_addr(obj, "leaf", join->leaf_name[join->group[g].own]);
		out_string(obj, "version", recording->version);
		out_string(obj, "kernel", recording->kernel);
		put_jobs(obj, recording);
	}
}

static void put_routers(struct json_object *root, const struct report_join *join)
{
	struct json_object *array;
	struct report_router router;
	char key[16];

	for (router.tier = 0; router.tier < REPORT_TIERS; router.tier++) {
		if (router.tier == REPORT_CORE && !join->routers[REPORT_CORE].nr)
			continue;
		snprintf(key, sizeof(key), "%ss", tier_name(join, router.tier));
		array = out_array(root, router.tier == REPORT_LEAF ? "leaves" : key);
		for (router.number = 0; router.number < join->routers[router.tier].nr;
		     router.number++)
			out_append_addr(array, report_join_name(join, &router));
	}
}

/* The links between two tiers; the load of each is in units of their mean. */
static void put_tier_links(struct json_object *array, const struct report_join *join,
			   enum report_tier from, enum report_tier to)
{
	struct json_object *obj;
	double bytes = 0;
	size_t i, nr = 0;

	for (i = 0; i < join->nr_links; i++) {
		if (join->link[i].from.tier == from && join->link[i].to.tier == to) {
			bytes += join->link[i].share.bytes;
			nr++;
		}
	}
	for (i = 0; i < join->nr_links; i++) {
		const struct report_link *link = &join->link[i];

		if (link->from.tier != from || link->to.tier != to)
			continue;
		obj = out_append_object(array);
		out_uint(obj, "link", json_object_array_length(array) - 1);
		summary_link(obj, join, i);
		out_uint(obj, "packets", link->packets);
		out_uint(obj, "bytes", link->share.bytes);
		summary_real(obj, "load", bytes ? link->share.bytes * nr / bytes : 0, 3);
		out_uint(obj, "rounds", link->rounds);
		out_uint(obj, "cnps", link->cnps);
		out_uint(obj, "flows", link->share.flows);
		if (link->packets)
			summary_real(obj, "loss", (double)link->rounds / link->packets, 7);
	}
}

/* In the order of a path. */
static void put_links(struct json_object *root, const struct report_join *join)
{
	struct json_object *array = out_array(root, "links");

	put_tier_links(array, join, REPORT_LEAF, REPORT_SPINE);
	put_tier_links(array, join, REPORT_LEAF, REPORT_CORE);
	put_tier_links(array, join, REPORT_SPINE, REPORT_CORE);
	put_tier_links(array, join, REPORT_CORE, REPORT_SPINE);
	put_tier_links(array, join, REPORT_CORE, REPORT_LEAF);
	put_tier_links(array, join, REPORT_SPINE, REPORT_LEAF);
}

static void put_imbalance(struct json_object *obj, const struct report_share *shares, size_t nr)
{
	struct report_imbalance result;

	report_imbalance(shares, nr, &result);
	if (result.bytes)
		summary_real(obj, "imbalance", result.bytes, 3);
	summary_real(obj, "flow_imbalance", result.flows, 1);
	if (!result.whole)
		return;
	summary_real(obj, "whole", result.whole, 3);
	summary_real(obj, "split", result.split, 3);
}

static bool is_from(const struct report_link *link, const struct report_router *from)
{
	return link->from.tier == from->tier && link->from.number == from->number;
}

/* The shares of the links from a router up to a tier. Return: how many. */
static size_t uplinks(const struct report_join *join, const struct report_router *from,
		      enum report_tier to, struct report_share *shares)
{
	size_t i, nr = 0;

	for (i = 0; i < join->nr_links; i++)
		if (is_from(&join->link[i], from) && join->link[i].to.tier == to)
			shares[nr++] = join->link[i].share;
	return nr;
}

/* Imbalance of the uplinks of a router with this address in an earlier period. */
static void put_before(struct json_object *obj, const struct report_join *before,
		       enum report_tier tier, enum report_tier to, const __u8 addr[16],
		       struct report_share *shares)
{
	size_t number = report_leaves_find(&before->routers[tier], addr);
	struct report_router from = { tier, number };
	struct report_imbalance result;

	if (number == REPORT_NO_LEAF)
		return;
	report_imbalance(shares, uplinks(before, &from, to, shares), &result);
	if (result.bytes)
		summary_real(obj, "before_imbalance", result.bytes, 3);
}

static double imbalance_of(const void *item)
{
	struct json_object *obj = *(struct json_object *const *)item;

	return json_object_get_double(json_object_object_get(obj, "imbalance"));
}

static int worst_first(const void *a, const void *b)
{
	double x = imbalance_of(a), y = imbalance_of(b);

	return (x < y) - (x > y);
}

static void put_uplink(struct json_object *array, const struct report_join *join,
		       const struct report_join *before, const struct report_router *from,
		       enum report_tier to, struct report_share *shares)
{
	size_t nr = uplinks(join, from, to, shares), i;
	__u64 bytes = 0, flows = 0;
	struct json_object *obj;

	if (!nr)
		return;
	for (i = 0; i < nr; i++) {
		bytes += shares[i].bytes;
		flows += shares[i].flows;
	}
	obj = out_append_object(array);
	put_tier(obj, join, from->tier, to);
	put_router(obj, join, from);
	out_uint(obj, "flows", flows);
	out_uint(obj, "bytes", bytes);
	put_imbalance(obj, shares, nr);
	if (before)
		put_before(obj, before, from->tier, to, report_join_name(join, from), shares);
}

int summary_uplinks(struct json_object *root, const struct report_join *join,
		    const struct report_join *before)
{
	size_t most = join->nr_links + (before ? before->nr_links : 0);
	struct report_share *shares = calloc(most ?: 1, sizeof(*shares));
	struct json_object *array = out_array(root, "uplinks");
	struct report_router from;
	enum report_tier to;

	if (!shares)
		return -ENOMEM;
	for (from.tier = REPORT_LEAF; from.tier < REPORT_CORE; from.tier++) {
		size_t nr = join->routers[from.tier].nr;

		for (to = from.tier + 1; to <= REPORT_CORE; to++)
			for (from.number = 0; from.number < nr; from.number++)
				put_uplink(array, join, before, &from, to, shares);
	}
	free(shares);
	json_object_array_sort(array, worst_first);
	return 0;
}

/* The same group in an earlier period, or NULL. */
static const struct report_group *group_before(const struct report_join *before,
					       const struct report_group *group)
{
	size_t i;

	for (i = 0; before && i < before->nr_groups; i++) {
		const struct report_group *old = &before->group[i];

		if (old->group->job == group->group->job &&
		    !strcmp(old->recording->host, group->recording->host) &&
		    !strcmp(old->group->device, group->group->device) &&
		    !addr_compare(old->group->leaf, group->group->leaf))
			return old;
	}
	return NULL;
}

static void get_shares(const struct recording_group *group,
		       struct report_share shares[ROCESTEER_MAX_PATHS])
{
	__u32 p;

	for (p = 0; p < group->nr_paths; p++)
		shares[p] = (struct report_share) {
			.bytes = group->path[p].sent.bytes,
			.flows = group->path[p].flows,
			.up = group->path[p].up,
		};
}

/* The traffic of the same path before; router and entry identify a path. */
static void put_path_before(struct json_object *obj, const struct recording_group *old,
			    const struct recording_path *path)
{
	__u32 p;

	for (p = 0; old && p < old->nr_paths; p++)
		if (!addr_compare(old->path[p].router, path->router) &&
		    !addr_compare(old->path[p].entry, path->entry))
			out_uint(obj, "before_bytes", old->path[p].sent.bytes);
}

static void put_path(struct json_object *obj, const struct recording_group *group, __u32 p)
{
	const struct recording_path *path = &group->path[p];

	out_uint(obj, "path", p);
	out_addr(obj, "router", path->router);
	if (group->cores && !addr_is_none(path->via))
		out_addr(obj, "via", path->via);
	if (group->cores && !addr_is_none(path->behind))
		out_addr(obj, "behind", path->behind);
	out_bool(obj, "up", path->up);
	out_uint(obj, "flows", path->flows);
	out_uint(obj, "packets", path->sent.packets);
	out_uint(obj, "bytes", path->sent.bytes);
	out_uint(obj, "rounds", path->sent.rounds);
	out_uint(obj, "cnps", path->cnps);
	if (path->delay_ns)
		summary_real(obj, "delay_us", path->delay_ns / 1e3, 1);
}

static void put_group(struct json_object *obj, const struct report_group *from,
		      const struct recording_group *old)
{
	const struct recording_group *group = from->group;
	struct report_share shares[ROCESTEER_MAX_PATHS];
	struct json_object *paths, *path;
	__u64 bytes = 0;
	__u32 p;

	for (p = 0; p < group->nr_paths; p++)
		bytes += group->path[p].sent.bytes;
	out_string(obj, "host", from->recording->host);
	out_uint(obj, "job", group->job);
	if (group->name[0])
		out_string(obj, "name", group->name);
	out_string(obj, "device", group->device);
	out_addr(obj, "leaf", group->leaf);
	out_string(obj, "mode", mode_of(group));
	out_uint(obj, "flows", group->flows);
	out_uint(obj, "bytes", bytes);
	if (group->unknown.bytes)
		out_uint(obj, "unknown_bytes", group->unknown.bytes);
	get_shares(group, shares);
	put_imbalance(obj, shares, group->nr_paths);
	if (old) {
		get_shares(old, shares);
		put_imbalance(out_object(obj, "before"), shares, old->nr_paths);
	}
	paths = out_array(obj, "paths");
	for (p = 0; p < group->nr_paths; p++) {
		path = out_append_object(paths);
		put_path(path, group, p);
		put_path_before(path, old, &group->path[p]);
	}
}

static void put_groups(struct json_object *root, const struct report_join *join,
		       const struct report_join *before)
{
	struct json_object *array = out_array(root, "groups");
	size_t i;

	for (i = 0; i < join->nr_groups; i++) {
		const struct report_group *old = group_before(before, &join->group[i]);

		put_group(out_append_object(array), &join->group[i], old ? old->group : NULL);
	}
	json_object_array_sort(array, worst_first);
}

static void put_note(struct json_object *array, const char *host, const char *text)
{
	char line[RECORDING_NAME + 128];

	snprintf(line, sizeof(line), "%s: %s", host, text);
	json_object_array_add(array, json_object_new_string(line));
}

static bool lacks_agg(const struct recording_group *group)
{
	__u32 p;

	for (p = 0; group->cores && p < group->nr_paths; p++)
		if (addr_is_none(group->path[p].via) || addr_is_none(group->path[p].behind))
			return true;
	return false;
}

/* Notes on the limits of these recordings. */
static void put_notes(struct json_object *root, const struct report_join *join,
		      const struct report_join *before)
{
	struct json_object *array = out_array(root, "notes");
	size_t i;

	for (i = 0; i < join->nr; i++)
		if (!join->recording[i].probed)
			put_note(array, join->recording[i].host,
				 "no probes: links are named by their routers, delays are not known");
	for (i = 0; i < join->nr_groups; i++) {
		if (join->group[i].group->unknown.bytes)
			put_note(array, join->group[i].recording->host,
				 "the path of some flows was not known, they count on no link");
		if (lacks_agg(join->group[i].group))
			put_note(array, join->group[i].recording->host,
				 "some aggs are not known, what is between leaf and core is one link");
		if (before && !group_before(before, &join->group[i]))
			put_note(array, join->group[i].recording->host,
				 "a group was not in the earlier period");
	}
}

int report_summary(struct json_object **root, const struct report_join *now,
		   const struct report_join *before)
{
	struct json_object *obj = out_root();
	int ret;

	out_uint(obj, "format", RECORDING_FORMAT);
	put_period(obj, "period", now);
	if (before)
		put_period(obj, "before", before);
	put_hosts(obj, now);
	put_routers(obj, now);
	put_links(obj, now);
	ret = summary_uplinks(obj, now, before);
	put_groups(obj, now, before);
	ret = ret ?: summary_collisions(obj, now) ?: summary_gray(obj, now);
	if (before)
		summary_comparison(obj, now, before);
	summary_timeline(obj, now);
	put_notes(obj, now, before);
	if (ret)
		json_object_put(obj);
	else
		*root = obj;
	return ret;
}
