/* SPDX-License-Identifier: GPL-2.0 */
/* How people see a tree of values: fields, tables and lines. Used by out.c. */
#ifndef ROCESTEER_LIB_TABLE_H
#define ROCESTEER_LIB_TABLE_H

#include <stdio.h>

#include "out.h"

/**
 * table_print() - print one view of a tree
 * @to: where
 * @root: the tree
 * @view: which part, and how
 * @first: false: an empty line goes before it
 *
 * Return: true when something was printed.
 */
bool table_print(FILE *to, struct json_object *root, const struct out_view *view, bool first);

/* Print the values of one object on one line. */
void table_print_line(struct json_object *row, const struct out_column *columns);

/*
 * Copy a text without what controls a terminal, cut to what fits: texts come from files and
 * from other hosts. Return: @copy.
 */
const char *table_printable(const char *text, char *copy, size_t size);

/* Have headings bold, and states such as up and down in colours, or not: the default. */
void table_color(bool on);

/* Bytes of a printable text, and of its colours, that fit into so many columns. */
size_t table_fit(const char *text, int columns);

/* Is it UTF-8 without control characters? */
bool table_is_text(const char *text);

#endif /* ROCESTEER_LIB_TABLE_H */
