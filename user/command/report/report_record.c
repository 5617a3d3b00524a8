// SPDX-License-Identifier: GPL-2.0
/* rocesteer report record: what flows send in a period. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "groups/groups.h"
#include "../interrupt.h"
#include "report_tables.h"

#define SEC	1000000000ull
#define MSEC	1000000ull

/* Paths of a round of probes: a second has one, and is not much longer than that. */
#define ROUND	256

enum { OUT, SECONDS, INTERVAL, JOB, HOST, NO_PROBE };

const struct cli_option report_record_options[] = {
	[OUT] = { "out", "FILE", "the recording, for rocesteer report show", CLI_NEEDED },
	[SECONDS] = { "seconds", "N", "length of the period (default: 30)" },
	[INTERVAL] = { "interval", "MS", "time between two readings (default: 1000)" },
	[JOB] = { "job", "ID", "only this job" },
	[HOST] = { "host", "NAME", "name of this host in reports (default: its own)" },
	[NO_PROBE] = { "no-probe", NULL, "do not measure paths by probes" },
	{}
};

static const struct out_column columns[] = {
	{ "file", "file" },
	{ "host", "host" },
	{ "seconds", "seconds" },
	{ "groups", "groups" },
	{ "flows", "flows" },
	{ "packets", "packets" },
	{ "bytes", "bytes" },
	{ "unknown_bytes", "bytes of unknown path" },
	{ "events", "events" },
	{ "probed", "probed" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

/**
 * struct recorder - state
 * @args: arguments
 * @err: filled on failure
 * @tables: readings
 * @probes: paths are measured by probes
 * @next: the first path of the next round
 * @began: CLOCK_MONOTONIC ns
 * @reader: events of the daemon; @reader.fd is -1 without one
 * @recording: result
 */
struct recorder {
	const struct cli_args *args;
	struct err *err;
	struct report_tables tables;
	bool probes;
	size_t next;
	__u64 began;
	struct event_socket_reader reader;
	struct recording recording;
};

/* Paths that cannot be probed are recorded all the same. */
static void probe(struct recorder *r, size_t from, size_t nr, bool via)
{
	struct err err = {};

	if (!r->probes || !nr || !report_probe(r->tables.target + from, nr, via, &err))
		return;
	out_note(&r->args->out, "Paths are not measured by probes: %s.",
		 err.code ? err.message : "the device is gone");
	r->probes = false;
}

/* Some of the paths, in turn. */
static void probe_round(struct recorder *r)
{
	size_t from = r->next, left = r->tables.nr_targets - from;
	size_t nr = left < ROUND ? left : ROUND;

	r->next = nr < left ? from + nr : 0;
	probe(r, from, nr, false);
}

static const char *text_of(struct json_object *event, const char *key)
{
	return json_object_get_string(json_object_object_get(event, key)) ?: "";
}

static int take_event(struct json_object *json, void *arg)
{
	struct recorder *r = arg;
	struct recording *recording = &r->recording;
	struct recording_event *event;
	struct json_object *path;

	if (recording->nr_events == RECORDING_MAX_EVENTS)
		goto out;
	event = reallocarray(recording->event, recording->nr_events + 1, sizeof(*event));
	if (!event)
		goto out;
	recording->event = event;
	event += recording->nr_events++;
	memset(event, 0, sizeof(*event));
	event->ms = (clock_ns() - r->began) / MSEC;
	snprintf(event->name, sizeof(event->name), "%s", text_of(json, "event"));
	snprintf(event->device, sizeof(event->device), "%.15s", text_of(json, "device"));
	addr_parse(text_of(json, "leaf"), event->leaf);
	event->path = json_object_object_get_ex(json, "path", &path) ?
		      json_object_get_uint64(path) : ROCESTEER_PATH_UNKNOWN;
out:
	json_object_put(json);
	return 0;
}

/* Wait for the next reading, and take events meanwhile. */
static void wait_until(struct recorder *r, __u64 at)
{
	__u64 now;

	while ((now = clock_ns()) < at && !interrupt_pending()) {
		struct pollfd poll_fd = { .fd = r->reader.fd, .events = POLLIN };
		int ms = (at - now) / MSEC + 1;

		if (poll(&poll_fd, 1, ms < 100 ? ms : 100) <= 0)
			continue;
		if (!event_socket_read(&r->reader, take_event, r))
			continue;
		close(r->reader.fd);
		r->reader.fd = -1;
	}
}

static int record(struct recorder *r, __u64 seconds, __u64 interval)
{
	struct progress progress;
	__u64 end, at, probe_at = 0;
	struct timespec now;
	bool ends = false;
	int ret;

	progress_start(&progress);
	ret = report_tables_read(&r->tables, true, r->err) ?: report_tables_targets(&r->tables);
	if (!ret)
		probe(r, 0, r->tables.nr_targets, true);
	clock_gettime(CLOCK_REALTIME, &now);
	r->recording.begin = now.tv_sec * 1000 + now.tv_nsec / MSEC;
	r->began = clock_ns();
	ret = ret ?: report_tables_read(&r->tables, true, r->err);
	interrupt_hold();	/* from here on, a signal ends the period and not the command */
	at = r->began;
	end = at + seconds * SEC;
	while (!ret && !ends) {
		at = at + interval * MSEC < end ? at + interval * MSEC : end;
		if (clock_ns() >= probe_at) {
			probe_round(r);
			probe_at = clock_ns() + SEC;
		}
		progress_update(&progress, "recording: %llu of %llu s, %zu flows",
				(at - r->began) / SEC, seconds, r->tables.flows.nr);
		wait_until(r, at);
		ends = at == end || interrupt_pending();	/* asked before the last reading */
		ret = report_tables_read(&r->tables, false, r->err);
	}
	if (ret == -ENOENT && at > r->began) {	/* the last job was unloaded: so the period ends */
		r->err->code = NULL;
		ret = 0;
	}
	r->recording.ms = (clock_ns() - r->began) / MSEC;
	progress_end(&progress);
	return ret;
}

static int fill(struct recorder *r, const char *host, const char *kernel)
{
	struct recording *to = &r->recording;

	snprintf(to->host, sizeof(to->host), "%s", host);
	snprintf(to->kernel, sizeof(to->kernel), "%.64s", kernel);
	snprintf(to->version, sizeof(to->version), "%s", ROCESTEER_VERSION);
	to->probed = r->probes && r->tables.nr_targets;
	return report_tables_fill(&r->tables, to);
}

static struct json_object *to_json(const struct recorder *r)
{
	const struct recording *recording = &r->recording;
	__u64 packets = 0, bytes = 0, unknown = 0;
	struct json_object *root = out_root();
	size_t i;
	__u32 p;

	for (i = 0; i < recording->nr_groups; i++) {
		const struct recording_group *group = &recording->group[i];

		unknown += group->unknown.bytes;
		for (p = 0; p < group->nr_paths; p++) {
			packets += group->path[p].sent.packets;
			bytes += group->path[p].sent.bytes;
		}
	}
	out_string(root, "file", r->args->value[OUT]);
	out_string(root, "host", recording->host);
	out_decimal(root, "seconds", recording->ms, 3);
	out_uint(root, "groups", recording->nr_groups);
	out_uint(root, "flows", recording->nr_flows);
	out_uint(root, "packets", packets);
	out_uint(root, "bytes", bytes);
	if (unknown)
		out_uint(root, "unknown_bytes", unknown);
	out_uint(root, "events", recording->nr_events);
	out_bool(root, "probed", recording->probed);
	return root;
}

/* No recording is read without the name of its host. */
static int check_host(const char *host, struct err *err)
{
	if (host[0] && table_is_text(host) && strlen(host) < RECORDING_NAME)
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "--host: the name is not 1 to 64 bytes of printable UTF-8");
}

int report_record(const struct cli_args *args, struct err *err)
{
	struct recorder r = { .args = args, .err = err, .reader.fd = -1 };
	__u64 seconds = 30, interval = 1000, job = 0;
	struct json_object *root = NULL;
	struct utsname name;
	const char *host;
	int ret;

	uname(&name);
	host = args->value[HOST] ?: name.nodename;
	ret = cli_uint(args, SECONDS, 1, 86400, &seconds, err) ?:
	      cli_uint(args, INTERVAL, 100, 60000, &interval, err) ?:
	      cli_uint(args, JOB, 1, 0xffffffff, &job, err) ?: check_host(host, err) ?:
	      file_check(args->value[OUT], RECORDING_BEGIN, "recording", err);
	if (ret)
		return ret;
	r.tables.job = job;
	r.probes = !args->value[NO_PROBE];
	r.reader.fd = event_socket_connect();
	ret = record(&r, seconds, interval) ?: fill(&r, host, name.release) ?:
	      json_file_write(args->value[OUT], recording_to_json(&r.recording),
			      JSON_C_TO_STRING_PLAIN, err);
	if (!ret)
		root = to_json(&r);
	if (r.reader.fd >= 0)
		close(r.reader.fd);
	recording_free(&r.recording);
	report_tables_free(&r.tables);
	return ret ?: out_show(&args->out, root, views);
}
