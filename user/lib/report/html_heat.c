// SPDX-License-Identifier: GPL-2.0
/* Heat maps, leaf by spine, of bytes and of loss. */
#include "html_priv.h"

#include <string.h>

#include "base/base.h"

/* Leaves, and spines, of a heat map; the tables have all links. */
#define HEAT_MAX	64

/**
 * struct heat - one map
 * @links: all links
 * @gray: gray links
 * @leaves: rows
 * @spines: columns
 * @direction: of the links, "up" or "down"
 * @mean: of the bytes of the links of this direction
 * @at: the link of each leaf and spine, or NULL
 */
struct heat {
	struct json_object *links;
	struct json_object *gray;
	struct json_object *leaves;
	struct json_object *spines;
	const char *direction;
	double mean;
	struct json_object *at[HEAT_MAX][HEAT_MAX];
};

typedef void cell_fn(FILE *to, const struct heat *heat, struct json_object *link);

static bool is_link(struct json_object *link, const char *direction, const char *leaf,
		    const char *spine)
{
	return html_is(link, "direction", direction) && html_is(link, "leaf", leaf) &&
	       html_is(link, "spine", spine);
}

static const char *gray_word(const struct heat *heat, struct json_object *link)
{
	const char *leaf = html_string(link, "leaf"), *spine = html_string(link, "spine");
	size_t i;

	for (i = 0; i < html_length(heat->gray); i++) {
		struct json_object *gray = json_object_array_get_idx(heat->gray, i);
		struct json_object *other = html_object(gray, "other");

		if (is_link(gray, heat->direction, leaf, spine))
			return other ? "may be gray" : "gray";
		if (other && is_link(other, heat->direction, leaf, spine))
			return "may be gray";
	}
	return NULL;
}

/* As many classes as the style has, from none to twice the mean */
static int load_class(double ratio)
{
	static const double below[] = { 0.25, 0.5, 0.85, 1.15, 1.4, 1.65, 1.9 };
	size_t i;

	if (ratio <= 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(below); i++)
		if (ratio < below[i])
			break;
	return i + 1;
}

static int loss_class(double loss)
{
	return loss <= 0 ? 0 : loss < 0.0001 ? 1 : loss < 0.0005 ? 2 : 3;
}

static void print_load(FILE *to, const struct heat *heat, struct json_object *link)
{
	double bytes = html_number(link, "bytes"), ratio = heat->mean ? bytes / heat->mean : 0;
	const char *gray = gray_word(heat, link);

	fprintf(to, "<td class=\"h%d%s\">", load_class(ratio), gray ? " gray" : "");
	html_bytes(to, bytes);
	fprintf(to, "<small>%.2f ×</small>", ratio);
}

static void print_loss(FILE *to, const struct heat *heat, struct json_object *link)
{
	double loss = html_number(link, "loss");

	fprintf(to, "<td class=\"l%d%s\">", loss_class(loss),
		gray_word(heat, link) ? " gray" : "");
	html_percent(to, loss);
}

/* The name at a place of an array of names */
static const char *name_at(struct json_object *names, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(names, i)) ?: "";
}

/* Rows or columns of a map */
static size_t shown(struct json_object *names)
{
	size_t n = html_length(names);

	return n < HEAT_MAX ? n : HEAT_MAX;
}

static void print_row(FILE *to, const struct heat *heat, size_t leaf, cell_fn *print)
{
	const char *gray;
	size_t i;

	fputs("<tr><th scope=\"row\">leaf ", to);
	html_text(to, name_at(heat->leaves, leaf));
	fputs("</th>", to);
	for (i = 0; i < shown(heat->spines); i++) {
		struct json_object *link = heat->at[leaf][i];

		if (!link) {
			fputs("<td>–</td>", to);
			continue;
		}
		print(to, heat, link);
		gray = gray_word(heat, link);
		if (gray)
			fprintf(to, "<b>%s</b>", gray);
		fputs("</td>", to);
	}
	fputs("</tr>\n", to);
}

static void print_map(FILE *to, const struct heat *heat, const char *caption, cell_fn *print)
{
	size_t i;

	fputs("<div class=\"heat\">\n", to);
	html_table_begin(to, caption);
	fputs("<thead><tr><th scope=\"col\">Leaf</th>", to);
	for (i = 0; i < shown(heat->spines); i++) {
		fputs("<th scope=\"col\">spine<br>", to);
		html_text(to, name_at(heat->spines, i));
		fputs("</th>", to);
	}
	fputs("</tr></thead>\n<tbody>\n", to);
	for (i = 0; i < shown(heat->leaves); i++)
		print_row(to, heat, i, print);
	html_table_end(to);
	fputs("</div>\n", to);
}

/* The place of a name that is shown, or HEAT_MAX */
static size_t find(struct json_object *names, const char *name)
{
	size_t i;

	for (i = 0; i < shown(names); i++)
		if (!strcmp(name_at(names, i), name))
			return i;
	return HEAT_MAX;
}

/* Take the links of a direction. Return: how many there are. */
static size_t take(struct heat *heat, const char *direction)
{
	size_t i, n = 0, leaf, spine;

	heat->direction = direction;
	heat->mean = 0;
	memset(heat->at, 0, sizeof(heat->at));
	for (i = 0; i < html_length(heat->links); i++) {
		struct json_object *link = json_object_array_get_idx(heat->links, i);

		if (!html_is(link, "direction", direction))
			continue;
		heat->mean += html_number(link, "bytes");
		n++;
		leaf = find(heat->leaves, html_string(link, "leaf"));
		spine = find(heat->spines, html_string(link, "spine"));
		if (leaf < HEAT_MAX && spine < HEAT_MAX)
			heat->at[leaf][spine] = link;
	}
	if (n)
		heat->mean /= n;
	return n;
}

static void print_key(FILE *to)
{
	static const char * const ratios[] = {
		"less than 0.25 ×", "0.25 to 0.5", "0.5 to 0.85", "the mean", "1.15 to 1.4",
		"1.4 to 1.65", "1.65 to 1.9", "more than 1.9 ×",
	};
	size_t i;

	fputs("<ul class=\"key\" aria-label=\"Key: bytes of a link, in times the mean of all "
	      "links of the map\">", to);
	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		fprintf(to, "<li class=\"h%zu\">%s</li>", i + 1, ratios[i]);
	fputs("</ul>\n", to);
}

void html_heat(FILE *to, struct json_object *root)
{
	struct heat heat = {
		.links = html_array(root, "links"),
		.gray = html_array(root, "gray"),
		.leaves = html_array(root, "leaves"),
		.spines = html_array(root, "spines"),
	};

	if (!html_length(heat.links))
		return;
	fputs("<h2>Links</h2>\n<p>Bytes that the recorded hosts sent over each link, and what "
	      "that is in times the mean of the map.</p>\n", to);
	if (html_length(heat.leaves) > HEAT_MAX || html_length(heat.spines) > HEAT_MAX)
		fprintf(to, "<p>Only the first %d leaves and spines are shown.</p>\n", HEAT_MAX);
	fputs("<div class=\"maps\">\n", to);
	if (take(&heat, "up"))
		print_map(to, &heat, "Bytes from leaf to spine", print_load);
	if (take(&heat, "down"))
		print_map(to, &heat, "Bytes from spine to leaf", print_load);
	fputs("</div>\n", to);
	print_key(to);
	fputs("<p>Rounds of go-back-N for each packet, of all paths over each link. A link that "
	      "loses packets shows on all paths over it, so the other links of these paths "
	      "have part of it.</p>\n<div class=\"maps\">\n", to);
	if (take(&heat, "up"))
		print_map(to, &heat, "Loss from leaf to spine", print_loss);
	if (take(&heat, "down"))
		print_map(to, &heat, "Loss from spine to leaf", print_loss);
	fputs("</div>\n", to);
}
