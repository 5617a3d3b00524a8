// SPDX-License-Identifier: GPL-2.0
/* rocesteer report record: what flows send in a period. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "steer/steer.h"
#include "../interrupt.h"
#include "report.h"

#define SEC	1000000000ull
#define MSEC	1000000ull

enum { OUT, SECONDS, INTERVAL, JOB, HOST, NO_PROBE };

const struct cli_option report_record_options[] = {
	[OUT] = { "out", "FILE", "the recording, for rocesteer report show" },
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

/* Behind the paths: what an observed flow sent before its path was known. */
#define UNKNOWN		ROCESTEER_MAX_PATHS

/**
 * struct seen_key - a flow, or one in its place with another job or leaf
 * @key: as in rs_flows
 * @group: its group
 */
struct seen_key {
	struct rocesteer_flow_key key;
	struct rocesteer_group_key group;
};

/**
 * struct seen - a flow in the period
 * @key: which
 * @port: of its first piece, host order
 * @share: it sent more than acknowledgments
 * @observed: now
 * @unknown: what it sent on path 0 is of an unknown path
 * @last_cnps: at the last reading
 * @cnps: in the period
 * @nr: counters in use
 * @last: at the last reading, by path
 * @sent: in the period, by path, and UNKNOWN
 */
struct seen {
	struct seen_key key;
	__u16 port;
	bool share;
	bool observed;
	bool unknown;
	__u32 last_cnps;
	__u64 cnps;
	__u32 nr;
	struct recording_count *last;
	struct recording_count unknown_sent;
	struct recording_count *sent;
};

/* A group, and the paths that are probed: the first target of each of @nr_paths. */
struct seen_group {
	struct rocesteer_group_key key;
	struct rocesteer_group group;
	char name[32];
	__u8 source[16];
	unsigned int hop;
	__u16 port[ROCESTEER_MAX_PATHS];
	__u8 peer[ROCESTEER_MAX_PATHS][16];
	size_t target;
};

/**
 * struct recorder - state
 * @args: arguments
 * @err: filled on failure
 * @job: only this one, or 0
 * @flows: set of struct seen
 * @groups: set of struct seen_group
 * @first: the first reading: what was sent before is not of the period
 * @target: paths that are probed
 * @nr_targets: how many
 * @began: CLOCK_MONOTONIC ns
 * @before: counters at the beginning: NAKs, CNPs
 * @reader: events of the daemon; @reader.fd is -1 without one
 * @recording: result
 */
struct recorder {
	const struct cli_args *args;
	struct err *err;
	__u64 job;
	struct set flows;
	struct set groups;
	bool first;
	struct report_target *target;
	size_t nr_targets;
	__u64 began;
	__u64 before[2];
	struct event_socket_reader reader;
	struct recording recording;
};

static int see_group(const struct rocesteer_group_key *key, const struct rocesteer_group *from,
		     void *arg)
{
	struct recorder *r = arg;
	struct seen_group *group;

	group = set_get(&r->groups, key, sizeof(*key), sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->group = *from;
	if (group->group.nr_paths > ROCESTEER_MAX_PATHS)
		group->group.nr_paths = ROCESTEER_MAX_PATHS;
	return 0;
}

static int see_peer(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		    void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job, .ifindex = key->ifindex };
	struct recorder *r = arg;
	struct seen_group *group;
	__u32 p;

	memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	group = set_find(&r->groups, &gkey, sizeof(gkey));
	if (!group)
		return 0;
	group->hop = peer->hop;
	memcpy(group->source, peer->source, sizeof(group->source));
	for (p = 0; p < group->group.nr_paths; p++) {
		if (!peer->sport[p] || group->port[p])
			continue;
		group->port[p] = ntohs(peer->sport[p]);
		memcpy(group->peer[p], key->addr, sizeof(group->peer[p]));
	}
	return 0;
}

static int see_job(__u32 id, const struct rocesteer_job *job, void *arg)
{
	struct recorder *r = arg;
	size_t i;

	for (i = 0; i < r->groups.nr; i++) {
		struct seen_group *group = r->groups.item[i];

		if (group->key.job == id)
			snprintf(group->name, sizeof(group->name), "%.31s", job->name);
	}
	return 0;
}

/* Room for the counters of paths up to the last that the flow used. */
static int make_room(struct seen *flow, const struct rocesteer_flow_path *path)
{
	struct recording_count *last, *sent;
	__u32 nr = ROCESTEER_MAX_PATHS;

	while (nr && !path->sent[nr - 1].packets)
		nr--;
	if (nr <= flow->nr)
		return 0;
	last = reallocarray(flow->last, nr, sizeof(*last));
	if (last)
		flow->last = last;
	sent = reallocarray(flow->sent, nr, sizeof(*sent));
	if (sent)
		flow->sent = sent;
	if (!last || !sent)
		return -ENOMEM;
	memset(last + flow->nr, 0, (nr - flow->nr) * sizeof(*last));
	memset(sent + flow->nr, 0, (nr - flow->nr) * sizeof(*sent));
	flow->nr = nr;
	return 0;
}

/* A counter that falls is one of a flow that was entered anew. */
static __u64 grown(__u64 now, __u64 before)
{
	return now >= before ? now - before : now;
}

static void add_grown(struct recording_count *sum, const struct rocesteer_sent *now,
		      struct recording_count *last)
{
	sum->packets += grown(now->packets, last->packets);
	sum->bytes += grown(now->bytes, last->bytes);
	sum->rounds += grown(now->rounds, last->rounds);
	*last = (struct recording_count) { now->packets, now->bytes, now->rounds };
}

/* The path became known: the programs count there what was sent before. */
static void settle(struct seen *flow, __u32 p)
{
	struct recording_count *to;

	flow->unknown = false;
	if (p >= flow->nr || !flow->nr)
		return;
	to = &flow->sent[p];
	to->packets += flow->unknown_sent.packets;
	to->bytes += flow->unknown_sent.bytes;
	to->rounds += flow->unknown_sent.rounds;
	memset(&flow->unknown_sent, 0, sizeof(flow->unknown_sent));
	if (!p)
		return;
	flow->last[p] = flow->last[0];
	memset(&flow->last[0], 0, sizeof(flow->last[0]));
}

static int see_flow(const struct rocesteer_flow_key *key,
		    const struct rocesteer_flow_path *path, void *arg)
{
	struct recorder *r = arg;
	struct seen_key skey = { .key = *key, .group = { .job = path->job,
							  .ifindex = key->ifindex } };
	bool unknown = path->piece[0].path == ROCESTEER_PATH_UNKNOWN;
	struct seen *flow;
	__u32 p;

	memcpy(skey.group.leaf, path->leaf, sizeof(skey.group.leaf));
	if ((r->job && path->job != r->job) ||
	    !set_find(&r->groups, &skey.group, sizeof(skey.group)))
		return 0;
	flow = set_get(&r->flows, &skey, sizeof(skey), sizeof(*flow));
	if (!flow || make_room(flow, path))
		return -ENOMEM;
	flow->port = ntohs(path->piece[0].sport);
	flow->share = path->flags & ROCESTEER_FLOW_SHARE;
	flow->observed = path->flags & ROCESTEER_FLOW_OBSERVED;
	if (flow->unknown && !unknown)
		settle(flow, path->piece[0].path);
	for (p = 0; p < flow->nr; p++)
		add_grown(unknown && !p ? &flow->unknown_sent : &flow->sent[p],
			  &path->sent[p], &flow->last[p]);
	flow->unknown = unknown;
	flow->cnps += grown(path->cnps, flow->last_cnps);
	flow->last_cnps = path->cnps;
	if (!r->first)
		return 0;
	memset(flow->sent, 0, flow->nr * sizeof(*flow->sent));
	memset(&flow->unknown_sent, 0, sizeof(flow->unknown_sent));
	flow->cnps = 0;
	return 0;
}

/* NAKs and CNPs that have arrived. */
static int read_counters(struct steer *steer, __u64 counters[2])
{
	__u64 verdicts[ROCESTEER_VERDICT_MAX], observed[ROCESTEER_OBSERVED_MAX];
	int ret = steer_counters(steer, verdicts, observed);

	counters[0] = observed[ROCESTEER_SAW_NAK_SEQUENCE] + observed[ROCESTEER_SAW_NAK_OTHER];
	counters[1] = observed[ROCESTEER_SAW_CNP];
	return ret;
}

static int read_tables(struct recorder *r)
{
	struct steer *steer;
	__u64 now[2] = {};
	int ret;

	ret = steer_open(&steer, STEER_READ, r->err);
	if (ret)
		return ret;
	ret = steer_group_each(steer, r->job, see_group, r) ?:
	      steer_peer_each(steer, r->job, see_peer, r) ?:
	      steer_job_each(steer, see_job, r) ?: steer_flow_each(steer, see_flow, r) ?:
	      read_counters(steer, now);
	steer_close(steer);
	if (r->first)
		memcpy(r->before, now, sizeof(now));
	r->recording.naks = grown(now[0], r->before[0]);
	r->recording.cnps = grown(now[1], r->before[1]);
	r->first = false;
	return ret;
}

static int make_targets(struct recorder *r)
{
	size_t i, nr = 0;
	__u32 p;

	for (i = 0; i < r->groups.nr; i++)
		nr += ((struct seen_group *)r->groups.item[i])->group.nr_paths;
	r->target = calloc(nr ?: 1, sizeof(*r->target));
	if (!r->target)
		return -ENOMEM;
	for (i = 0; i < r->groups.nr; i++) {
		struct seen_group *group = r->groups.item[i];

		for (p = 0; p < group->group.nr_paths; p++) {
			struct report_target *target = &r->target[r->nr_targets];

			if (!group->port[p])
				continue;
			target->ifindex = group->key.ifindex;
			target->hop = group->hop;
			target->port = group->port[p];
			memcpy(target->source, group->source, 16);
			memcpy(target->peer, group->peer[p], 16);
			r->nr_targets++;
		}
	}
	return 0;
}

/* Paths that cannot be probed are recorded all the same. */
static void probe_all(struct recorder *r, bool via)
{
	struct err err = {};

	if (!r->nr_targets || !report_probe(r->target, r->nr_targets, via, &err))
		return;
	out_note(&r->args->out, "Paths are not measured by probes: %s.",
		 err.code ? err.message : "the device is gone");
	r->nr_targets = 0;
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
	int ret;

	progress_start(&progress);
	r->first = true;
	ret = read_tables(r) ?: make_targets(r);
	if (!ret && r->args->value[NO_PROBE])
		r->nr_targets = 0;
	if (!ret)
		probe_all(r, true);
	r->recording.begin = time(NULL);
	r->began = clock_ns();
	r->first = true;
	ret = ret ?: read_tables(r);
	at = r->began;
	end = at + seconds * SEC;
	while (!ret && at < end && !interrupt_pending()) {
		at = at + interval * MSEC < end ? at + interval * MSEC : end;
		if (clock_ns() >= probe_at) {
			probe_all(r, false);
			probe_at = clock_ns() + SEC;
		}
		progress_update(&progress, "recording: %llu of %llu s, %zu flows",
				(at - r->began) / SEC, seconds, r->flows.nr);
		wait_until(r, at);
		ret = read_tables(r);
	}
	r->recording.ms = (clock_ns() - r->began) / MSEC;
	progress_end(&progress);
	return ret;
}

/* The targets of a group follow those of the group before. */
static void fill_group(struct recorder *r, struct recording_group *to,
		       const struct seen_group *from, size_t *target)
{
	__u32 p;

	to->job = from->key.job;
	memcpy(to->name, from->name, sizeof(to->name));
	out_device_name(from->key.ifindex, to->device);
	memcpy(to->leaf, from->key.leaf, 16);
	memcpy(to->source, from->source, 16);
	to->observed = from->group.observe;
	to->nr_paths = from->group.nr_paths;
	for (p = 0; p < to->nr_paths; p++) {
		const struct report_target *probed = &r->target[*target];
		struct recording_path *path = &to->path[p];

		memcpy(path->router, from->group.router[p], 16);
		memcpy(path->entry, from->group.leaf[p], 16);
		path->up = !(from->group.down >> p & 1);
		if (!from->port[p] || *target >= r->nr_targets)
			continue;
		(*target)++;
		memcpy(to->via, probed->via, 16);
		if (!addr_is_none(probed->entry))
			memcpy(path->entry, probed->entry, 16);
		path->probes = probed->sent;
		path->lost = probed->lost;
		path->delay_ns = probed->delay_ns;
	}
}

static int fill_flow(struct recording_flow *to, const struct seen *from, size_t group)
{
	__u32 p;

	to->group = group;
	memcpy(to->peer, from->key.key.peer, 16);
	to->dqpn = from->key.key.dqpn;
	to->port = from->port;
	to->share = from->share;
	to->observed = from->observed;
	to->cnps = from->cnps;
	to->sent = calloc(from->nr + 1, sizeof(*to->sent));
	if (!to->sent)
		return -ENOMEM;
	for (p = 0; p < from->nr; p++)
		if (from->sent[p].packets)
			to->sent[to->nr_sent++] = (struct recording_sent) { p, from->sent[p] };
	if (from->unknown_sent.packets)
		to->sent[to->nr_sent++] = (struct recording_sent) {
			ROCESTEER_PATH_UNKNOWN, from->unknown_sent,
		};
	return 0;
}

static size_t group_index(const struct recorder *r, const struct rocesteer_group_key *key)
{
	size_t i = 0;

	while (memcmp(key, r->groups.item[i], sizeof(*key)))
		i++;
	return i;
}

/* Flows that sent nothing in the period are left out. */
static int fill(struct recorder *r)
{
	struct recording *to = &r->recording;
	struct utsname name;
	size_t i, target = 0;
	int ret = 0;

	uname(&name);
	snprintf(to->host, sizeof(to->host), "%.64s", r->args->value[HOST] ?: name.nodename);
	snprintf(to->kernel, sizeof(to->kernel), "%.64s", name.release);
	snprintf(to->version, sizeof(to->version), "%s", ROCESTEER_VERSION);
	to->probed = r->nr_targets;
	to->group = calloc(r->groups.nr ?: 1, sizeof(*to->group));
	to->flow = calloc(r->flows.nr ?: 1, sizeof(*to->flow));
	if (!to->group || !to->flow)
		return -ENOMEM;
	for (i = 0; i < r->groups.nr; i++)
		fill_group(r, &to->group[to->nr_groups++], r->groups.item[i], &target);
	for (i = 0; !ret && i < r->flows.nr; i++) {
		const struct seen *flow = r->flows.item[i];

		ret = fill_flow(&to->flow[to->nr_flows], flow, group_index(r, &flow->key.group));
		if (to->flow[to->nr_flows].nr_sent)
			to->nr_flows++;
		else
			free(to->flow[to->nr_flows].sent);
	}
	recording_sum(to);
	return ret;
}

static int write_file(const char *file, const struct recording *recording, struct err *err)
{
	struct json_object *root = recording_to_json(recording);
	struct file_new new;
	int ret = file_begin(&new);

	if (ret)
		goto out_put;
	fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), new.out);
	fputc('\n', new.out);
	ret = file_replace(file, &new);
	if (ret < 0)
		err_errno(err, -ret, "file", "cannot write %s", file);
	ret = ret < 0 ? ret : 0;
out_put:
	json_object_put(root);
	return ret;
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

static void free_seen(void *item)
{
	struct seen *flow = item;

	free(flow->last);
	free(flow->sent);
	free(flow);
}

int report_record(const struct cli_args *args, struct err *err)
{
	struct recorder r = { .args = args, .err = err, .reader.fd = -1 };
	__u64 seconds = 30, interval = 1000;
	struct json_object *root = NULL;
	int ret;

	ret = cli_need(args, OUT, err) ?: cli_uint(args, SECONDS, 1, 86400, &seconds, err) ?:
	      cli_uint(args, INTERVAL, 100, 60000, &interval, err) ?:
	      cli_uint(args, JOB, 1, 0xffffffff, &r.job, err);
	if (ret)
		return ret;
	if (args->value[HOST] && (!table_is_text(args->value[HOST]) ||
				  strlen(args->value[HOST]) >= RECORDING_NAME))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--host: is longer than 64 bytes, or no text");
	ret = file_has_place(args->value[OUT]);
	if (ret)
		return err_errno(err, -ret, "file", "cannot write %s", args->value[OUT]);
	interrupt_hold();
	r.reader.fd = event_socket_connect();
	ret = record(&r, seconds, interval) ?: fill(&r) ?:
	      write_file(args->value[OUT], &r.recording, err);
	if (!ret)
		root = to_json(&r);
	if (r.reader.fd >= 0)
		close(r.reader.fd);
	set_clear(&r.flows, free_seen);
	set_clear(&r.groups, free);
	recording_free(&r.recording);
	free(r.target);
	return ret ?: out_show(&args->out, root, views);
}
