/* SPDX-License-Identifier: GPL-2.0 */
/* A report as one HTML page. */
#ifndef ROCESTEER_LIB_REPORT_HTML_H
#define ROCESTEER_LIB_REPORT_HTML_H

#include <stdio.h>

struct json_object;

#define REPORT_HTML_BEGIN	"<!DOCTYPE html>"	/* with which a page begins */

/**
 * report_html() - write a report as a page
 * @root: what "rocesteer report show --json" prints (rocesteer-report(8)). What is absent, or
 *	of another type, is left out
 * @to: where
 *
 * The page needs no other file, no network and no script, and a policy in it forbids them.
 * Names of hosts and jobs come from others: all text is escaped, and control characters become
 * question marks. Colours follow what the reader prefers, light or dark, and everything that a
 * colour or a picture says is there as text.
 *
 * Return: 0, or a negative errno if @to did not take it.
 */
int report_html(struct json_object *root, FILE *to);

#endif /* ROCESTEER_LIB_REPORT_HTML_H */
