// SPDX-License-Identifier: GPL-2.0
/* Lists of flows for slice check. */
#include "fuzz.h"
#include "slice/slice.h"

#define RANKS	16

static void count(const struct contention_link *link, void *arg)
{
	assert(link->nr_flows > 1);
	++*(long *)arg;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	__u32 leaf[RANKS], place[RANKS], i;
	struct contention_layout layout = {
		.ranks = RANKS, .leaves = 4, .width = 4, .leaf = leaf, .place = place,
	};
	struct contention_flow *flows = NULL;
	struct err err = {};
	long links = 0;
	size_t n;

	for (i = 0; i < RANKS; i++) {
		leaf[i] = i / 4;
		place[i] = i % 4;
	}
	if (contention_read_flows(fuzz_file(data, size), RANKS, &flows, &n, &err)) {
		assert(err.code);
		return 0;
	}
	for (i = 1; i < n; i++)
		assert(flows[i - 1].step <= flows[i].step);
	assert(contention_test(&layout, flows, n, count, &links) == links);
	free(flows);
	return 0;
}
