// SPDX-License-Identifier: GPL-2.0
/*
 * Plans of collectives: their classes, times and loads. A plan with a wrong hash only is
 * used as well, because no input would guess the hash.
 */
#include "fuzz.h"
#include "chunk/chunk.h"

static void count(const struct chunk_stage *stage, void *arg)
{
	++*(__u64 *)arg;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	const char *file = fuzz_file(data, size);
	struct rocesteer_chunk *chunks;
	struct chunk_plan plan = {};
	struct chunk_model *model;
	struct err err = {};
	char other_hash[96];
	__u64 stages = 0, want = 0;
	__u32 i;

	if (chunk_plan_read(&plan, file, &err)) {
		assert(err.code);
		snprintf(other_hash, sizeof(other_hash), "%s: hash: is not the plan's", file);
		if (strncmp(err.message, other_hash, strlen(other_hash)))
			goto out;
	}
	chunks = calloc(plan.of.chunks, sizeof(*chunks));
	assert(!chunk_classes(&plan, 1 + size % (ROCESTEER_MAX_CLASSES - 1), chunks));
	for (i = 0; i < plan.of.chunks; i++) {
		assert(chunks[i].nr_stages);
		want += chunks[i].nr_stages;
	}
	free(chunks);
	model = chunk_model_new(&plan.of);
	assert(model);
	chunk_model_run(model, &plan, count, &stages);
	chunk_model_free(model);
	assert(stages == want);
	for (i = 0; i < plan.of.dims; i++)
		chunk_plan_load(&plan, i);
out:
	chunk_plan_free(&plan);
	return 0;
}
