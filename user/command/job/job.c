// SPDX-License-Identifier: GPL-2.0
/* rocesteer job: list and show. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slice/slice.h"
#include "steer/steer.h"
#include "job.h"
#include "../module.h"

static const struct cli_option list_options[] = { {} };

enum { JOB };

static const struct cli_option show_options[] = {
	[JOB] = { "job", "ID", "number of the job", CLI_NEEDED | CLI_NAMES },
	{}
};

static const struct out_column list_columns[] = {
	{ "job", "JOB" },
	{ "name", "NAME" },
	{ "device", "DEVICE" },
	{ "served", "SERVED" },
	{ "owner", "OWNER" },
	{ "steering", "STEERING" },
	{ "actuator", "ACTUATOR" },
	{ "split", "SPLIT" },
	{ "deal", "DEAL" },
	{ "resequence", "RESEQUENCE" },
	{ "slice", "SLICE" },
	{ "pattern", "PATTERN" },
	{ "flows", "FLOWS" },
	{ "loaded", "LOADED" },
	{}
};

static const struct out_view list_views[] = {
	{ .rows = "jobs", .columns = list_columns, .empty = "no job is loaded" },
	{}
};

static const struct out_column job_columns[] = {
	{ "job", "job" },
	{ "name", "name" },
	{ "device", "device" },
	{ "served", "served" },
	{ "first", "first" },
	{ "owner", "owner" },
	{ "steering", "steering" },
	{ "actuator", "actuator" },
	{ "keep_labels", "keep labels" },
	{ "split", "split" },
	{ "deal", "deal" },
	{ "promise", "promise" },
	{ "resequence", "resequence" },
	{ "slice", "slice" },
	{ "pattern", "pattern" },
	{ "flows", "flows" },
	{ "loaded", "loaded" },
	{ "hash", "hash of chunks" },
	{ "chunks", "chunks" },
	{ "module", "module" },
	{ "pins", "pins" },
	{}
};

static const struct out_column peer_columns[] = {
	{ "address", "PEER" },
	{ "leaf", "LEAF" },
	{ "ports", "PORTS OF PATHS" },
	{ "qpn_hash", "QPN-HASH" },
	{ "partial", "PARTIAL" },
	{}
};

static const struct out_column group_columns[] = {
	{ "leaf", "LEAF" },
	{ "steering", "STEERING" },
	{ "routers", "PATHS" },
	{ "path_leaves", "LEAVES" },
	{ "weights", "WEIGHTS" },
	{ "flows", "FLOWS ON PATHS" },
	{ "down", "DOWN" },
	{ "no_port", "NO PORT" },
	{ "home", "HOME" },
	{}
};

static const struct out_column class_columns[] = {
	{ "class", "CLASS" },
	{ "dimension", "DIMENSION" },
	{ "messages", "MESSAGES" },
	{ "packets", "PACKETS" },
	{ "bytes", "BYTES" },
	{}
};

static const struct out_view show_views[] = {
	{ .columns = job_columns },
	{ .rows = "peers", .columns = peer_columns },
	{ .rows = "groups", .columns = group_columns },
	{ .rows = "classes", .columns = class_columns },
	{}
};

const char *job_steering(struct steer *steer, __u32 id)
{
	struct steer_steering steering;

	steer_job_steering(steer, id, &steering);
	if (!steering.observed)
		return "on";
	return steering.steered ? "some" : "off";
}

static void put_job(struct json_object *obj, struct steer *steer, __u32 id,
		    const struct rocesteer_job *job)
{
	int first = steer_first(steer, job->ifindex);
	char text[40];

	out_uint(obj, "job", id);
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(job->name), job->name);
	if (text[0])
		out_string(obj, "name", text);
	/* A device that is gone has a name in the job, too. */
	if (if_indextoname(job->ifindex, text))
		out_string(obj, "device", text);
	else
		out_string(obj, "device", job->device);
	out_bool(obj, "served", steer_serves_job(steer, job));
	if (first >= 0 && job->actuator != ROCESTEER_ACTUATOR_QP)
		out_bool(obj, "first", first);
	if (job->cgroup_id)
		snprintf(text, sizeof(text), "cgroup %llu", job->cgroup_id);
	else if (job->pid)
		snprintf(text, sizeof(text), "pid %u", job->pid);
	else
		snprintf(text, sizeof(text), "%s", job->all ? "all" : "flows");
	out_string(obj, "owner", text);
	out_string(obj, "steering", job_steering(steer, id));
	if (job->cgroup_id)
		out_uint(obj, "cgroup", job->cgroup_id);
	if (job->pid)
		out_uint(obj, "pid", job->pid);
	out_string(obj, "actuator", actuator_name(job->actuator));
	if (job->keep_labels)
		out_bool(obj, "keep_labels", true);
	out_string(obj, "split", split_name(job->split));
	out_string(obj, "deal", deal_name(job->deal));
	out_string(obj, "resequence", reseq_mode_name(job->reseq));
	out_bool(obj, "slice", job->slice);
	if (job->slice > 1 && job->slice - 2 < CONTENTION_PATTERNS)
		out_string(obj, "pattern", contention_pattern_names[job->slice - 2]);
	out_string(obj, "loaded", utc_format(job->loaded_at, text));
}

/* Number of flows that the module has for the job; none without the module. */
static void put_flows(struct json_object *obj, __u32 id, struct genl *genl)
{
	struct genl_job job;

	if (genl && !genl_job_get(genl, id, &job, NULL))
		out_uint(obj, "flows", job.flows);
}

struct list {
	struct steer *steer;
	struct json_object *array;
	struct genl *genl;
};

static int list_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct list *list = arg;
	struct json_object *obj = out_append_object(list->array);

	put_job(obj, list->steer, id, job);
	put_flows(obj, id, list->genl);
	return 0;
}

static int list(const struct cli_args *args, struct err *err)
{
	struct json_object *root;
	struct steer *steer = NULL;
	struct list list = {};
	int ret;

	ret = steer_open(&steer, STEER_READ, err);
	if (ret && ret != -ENOENT)
		return ret;
	/* Without the module, list the jobs of the tables. */
	if (module_open(&list.genl, MODULE_AUTO, err))
		list.genl = NULL;
	err->code = NULL;
	root = out_root();
	list.array = out_array(root, "jobs");
	list.steer = steer;
	ret = steer ? steer_job_each(steer, list_job, &list) : 0;
	out_sort(list.array, (const char *const[]){ "job", NULL });
	genl_close(list.genl);
	steer_close(steer);
	if (!ret)
		return out_show(&args->out, root, list_views);
	json_object_put(root);
	return ret;
}

/* Paths of a group to which a peer has a port. */
struct ports {
	struct rocesteer_group_key key;
	__u64 paths;
};

struct show {
	struct steer *steer;
	__u32 id;
	bool found;
	struct promises promises;
	enum promise promise;
	struct set ports;
	struct json_object *root;
	struct json_object *array;
};

static int show_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct show *show = arg;

	if (id != show->id)
		return 0;
	put_job(show->root, show->steer, id, job);
	show->found = true;
	return 0;
}

static int show_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *peer, void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job,
					    .ifindex = key->ifindex };
	struct show *show = arg;
	struct json_object *obj = out_append_object(show->array), *ports;
	struct ports *group;
	__u32 i;

	memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	group = set_get(&show->ports, &gkey, sizeof(gkey), sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->paths |= steer_peer_paths(peer);
	out_addr(obj, "address", key->addr);
	out_addr(obj, "source", key->source);
	out_addr(obj, "leaf", peer->leaf);
	if (peer->qpn_hash)
		out_bool(obj, "qpn_hash", true);
	if (peer->partial)
		out_bool(obj, "partial", true);
	ports = out_array(obj, "ports");
	for (i = 0; i < peer->nr_paths && i < ROCESTEER_MAX_PATHS; i++)
		out_append_uint(ports, ntohs(peer->sport[i]));
	return 0;
}

/* Are paths by one router told apart? */
static bool has_leaves(const struct rocesteer_group *group)
{
	__u32 i;

	for (i = 0; i < group->nr_paths && i < ROCESTEER_MAX_PATHS; i++)
		if (!addr_is_none(group->leaf[i]))
			return true;
	return false;
}

static int show_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *group, void *arg)
{
	struct show *show = arg;
	struct json_object *obj = out_append_object(show->array), *flows, *down;
	const struct ports *ports = set_find(&show->ports, key, sizeof(*key));
	struct json_object *routers, *leaves, *weights, *no_port;
	bool home;
	__u32 i;

	out_addr(obj, "leaf", key->leaf);
	out_string(obj, "steering", group->observe ? "off" : "on");
	routers = out_array(obj, "routers");
	leaves = has_leaves(group) ? out_array(obj, "path_leaves") : NULL;
	weights = out_array(obj, "weights");
	flows = out_array(obj, "flows");
	down = out_array(obj, "down");
	no_port = out_array(obj, "no_port");
	for (i = 0; i < group->nr_paths && i < ROCESTEER_MAX_PATHS; i++) {
		out_append_addr(routers, group->router[i]);
		if (leaves)
			out_append_addr(leaves, group->leaf[i]);
		home = group->weight[i] == ROCESTEER_WEIGHT_HOME;
		out_append_uint(weights, home ? 1 : group->weight[i]);
		if (home)
			out_uint(obj, "home", i);
		out_append_uint(flows, group->flows[i]);
		if (group->down >> i & 1)
			out_append_uint(down, i);
		if (!ports || !(ports->paths >> i & 1))
			out_append_uint(no_port, i);
	}
	return 0;
}

/* Class 0 belongs to no chunk, and has no dimension. */
static int show_count(const struct rocesteer_count_key *key,
		      const struct rocesteer_count *count, void *arg)
{
	struct show *show = arg;
	struct json_object *obj = out_append_object(show->array);

	out_uint(obj, "class", key->class);
	if (key->class)
		out_uint(obj, "dimension", key->dimension);
	out_uint(obj, "messages", count->messages);
	out_uint(obj, "packets", count->packets);
	out_uint(obj, "bytes", count->bytes);
	return 0;
}

static int show_chunks(struct show *show, struct steer *steer)
{
	struct rocesteer_chunk_job chunks;
	char hash[17];
	int ret;

	if (steer_chunks_get(steer, show->id, &chunks))
		return 0;
	snprintf(hash, sizeof(hash), "%016llx", chunks.hash);
	out_string(show->root, "hash", hash);
	out_uint(show->root, "chunks", chunks.nr_chunks);
	show->array = out_array(show->root, "classes");
	ret = steer_count_each(steer, show->id, show_count, show);
	out_sort(show->array, (const char *const[]){ "class", "dimension", NULL });
	return ret;
}

/* The weakest promise of the job's flows. */
static int weigh_flow(const struct rocesteer_flow_key *key,
		      const struct rocesteer_flow_path *path, void *arg)
{
	struct show *show = arg;
	enum promise promise;

	if (path->job != show->id)
		return 0;
	promise = promise_of(&show->promises, key, path);
	if (promise && (!show->promise || promise < show->promise))
		show->promise = promise;
	return 0;
}

static int put_promise(struct show *show, struct steer *steer)
{
	int ret;

	ret = promises_read(&show->promises, steer, show->id) ?:
	      steer_flow_each(steer, weigh_flow, show);
	if (show->promise)
		out_string(show->root, "promise", promise_name(show->promise));
	promises_free(&show->promises);
	return ret;
}

static int collect(struct show *show, struct steer *steer, struct err *err)
{
	struct genl *genl;
	int ret;

	ret = steer_job_each(steer, show_job, show);
	if (ret)
		return ret;
	if (!show->found)
		return steer_job_missing(show->id, err);
	if (module_open(&genl, MODULE_AUTO, err))
		genl = NULL;
	err->code = NULL;
	put_flows(show->root, show->id, genl);
	genl_close(genl);
	ret = put_promise(show, steer);
	if (ret)
		return ret;
	out_bool(show->root, "module", steer_has_module(steer));
	out_string(show->root, "pins", steer_pin_dir(steer));
	show->array = out_array(show->root, "peers");
	ret = steer_peer_each(steer, show->id, show_peer, show);
	out_sort(show->array, (const char *const[]){ "address", NULL });
	show->array = out_array(show->root, "groups");
	ret = ret ?: steer_group_each(steer, show->id, show_group, show);
	out_sort(show->array, (const char *const[]){ "leaf", NULL });
	return ret ?: show_chunks(show, steer);
}

static int show(const struct cli_args *args, struct err *err)
{
	struct show show = {};
	struct steer *steer;
	__u64 id;
	int ret;

	ret = cli_uint(args, JOB, 1, 0xffffffff, &id, err) ?:
	      steer_open(&steer, STEER_READ, err);
	if (ret)
		return ret;
	show.id = id;
	show.root = out_root();
	show.steer = steer;
	ret = collect(&show, steer, err);
	steer_close(steer);
	set_clear(&show.ports, free);
	if (!ret)
		return out_show(&args->out, show.root, show_views);
	json_object_put(show.root);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.name = "load",
		.help = "Load a job: steer its flows by a port map",
		.options = job_load_options,
		.example = "job load 1 --port-map ports.json --all",
		.changes = true,
		.run = job_load,
	},
	{
		.name = "replace",
		.help = "Give a loaded job another port map or slice, while its flows go on",
		.options = job_load_options,
		.example = "job replace 1 --port-map ports.json --all",
		.changes = true,
		.run = job_replace,
	},
	{
		.name = "steer",
		.help = "Steer the flows of a job, or only observe them, while they go on",
		.operand = "on|off",
		.options = job_steer_options,
		.example = "job steer off 1",
		.changes = true,
		.run = job_steer,
	},
	{
		.name = "unload",
		.help = "Unload jobs: their flows go back to their ECMP paths",
		.options = job_unload_options,
		.example = "job unload 1",
		.changes = true,
		.run = job_unload,
	},
	{
		.name = "list",
		.help = "List the jobs of this network namespace",
		.options = list_options,
		.example = "job list",
		.shows = true,
		.run = list,
	},
	{
		.name = "show",
		.help = "Show a job's paths and the load of its groups",
		.options = show_options,
		.example = "job show 1",
		.run = show,
	},
	{}
};

const struct cli_object cli_job = {
	.name = "job",
	.help = "load, unload and show jobs",
	.verbs = verbs,
};
