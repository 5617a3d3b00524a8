// SPDX-License-Identifier: GPL-2.0
/* The page of a report that comes from standard input, for test_report_html.sh. */
#include <stdio.h>

#include <json-c/json.h>

#include "base/base.h"
#include "report/report.h"

#define MAX_REPORT	16777216
#define MAX_DEPTH	16

int main(void)
{
	struct json_object *root;
	struct err err = {};
	int ret;

	if (json_stdin_read(MAX_REPORT, MAX_DEPTH, &root, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return EXIT_BAD_INPUT;
	}
	ret = report_html(root, stdout);
	json_object_put(root);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
