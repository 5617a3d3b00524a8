// SPDX-License-Identifier: GPL-2.0
#include "html_priv.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define MAX_TEXT	512	/* bytes of a text from outside */

struct json_object *html_object(struct json_object *obj, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, key, &value) &&
	       json_object_is_type(value, json_type_object) ? value : NULL;
}

struct json_object *html_array(struct json_object *obj, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, key, &value) &&
	       json_object_is_type(value, json_type_array) ? value : NULL;
}

size_t html_length(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

const char *html_string(struct json_object *obj, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, key, &value) &&
	       json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

double html_number(struct json_object *obj, const char *key)
{
	struct json_object *value;
	double number;

	if (!json_object_object_get_ex(obj, key, &value))
		return 0;
	number = json_object_get_double(value);
	return isfinite(number) ? number : 0;
}

bool html_has(struct json_object *obj, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, key, &value) && value;
}

bool html_is(struct json_object *obj, const char *key, const char *text)
{
	return !strcmp(html_string(obj, key), text);
}

void html_text(FILE *to, const char *text)
{
	char copy[MAX_TEXT];

	for (text = table_printable(text, copy, sizeof(copy)); *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			fputc(*text, to);
		}
	}
}

/* Three digits */
static void digits(FILE *to, double value)
{
	double size = fabs(value);

	fprintf(to, "%.*f", size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, value);
}

void html_bytes(FILE *to, double bytes)
{
	static const char * const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	size_t unit = 0;

	for (; fabs(bytes) >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		bytes /= 1000;
	if (unit)
		digits(to, bytes);
	else
		fprintf(to, "%.0f", bytes);
	fprintf(to, " %s", units[unit]);
}

void html_percent(FILE *to, double part)
{
	fprintf(to, "%.3g %%", part * 100);
}

void html_print_text(FILE *to, struct json_object *row, const char *key)
{
	html_text(to, html_string(row, key));
}

/* An array of texts or numbers */
void html_print_texts(FILE *to, struct json_object *row, const char *key)
{
	struct json_object *texts = html_array(row, key);
	size_t i;

	for (i = 0; i < html_length(texts); i++) {
		if (i)
			fputs(", ", to);
		html_text(to, json_object_get_string(json_object_array_get_idx(texts, i)) ?: "");
	}
}

void html_print_count(FILE *to, struct json_object *row, const char *key)
{
	fprintf(to, "%.0f", html_number(row, key));
}

void html_print_bytes(FILE *to, struct json_object *row, const char *key)
{
	html_bytes(to, html_number(row, key));
}

void html_print_ratio(FILE *to, struct json_object *row, const char *key)
{
	fprintf(to, "%.2f", html_number(row, key));
}

void html_print_percent(FILE *to, struct json_object *row, const char *key)
{
	html_percent(to, html_number(row, key));
}

void html_link(FILE *to, struct json_object *link)
{
	bool up = html_is(link, "direction", "up");

	fputs(up ? "leaf " : "spine ", to);
	html_text(to, html_string(link, up ? "leaf" : "spine"));
	fputs(up ? " to spine " : " to leaf ", to);
	html_text(to, html_string(link, up ? "spine" : "leaf"));
}

void html_table_begin(FILE *to, const char *caption)
{
	fprintf(to, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n"
		"<table>\n<caption>%s</caption>\n", caption, caption);
}

void html_table_end(FILE *to)
{
	fputs("</tbody>\n</table>\n</div>\n", to);
}

/* Which columns have a value in any row? Bits by their numbers. */
static __u32 find_used(struct json_object *rows, const struct html_column *columns)
{
	__u32 used = 0;
	size_t i, c;

	for (i = 0; i < html_length(rows); i++)
		for (c = 0; columns[c].heading; c++)
			if (html_has(json_object_array_get_idx(rows, i), columns[c].key))
				used |= 1u << c;
	return used;
}

static void table_row(FILE *to, struct json_object *row, const struct html_column *columns,
		      __u32 used)
{
	size_t c;

	fputs("<tr>", to);
	for (c = 0; columns[c].heading; c++) {
		if (!(used & 1u << c))
			continue;
		fputs(columns[c].is_number ? "<td class=\"n\">" : "<td>", to);
		if (html_has(row, columns[c].key))
			columns[c].print(to, row, columns[c].key);
		fputs("</td>", to);
	}
	fputs("</tr>\n", to);
}

void html_table(FILE *to, const char *caption, struct json_object *rows,
		const struct html_column *columns)
{
	__u32 used = find_used(rows, columns);
	size_t i;

	if (!html_length(rows))
		return;
	html_table_begin(to, caption);
	fputs("<thead><tr>", to);
	for (i = 0; columns[i].heading; i++)
		if (used & 1u << i)
			fprintf(to, "<th scope=\"col\"%s>%s</th>",
				columns[i].is_number ? " class=\"n\"" : "", columns[i].heading);
	fputs("</tr></thead>\n<tbody>\n", to);
	for (i = 0; i < html_length(rows); i++)
		table_row(to, json_object_array_get_idx(rows, i), columns, used);
	html_table_end(to);
}
