// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: is every job steered as planned? */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../module.h"
#include "status.h"

enum { NO_PROBE, BUNDLE, HOSTS };

static const struct cli_option options[] = {
	[NO_PROBE] = { "no-probe", NULL, "do not probe ports of the jobs" },
	[BUNDLE] = { "bundle", "FILE", "pack what a report of a fault needs, as .tar.gz" },
	[HOSTS] = { "hosts", "FILE", "of the hosts of a list, by ssh or from HOST.json beside" },
	{}
};

static const struct out_column job_columns[] = {
	{ "job", "JOB" },
	{ "name", "NAME" },
	{ "device", "DEVICE" },
	{ "served", "SERVED" },
	{ "first", "FIRST" },
	{ "steering", "STEERING" },
	{ "flows", "FLOWS" },
	{ "imbalance", "IMBALANCE" },
	{ "retransmissions", "RETRANS" },
	{ "no_port", "NO PORT" },
	{ "down", "DOWN" },
	{ "checked", "CHECKED" },
	{ "ports", "OF PORTS" },
	{ "hop", "TO HOP" },
	{ "nic_proved", "BY NIC" },
	{ "nic_asked", "OF" },
	{ "verified", "VERIFIED" },
	{ "map_created", "MAP OF" },
	{ "port_map", "PORT MAP" },
	{}
};

static const struct out_column host_columns[] = {
	{ "command", "command" },
	{ "programs", "programs" },
	{ "module", "module" },
	{ "kprobes", "kprobes" },
	{ "daemon", "daemon" },
	{ "table", "fullest table" },
	{ "used", "its entries" },
	{ "room", "its room" },
	{}
};

static const struct out_column finding_columns[] = {
	{ "severity", "SEVERITY" },
	{ "code", "CODE" },
	{ "message", "FINDING" },
	{}
};

static const struct out_column hint_columns[] = {
	{ "code", "CODE" },
	{ "hint", "WHAT TO DO" },
	{}
};

static const struct out_column unseen_columns[] = {
	{ "what", "NOT LOOKED AT" },
	{}
};

static const struct out_column bundle_columns[] = {
	{ "bundle", "bundle" },
	{ "files", "files" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "jobs", .columns = job_columns, .empty = "no job" },
	{ .in = "host", .columns = host_columns },
	{ .rows = "not_looked_at", .columns = unseen_columns },
	{ .columns = bundle_columns },
	{ .rows = "findings", .columns = finding_columns, .empty = "no finding" },
	{ .rows = "findings", .columns = hint_columns },
	{}
};

struct json_object *status_find(struct status *st, enum status_severity severity,
				const char *code, __u32 job, const char *fmt, ...)
{
	struct json_object *finding = out_append_object(st->findings);
	char message[512];
	int len = 0;
	va_list args;

	if (job)
		len = sprintf(message, "job %u: ", job);
	va_start(args, fmt);
	vsnprintf(message + len, sizeof(message) - len, fmt, args);
	va_end(args);
	out_string(finding, "severity", severity == STATUS_ERROR ? "error" : "note");
	out_string(finding, "code", code);
	if (job)
		out_uint(finding, "job", job);
	out_string(finding, "message", message);
	st->fault |= severity == STATUS_ERROR;
	return finding;
}

void status_advise(struct json_object *finding, const char *fmt, ...)
{
	char hint[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(hint, sizeof(hint), fmt, args);
	va_end(args);
	out_string(finding, "hint", hint);
}

void status_unseen(struct status *st, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	out_string(out_append_object(st->unseen), "what", what);
}

/* Tables of another version are a finding; all else is for the host's root to answer. */
static int open_tables(struct status *st, struct err *err)
{
	int ret = steer_open(&st->steer, STEER_READ, err);

	if (ret == -EPROTO)
		status_advise(status_find(st, STATUS_ERROR, "version", 0, "%s",
					  err->message), "%s", err->hint);
	if (ret == -ENOENT || ret == -EPROTO) {
		err->code = NULL;
		return 0;
	}
	return ret;
}

static void open_module(struct status *st)
{
	struct err err = {};

	if (module_open(&st->genl, MODULE_AUTO, &err))
		status_advise(status_find(st, STATUS_ERROR, err.code ?: "module", 0, "%s",
					  err.message), "%s", err.hint);
}

static int look(struct status *st, struct err *err)
{
	int ret;

	open_module(st);
	ret = open_tables(st, err) ?: status_jobs_read(st, err);
	if (!ret) {
		status_jobs_judge(st);
		status_host(st);
	}
	steer_close(st->steer);
	genl_close(st->genl);
	if (ret)
		return ret;
	if (!st->args->value[NO_PROBE])
		status_probe(st);
	status_disturb(st);
	return st->args->value[BUNDLE] ?
	       status_bundle(st, st->args->value[BUNDLE], err) : 0;
}

static int run(const struct cli_args *args, struct err *err)
{
	struct status st = { .args = args };
	int ret;

	if (args->value[HOSTS] && args->value[BUNDLE])
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--bundle and --hosts exclude each other");
	if (args->value[HOSTS])
		return status_hosts(args, args->value[HOSTS], args->value[NO_PROBE], err);
	st.root = out_root();
	out_array(st.root, "jobs");
	st.host = out_object(st.root, "host");
	st.findings = out_array(st.root, "findings");
	st.unseen = out_array(st.root, "not_looked_at");
	ret = look(&st, err);
	status_jobs_free(&st);
	if (ret) {
		json_object_put(st.root);
		return ret;
	}
	out_bool(st.root, "fault", st.fault);
	ret = out_show(&args->out, st.root, views);
	return ret ?: st.fault ? EXIT_FAILED : EXIT_DONE;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Show whether every job is steered as planned, and what is wrong",
		.options = options,
		.example = "status --no-probe",
		.shows = true,
		.run = run,
	},
	{}
};

const struct cli_object cli_status = {
	.name = "status",
	.help = "show whether every job is steered as planned",
	.verbs = verbs,
};
