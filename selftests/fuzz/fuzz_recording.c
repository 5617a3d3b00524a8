// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings: one that is read, written and read again is the same, and a report of it is made,
 * alone and against itself, also as a page.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "report/report.h"
#include "fuzz.h"

/* Nothing but memory can be short. */
static void report(const struct recording *recording)
{
	struct json_object *root;
	struct report_join join;
	FILE *page = fopen("/dev/null", "w");

	assert(page);
	assert(!report_join(&join, recording, 1));
	assert(!report_summary(&root, &join, &join));
	assert(!report_html(root, page));
	json_object_put(root);
	report_join_free(&join);
	fclose(page);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct recording recording = {}, again = {};
	struct json_object *one, *two;
	struct err err = {};
	const char *text;

	if (recording_read(fuzz_file(data, size), &recording, &err)) {
		assert(err.code && err.message[0]);
		recording_free(&recording);
		return 0;
	}
	one = recording_to_json(&recording);
	text = json_object_to_json_string(one);
	assert(!recording_read(fuzz_file(text, strlen(text)), &again, &err));
	two = recording_to_json(&again);
	assert(json_object_equal(one, two));
	report(&recording);
	json_object_put(one);
	json_object_put(two);
	recording_free(&again);
	recording_free(&recording);
	return 0;
}
