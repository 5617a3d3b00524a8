// SPDX-License-Identifier: GPL-2.0
#include "html_priv.h"

#include <errno.h>
#include <string.h>

/* A number of bytes, or another number */
static void print_value(FILE *to, struct json_object *row, const char *key)
{
	double value = html_number(row, key);

	if (html_is(row, "measure", "bytes")) {
		html_bytes(to, value);
	} else if (html_is(row, "measure", "bytes_per_second")) {
		html_bytes(to, value);
		fputs("/s", to);
	} else {
		fprintf(to, strstr(html_string(row, "measure"), "imbalance") ? "%.2f" : "%.0f",
			value);
	}
}

/* The name of a field, in words */
static void print_measure(FILE *to, struct json_object *row, const char *key)
{
	char words[64], *at;

	snprintf(words, sizeof(words), "%s", html_string(row, key));
	for (at = words; *at; at++)
		if (*at == '_')
			*at = ' ';
	html_text(to, words);
}

static const struct html_column comparison_columns[] = {
	{ "Measure", "measure", print_measure, false },
	{ "Before", "before", print_value, true },
	{ "Now", "now", print_value, true },
	{ "Difference", "difference", print_value, true },
	{}
};

static const struct html_column host_columns[] = {
	{ "Host", "host", html_print_text, false },
	{ "Leaf", "leaf", html_print_text, false },
	{ "Devices", "devices", html_print_texts, false },
	{ "rocesteer", "version", html_print_text, false },
	{ "Kernel", "kernel", html_print_text, false },
	{}
};

static const struct html_column job_columns[] = {
	{ "Job", "job", html_print_count, true },
	{ "Name", "name", html_print_text, false },
	{ "Mode", "mode", html_print_text, false },
	{}
};

static void print_period(FILE *to, const char *what, struct json_object *period)
{
	if (!period)
		return;
	fprintf(to, "<p>%s: ", what);
	html_print_text(to, period, "begin");
	fputs(" to ", to);
	html_print_text(to, period, "end");
	fprintf(to, ", %.1f s</p>\n", html_number(period, "seconds"));
}

static void print_notes(FILE *to, struct json_object *notes)
{
	size_t i;

	if (!html_length(notes))
		return;
	fputs("<h2>Notes</h2>\n<ul>\n", to);
	for (i = 0; i < html_length(notes); i++) {
		fputs("<li>", to);
		html_text(to, json_object_get_string(json_object_array_get_idx(notes, i)) ?: "");
		fputs("</li>\n", to);
	}
	fputs("</ul>\n", to);
}

static void print_head(FILE *to, struct json_object *root)
{
	fputs(REPORT_HTML_BEGIN "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<title>rocesteer report, ", to);
	html_text(to, html_string(html_object(root, "period"), "begin"));
	fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n"
		"<h1>What the paths carried</h1>\n", html_style);
	print_period(to, "Recorded", html_object(root, "period"));
	print_period(to, "Compared with", html_object(root, "before"));
}

static void print_hosts(FILE *to, struct json_object *hosts)
{
	size_t i;

	if (!html_length(hosts))
		return;
	fputs("<h2>Hosts</h2>\n", to);
	html_table(to, "Recorded hosts", hosts, host_columns);
	for (i = 0; i < html_length(hosts); i++) {
		struct json_object *host = json_object_array_get_idx(hosts, i);

		if (!html_length(html_array(host, "jobs")))
			continue;
		fputs("<h3>Jobs of ", to);
		html_print_text(to, host, "host");
		fputs("</h3>\n", to);
		html_table(to, "Jobs", html_array(host, "jobs"), job_columns);
	}
}

int report_html(struct json_object *root, FILE *to)
{
	print_head(to, root);
	if (html_length(html_array(root, "comparison"))) {
		fputs("<h2>Before and now</h2>\n", to);
		html_table(to, "Both periods, over all recorded hosts",
			   html_array(root, "comparison"), comparison_columns);
	}
	html_links(to, root);
	html_heat(to, root);
	html_groups(to, root);
	html_timeline(to, root);
	print_notes(to, html_array(root, "notes"));
	print_hosts(to, html_array(root, "hosts"));
	fputs("</main>\n</body>\n</html>\n", to);
	errno = 0;
	return fflush(to) || ferror(to) ? -(errno ?: EIO) : 0;
}
