// SPDX-License-Identifier: GPL-2.0
/* Plans of groups for rocesteer-perf: accepted plans have switches, and ranks in order. */
#include "fuzz.h"
#include "perf/switch/reduction.h"

#define RANKS	3

static void check_group(const struct group *group)
{
	const struct reduce_config *config = &group->config;
	__u32 i;

	assert(config->nr_ranks == RANKS && group->planned);
	assert(config->packets && config->window);
	assert(config->packets * config->window <= ROCESTEER_REDUCE_MAX_WINDOW);
	assert(group->switches == 1 || config->root != REDUCE_NO_ROOT);
	assert(group->switches && group->switches != 2 && group->switches <= RANKS + 1);
	for (i = 1; i < RANKS; i++)
		assert(config->rank[i].leaf >= config->rank[i - 1].leaf);
	for (i = 0; i < group->switches; i++)
		assert(group->at[i].name[0] && group->at[i].option[0]);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct reduction groups = {};
	struct err err = {};
	__u32 i;

	if (reduction_read(fuzz_file(data, size), RANKS, &groups, &err)) {
		assert(err.code);
	} else {
		assert(groups.nr && groups.nr <= REDUCTION_GROUPS);
		for (i = 0; i < groups.nr; i++)
			check_group(&groups.group[i]);
		reduction_hash(&groups);
		reduction_have_routers(&groups);
	}
	reduction_free(&groups);
	return 0;
}
