// SPDX-License-Identifier: GPL-2.0
/* Circuits of slice alloc --ocs, and slice wire. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "slice.h"

enum { CLUSTER, DRIVER };

const struct cli_option slice_wire_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[DRIVER] = { "driver", "COMMAND", "what moves circuits", CLI_NEEDED },
	{}
};

static const struct out_column columns[] = {
	{ "ports", "ports set" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

static int move_circuits(const struct cluster *c, const struct ocs *ocs,
			 __u32 gpus, struct slice_plan *plan)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;
	int ret;

	plan->circuit = calloc(ports, sizeof(*plan->circuit));
	if (!plan->circuit)
		return -ENOMEM;
	ret = ocs_place(&c->fabric, ocs, gpus, &plan->slice, plan->circuit);
	if (ret || plan->slice.stage == SLICE_OCS)
		return ret;
	free(plan->circuit);
	plan->circuit = NULL;
	return 0;
}

/*
 * Servers that were chosen without regard to links may have no lanes for all patterns; no
 * other place is given where flows would meet.
 */
static int prove(const struct slice_request *request, struct slice_plan *plan)
{
	struct contention_layout layout;
	int ret;

	ret = contention_layout_of(&plan->slice, &layout);
	if (!ret)
		plan->shared = contention_prove(&layout);
	contention_layout_free(&layout);
	if (ret || plan->shared < 0)
		return -ENOMEM;
	return plan->shared && !request->nr ? SLICE_NO_NETWORK : 0;
}

int slice_plan_make(const struct cluster *c, const struct slice_request *request,
		    bool ocs, struct slice_plan *plan)
{
	int ret;

	*plan = (struct slice_plan) {};
	if (request->nr)
		ret = slice_place_at(&c->fabric, request->servers, request->nr, &plan->slice);
	else if (ocs)
		ret = move_circuits(c, &c->ocs, request->gpus, plan);
	else
		ret = slice_place(&c->fabric, request->gpus, &plan->slice);
	if (!ret && !plan->slice.oxcs && c->ocs.oxcs && plan->slice.nr_spines)
		ret = ocs_assign(&c->ocs, c->ocs.circuit, &plan->slice);
	return ret ?: prove(request, plan);
}

void slice_plan_free(struct slice_plan *plan)
{
	slice_free(&plan->slice);
	free(plan->circuit);
}

/* Ask the driver for circuits; @id: the job they are for, or NULL. */
static int drive(const struct cluster *c, const char *driver, const char *id,
		 const __u16 *from, const __u16 *to, struct err *err)
{
	struct json_object *request = out_root();
	int ret;

	out_string(request, "cluster", c->file);
	if (id)
		out_string(request, "job", id);
	json_object_object_add(request, "changes", cluster_changes_json(&c->ocs, from, to));
	ret = ocs_driver_run(driver, request, c->lock, err);
	json_object_put(request);
	return ret;
}

int slice_plan_move(const struct cluster *c, const struct slice_plan *plan,
		    const char *driver, const char *id, bool back,
		    struct err *err)
{
	const __u16 *is = c->ocs.circuit;

	if (!plan->circuit)
		return 0;
	return drive(c, driver, id, back ? plan->circuit : is, back ? is : plan->circuit, err);
}

int slice_wire(const struct cli_args *args, struct err *err)
{
	struct json_object *root;
	struct cluster c;
	int ret;

	ret = cluster_open(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	if (!c.ocs.oxcs)
		ret = err_set(err, EXIT_BAD_INPUT, "no-ocs",
			      "%s: oxcs: is missing: there are no circuits",
			      c.file);
	else
		ret = drive(&c, args->value[DRIVER], NULL, NULL, c.ocs.circuit, err);
	ocs_driver_done();
	root = out_root();
	out_uint(root, "ports", (__u64)c.ocs.leaves * c.ocs.oxcs);
	cluster_close(&c);
	if (!ret)
		return out_show(&args->out, root, views);
	json_object_put(root);
	return ret;
}
