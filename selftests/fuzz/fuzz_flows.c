// SPDX-License-Identifier: GPL-2.0
/* Lists of flows for slice check. */
#include "fuzz.h"
#include "slice/slice.h"

#define RANKS	16
#define LEAVES	4
#define LANES	4

static void count(const struct contention_link *link, void *arg)
{
	assert(link->nr_flows > 1);
	++*(long *)arg;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const __u32 on[LEAVES] = { 7, 5, 3, 1 };
	struct contention_layout layout;
	struct contention_flow *flows = NULL;
	struct err err = {};
	long links = 0;
	size_t n, i;

	if (contention_read_flows(fuzz_file(data, size), RANKS, &flows, &n, &err)) {
		assert(err.code);
		return 0;
	}
	for (i = 1; i < n; i++)
		assert(flows[i - 1].step <= flows[i].step);
	assert(!contention_layout_init(&layout, RANKS, LEAVES, LANES));
	for (i = 0; i < LEAVES; i++) {
		contention_layout_add(&layout, true, on[i]);
		layout.links[i] = contention_links_needed(&layout, i);
	}
	contention_layout_count(&layout);
	assert(contention_test(&layout, flows, n, count, &links) == links);
	contention_layout_free(&layout);
	free(flows);
	return 0;
}
