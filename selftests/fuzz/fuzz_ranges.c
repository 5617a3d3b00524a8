// SPDX-License-Identifier: GPL-2.0
/* Files of ranges of memory, for one plan; its devices are "lo". */
#include "fuzz.h"
#include "chunk/chunk.h"

/* The plan as chunk plan --json prints it. */
static size_t write_plan(char *text, size_t size)
{
	static const struct chunk_collective of = {
		.kind = CHUNK_ALL_REDUCE, .size = 65536, .chunks = 4, .dims = 2,
		.dim = { { .endpoints = 4, .bandwidth = 1000000 },
			 { .endpoints = 2, .bandwidth = 500000 } },
	};
	struct chunk_plan plan;
	size_t at;
	__u32 i;

	assert(!chunk_plan_make(&plan, &of, CHUNK_THEMIS));
	at = snprintf(text, size,
		      "{\"collective\":\"all-reduce\",\"queue\":\"%s\",\"fused\":%s,\"size\":65536,"
		      "\"dimensions\":[{\"endpoints\":4},{\"endpoints\":2}],"
		      "\"hash\":\"%016llx\",\"chunks\":[",
		      plan.queue == CHUNK_FIFO ? "fifo" : "scf",
		      plan.fused ? "true" : "false",
		      (unsigned long long)chunk_plan_hash(&plan));
	for (i = 0; i < of.chunks; i++)
		at += snprintf(text + at, size - at,
			       "%s{\"bytes\":16384,\"order\":[%u,%u]}",
			       i ? "," : "", plan.order[i][0], plan.order[i][1]);
	at += snprintf(text + at, size - at, "]}");
	chunk_plan_free(&plan);
	return at;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static char plan[1024];
	static size_t length;
	struct chunk_table table = { .nr_classes = 3 };
	struct err err = {};
	size_t i;

	if (!length)
		length = write_plan(plan, sizeof(plan));
	if (chunk_table_read(&table, fuzz_file(plan, length), fuzz_file(data, size), &err)) {
		assert(err.code);
	} else {
		assert(table.nr_ranges);
		for (i = 0; i < table.nr_ranges; i++)
			assert(table.ranges[i].range.chunk < table.plan.of.chunks);
	}
	chunk_table_free(&table);
	return 0;
}
