// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: is each job steered as planned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "discover/discover.h"
#include "../job/job.h"
#include "status.h"

#define PROBED_JOBS	16	/* each takes a tenth of a second or two */

static __u64 record_uint(const struct status_job *item, const char *key)
{
	return json_object_get_uint64(json_object_object_get(item->record, key));
}

static const char *record_string(const struct status_job *item, const char *key)
{
	return json_object_get_string(json_object_object_get(item->record, key));
}

static void put_source(struct json_object *obj, const struct status_job *item)
{
	char text[UTC_SIZE];

	if (!item->record)
		return;
	if (record_uint(item, "verified_at"))
		out_string(obj, "verified", utc_format(record_uint(item, "verified_at"), text));
	out_string(obj, "map_created", record_string(item, "created") ?: "-");
	out_string(obj, "port_map", record_string(item, "port_map") ?: "-");
	json_object_object_add(obj, "source", json_object_get(item->record));
}

static void put_job(struct json_object *obj, const struct status *st, const struct status_job *item)
{
	const struct rocesteer_job *job = &item->job;
	int first = steer_first(st->steer, job->ifindex);

	out_uint(obj, "job", item->id);
	if (job->name[0])
		out_string(obj, "name", job->name);
	out_string(obj, "device", item->device[0] ? item->device : job->device);
	out_bool(obj, "served", steer_serves_job(st->steer, job));
	if (first >= 0 && job->actuator != ROCESTEER_ACTUATOR_QP)
		out_bool(obj, "first", first);
	out_string(obj, "steering", job_steering(st->steer, item->id));
	out_uint(obj, "flows", item->flows);
	if (item->imbalance)
		out_decimal(obj, "imbalance", item->imbalance, 2);
	out_uint(obj, "retransmissions", item->retransmissions);
	out_uint(obj, "no_port", item->no_port);
	out_uint(obj, "down", item->down);
	put_source(obj, item);
}

static void judge_device(struct status *st, const struct status_job *item)
{
	const struct rocesteer_job *job = &item->job;
	struct json_object *finding;

	if (!item->device[0] && !if_nametoindex(job->device)) {
		finding = status_find(st, STATUS_ERROR, "device-gone", item->id,
				      "there is no device %s any more, no flow is steered",
				      job->device);
		status_advise(finding,
			      "Bring the device back, while rocesteer daemon runs; or: rocesteer job unload --job %u",
			      item->id);
	} else if (!steer_serves_job(st->steer, job)) {
		finding = status_find(st, STATUS_ERROR, "not-served", item->id,
				      "no programs are attached to %s, no flow is steered",
				      job->device);
		status_advise(finding,
			      "Start rocesteer daemon, which attaches them; or unload the job and load it again.");
	} else if (job->actuator != ROCESTEER_ACTUATOR_QP &&
		   !steer_first(st->steer, job->ifindex)) {
		finding = status_find(st, STATUS_ERROR, "not-first", item->id,
				      "on %s a program of others runs before ours",
				      item->device);
		status_advise(finding,
			      "See: bpftool net show dev %s. To be first again: rocesteer job unload, then job load.",
			      item->device);
	}
}

static void judge_carrier(struct status *st, const struct status_job *item)
{
	if (carrier_is_missing(item->device))
		status_advise(status_find(st, STATUS_ERROR, "no-carrier", item->id,
					  "%s is down, or has no carrier: nothing is sent",
					  item->device),
			      "See: ip link show %s. Set the device up, or look at its cable and at the port of the switch.",
			      item->device);
}

static void judge_paths(struct status *st, const struct status_job *item)
{
	struct json_object *finding;

	if (item->no_port) {
		finding = status_find(st, STATUS_ERROR, "no-port", item->id,
				      "%u paths have no port, nothing is sent there",
				      item->no_port);
		status_advise(finding,
			      "See: rocesteer job show --job %u. Find the ports again: rocesteer path discover, then rocesteer job replace.",
			      item->id);
	}
	if (item->down) {
		finding = status_find(st, STATUS_ERROR, "path-down", item->id,
				      "%u paths are dead and held down", item->down);
		status_advise(finding,
			      "See which: rocesteer top --count 1. Repair the link or the router.");
	}
}

/* Nobody is to take a job for steered that is not. */
static void judge_steering(struct status *st, const struct status_job *item)
{
	if (item->observed)
		status_advise(status_find(st, STATUS_NOTE, "observed", item->id,
					  "%u groups are observed, their flows are not steered",
					  item->observed),
			      "To steer them: rocesteer job steer on --job %u", item->id);
	if (item->unknown)
		status_advise(status_find(st, STATUS_NOTE, "unknown-path", item->id,
					  "the path of %u observed flows is not known",
					  item->unknown),
			      "rocesteer daemon finds paths by probes; see whether it runs, and whether routers answer: rocesteer path verify");
}

/* Jobs that steer by owner or resequence need the module. */
static void judge_module(struct status *st, const struct status_job *item)
{
	const struct rocesteer_job *job = &item->job;

	if (st->genl || !(job->cgroup_id || job->pid || job->reseq ||
			  job->actuator == ROCESTEER_ACTUATOR_QP))
		return;
	status_advise(status_find(st, STATUS_ERROR, "module-absent", item->id,
				  "the job needs the module rocesteer, which is not there"),
		      "Load it, and have the programs call it: modprobe rocesteer; rocesteer prog load");
}

/* Report a port map that has changed since the job was loaded. */
static void judge_source(struct status *st, const struct status_job *item)
{
	const char *file = record_string(item, "port_map");
	struct json_object *finding;
	struct stat stat_now;

	if (file && record_uint(item, "modified_at") && !stat(file, &stat_now) &&
	    (__u64)stat_now.st_mtime != record_uint(item, "modified_at")) {
		finding = status_find(st, STATUS_NOTE, "map-changed", item->id,
				      "%s was written since the job was loaded", file);
		status_advise(finding, "For the job to have its ports: rocesteer job replace");
	}
}

/* Say what would load paths alike where flows stay whole, and are not planned together. */
static void judge_whole(struct status *st, struct status_job *item)
{
	const struct rocesteer_job *job = &item->job;
	struct json_object *finding, *whole;
	struct whole_words words;

	if (split_kind(job->split)->is_planned || item->observed || item->divided ||
	    (job->split && !item->whole))
		return;
	item->alike.hosts = record_uint(item, "hosts");
	whole = whole_say(&item->alike, job->deal, job->actuator, &words);
	if (!whole)
		return;
	finding = status_find(st, STATUS_NOTE, "whole-flows", item->id, "%s", words.message);
	json_object_object_add(finding, "whole", whole);
	status_advise(finding, "%s", words.hint);
}

static int compare(const void *a, const void *b)
{
	struct json_object *const *left = a, *const *right = b;
	__u64 x = json_object_get_uint64(json_object_object_get(*left, "job"));
	__u64 y = json_object_get_uint64(json_object_object_get(*right, "job"));

	return (x > y) - (x < y);
}

void status_jobs_judge(struct status *st)
{
	struct json_object *array = json_object_object_get(st->root, "jobs");
	size_t i;

	for (i = 0; i < st->jobs.nr; i++) {
		struct status_job *item = st->jobs.item[i];

		put_job(out_append_object(array), st, item);
		judge_device(st, item);
		judge_carrier(st, item);
		judge_paths(st, item);
		judge_steering(st, item);
		judge_module(st, item);
		judge_source(st, item);
		judge_whole(st, item);
	}
	json_object_array_sort(array, compare);
}

static struct json_object *shown(const struct status *st, __u32 id)
{
	struct json_object *array = json_object_object_get(st->root, "jobs"), *obj;
	size_t i = 0;

	do {
		obj = json_object_array_get_idx(array, i++);
	} while (json_object_get_uint64(json_object_object_get(obj, "job")) != id);
	return obj;
}

static void find_stale(struct status *st, const struct status_job *item,
		       const struct verify_result *moved, size_t checked)
{
	const struct portmap_peer *peer = &item->sample.peers[moved->peer];
	char name[ADDR_STRLEN], expected[ADDR_STRLEN], actual[ADDR_STRLEN];

	status_advise(status_find(st, STATUS_ERROR, "stale-map", item->id,
				  "port %u to %s goes by %s, not by %s, of %zu ports that were probed",
				  moved->port, addr_format(peer->addr, name),
				  addr_format(moved->actual, actual),
				  addr_format(moved->expected, expected), checked),
		      "The fabric hashes otherwise: rocesteer daemon finds the ports again; or rocesteer path discover, then rocesteer job replace.");
}

static void find_unreachable(struct status *st, const struct status_job *item,
			     const struct verify_result *moved)
{
	char name[ADDR_STRLEN], router[ADDR_STRLEN];

	status_advise(status_find(st, STATUS_ERROR, "unreachable", item->id,
				  "%s says that %s is unreachable: path %u leads nowhere",
				  addr_format(moved->actual, router),
				  addr_format(item->sample.peers[moved->peer].addr, name),
				  moved->path),
		      "Repair the route of this router. rocesteer daemon holds the path down meanwhile.");
}

static void judge_probes(struct status *st, const struct status_job *item,
			 const struct verify *verify)
{
	struct json_object *job = shown(st, item->id);
	char text[UTC_SIZE];
	size_t i;

	out_uint(job, "checked", verify->checked);
	out_uint(job, "ports", item->ports);
	out_uint(job, "hop", verify->hop);
	for (i = 0; i < verify->nr_moved; i++)
		if (verify->moved[i].unreachable) {
			find_unreachable(st, item, &verify->moved[i]);
			return;
		} else if (!addr_is_none(verify->moved[i].actual)) {
			find_stale(st, item, &verify->moved[i], verify->checked);
			return;
		}
	if (2 * (verify->nr_moved - verify->far_lost) > verify->checked)
		status_advise(status_find(st, STATUS_NOTE, "no-answer", item->id,
					  "%zu of %zu ports got no answer: whether they take their paths is not known",
					  verify->nr_moved - verify->far_lost, verify->checked),
			      "See whether routers answer, and are reached: rocesteer path verify");
	if (2 * verify->far_lost > verify->far)
		status_advise(status_find(st, STATUS_NOTE, "far-no-answer", item->id,
					  "%zu of %zu probes got no answer from hop %u, behind the routers of the paths",
					  verify->far_lost, verify->far, verify->hop),
			      "The links of the peers' leaf may be down, or it limits its answers: rocesteer path verify");
	if (verify->checked && !verify->nr_moved)
		out_string(job, "verified", utc_format(time(NULL), text));
}

static void probe(struct status *st, struct status_job *item)
{
	struct verify verify;
	struct err err = {};

	status_nic(st, item, shown(st, item->id));
	if (!item->sample.nr_peers || !item->device[0])
		return;
	if (verify_sample(&item->sample, &verify, &err)) {
		status_unseen(st, "ports of job %u: %s", item->id, err.message);
		return;
	}
	judge_probes(st, item, &verify);
	free(verify.moved);
}

void status_probe(struct status *st)
{
	size_t i;

	for (i = 0; i < st->jobs.nr && i < PROBED_JOBS; i++)
		probe(st, st->jobs.item[i]);
	if (i < st->jobs.nr)
		status_unseen(st, "ports of %zu jobs: at most %u jobs are probed",
			      st->jobs.nr - i, PROBED_JOBS);
}
