// SPDX-License-Identifier: GPL-2.0
/* Port maps: a map that is read, written and read again is the same. */
#include <json-c/json.h>

#include "portmap/portmap.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct portmap map, again;
	struct json_object *one, *two;
	struct err err = {};
	const char *text;

	if (portmap_read(fuzz_file(data, size), &map, &err)) {
		assert(err.code && err.message[0]);
		return 0;
	}
	one = portmap_to_json(&map);
	text = json_object_to_json_string(one);
	assert(!portmap_read(fuzz_file(text, strlen(text)), &again, &err));
	two = portmap_to_json(&again);
	assert(json_object_equal(one, two));
	portmap_sort(&again);
	json_object_put(one);
	json_object_put(two);
	portmap_free(&again);
	portmap_free(&map);
	return 0;
}
