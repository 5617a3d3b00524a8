// SPDX-License-Identifier: GPL-2.0
/* rocesteer report show: what recordings mean. */
#include <errno.h>
#include <stdio.h>
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

static int read_files(struct report_period *period, const struct cli_args *args, int option)
{
	const char *list = args->value[option];

	return list ? cli_each(args->options[option].name, list, report_period_add, period,
			       period->err) : 0;
}

static bool has_job(const struct report_period *period, __u32 job)
{
	size_t r, i;

	for (r = 0; r < period->nr; r++)
		for (i = 0; i < period->recording[r].nr_groups; i++)
			if (period->recording[r].group[i].job == job)
				return true;
	return false;
}

/* Two recordings can be compared only if they have a job in common. */
static int check_jobs(const struct report_period *now, const struct report_period *before)
{
	size_t r, i;

	for (r = 0; r < now->nr; r++)
		for (i = 0; i < now->recording[r].nr_groups; i++)
			if (has_job(before, now->recording[r].group[i].job))
				return 0;
	return err_set(now->err, EXIT_BAD_INPUT, "periods",
		       "--against: the earlier period has none of these jobs");
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
	struct report_period now = { .err = err }, before = { .err = err };
	struct json_object *root = NULL;
	int ret = 0;

	if (args->value[HTML])
		ret = file_check(args->value[HTML], REPORT_HTML_BEGIN, "page", err);
	ret = ret ?: report_period_add(args->operand, &now) ?: read_files(&now, args, HOSTS) ?:
	      read_files(&before, args, AGAINST) ?: report_period_join(&now);
	if (!ret && before.nr)
		ret = check_jobs(&now, &before) ?: report_period_join(&before);
	ret = ret ?: report_summary(&root, &now.join, before.nr ? &before.join : NULL);
	if (!ret && args->value[HTML])
		ret = write_html(args->value[HTML], root, err);
	report_period_free(&now);
	report_period_free(&before);
	if (ret) {
		json_object_put(root);
		return ret;
	}
	if (!args->out.json)
		put_others(root);
	tell_notes(&args->out, root);
	return out_show(&args->out, root, views);
}
