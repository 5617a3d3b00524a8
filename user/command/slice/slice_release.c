// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice release. */
#include <errno.h>
#include <json-c/json.h>

#include "slice.h"

enum { CLUSTER, JOB };

const struct cli_option slice_release_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[JOB] = { "job", "NAME", "name of the job", CLI_NEEDED | CLI_NAMES },
	{}
};

static const struct out_column released_columns[] = {
	{ "job", "job" },
	{ "gpus", "GPUs released" },
	{ "links", "links released" },
	{ "jwt_s", "seconds waited" },
	{ "jrt_s", "seconds run" },
	{ "jct_s", "both" },
	{}
};

static const struct out_view release_views[] = {
	{ .columns = released_columns },
	{}
};

/* Times that the job waited, if that is known, and ran. */
static void put_times(struct json_object *root, struct json_object *job)
{
	__u64 run = cluster_seconds_since(job, "since");
	__u64 all = cluster_seconds_since(job, "submitted");

	if (json_object_object_get_ex(job, "submitted", NULL)) {
		out_uint(root, "jwt_s", all > run ? all - run : 0);
		out_uint(root, "jct_s", all);
	}
	if (json_object_object_get_ex(job, "since", NULL))
		out_uint(root, "jrt_s", run);
}

/* A job that waits no longer does. */
static int withdraw(const struct cli_args *args, struct cluster *c, const char *id, struct err *err)
{
	struct json_object *root = out_root();
	int ret;

	json_object_put(cluster_queue_take(c, id));
	out_string(root, "job", id);
	out_uint(root, "gpus", 0);
	out_uint(root, "links", 0);
	ret = cluster_commit(c, slice_decision("withdraw", id, NULL), err);
	if (!ret)
		return out_show(&args->out, root, release_views);
	json_object_put(root);
	return ret;
}

static int release(const struct cli_args *args, struct cluster *c,
		   struct json_object *job, struct err *err)
{
	const char *id = args->value[JOB];
	struct json_object *root = out_root(), *gpus, *links;
	int ret;

	gpus = json_object_object_get(job, "gpus");
	links = json_object_object_get(job, "links");
	out_string(root, "job", id);
	out_uint(root, "gpus", json_object_get_uint64(gpus));
	out_uint(root, "links", json_object_array_length(links));
	put_times(root, job);
	cluster_remove_job(c, id);
	ret = cluster_commit(c, slice_decision("release", id, NULL), err);
	if (!ret)
		return out_show(&args->out, root, release_views);
	json_object_put(root);
	return ret;
}

int slice_release(const struct cli_args *args, struct err *err)
{
	struct json_object *job;
	struct cluster c;
	int ret;

	ret = cluster_open(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	if (cluster_queue_find(&c, args->value[JOB])) {
		ret = withdraw(args, &c, args->value[JOB], err);
	} else {
		job = cluster_find_job(&c, args->value[JOB], err);
		ret = job ? release(args, &c, job, err) : -ENOENT;
	}
	cluster_close(&c);
	return ret;
}
