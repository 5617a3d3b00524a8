// SPDX-License-Identifier: GPL-2.0
/* Links that are bad, and links on which flows meet. */
#include "html_priv.h"

static void print_link(FILE *to, struct json_object *row, const char *key)
{
	struct json_object *other = html_object(row, "other");

	(void)key;
	fputs("<div>", to);
	html_link(to, row);
	if (other) {
		fputs("<br>or ", to);
		html_link(to, other);
	}
	fputs("</div>", to);
}

static void print_sure(FILE *to, struct json_object *row, const char *key)
{
	fprintf(to, "1 in 10<sup>%.0f</sup>", html_number(row, key));
}

static void print_rate(FILE *to, struct json_object *row, const char *key)
{
	if (html_number(row, key) > 0)
		html_percent(to, html_number(row, key));
}

static void print_events(FILE *to, struct json_object *row, const char *key)
{
	if (html_number(row, key) > 0)
		html_print_count(to, row, key);
}

static void print_delay(FILE *to, struct json_object *row, const char *key)
{
	if (html_number(row, key) > 0)
		fprintf(to, "%.1f µs", html_number(row, key));
}

static const struct html_column gray_columns[] = {
	{ "Link", "direction", print_link, false },
	{ "Enters", "address", html_print_text, false },
	{ "Cause", "cause", html_print_text, false },
	{ "Rate", "rate", print_rate, true },
	{ "Delay", "delay_us", print_delay, true },
	{ "Events", "events", print_events, true },
	{ "Chance of an error", "sure", print_sure, true },
	{}
};

static void print_flow(FILE *to, struct json_object *flow)
{
	fputs("<li>", to);
	html_print_text(to, flow, "host");
	fputs(": job ", to);
	html_print_count(to, flow, "job");
	if (html_has(flow, "name")) {
		fputs(" (", to);
		html_print_text(to, flow, "name");
		fputs(")", to);
	}
	fputs(", queue pair ", to);
	html_print_count(to, flow, "dqpn");
	fputs(" of ", to);
	html_print_text(to, flow, "peer");
	if (html_has(flow, "bytes")) {
		fputs(", ", to);
		html_print_bytes(to, flow, "bytes");
	}
	fputs("</li>\n", to);
}

/* A row with the link, and one with its flows */
static void print_collision(FILE *to, struct json_object *collision)
{
	struct json_object *flows = html_array(collision, "flows");
	size_t i;

	fputs("<tr class=\"head\"><th scope=\"row\">", to);
	html_link(to, collision);
	fputs("</th><td class=\"n\">", to);
	html_print_count(to, collision, "flows_on");
	fputs("</td><td class=\"n\">", to);
	html_print_count(to, collision, "fair");
	fputs("</td></tr>\n<tr><td colspan=\"3\"><ul>\n", to);
	for (i = 0; i < html_length(flows); i++)
		print_flow(to, json_object_array_get_idx(flows, i));
	fputs("</ul></td></tr>\n", to);
}

static void print_collisions(FILE *to, struct json_object *collisions)
{
	size_t i;

	html_table_begin(to, "Links on which flows meet");
	fputs("<thead><tr><th scope=\"col\">Link and its flows</th>"
	      "<th scope=\"col\" class=\"n\">Flows</th>"
	      "<th scope=\"col\" class=\"n\">If dealt evenly</th></tr></thead>\n<tbody>\n", to);
	for (i = 0; i < html_length(collisions); i++)
		print_collision(to, json_object_array_get_idx(collisions, i));
	html_table_end(to);
}

void html_links(FILE *to, struct json_object *root)
{
	struct json_object *gray = html_array(root, "gray");
	struct json_object *collisions = html_array(root, "collisions");

	if (gray) {
		fputs("<h2>Gray links</h2>\n<p>Links that are up, but lose, mark or delay "
		      "packets. ", to);
		fputs(html_length(gray) ?
		      "Where the paths cannot tell two links apart, both are named.</p>\n" :
		      "No link stands out.</p>\n", to);
		html_table(to, "Gray links", gray, gray_columns);
	}
	if (collisions) {
		fputs("<h2>Collisions</h2>\n<p>Links with more flows than they would have if "
		      "all flows were dealt evenly.", to);
		fputs(html_length(collisions) ? "</p>\n" : " There are none.</p>\n", to);
		if (html_length(collisions))
			print_collisions(to, collisions);
	}
}
