// SPDX-License-Identifier: GPL-2.0
/* Slices for slice check and job load --slice */
#include <json-c/json.h>

#include "base/base.h"
#include "cluster/cluster.h"
#include "slice/slice.h"
#include "fuzz.h"

#define RANKS	512	/* more take time, and show nothing new */

static const char ports[] =
"{\"format\":1,\"generation\":1,\"created\":\"2026-01-02T03:04:05Z\","
"\"device\":\"eth0\",\"hop\":2,\"peers\":["
"{\"address\":\"10.0.1.1\",\"source\":\"10.0.0.1\",\"local\":false,"
"\"leaf\":\"10.9.9.1\",\"probed\":2,\"paths\":["
"{\"path\":0,\"router\":\"10.9.0.1\",\"ports\":[50000]},"
"{\"path\":1,\"router\":\"10.9.0.2\",\"ports\":[50001]}]},"
"{\"address\":\"10.0.0.2\",\"source\":\"10.0.0.1\",\"local\":true,"
"\"probed\":0,\"paths\":[]},"
"{\"address\":\"10.0.1.2\",\"source\":\"10.0.0.1\",\"local\":false,"
"\"leaf\":\"10.9.9.1\",\"probed\":2,\"paths\":["
"{\"path\":0,\"router\":\"10.9.0.1\",\"ports\":[50000]},"
"{\"path\":1,\"router\":\"10.9.0.2\",\"ports\":[50001]}]}]}";

static void count(const struct contention_link *link, void *arg)
{
	assert(link->nr_flows > 1);
	++*(long *)arg;
}

static void check(const struct contention_slice *slice)
{
	enum contention_pattern pattern;
	long links, ret;

	for (pattern = 0; pattern < CONTENTION_PATTERNS; pattern++) {
		if (contention_pattern_steps(&slice->layout, pattern) < 0)
			continue;
		links = 0;
		ret = contention_test_pattern(&slice->layout, pattern, 1, count, &links);
		assert(ret == links);
	}
	assert(contention_prove(&slice->layout) >= 0);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct contention_slice slice;
	struct job_slice js = {};
	struct json_object *root;
	struct portmap map;
	struct err err = {};
	struct reader r = { .file = "f", .err = &err };
	__u32 place;

	if (fuzz_json(data, size, &root))
		return 0;
	if (contention_read_slice(&slice, &r, root))
		assert(err.code);
	else if (slice.layout.ranks <= RANKS)
		check(&slice);
	contention_slice_free(&slice);
	err.code = NULL;
	if (job_slice_read(&js, root, "f", &err)) {
		assert(err.code);
	} else {
		assert(!portmap_read(fuzz_file(ports, strlen(ports)), &map, &err));
		if (job_slice_restrict(&js, &map, &place, &err))
			assert(err.code);
		portmap_free(&map);
	}
	job_slice_free(&js);
	json_object_put(root);
	return 0;
}
