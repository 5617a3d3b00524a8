// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../job/job.h"
#include "exposition.h"

struct read {
	struct metrics *metrics;
	struct steer *steer;
};

static int add_job(__u32 id, const struct rocesteer_job *from, void *arg)
{
	struct read *read = arg;
	struct metrics_job *job;

	job = set_get(&read->metrics->jobs, &id, sizeof(id), sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->job = *from;
	job->job.name[sizeof(job->job.name) - 1] = '\0';
	job->job.device[sizeof(job->job.device) - 1] = '\0';
	job->served = steer_serves_job(read->steer, from);
	job->steering = job_steering(read->steer, id);
	return 0;
}

static void read_version(struct metrics *metrics, const struct steer *steer)
{
	struct rocesteer_version version;

	if (!steer_version(steer, &version))
		snprintf(metrics->programs, sizeof(metrics->programs), "%.*s",
			 (int)sizeof(version.version) - 1, version.version);
}

int metrics_read(struct metrics *metrics, struct steer *steer, struct genl *genl, struct err *err)
{
	struct read read = { metrics, steer };
	int ret = counters_read(&metrics->counters, steer, genl, err);

	if (ret || !steer)
		return ret;
	read_version(metrics, steer);
	return steer_job_each(steer, add_job, &read) ?: rates_total(&metrics->rates, steer);
}

void metrics_free(struct metrics *metrics)
{
	rates_free(&metrics->rates);
	set_clear(&metrics->jobs, free);
}

const struct metrics_job *metrics_job(const struct metrics *metrics, __u32 id)
{
	return set_find(&metrics->jobs, &id, sizeof(id));
}

static void print_build(FILE *out, const struct metrics *metrics)
{
	static const char name[] = "rocesteer_build_info";
	struct labels labels = {};

	labels_add(&labels, "version", ROCESTEER_VERSION);
	if (metrics->programs[0])
		labels_add(&labels, "programs", metrics->programs);
	exposition_begin(out, name, "gauge",
			 "1; versions of the command and of the BPF programs that are loaded.");
	exposition_uint(out, name, &labels, 1);
}

/* Without programs there are no such counters. */
static void print_verdicts(FILE *out, const struct counters *counters)
{
	static const char name[] = "rocesteer_packets_total";
	unsigned int i;

	exposition_begin(out, name, "counter",
			 "Packets at TC egress by what became of them, and RoCE v2 packets at TC ingress by kind.");
	for (i = 0; i < ROCESTEER_VERDICT_MAX; i++) {
		struct labels labels = {};

		labels_add(&labels, "direction", "egress");
		labels_add(&labels, "verdict", verdict_name(i));
		exposition_uint(out, name, &labels, counters->verdicts[i]);
	}
	for (i = 0; i < ROCESTEER_OBSERVED_MAX; i++) {
		struct labels labels = {};

		labels_add(&labels, "direction", "ingress");
		labels_add(&labels, "verdict", observed_name(i));
		exposition_uint(out, name, &labels, counters->observed[i]);
	}
}

/* The counters of struct rocesteer_count. */
static const struct {
	const char *name;
	const char *help;
	size_t at;
} class_metrics[] = {
	{ "rocesteer_class_messages_total", "RDMA WRITEs of jobs with chunks.",
	  offsetof(struct rocesteer_count, messages) },
	{ "rocesteer_class_packets_total", "Request packets of jobs with chunks.",
	  offsetof(struct rocesteer_count, packets) },
	{ "rocesteer_class_bytes_total", "Bytes of the frames of these packets.",
	  offsetof(struct rocesteer_count, bytes) },
};

static void print_classes(FILE *out, const struct counters *counters)
{
	unsigned int i, class;

	for (i = 0; i < ARRAY_SIZE(class_metrics); i++) {
		exposition_begin(out, class_metrics[i].name, "counter", class_metrics[i].help);
		for (class = 0; class < ROCESTEER_MAX_CLASSES; class++) {
			const char *count = (const char *)&counters->classes[class];
			struct labels labels = {};

			labels_add_uint(&labels, "class", class);
			exposition_uint(out, class_metrics[i].name, &labels,
					*(const __u64 *)(count + class_metrics[i].at));
		}
	}
}

static void print_gauge(FILE *out, const char *name, const char *help, __u64 value)
{
	exposition_begin(out, name, "gauge", help);
	exposition_uint(out, name, NULL, value);
}

static void print_tables(FILE *out, const struct metrics *metrics)
{
	print_gauge(out, "rocesteer_flow_table_entries", "Flows in the table of flows.",
		    metrics->rates.nr_flows);
	print_gauge(out, "rocesteer_flow_table_limit", "Flows that the table has room for.",
		    ROCESTEER_MAX_FLOWS);
}

void metrics_print(FILE *out, const struct metrics *metrics)
{
	const struct counters *counters = &metrics->counters;

	print_build(out, metrics);
	if (counters->has_tables) {
		print_verdicts(out, counters);
		print_tables(out, metrics);
		metrics_print_jobs(out, metrics);
	}
	if (counters->has_classes)
		print_classes(out, counters);
	print_gauge(out, "rocesteer_module_loaded", "1 if the kernel module serves the namespace.",
		    counters->has_module);
	if (counters->has_module)
		metrics_print_module(out, &counters->module);
}
