// SPDX-License-Identifier: GPL-2.0
#include "exposition.h"
#include "metrics.h"

/* A metric of each path of a group; @unknown: of flows whose path is not known, or NULL. */
struct path_metric {
	const char *name;
	const char *type;
	const char *help;
	__u64 (*path)(const struct rates_group *group, __u32 p);
	__u64 (*unknown)(const struct rates_group *group);
};

static __u64 bytes(const struct rates_group *group, __u32 p)
{
	return group->path[p].bytes + group->ended.path[p].bytes;
}

static __u64 packets(const struct rates_group *group, __u32 p)
{
	return group->path[p].packets + group->ended.path[p].packets;
}

static __u64 rounds(const struct rates_group *group, __u32 p)
{
	return group->path[p].rounds + group->ended.path[p].rounds;
}

static __u64 up(const struct rates_group *group, __u32 p)
{
	return rates_is_dealt_to(group, p);
}

static __u64 flows(const struct rates_group *group, __u32 p)
{
	return group->group.flows[p];
}

static __u64 pieces(const struct rates_group *group, __u32 p)
{
	return group->path[p].pieces;
}

static __u64 avoiding(const struct rates_group *group, __u32 p)
{
	return group->path[p].avoided;
}

static __u64 weight(const struct rates_group *group, __u32 p)
{
	return group->group.weight[p];
}

/*
 * A counter must not fall: what a flow sent on a path that is not known yet is counted on the
 * path when it is known, or here when the flow has ended.
 */
static __u64 unknown_bytes(const struct rates_group *group)
{
	return group->ended.unknown.bytes;
}

static __u64 unknown_packets(const struct rates_group *group)
{
	return group->ended.unknown.packets;
}

static __u64 unknown_rounds(const struct rates_group *group)
{
	return group->ended.unknown.rounds;
}

static __u64 unknown_flows(const struct rates_group *group)
{
	return group->unknown.pieces;
}

static const struct path_metric path_metrics[] = {
	{ "rocesteer_path_bytes_total", "counter",
	  "Bytes of frames sent on a path; path=\"unknown\": by flows that ended before their path was found.",
	  bytes, unknown_bytes },
	{ "rocesteer_path_packets_total", "counter", "The same in packets.",
	  packets, unknown_packets },
	{ "rocesteer_path_rounds_total", "counter",
	  "Rounds of go-back-N whose first packet had the path: a packet or its acknowledgment was lost.",
	  rounds, unknown_rounds },
	{ "rocesteer_path_up", "gauge",
	  "1 if flows are dealt to the path; 0 if it is down, or no port takes it.",
	  up, NULL },
	{ "rocesteer_path_weight", "gauge",
	  "Capacity of the path, relative to the others of its group.", weight, NULL },
	{ "rocesteer_path_pieces", "gauge", "Pieces of flows on the path.", pieces, NULL },
	{ "rocesteer_path_avoiding_flows", "gauge",
	  "Flows that avoid the path for a while, as it seems to be dead.", avoiding, NULL },
	{ "rocesteer_flows", "gauge",
	  "Flows with a share of the path; path=\"unknown\": observed flows whose path is not found yet.",
	  flows, unknown_flows },
};

/* The labels of a group. */
static struct labels group_labels(const struct metrics *metrics, const struct rates_group *group)
{
	const struct metrics_job *job = metrics_job(metrics, group->key.job);
	struct labels labels = {};

	labels_add_uint(&labels, "job_id", group->key.job);
	labels_add(&labels, "device", job ? job->job.device : "");
	labels_add_addr(&labels, "leaf", group->key.leaf);
	return labels;
}

static void print_paths(FILE *out, const struct path_metric *metric,
			const struct metrics *metrics, const struct rates_group *group)
{
	const struct labels labels = group_labels(metrics, group);
	struct labels path;
	__u32 p;

	for (p = 0; p < group->group.nr_paths; p++) {
		path = labels;
		labels_add_uint(&path, "path", p);
		labels_add_addr(&path, "router", group->group.router[p]);
		if (!addr_is_none(group->group.leaf[p]))
			labels_add_addr(&path, "entry", group->group.leaf[p]);
		exposition_uint(out, metric->name, &path, metric->path(group, p));
	}
	if (!metric->unknown)
		return;
	path = labels;
	labels_add(&path, "path", "unknown");
	exposition_uint(out, metric->name, &path, metric->unknown(group));
}

/* A group whose job is being loaded has no job yet. */
static bool is_shown(const struct metrics *metrics, const struct rates_group *group)
{
	return metrics_job(metrics, group->key.job);
}

static void print_path_metric(FILE *out, const struct path_metric *metric,
			      const struct metrics *metrics)
{
	size_t i;

	exposition_begin(out, metric->name, metric->type, metric->help);
	for (i = 0; i < metrics->rates.groups.nr; i++)
		if (is_shown(metrics, metrics->rates.groups.item[i]))
			print_paths(out, metric, metrics, metrics->rates.groups.item[i]);
}

/* A metric of each group. */
struct group_metric {
	const char *name;
	const char *help;
	__u64 (*value)(const struct rates_group *group);
};

static __u64 observed(const struct rates_group *group)
{
	return group->observed;
}

static __u64 sent_unknown(const struct rates_group *group)
{
	return group->unknown.bytes;
}

static const struct group_metric group_metrics[] = {
	{ "rocesteer_observed_flows", "Flows that are observed, not steered.", observed },
	{ "rocesteer_unknown_path_bytes",
	  "Bytes that flows in the table sent whose path is not found yet.", sent_unknown },
};

static void print_group_metric(FILE *out, const struct group_metric *metric,
			       const struct metrics *metrics)
{
	size_t i;

	exposition_begin(out, metric->name, "gauge", metric->help);
	for (i = 0; i < metrics->rates.groups.nr; i++) {
		const struct rates_group *group = metrics->rates.groups.item[i];
		struct labels labels = group_labels(metrics, group);

		if (is_shown(metrics, group))
			exposition_uint(out, metric->name, &labels, metric->value(group));
	}
}

/* There is none where nothing was sent. */
static void print_imbalance(FILE *out, const struct metrics *metrics)
{
	static const char name[] = "rocesteer_imbalance_ratio";
	size_t i;

	exposition_begin(out, name, "gauge",
			 "Bytes of the fullest path over the mean of the paths, by weight, of what the flows in the table sent.");
	for (i = 0; i < metrics->rates.groups.nr; i++) {
		const struct rates_group *group = metrics->rates.groups.item[i];
		struct labels labels = group_labels(metrics, group);
		__u64 imbalance = rates_imbalance(group);

		if (imbalance && is_shown(metrics, group))
			exposition_decimal(out, name, &labels, imbalance, 2);
	}
}

static struct labels job_labels(const struct metrics_job *job)
{
	struct labels labels = {};

	labels_add_uint(&labels, "job_id", job->id);
	labels_add(&labels, "device", job->job.device);
	return labels;
}

static void print_job_info(FILE *out, const struct metrics *metrics)
{
	static const char name[] = "rocesteer_job_info";
	size_t i;

	exposition_begin(out, name, "gauge", "1; what a job is called, and how it is steered.");
	for (i = 0; i < metrics->jobs.nr; i++) {
		const struct metrics_job *job = metrics->jobs.item[i];
		struct labels labels = job_labels(job);

		labels_add(&labels, "name", job->job.name);
		labels_add(&labels, "steering", job->steering);
		labels_add(&labels, "actuator", actuator_name(job->job.actuator));
		labels_add(&labels, "split", split_name(job->job.split));
		exposition_uint(out, name, &labels, 1);
	}
}

static void print_job_served(FILE *out, const struct metrics *metrics)
{
	static const char name[] = "rocesteer_job_served";
	size_t i;

	exposition_begin(out, name, "gauge",
			 "0 if the programs are not attached to the device of the job.");
	for (i = 0; i < metrics->jobs.nr; i++) {
		const struct metrics_job *job = metrics->jobs.item[i];
		struct labels labels = job_labels(job);

		exposition_uint(out, name, &labels, job->served);
	}
}

static __u64 job_cnps(const struct metrics *metrics, __u32 id)
{
	__u64 cnps = 0;
	size_t i;

	for (i = 0; i < metrics->rates.groups.nr; i++) {
		const struct rates_group *group = metrics->rates.groups.item[i];

		if (group->key.job == id)
			cnps += group->cnps + group->ended.cnps;
	}
	return cnps;
}

static void print_cnps(FILE *out, const struct metrics *metrics)
{
	static const char name[] = "rocesteer_cnps_total";
	size_t i;

	exposition_begin(out, name, "counter",
			 "Congestion notification packets that arrived for the flows of a job.");
	for (i = 0; i < metrics->jobs.nr; i++) {
		const struct metrics_job *job = metrics->jobs.item[i];
		struct labels labels = job_labels(job);

		exposition_uint(out, name, &labels, job_cnps(metrics, job->id));
	}
}

void metrics_print_jobs(FILE *out, const struct metrics *metrics)
{
	size_t i;

	print_job_info(out, metrics);
	print_job_served(out, metrics);
	print_cnps(out, metrics);
	for (i = 0; i < ARRAY_SIZE(path_metrics); i++)
		print_path_metric(out, &path_metrics[i], metrics);
	for (i = 0; i < ARRAY_SIZE(group_metrics); i++)
		print_group_metric(out, &group_metrics[i], metrics);
	print_imbalance(out, metrics);
}
