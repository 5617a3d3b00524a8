// SPDX-License-Identifier: GPL-2.0
/*
 * Traces of jobs: a trace that is read, written and read again is the same, and each policy
 * places or refuses each job.
 */
#include "fuzz.h"
#include "replay/replay.h"

#define SIZE	4	/* leaves, and spines */
#define JOBS	24

static void replay(const struct trace_job *jobs, __u32 nr)
{
	__u16 gpus[SIZE * SIZE];
	__u8 links[SIZE * SIZE];
	struct slice_fabric fabric = {
		.leaves = SIZE, .spines = SIZE, .gpus_per_leaf = 4 * SIZE,
		.gpus_per_server = 4, .links_per_pair = 1, .parallel = 2,
		.free_gpus = gpus, .free_links = links,
	};
	struct ocs ocs = {
		.leaves = SIZE, .spines = SIZE, .oxcs = SIZE, .spine_ports = 1,
	};
	struct replay_spec spec = {
		.fabric = &fabric, .ocs = &ocs, .job = jobs,
		.jobs = nr < JOBS ? nr : JOBS, .seed = 1,
	};
	struct replay_result result;
	enum replay_policy policy;
	int i;

	for (i = 0; i < SIZE * SIZE; i++) {
		gpus[i] = 4;
		links[i] = 1;
	}
	assert(!ocs_init(&ocs));
	ocs_wire_default(&ocs);
	for (policy = 0; policy < REPLAY_POLICIES; policy++) {
		assert(!replay_run(&spec, policy, &result));
		assert(result.placed + result.refused == spec.jobs);
	}
	ocs_free(&ocs);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct trace_job *jobs = NULL, *again = NULL;
	struct err err = {};
	__u32 nr = 0, nr_again = 0;
	char *text = NULL;
	size_t length = 0;
	FILE *file;

	if (trace_read(fuzz_file(data, size), 4 * SIZE * SIZE, &jobs, &nr, &err)) {
		assert(err.code);
		return 0;
	}
	replay(jobs, nr);
	file = open_memstream(&text, &length);
	trace_write(file, jobs, nr);
	fclose(file);
	assert(!trace_read(fuzz_file(text, length), 4 * SIZE * SIZE, &again, &nr_again, &err));
	assert(nr_again == nr && !memcmp(again, jobs, nr * sizeof(*jobs)));
	free(again);
	free(text);
	free(jobs);
	return 0;
}
