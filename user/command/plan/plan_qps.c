// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer plan --recommend-qps: for applications that split each message over
 * the queue pairs of a connection.
 */
#include <stdio.h>

#include "plan.h"
#include "steer/steer.h"
#include "../whole.h"

static const struct out_column total_columns[] = {
	{ "flows", "connections" },
	{ "paths", "paths" },
	{ "recommended", "queue pairs each" },
	{ "promise", "promise" },
	{ "exact", "for exact balance" },
	{ "nccl", "for NCCL" },
	{}
};

static const struct out_column choice_columns[] = {
	{ "qps", "EACH" },
	{ "queue_pairs", "IN ALL" },
	{ "imbalance", "IMBALANCE" },
	{ "promise", "PROMISE" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "choices", .columns = choice_columns },
	{}
};

static const char *promise(const struct plan_qps *qps)
{
	return promise_name(qps->always ? PROMISE_ALWAYS : PROMISE_BYTES);
}

int plan_qps_show(const struct out *out, const struct plan_spec *spec)
{
	struct plan_qps qps[PLAN_QPS_MAX + 2], *best = qps;
	struct json_object *root, *choices;
	__u64 exact = 0;
	char nccl[128];
	size_t i, nr;
	int ret;

	ret = plan_qps(spec, qps, &nr);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		if (qps[i].qps <= PLAN_QPS_MAX)
			best = &qps[i];
		if (!exact && qps[i].imbalance == 1)
			exact = qps[i].qps;
	}
	snprintf(nccl, sizeof(nccl), WHOLE_NCCL, best->qps);
	root = out_root();
	out_uint(root, "flows", spec->flows);
	out_uint(root, "paths", spec->paths);
	out_uint(root, "recommended", best->qps);
	out_string(root, "promise", promise(best));
	out_uint(root, "exact", exact);
	out_string(root, "nccl", nccl);
	choices = out_array(root, "choices");
	for (i = 0; i < nr; i++) {
		struct json_object *choice = out_append_object(choices);

		out_uint(choice, "qps", qps[i].qps);
		out_uint(choice, "queue_pairs", qps[i].qps * spec->flows);
		out_decimal(choice, "imbalance", qps[i].imbalance * 10000 + 0.5, 4);
		out_string(choice, "promise", promise(&qps[i]));
	}
	return out_show(out, root, views);
}
