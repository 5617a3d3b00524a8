// SPDX-License-Identifier: GPL-2.0
/* The groups of a job, from its slice. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster/cluster.h"
#include "reduce.h"

#define MEMORY		(256ull << 20)	/* default, as of the module */

/* Bytes beside the payload, at most: headers, and overhead of the kernel. */
#define PACKET_HEADERS	192u
#define PACKET_KERNEL	640u
#define SLOT_SIZE	128u
#define GROUP_SIZE	32768u

/*
 * The bytes that kmod/reduce/group.c charges for a slot: packets of one connection, and two
 * sums.
 */
static __u64 slot_bytes(__u32 mtu)
{
	__u64 size = 1;

	while (size < mtu + PACKET_HEADERS)
		size *= 2;
	return size + PACKET_KERNEL + SLOT_SIZE + 2 * (mtu + sizeof(__u32));
}

/*
 * Packets of a message. The memory of a switch is divided by the connections that there
 * are when all GPUs are in use, so that jobs leave enough for later ones. Return: 0 where
 * there is too little.
 */
static __u32 message_packets(__u64 memory, __u32 mtu, __u64 conns)
{
	__u64 share = memory / conns, packets;

	if (share < GROUP_SIZE)
		return 0;
	packets = (share - GROUP_SIZE) / (2 * REDUCE_WINDOW * slot_bytes(mtu));
	return packets < REDUCE_PACKETS ? packets : REDUCE_PACKETS;
}

struct job {
	const struct cluster *c;
	struct json_object *slice;
	struct job_slice js;
	__u32 first_server;
	struct reduce_config config;	/* what all groups have in common */
};

static int refuse(const struct job *job, struct err *err, const char *why)
{
	return err_set(err, EXIT_FAILED, "no-groups", "%s: jobs.%s: %s", job->c->file,
		       json_object_get_string(json_object_object_get(job->slice, "job")), why);
}

static int read_server(struct reader *r, struct json_object *server, struct job *job)
{
	struct reduce_config *config = &job->config;
	__u8 nics[SLICE_MAX_GPUS][16];
	struct json_object *array;
	__u64 leaf, gpus, i;
	int ret;

	ret = reader_uint(r, server, "leaf", 0, ~0U, &leaf) ?:
	      reader_uint(r, server, "gpus", 1, SLICE_MAX_GPUS, &gpus);
	if (!ret)
		ret = reader_get(r, server, "nics", json_type_array, &array);
	if (ret)
		return ret;
	ret = reader_addrs(r, "nics", array, gpus, nics);
	if (!ret && config->nr_ranks + gpus > ROCESTEER_REDUCE_MAX_RANKS)
		return refuse(job, r->err, "a group has at most 64 ranks");
	for (i = 0; !ret && i < gpus; i++) {
		struct reduce_rank *rank = &config->rank[config->nr_ranks++];

		memcpy(rank->address, nics[i], sizeof(rank->address));
		rank->leaf = leaf;
	}
	return ret;
}

static int read_servers(struct reader *r, struct job *job)
{
	struct json_object *servers;
	__u64 first = 0;
	size_t n, i, mark;
	int ret;

	ret = reader_get(r, job->slice, "servers", json_type_array, &servers);
	if (ret)
		return ret;
	n = json_object_array_length(servers);
	if (n < 2)
		return refuse(job, r->err, "is inside a server: no switch sees what it sends");
	ret = reader_uint(r, json_object_array_get_idx(servers, 0), "server", 0, ~0U, &first);
	job->first_server = first;
	for (i = 0; !ret && i < n; i++) {
		mark = reader_enter(r, "servers", i);
		ret = read_server(r, json_object_array_get_idx(servers, i), job);
		reader_leave(r, mark);
	}
	return ret;
}

static bool has_one_leaf(const struct job *job)
{
	return job->js.slice.layout.leaves == 1;
}

static __u32 distinct_spines(const struct job *job)
{
	const struct contention_slice *slice = &job->js.slice;
	__u32 i, n = 0;

	for (i = 0; i < slice->nr_spines; i++)
		n += !i || slice->spines[i] != slice->spines[i - 1];
	return n;
}

/*
 * A leaf that is full has a connection of each GPU in each group; a spine has at most one of
 * each of its leaves, since no two jobs have links between a leaf and a spine.
 */
static int set_packets(struct reader *r, struct job *job)
{
	const struct slice_fabric *f = &job->c->fabric;
	__u64 conns = (__u64)f->gpus_per_leaf * (has_one_leaf(job) ? 1 : distinct_spines(job));
	__u64 memory = MEMORY;
	int ret = 0;

	if (json_object_object_get_ex(job->c->root, "reduce_memory", NULL))
		ret = reader_uint(r, job->c->root, "reduce_memory", 1, 1ull << 40, &memory);
	if (ret)
		return ret;
	if (conns < f->leaves)
		conns = f->leaves;
	job->config.window = REDUCE_WINDOW;
	job->config.packets = message_packets(memory, job->config.mtu, conns);
	return job->config.packets ? 0 :
	       reader_invalid(r, "reduce_memory", "%llu bytes are too few for %llu connections",
			      memory, conns);
}

/* Address of the spine of a lane, as the host of the last rank of a leaf sees it. */
static const __u8 *router_of(const struct job *job, __u32 leaf, __u32 lane)
{
	const struct contention_layout *layout = &job->js.slice.layout;
	const struct job_slice *js = &job->js;
	__u32 rank = layout->first[leaf + 1] - 1;

	if (!js->link)
		return js->routers[leaf * js->slice.nr_spines + lane];
	return js->link[js->first_link[leaf] + lane * layout->links[leaf] +
			contention_link_at(layout, rank, (rank + 1) % layout->ranks)].up[0];
}

static void set_routers(const struct job *job, struct reduce_config *config, __u32 lane)
{
	const struct contention_layout *layout = &job->js.slice.layout;
	__u32 leaf;

	for (leaf = 0; leaf < layout->leaves; leaf++)
		memcpy(config->rank[layout->first[leaf + 1] - 1].router,
		       router_of(job, leaf, lane), 16);
}

/*
 * No two jobs have links between a leaf and a spine, nor GPUs of one server if they are
 * larger than a server.
 */
static int set_number(const struct job *job, struct reduce_config *config, struct err *err)
{
	const struct slice_fabric *f = &job->c->fabric;
	__u64 number = (__u64)f->leaves * f->spines + job->first_server;

	if (!has_one_leaf(job))
		number = (__u64)config->rank[0].leaf * f->spines + config->root;
	if (number > ROCESTEER_REDUCE_MAX_GROUP)
		return refuse(job, err, "the cluster needs more numbers of groups than there are");
	config->id = number;
	return 0;
}

static int add_group(const struct job *job, struct reduce_plan *plan, __u32 lane, struct err *err)
{
	struct reduce_config *config = &plan->group[plan->nr++];

	*config = job->config;
	config->root = REDUCE_NO_ROOT;
	if (!has_one_leaf(job)) {
		config->root = job->js.slice.spines[lane];
		set_routers(job, config, lane);
	}
	return set_number(job, config, err);
}

static int add_groups(const struct job *job, struct reduce_plan *plan, struct err *err)
{
	const struct contention_slice *slice = &job->js.slice;
	__u32 lane, lanes = has_one_leaf(job) ? 1 : slice->nr_spines;
	int ret = 0;

	plan->group = calloc(lanes, sizeof(*plan->group));
	if (!plan->group)
		return -ENOMEM;
	for (lane = 0; !ret && lane < lanes; lane++)
		if (!lane || slice->spines[lane] != slice->spines[lane - 1])
			ret = add_group(job, plan, lane, err);
	return ret;
}

int reduce_plan_make(struct reduce_plan *plan, const struct cluster *c,
		     struct json_object *slice, __u32 mtu, struct err *err)
{
	struct job job = { .c = c, .slice = slice, .config = { .mtu = mtu } };
	struct reader r = { .file = c->file, .err = err };
	int ret;

	*plan = (struct reduce_plan) {};
	ret = job_slice_read(&job.js, slice, c->file, err) ?:
	      read_servers(&r, &job) ?:
	      set_packets(&r, &job) ?:
	      add_groups(&job, plan, err);
	job_slice_free(&job.js);
	return ret;
}

void reduce_plan_free(struct reduce_plan *plan)
{
	free(plan->group);
}
