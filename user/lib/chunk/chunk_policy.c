// SPDX-License-Identifier: GPL-2.0
#include "chunk_policy.h"

#include <errno.h>

#include "chunk_model.h"
#include "chunk_search.h"

const char * const chunk_policies[] = {
	[CHUNK_POLICY_THEMIS] = "themis",
	[CHUNK_POLICY_BASELINE] = "baseline",
	[CHUNK_POLICY_BEST] = "best",
	NULL
};

/* The plan of the policy, also if another one is better */
static int make(struct chunk_plan *plan, const struct chunk_collective *of, int policy, int queue)
{
	int ret;

	if (policy == CHUNK_POLICY_BEST)
		return chunk_search(plan, of, queue == CHUNK_QUEUE_ANY ?
				    CHUNK_QUEUES_ALL : 1u << queue);
	ret = chunk_plan_make(plan, of, policy == CHUNK_POLICY_BASELINE ?
			      CHUNK_BASELINE : CHUNK_THEMIS);
	if (!ret && queue != CHUNK_QUEUE_ANY)
		plan->queue = queue;
	return ret;
}

int chunk_make(struct chunk_plan *plan, const struct chunk_collective *of, int policy, int queue)
{
	int ret = make(plan, of, policy, queue);

	if (ret)
		return ret;
	ret = chunk_guard(plan);
	if (ret)
		chunk_plan_free(plan);
	return ret;
}

int chunk_predict(const struct chunk_collective *of, int policy, int queue, __u64 *ps)
{
	struct chunk_model *model = chunk_model_new(of);
	struct chunk_plan plan;
	int ret = -ENOMEM;

	if (model)
		ret = make(&plan, of, policy, queue);
	if (!ret) {
		*ps = chunk_model_run(model, &plan, NULL, NULL);
		chunk_plan_free(&plan);
	}
	chunk_model_free(model);
	return ret;
}

void chunk_add_us(struct json_object *obj, const char *key, __u64 ps)
{
	out_decimal(obj, key, (ps + 500) / 1000, 3);
}

__u64 chunk_percent(__u64 part, __u64 whole)
{
	return whole ? (__uint128_t)part * 100000 / whole : 0;
}
