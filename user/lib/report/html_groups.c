// SPDX-License-Identifier: GPL-2.0
/* Groups, with bars of what their paths carry. */
#include "html_priv.h"

/* What the longest bar of a group stands for, and the mean of its paths */
struct scale {
	double most;
	double now;
	double before;
};

static struct scale scale_of(struct json_object *paths)
{
	size_t n = html_length(paths), i;
	struct scale scale = {};

	for (i = 0; i < n; i++) {
		struct json_object *path = json_object_array_get_idx(paths, i);
		double now = html_number(path, "bytes"), before = html_number(path, "before_bytes");

		scale.now += now / n;
		scale.before += before / n;
		scale.most = now > scale.most ? now : scale.most;
		scale.most = before > scale.most ? before : scale.most;
	}
	return scale;
}

static void print_bar(FILE *to, const char *class, double bytes, double mean, double most)
{
	fputs("<td class=\"bars n\">", to);
	html_bytes(to, bytes);
	if (most > 0)
		fprintf(to, "<span class=\"track\"><span class=\"fill %s\" style=\"width:%.1f%%\">"
			"</span><span class=\"mean\" style=\"left:%.1f%%\"></span></span>",
			class, 100 * bytes / most, 100 * mean / most);
	fputs("</td>", to);
}

static void print_number(FILE *to, struct json_object *path, const char *key,
			 const char *format)
{
	fputs("<td class=\"n\">", to);
	if (html_has(path, key))
		fprintf(to, format, html_number(path, key));
	fputs("</td>", to);
}

static void print_path(FILE *to, struct json_object *path, const struct scale *scale,
		       bool before)
{
	fputs("<tr><th scope=\"row\">", to);
	html_text(to, json_object_get_string(json_object_object_get(path, "path")) ?: "unknown");
	if (html_has(path, "up") && !json_object_get_boolean(json_object_object_get(path, "up")))
		fputs(", down", to);
	fputs("</th><td>", to);
	html_text(to, html_string(path, "router"));
	fputs("</td>", to);
	print_number(to, path, "flows", "%.0f");
	if (before)
		print_bar(to, "before", html_number(path, "before_bytes"), scale->before,
			  scale->most);
	print_bar(to, "now", html_number(path, "bytes"), scale->now, scale->most);
	print_number(to, path, "packets", "%.0f");
	print_number(to, path, "rounds", "%.0f");
	print_number(to, path, "cnps", "%.0f");
	print_number(to, path, "delay_us", "%.1f");
	fputs("</tr>\n", to);
}

static void print_paths(FILE *to, struct json_object *group)
{
	struct json_object *paths = html_array(group, "paths");
	struct scale scale = scale_of(paths);
	bool before = html_object(group, "before");
	size_t i;

	if (!html_length(paths))
		return;
	html_table_begin(to, "Bytes of each path; the line is the mean of the paths");
	fprintf(to, "<thead><tr><th scope=\"col\">Path</th><th scope=\"col\">Router</th>"
		"<th scope=\"col\" class=\"n\">Flows</th>%s<th scope=\"col\" class=\"n\">%s</th>"
		"<th scope=\"col\" class=\"n\">Packets</th>"
		"<th scope=\"col\" class=\"n\">Rounds</th><th scope=\"col\" class=\"n\">CNPs</th>"
		"<th scope=\"col\" class=\"n\">Delay, µs</th></tr></thead>\n<tbody>\n",
		before ? "<th scope=\"col\" class=\"n\">Bytes before</th>" : "",
		before ? "Bytes now" : "Bytes");
	for (i = 0; i < html_length(paths); i++)
		print_path(to, json_object_array_get_idx(paths, i), &scale, before);
	html_table_end(to);
}

static void print_group(FILE *to, struct json_object *group)
{
	struct json_object *before = html_object(group, "before");

	fputs("<h3>Job ", to);
	html_print_count(to, group, "job");
	if (html_has(group, "name")) {
		fputs(" (", to);
		html_print_text(to, group, "name");
		fputs(")", to);
	}
	fputs(": ", to);
	html_print_text(to, group, "host");
	fputs(", ", to);
	html_print_text(to, group, "device");
	fputs(" to leaf ", to);
	html_print_text(to, group, "leaf");
	fputs("</h3>\n<p>", to);
	if (html_has(group, "mode")) {
		html_print_text(to, group, "mode");
		fputs("; ", to);
	}
	fputs("the fullest path has ", to);
	html_print_ratio(to, group, "imbalance");
	fputs(" × the mean", to);
	if (html_has(before, "imbalance")) {
		fputs(", before ", to);
		html_print_ratio(to, before, "imbalance");
		fputs(" ×", to);
	}
	if (html_has(group, "whole")) {
		fputs("; whole flows, dealt evenly, reach ", to);
		html_print_ratio(to, group, "whole");
		fputs(" ×", to);
	}
	fputs("</p>\n", to);
	print_paths(to, group);
}

static const struct html_column uplink_columns[] = {
	{ "Leaf", "leaf", html_print_text, false },
	{ "Flows", "flows", html_print_count, true },
	{ "Bytes", "bytes", html_print_bytes, true },
	{ "Fullest, × the mean", "imbalance", html_print_ratio, true },
	{ "Before", "before_imbalance", html_print_ratio, true },
	{ "Flow imbalance, %", "flow_imbalance", html_print_ratio, true },
	{ "Dealt evenly", "whole", html_print_ratio, true },
	{}
};

void html_groups(FILE *to, struct json_object *root)
{
	struct json_object *groups = html_array(root, "groups");
	size_t i;

	if (html_length(html_array(root, "uplinks"))) {
		fputs("<h2>Uplinks of the leaves</h2>\n", to);
		html_table(to, "How even the uplinks of each leaf are, over all recorded hosts",
			   html_array(root, "uplinks"), uplink_columns);
	}
	if (!html_length(groups))
		return;
	fputs("<h2>Groups, the worst first</h2>\n<p>The flows of a job from one device to one "
	      "leaf are a group, which is balanced by itself.</p>\n", to);
	for (i = 0; i < html_length(groups); i++)
		print_group(to, json_object_array_get_idx(groups, i));
}
