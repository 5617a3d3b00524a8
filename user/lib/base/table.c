// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define MAX_COLUMNS	24
#define MAX_DEPTH	4
#define MAX_CELL	4096	/* 64 addresses and more */

/* A row is the innermost object and those around it. */
struct row {
	struct json_object *obj[MAX_DEPTH];
	int depth;
};

typedef void row_fn(const struct row *row, void *arg);

struct table {
	const struct out_column *columns;
	int nr_columns;
	int width[MAX_COLUMNS];
	bool number[MAX_COLUMNS];
	bool used[MAX_COLUMNS];
	size_t rows;
};

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

/* Columns that a printable text takes. */
static int columns_of(const char *text)
{
	int len, columns = 0;
	wchar_t c;

	for (; (len = take(text, &c)) > 0; text += len)
		columns += wcwidth(c) > 0 ? wcwidth(c) : 0;
	return columns;
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

static void measure(const struct row *row, void *arg)
{
	struct table *table = arg;
	char text[MAX_CELL];
	int i;

	table->rows++;
	for (i = 0; i < table->nr_columns; i++) {
		struct json_object *value;
		int len;

		value = row_value(row, table->columns[i].key);
		len = columns_of(format_value(value, text));
		if (len > table->width[i])
			table->width[i] = len;
		if (!value)
			continue;
		table->used[i] = true;
		if (json_object_get_type(value) != json_type_int &&
		    json_object_get_type(value) != json_type_double)
			table->number[i] = false;
	}
}

static void print_cell(const struct table *table, int i, const char *text)
{
	bool last = i + 1 == table->nr_columns;
	int pad = table->width[i] - columns_of(text);

	if (table->number[i])
		printf("%*s%s", pad, "", text);
	else
		printf("%s%*s", text, last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", stdout);
}

static void print_row(const struct row *row, void *arg)
{
	const struct table *table = arg;
	char text[MAX_CELL];
	int i;

	for (i = 0; i < table->nr_columns; i++)
		print_cell(table, i,
			   format_value(row_value(row, table->columns[i].key),
					text));
}

/* Leave out the columns that no row has: shift the others together. */
static void drop_unused(struct table *table, struct out_column *columns)
{
	int i, n = 0;

	for (i = 0; i < table->nr_columns; i++) {
		if (!table->used[i])
			continue;
		columns[n] = table->columns[i];
		table->width[n] = table->width[i];
		table->number[n] = table->number[i];
		n++;
	}
	table->columns = columns;
	table->nr_columns = n;
}

static bool print_rows(struct json_object *root, const struct out_view *view,
		       bool first)
{
	struct row row = { .obj[0] = root, .depth = 1 };
	struct out_column columns[MAX_COLUMNS];
	struct table table = { .columns = view->columns };
	int i;

	for (i = 0; i < MAX_COLUMNS && view->columns[i].key; i++) {
		table.width[i] = strlen(view->columns[i].heading);
		table.number[i] = true;
	}
	table.nr_columns = i;
	each_row(&row, view->rows, measure, &table);
	if (!table.rows) {
		if (view->empty)
			printf("%s%s\n", first ? "" : "\n", view->empty);
		return view->empty;
	}
	drop_unused(&table, columns);
	if (!first)
		putchar('\n');
	if (view->title)
		puts(view->title);
	for (i = 0; i < table.nr_columns; i++)
		print_cell(&table, i, table.columns[i].heading);
	each_row(&row, view->rows, print_row, &table);
	return true;
}

static bool print_fields(struct json_object *root, const struct out_view *view,
			 bool first)
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
			putchar('\n');
		if (!printed && view->title)
			puts(view->title);
		printf("%-*s  %s\n", width, column->heading,
		       format_value(value, text));
		printed = true;
	}
	return printed;
}

bool table_print(struct json_object *root, const struct out_view *view,
		 bool first)
{
	if (!view->rows)
		return print_fields(root, view, first);
	return print_rows(root, view, first);
}

void table_print_line(struct json_object *row,
		      const struct out_column *columns)
{
	struct json_object *value;
	char text[MAX_CELL];
	bool first = true;

	for (; columns->key; columns++) {
		if (!json_object_object_get_ex(row, columns->key, &value))
			continue;
		printf("%s%s%s%s", first ? "" : " ", columns->heading,
		       columns->heading[0] ? " " : "",
		       format_value(value, text));
		first = false;
	}
	putchar('\n');
}
