// SPDX-License-Identifier: GPL-2.0
/* Paths that went down and came up again, and what else moved flows, as a picture. */
#include "html_priv.h"

#include <math.h>
#include <string.h>

#define MAX_LANES	64	/* of the picture; the table has all events */
#define WIDTH		800.0
#define MARGIN		12.0
#define TOP		14.0
#define LANE		44.0
#define TICKS		8

/**
 * struct lanes - a path with events is a lane
 * @first: the first event of each lane
 * @nr: how many
 * @events: all events, in the order of time
 * @seconds: length of the recording
 */
struct lanes {
	struct json_object *first[MAX_LANES];
	size_t nr;
	struct json_object *events;
	double seconds;
};

static bool same(struct json_object *a, struct json_object *b, const char *key)
{
	return !strcmp(html_string(a, key), html_string(b, key));
}

static bool is_lane(struct json_object *a, struct json_object *b)
{
	return same(a, b, "host") && same(a, b, "device") && same(a, b, "leaf") &&
	       html_number(a, "path") == html_number(b, "path");
}

static void make_lanes(struct lanes *lanes, struct json_object *root)
{
	size_t i, j;

	lanes->events = html_array(root, "timeline");
	lanes->seconds = html_number(html_object(root, "period"), "seconds");
	for (i = 0; i < html_length(lanes->events); i++) {
		struct json_object *event = json_object_array_get_idx(lanes->events, i);
		double at = html_number(event, "seconds");

		if (at > lanes->seconds)
			lanes->seconds = at;
		for (j = 0; j < lanes->nr; j++)
			if (is_lane(lanes->first[j], event))
				break;
		if (j == lanes->nr && j < MAX_LANES)
			lanes->first[lanes->nr++] = event;
	}
	if (lanes->seconds <= 0)
		lanes->seconds = 1;
}

static double place(const struct lanes *lanes, double seconds)
{
	double part = fmin(fmax(seconds / lanes->seconds, 0), 1);

	return MARGIN + part * (WIDTH - 2 * MARGIN);
}

/* A scale of time, with its grid */
static void print_axis(FILE *to, const struct lanes *lanes, double bottom)
{
	double step = pow(10, floor(log10(lanes->seconds / TICKS))), at;
	static const int steps[] = { 1, 2, 5, 10 };
	size_t i = 0;

	while (i < 3 && lanes->seconds > TICKS * steps[i] * step)
		i++;
	step *= steps[i];
	for (i = 0; i * step <= lanes->seconds; i++) {
		at = place(lanes, i * step);
		fprintf(to, "<path class=\"grid\" d=\"M%.1f %.0fV%.0f\"/>"
			"<text class=\"m\" x=\"%.1f\" y=\"%.0f\">%g</text>\n",
			at, TOP, bottom, at, bottom + 16, i * step);
	}
	fprintf(to, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">seconds from the beginning</text>\n",
		WIDTH / 2, bottom + 34);
}

static void print_words(FILE *to, struct json_object *event)
{
	html_text(to, html_string(event, "host"));
	fputs(", ", to);
	html_text(to, html_string(event, "device"));
	fputs(" to leaf ", to);
	html_text(to, html_string(event, "leaf"));
	fprintf(to, ", path %.0f", html_number(event, "path"));
}

/* Each kind of event has a shape of its own. What is no path's state is below the lane. */
static void print_mark(FILE *to, struct json_object *event, double x, double y)
{
	if (html_is(event, "event", "path-down"))
		fprintf(to, "<path class=\"sd\" d=\"M%.1f %.1fl-8 -14h16z\">", x, y + 7);
	else if (html_is(event, "event", "path-up"))
		fprintf(to, "<path class=\"su\" d=\"M%.1f %.1fl-8 14h16z\">", x, y - 7);
	else if (html_is(event, "event", "detour"))
		fprintf(to, "<path class=\"so\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\">", x, y + 6);
	else
		fprintf(to, "<circle class=\"so\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\">", x, y + 12);
	fputs("<title>", to);
	html_text(to, html_string(event, "event"));
	fprintf(to, " at %.2f s: ", html_number(event, "seconds"));
	print_words(to, event);
	fputs("</title>", to);
	fputs(html_is(event, "event", "path-down") || html_is(event, "event", "path-up") ||
	      html_is(event, "event", "detour") ? "</path>\n" : "</circle>\n", to);
}

static void print_down(FILE *to, double from, double until, double y)
{
	fprintf(to, "<path class=\"down\" d=\"M%.1f %.1fH%.1f\"/>\n", from, y, until);
}

static void print_lane(FILE *to, const struct lanes *lanes, struct json_object *lane, double y)
{
	double down = -1;
	size_t i;

	fprintf(to, "<text x=\"%.0f\" y=\"%.1f\">", MARGIN, y - 14);
	print_words(to, lane);
	fprintf(to, "</text>\n<path class=\"lane\" d=\"M%.0f %.1fH%.0f\"/>\n", MARGIN, y,
		WIDTH - MARGIN);
	for (i = 0; i < html_length(lanes->events); i++) {
		struct json_object *event = json_object_array_get_idx(lanes->events, i);
		double x = place(lanes, html_number(event, "seconds"));

		if (!is_lane(lane, event))
			continue;
		if (html_is(event, "event", "path-down") && down < 0)
			down = x;
		if (html_is(event, "event", "path-up") && down >= 0) {
			print_down(to, down, x, y);
			down = -1;
		}
	}
	if (down >= 0)
		print_down(to, down, WIDTH - MARGIN, y);
	for (i = 0; i < html_length(lanes->events); i++) {
		struct json_object *event = json_object_array_get_idx(lanes->events, i);

		if (is_lane(lane, event))
			print_mark(to, event, place(lanes, html_number(event, "seconds")), y);
	}
}

static void print_picture(FILE *to, const struct lanes *lanes)
{
	double bottom = TOP + lanes->nr * LANE + 6;
	size_t i;

	fprintf(to,
		"<div class=\"scroll\" role=\"region\" aria-label=\"Timeline\" tabindex=\"0\">\n"
		"<svg role=\"img\" aria-labelledby=\"timeline\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<title id=\"timeline\">Paths that were down, and what moved flows, over time; "
		"the table below has the same</title>\n", WIDTH, bottom + 44);
	print_axis(to, lanes, bottom);
	for (i = 0; i < lanes->nr; i++)
		print_lane(to, lanes, lanes->first[i], TOP + i * LANE + 30);
	fputs("</svg>\n</div>\n<p class=\"q\">Triangle down: path-down; red bar: the path is "
	      "down; triangle up: path-up; diamond: detour; circle: other events.</p>\n", to);
}

static void print_seconds(FILE *to, struct json_object *row, const char *key)
{
	fprintf(to, "%.2f", html_number(row, key));
}

static const struct html_column columns[] = {
	{ "Seconds", "seconds", print_seconds, true },
	{ "Time", "time", html_print_text, false },
	{ "Event", "event", html_print_text, false },
	{ "Host", "host", html_print_text, false },
	{ "Device", "device", html_print_text, false },
	{ "Leaf", "leaf", html_print_text, false },
	{ "Path", "path", html_print_count, true },
	{}
};

void html_timeline(FILE *to, struct json_object *root)
{
	struct lanes lanes = {};

	make_lanes(&lanes, root);
	if (!lanes.events)
		return;
	fputs("<h2>Timeline</h2>\n", to);
	if (!lanes.nr) {
		fputs("<p>No path went down or up.</p>\n", to);
		return;
	}
	print_picture(to, &lanes);
	html_table(to, "Events", lanes.events, columns);
}
