// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include <libsmartcols.h>

#define LIST_LINE	48	/* characters, and up to the next comma */
#define MAX_DEPTH	4
#define MAX_CELL	4096	/* 64 addresses and more */

/* A row: the innermost object and the objects around it. */
struct row {
	struct json_object *obj[MAX_DEPTH];
	int depth;
};

#define BOLD		"\033[1m"
#define RED		"\033[31m"
#define GREEN		"\033[32m"
#define YELLOW		"\033[33m"
#define PLAIN		"\033[0m"

typedef void row_fn(const struct row *row, void *arg);

/* @used and @text: columns that a row has, and that have more than numbers. */
struct table {
	const struct out_column *columns;
	struct libscols_table *scols;
	__u32 used;
	__u32 text;
};

static bool colored;

void table_color(bool on)
{
	colored = on;
}

/* The colour of a value, or NULL. */
static const char *color_of(const char *text)
{
	static const struct {
		const char *word;
		const char *color;
	} colors[] = {
		{ "up", GREEN },
		{ "down", RED },
		{ "error", RED },
		{ "unserved", RED },
		{ "note", YELLOW },
		{ "suspected", YELLOW },
		{ "no-port", YELLOW },
	};
	size_t i;

	for (i = 0; colored && i < ARRAY_SIZE(colors); i++)
		if (!strcmp(text, colors[i].word))
			return colors[i].color;
	return NULL;
}

static void put(FILE *to, const char *color, int width, const char *text)
{
	fprintf(to, "%s%-*s%s", color ?: "", width, text, color ? PLAIN : "");
}

static void put_heading(FILE *to, int width, const char *text)
{
	put(to, colored ? BOLD : NULL, width, text);
}

static void put_title(FILE *to, const char *text)
{
	put_heading(to, 0, text);
	putc('\n', to);
}

/* Bytes of a colour at the beginning of a text. */
static size_t color_length(const char *text)
{
	return *text == '\033' ? strcspn(text, "m") + 1 : 0;
}

/*
 * Take one character. Return: its bytes, 0 at the end, or -1: it is none, or one that
 * a terminal acts on.
 */
static int take(const char *text, wchar_t *c)
{
	static bool utf8;
	mbstate_t state = {};
	size_t len;

	if (!utf8) {
		setlocale(LC_CTYPE, "C.UTF-8");
		utf8 = true;
	}
	len = mbrtowc(c, text, strlen(text) + 1, &state);
	return len > MB_LEN_MAX || (len && !iswprint(*c)) ? -1 : (int)len;
}

bool table_is_text(const char *text)
{
	wchar_t c;
	int len;

	while ((len = take(text, &c)) > 0)
		text += len;
	return !len;
}

const char *table_printable(const char *text, char *copy, size_t size)
{
	size_t at = 0;
	wchar_t c;
	int len;

	while (at + MB_LEN_MAX < size && (len = take(text, &c))) {
		if (len < 0)
			copy[at++] = '?';
		else
			at += sprintf(copy + at, "%.*s", len, text);
		text += len < 0 ? 1 : len;
	}
	copy[at] = '\0';
	return copy;
}

size_t table_fit(const char *text, int columns)
{
	size_t at = 0;
	wchar_t c;
	int len;

	for (; (at += color_length(text + at), len = take(text + at, &c)) > 0; at += len) {
		columns -= wcwidth(c) > 0 ? wcwidth(c) : 0;
		if (columns < 0)
			break;
	}
	return at;
}

static void no_memory(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(EXIT_FAILED);
}

static struct json_object *row_value(const struct row *row, const char *key)
{
	struct json_object *value;
	int i;

	for (i = row->depth; i--;)
		if (json_object_object_get_ex(row->obj[i], key, &value))
			return value;
	return NULL;
}

static const char *format_array(struct json_object *array, char *text)
{
	size_t i, n = json_object_array_length(array), len = 0;

	text[0] = '\0';
	for (i = 0; i < n; i++) {
		const char *value;

		value = json_object_get_string(json_object_array_get_idx(array, i)) ?: "-";
		if (len + strlen(value) + 8 > MAX_CELL) {
			memcpy(text + len, ",...", 5);
			break;
		}
		len += sprintf(text + len, "%s%s", i ? "," : "", value);
	}
	return text;
}

static const char *format_raw(struct json_object *value, char *text)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		return "-";
	case json_type_boolean:
		return json_object_get_boolean(value) ? "yes" : "no";
	case json_type_array:
		return format_array(value, text);
	default:
		return json_object_get_string(value);
	}
}

static const char *format_value(struct json_object *value, char *text)
{
	char raw[MAX_CELL];

	return table_printable(format_raw(value, raw), text, MAX_CELL);
}

static void each_row(struct row *row, const char *keys, row_fn *fn, void *arg)
{
	struct json_object *array;
	char key[32];
	size_t i, n, len;

	if (!*keys) {
		fn(row, arg);
		return;
	}
	len = strcspn(keys, ".");
	snprintf(key, sizeof(key), "%.*s", (int)len, keys);
	keys += len + (keys[len] == '.');
	if (row->depth == MAX_DEPTH ||
	    !json_object_object_get_ex(row->obj[row->depth - 1], key, &array))
		return;
	n = json_object_array_length(array);
	for (i = 0; i < n; i++) {
		row->obj[row->depth++] = json_object_array_get_idx(array, i);
		each_row(row, keys, fn, arg);
		row->depth--;
	}
}

/* Long lists get several lines where a person reads: a row is one line for programs. */
static const char *format_cell(struct json_object *value, char text[MAX_CELL])
{
	char *at = text, *comma;

	format_value(value, text);
	if (!json_object_is_type(value, json_type_array) || !isatty(STDOUT_FILENO))
		return text;
	while (strlen(at) > LIST_LINE && (comma = strchr(at + LIST_LINE, ',')) &&
	       strlen(text) + 1 < MAX_CELL) {
		at = comma + 1;
		memmove(at + 1, at, strlen(at) + 1);
		*at = '\n';
	}
	return text;
}

static bool is_number(struct json_object *value)
{
	return json_object_is_type(value, json_type_int) ||
	       json_object_is_type(value, json_type_double);
}

static void add_row(const struct row *row, void *arg)
{
	struct table *table = arg;
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	char text[MAX_CELL];
	int i;

	if (!line)
		no_memory();
	for (i = 0; table->columns[i].key; i++) {
		struct json_object *value = row_value(row, table->columns[i].key);

		if (scols_line_set_data(line, i, format_cell(value, text)) ||
		    scols_cell_set_color(scols_line_get_cell(line, i), color_of(text)))
			no_memory();
		table->used |= !!value << i;
		table->text |= (value && !is_number(value)) << i;
	}
}

/* Columns that no row has are left out. */
static void print_table(struct table *table)
{
	struct libscols_column *column;
	int i, flags;

	for (i = 0; table->columns[i].key; i++) {
		flags = table->text >> i & 1 ? SCOLS_FL_WRAP : SCOLS_FL_RIGHT;
		column = scols_table_get_column(table->scols, i);
		scols_column_set_flags(column, table->used >> i & 1 ? flags : SCOLS_FL_HIDDEN);
		scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
					  scols_wrapnl_nextchunk, NULL);
	}
	scols_print_table(table->scols);
}

static struct libscols_table *new_table(FILE *to, const struct out_column *columns)
{
	struct libscols_table *scols = scols_new_table();
	struct libscols_column *column;
	int ret = scols ? 0 : -1;

	for (; !ret && columns->key; columns++) {
		column = scols_table_new_column(scols, columns->heading, 0, 0);
		ret = column ? scols_cell_set_color(scols_column_get_header(column),
						    colored ? BOLD : NULL) : -1;
	}
	if (ret || scols_table_set_stream(scols, to) ||
	    scols_table_set_column_separator(scols, "  "))
		no_memory();
	scols_table_enable_noencoding(scols, 1);	/* it is printable */
	scols_table_set_termforce(scols, SCOLS_TERMFORCE_NEVER);
	scols_table_enable_colors(scols, colored);
	return scols;
}

static bool print_rows(FILE *to, struct json_object *root, const struct out_view *view, bool first)
{
	struct row row = { .obj[0] = root, .depth = 1 };
	struct table table = {
		.columns = view->columns,
		.scols = new_table(to, view->columns),
	};
	bool rows;

	each_row(&row, view->rows, add_row, &table);
	rows = scols_table_get_nlines(table.scols);
	if (!first && (rows || view->empty))
		putc('\n', to);
	if (rows && view->title)
		put_title(to, view->title);
	if (rows)
		print_table(&table);
	else if (view->empty)
		fprintf(to, "%s\n", view->empty);
	scols_unref_table(table.scols);
	return rows || view->empty;
}

static bool print_fields(FILE *to, struct json_object *root,
			 const struct out_view *view, bool first)
{
	const struct out_column *column;
	struct json_object *value;
	char text[MAX_CELL];
	bool printed = false;
	int width = 0;

	if (view->in && !json_object_object_get_ex(root, view->in, &root))
		return false;
	for (column = view->columns; column->key; column++)
		if ((int)strlen(column->heading) > width)
			width = strlen(column->heading);
	for (column = view->columns; column->key; column++) {
		if (!json_object_object_get_ex(root, column->key, &value))
			continue;
		if (!printed && !first)
			putc('\n', to);
		if (!printed && view->title)
			put_title(to, view->title);
		put_heading(to, width, column->heading);
		fputs("  ", to);
		put(to, color_of(format_value(value, text)), 0, text);
		putc('\n', to);
		printed = true;
	}
	return printed;
}

bool table_print(FILE *to, struct json_object *root, const struct out_view *view, bool first)
{
	if (!view->rows)
		return print_fields(to, root, view, first);
	return print_rows(to, root, view, first);
}

void table_print_line(struct json_object *row, const struct out_column *columns)
{
	struct json_object *value;
	char text[MAX_CELL];
	bool first = true;

	for (; columns->key; columns++) {
		if (!json_object_object_get_ex(row, columns->key, &value))
			continue;
		printf("%s%s%s", first ? "" : " ", columns->heading,
		       columns->heading[0] ? " " : "");
		put(stdout, color_of(format_value(value, text)), 0, text);
		first = false;
	}
	putchar('\n');
}
