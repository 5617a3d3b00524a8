// SPDX-License-Identifier: GPL-2.0
/*
 * Cluster files: an accepted file that is changed and committed is accepted again, and
 * allocations that are released leave as much free as before.
 */
#include "fuzz.h"
#include "base/base.h"
#include "cluster/cluster.h"

#define HEAD	2	/* bytes of what is to be done, before the file */
#define NAME	"cluster.json"
#define JOB	"fuzz-job"

static __u64 number(struct json_object *root, const char *key)
{
	struct json_object *value = json_object_object_get(root, key);

	return value ? json_object_get_uint64(value) : 1;
}

/* Large clusters take time, and show nothing new. */
static bool is_small(const __u8 *data, size_t size)
{
	struct json_object *root;
	bool ret;

	if (fuzz_json(data, size, &root))
		return true;
	ret = json_object_get_type(root) != json_type_object ||
	      (number(root, "leaves") <= 24 && number(root, "spines") <= 16 &&
	       number(root, "gpus_per_leaf") <= 64 && number(root, "oxcs") <= 24);
	json_object_put(root);
	return ret;
}

static void read_again(struct cluster *c)
{
	struct err err = {};

	cluster_close(c);
	if (!cluster_open(c, NAME, &err))
		return;
	fprintf(stderr, "%s\n", err.message);
	abort();
}

static void commit(struct cluster *c, const char *word)
{
	struct json_object *decision = out_root();
	__u64 generation = c->generation;
	struct err err = {};

	out_string(decision, "decision", word);
	out_string(decision, "job", JOB);
	assert(!cluster_commit(c, decision, &err));
	read_again(c);
	assert(c->generation == generation + 1);
}

static size_t free_gpus(const struct cluster *c)
{
	const struct slice_fabric *f = &c->fabric;
	size_t i, sum = 0;

	for (i = 0; i < (size_t)f->leaves * f->gpus_per_leaf / f->gpus_per_server; i++)
		sum += f->free_gpus[i];
	return sum;
}

static bool place(struct cluster *c, __u32 gpus, struct slice *slice)
{
	int ret = slice_place(&c->fabric, gpus, slice);

	if (!ret && c->ocs.oxcs && slice->nr_spines)
		assert(!ocs_assign(&c->ocs, c->ocs.circuit, slice));
	if (ret == SLICE_NO_NETWORK && c->ocs.oxcs) {
		__u16 *circuit = calloc((size_t)c->ocs.leaves * c->ocs.oxcs, sizeof(*circuit));

		ret = ocs_place(&c->fabric, &c->ocs, gpus, slice, circuit);
		if (!ret)
			cluster_move_circuits(c, circuit);
		free(circuit);
	}
	return !ret;
}

/* Flows of a placed job do not meet. */
static void prove(const struct slice *slice)
{
	struct contention_layout layout;

	assert(!contention_layout_of(slice, &layout));
	assert(!contention_prove(&layout));
	contention_layout_free(&layout);
}

static void give_and_take(struct cluster *c, __u32 hint)
{
	__u32 gpus = 1 + hint % (c->fabric.leaves * c->fabric.gpus_per_leaf);
	enum cluster_part part = hint >> 4 & 3;
	enum cluster_mark mark = hint >> 3 & 1;
	size_t before = free_gpus(c);
	struct slice slice;

	if (cluster_job(c, JOB) || !place(c, gpus, &slice))
		return;
	prove(&slice);
	cluster_add_job(c, JOB, gpus, &slice);
	slice_free(&slice);
	commit(c, "alloc");
	assert(free_gpus(c) == before - gpus);
	if (cluster_mark(c, mark, true, part, 0, 0)) {
		commit(c, "mark");
		cluster_job_degraded(c, cluster_job(c, JOB));
		assert(cluster_mark(c, mark, false, part, 0, 0));
		commit(c, "unmark");
	}
	assert(free_gpus(c) == before - gpus);
	cluster_remove_job(c, JOB);
	commit(c, "release");
	assert(free_gpus(c) == before);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct err err = {};
	struct cluster c;
	size_t i;

	if (size < HEAD || !is_small(data + HEAD, size - HEAD))
		return 0;
	fuzz_write(NAME, data + HEAD, size - HEAD);
	fuzz_write(NAME ".journal", "", 0);
	if (cluster_open(&c, NAME, &err)) {
		assert(err.code);
		return 0;
	}
	for (i = 0; i < cluster_queue_length(&c); i++) {
		cluster_entry_wants(cluster_queue_entry(&c, i), i);
		cluster_seconds_since(cluster_queue_entry(&c, i), "submitted");
	}
	give_and_take(&c, data[0] | data[1] << 8);
	cluster_close(&c);
	return 0;
}
