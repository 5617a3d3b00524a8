/* SPDX-License-Identifier: GPL-2.0 */
/* A report as one HTML page. */
#ifndef ROCESTEER_LIB_REPORT_HTML_H
#define ROCESTEER_LIB_REPORT_HTML_H

#include <stdio.h>

struct json_object;

#define REPORT_HTML_BEGIN	"<!DOCTYPE html>"	/* with which a page begins */

/**
 * report_html() - write a report as a page
 * @root: what "rocesteer report show --json" prints (rocesteer-report(8))
 * @to: stream for the page
 *
 * The page is page.html with the report in it, which a script of the page draws. The page needs
 * no other file and no network, and a policy in it allows no other script. Names of hosts and
 * jobs come from others: no text ends the report in the page, and the script draws them as text.
 *
 * Return: 0, or a negative errno if @to did not take it.
 */
int report_html(struct json_object *root, FILE *to);

#endif /* ROCESTEER_LIB_REPORT_HTML_H */
