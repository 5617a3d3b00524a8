/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_LIB_REPORT_HTML_PRIV_H
#define ROCESTEER_LIB_REPORT_HTML_PRIV_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#include "html.h"

/* The style sheet, which a page has between its style tags. */
extern const char html_style[];

/* Values of an object: NULL, "", 0 or false if it has none of this kind. */
struct json_object *html_object(struct json_object *obj, const char *key);
struct json_object *html_array(struct json_object *obj, const char *key);
const char *html_string(struct json_object *obj, const char *key);
double html_number(struct json_object *obj, const char *key);
bool html_has(struct json_object *obj, const char *key);

/* The number of elements of what html_array() returned. */
size_t html_length(struct json_object *array);

/* Are two values the same text? */
bool html_is(struct json_object *obj, const char *key, const char *text);

/* Write a text, escaped for content and for values of attributes in double quotes. */
void html_text(FILE *to, const char *text);

/* Write a number with three digits and a unit: 1.23 GB; 0.0992 %. */
void html_bytes(FILE *to, double bytes);
void html_percent(FILE *to, double part);

/**
 * struct html_column - a column of a table
 * @heading: as HTML
 * @key: value in the row; a column whose key no row has is left out
 * @print: writes the content of a cell
 * @is_number: to the right
 */
struct html_column {
	const char *heading;
	const char *key;
	void (*print)(FILE *to, struct json_object *row, const char *key);
	bool is_number;
};

/* What @print may be */
void html_print_text(FILE *to, struct json_object *row, const char *key);
void html_print_texts(FILE *to, struct json_object *row, const char *key);
void html_print_count(FILE *to, struct json_object *row, const char *key);
void html_print_bytes(FILE *to, struct json_object *row, const char *key);
void html_print_ratio(FILE *to, struct json_object *row, const char *key);
void html_print_percent(FILE *to, struct json_object *row, const char *key);

/**
 * html_table() - write a table
 * @to: where
 * @caption: as HTML
 * @rows: an array; no table is written if it is empty
 * @columns: at most 32, ended by one without heading
 */
void html_table(FILE *to, const char *caption, struct json_object *rows,
		const struct html_column *columns);

/* Around any table: what a narrow window scrolls, and the keyboard reaches. */
void html_table_begin(FILE *to, const char *caption);
void html_table_end(FILE *to);

/* A directed link with words: "10.9.1.1 up to 10.9.0.2". */
void html_link(FILE *to, struct json_object *link);

/* Sections of the page */
void html_heat(FILE *to, struct json_object *root);
void html_groups(FILE *to, struct json_object *root);
void html_links(FILE *to, struct json_object *root);
void html_timeline(FILE *to, struct json_object *root);

#endif /* ROCESTEER_LIB_REPORT_HTML_PRIV_H */
