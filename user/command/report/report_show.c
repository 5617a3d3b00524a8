// SPDX-License-Identifier: GPL-2.0
/* rocesteer report show: what recordings mean. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { HOSTS, AGAINST, HTML };

const struct cli_option report_show_options[] = {
	[HOSTS] = { "hosts", "FILE[,..]", "recordings of other hosts in the same period" },
	[AGAINST] = { "against", "FILE[,..]", "recordings of an earlier period, of any host" },
	[HTML] = { "html", "FILE", "write the report as a page for browsers" },
	{}
};

static const struct out_column comparison_columns[] = {
	{ "measure", "MEASURE" },
	{ "before", "BEFORE" },
	{ "now", "NOW" },
	{ "difference", "DIFFERENCE" },
	{}
};

static const struct out_column uplink_columns[] = {
	{ "tier", "LINK" },
	{ "leaf", "LEAF" },
	{ "agg", "AGG" },
	{ "flows", "FLOWS" },
	{ "bytes", "BYTES" },
	{ "imbalance", "IMBALANCE" },
	{ "before_imbalance", "BEFORE" },
	{ "whole", "IF WHOLE" },
	{ "split", "IF SPLIT" },
	{ "flow_imbalance", "FLOWS UNEVEN BY %" },
	{}
};

static const struct out_column link_columns[] = {
	{ "tier", "LINK" },
	{ "leaf", "LEAF" },
	{ "spine", "SPINE" },
	{ "agg", "AGG" },
	{ "core", "CORE" },
	{ "flows", "FLOWS" },
	{ "bytes", "BYTES" },
	{ "load", "LOAD" },
	{ "loss", "LOSS" },
	{}
};

static const struct out_column group_columns[] = {
	{ "host", "HOST" },
	{ "job", "JOB" },
	{ "name", "NAME" },
	{ "device", "DEVICE" },
	{ "leaf", "LEAF" },
	{ "mode", "MODE" },
	{ "imbalance", "IMBALANCE" },
	{ "path", "PATH" },
	{ "via", "VIA" },
	{ "router", "ROUTER" },
	{ "flows", "FLOWS" },
	{ "packets", "PACKETS" },
	{ "bytes", "BYTES" },
	{ "before_bytes", "BEFORE" },
	{ "rounds", "ROUNDS" },
	{ "cnps", "CNPS" },
	{ "delay_us", "DELAY-US" },
	{}
};

static const struct out_column collision_columns[] = {
	{ "tier", "LINK" },
	{ "leaf", "LEAF" },
	{ "spine", "SPINE" },
	{ "agg", "AGG" },
	{ "core", "CORE" },
	{ "flows_on", "FLOWS" },
	{ "fair", "FAIR" },
	{ "host", "HOST" },
	{ "job", "JOB" },
	{ "peer", "PEER" },
	{ "dqpn", "DQPN" },
	{ "port", "PORT" },
	{ "bytes", "BYTES" },
	{}
};

static const struct out_column gray_columns[] = {
	{ "cause", "CAUSE" },
	{ "tier", "LINK" },
	{ "leaf", "LEAF" },
	{ "spine", "SPINE" },
	{ "agg", "AGG" },
	{ "core", "CORE" },
	{ "address", "ENTERS BY" },
	{ "or", "OR" },
	{ "rate", "RATE" },
	{ "delay_us", "DELAY-US" },
	{ "sure", "SURE" },
	{}
};

static const struct out_column event_columns[] = {
	{ "time", "TIME" },
	{ "host", "HOST" },
	{ "event", "EVENT" },
	{ "device", "DEVICE" },
	{ "leaf", "LEAF" },
	{ "path", "PATH" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "comparison", .title = "Against the earlier period:",
	  .columns = comparison_columns },
	{ .rows = "uplinks", .title = "Uplinks, the worst first:",
	  .columns = uplink_columns, .empty = "Nothing was sent." },
	{ .rows = "links", .title = "Links:", .columns = link_columns },
	{ .rows = "gray", .title = "Gray links:", .columns = gray_columns,
	  .empty = "No link loses, marks or delays packets more than the others." },
	{ .rows = "collisions.flows", .title = "Links that more flows share than need be:",
	  .columns = collision_columns,
	  .empty = "No link has more flows than it need have." },
	{ .rows = "groups.paths", .title = "Groups, the worst first:", .columns = group_columns },
	{ .rows = "timeline", .title = "Events:", .columns = event_columns },
	{}
};

/**
 * struct period - recordings of a period
 * @recording: recordings
 * @nr: number of recordings
 * @join: the recordings joined
 * @err: filled on failure
 */
struct period {
	struct recording *recording;
	size_t nr;
	struct report_join join;
	struct err *err;
};

static int add_file(const char *file, void *arg)
{
	struct period *period = arg;
	struct recording *bigger;
	size_t i;
	int ret;

	bigger = reallocarray(period->recording, period->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	period->recording = bigger;
	memset(&bigger[period->nr], 0, sizeof(*bigger));
	ret = recording_read(file, &bigger[period->nr++], period->err);
	for (i = 0; !ret && i + 1 < period->nr; i++)
		if (!strcmp(bigger[i].host, bigger[period->nr - 1].host))
			ret = err_set(period->err, EXIT_BAD_INPUT, "periods",
				      "%s: host: %s has another recording of this period",
				      file, bigger[i].host);
	return ret;
}

static int read_files(struct period *period, const struct cli_args *args, int option)
{
	const char *list = args->value[option];

	return list ? cli_each(args->options[option].name, list, add_file, period, period->err) : 0;
}

/* Recordings of one period have to have a moment in common. */
static int check_times(const struct period *period)
{
	const struct recording *first = &period->recording[0], *other;
	size_t i;

	for (i = 1; i < period->nr; i++) {
		other = &period->recording[i];
		if (other->begin <= first->begin + (__s64)first->ms &&
		    first->begin <= other->begin + (__s64)other->ms)
			continue;
		return err_set(period->err, EXIT_BAD_INPUT, "periods",
			       "the recordings of %s and %s are of different periods",
			       first->host, other->host);
	}
	return 0;
}

static bool has_job(const struct period *period, __u32 job)
{
	size_t r, i;

	for (r = 0; r < period->nr; r++)
		for (i = 0; i < period->recording[r].nr_groups; i++)
			if (period->recording[r].group[i].job == job)
				return true;
	return false;
}

/* Two recordings can be compared only if they have a job in common. */
static int check_jobs(const struct period *now, const struct period *before)
{
	size_t r, i;

	for (r = 0; r < now->nr; r++)
		for (i = 0; i < now->recording[r].nr_groups; i++)
			if (has_job(before, now->recording[r].group[i].job))
				return 0;
	return err_set(now->err, EXIT_BAD_INPUT, "periods",
		       "--against: the earlier period has none of these jobs");
}

static int join(struct period *period)
{
	int ret = report_join(&period->join, period->recording, period->nr);

	return ret == -E2BIG ? err_set(period->err, EXIT_BAD_INPUT, "bad-file",
				       "the recordings have more leaves than are supported") : ret;
}

static void free_period(struct period *period)
{
	size_t i;

	report_join_free(&period->join);
	for (i = 0; i < period->nr; i++)
		recording_free(&period->recording[i]);
	free(period->recording);
}

static int write_html(const char *file, struct json_object *root, struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	ret = ret ?: report_html(root, new.out) ?: file_replace(file, &new);
	return ret < 0 ? err_errno(err, -ret, "write", "cannot write %s", file) : 0;
}

/* For people: the other candidates as a text. */
static void put_others(struct json_object *root)
{
	static const char *const keys[] = { "tier", "leaf", "spine", "agg", "core" };
	struct json_object *gray = json_object_object_get(root, "gray"), *item, *other, *value;
	size_t i, k, n = json_object_array_length(gray);

	for (i = 0; i < n; i++) {
		char text[3 * (2 * ADDR_STRLEN + 16)] = "";

		item = json_object_array_get_idx(gray, i);
		other = item;
		while (json_object_object_get_ex(other, "other", &other))
			for (k = 0; k < ARRAY_SIZE(keys); k++)
				if (json_object_object_get_ex(other, keys[k], &value))
					snprintf(text + strlen(text), sizeof(text) - strlen(text),
						 "%s%s", k ? " " : text[0] ? ", " : "",
						 json_object_get_string(value));
		if (text[0])
			out_string(item, "or", text);
	}
}

static void tell_notes(const struct out *out, struct json_object *root)
{
	struct json_object *notes = json_object_object_get(root, "notes");
	size_t i, n = json_object_array_length(notes);

	for (i = 0; i < n; i++)
		out_note(out, "%s", json_object_get_string(json_object_array_get_idx(notes, i)));
}

int report_show(const struct cli_args *args, struct err *err)
{
	struct period now = { .err = err }, before = { .err = err };
	struct json_object *root = NULL;
	int ret = 0;

	if (args->value[HTML])
		ret = file_check(args->value[HTML], REPORT_HTML_BEGIN, "page", err);
	ret = ret ?: add_file(args->operand, &now) ?: read_files(&now, args, HOSTS) ?:
	      read_files(&before, args, AGAINST) ?: check_times(&now) ?: join(&now);
	if (!ret && before.nr)
		ret = check_times(&before) ?: check_jobs(&now, &before) ?: join(&before);
	ret = ret ?: report_summary(&root, &now.join, before.nr ? &before.join : NULL);
	if (!ret && args->value[HTML])
		ret = write_html(args->value[HTML], root, err);
	free_period(&now);
	free_period(&before);
	if (ret) {
		json_object_put(root);
		return ret;
	}
	if (!args->out.json)
		put_others(root);
	tell_notes(&args->out, root);
	return out_show(&args->out, root, views);
}
