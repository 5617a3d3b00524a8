/* SPDX-License-Identifier: GPL-2.0 */
/* Plans by the names of their policies, and figures about plans. */
#ifndef ROCESTEER_LIB_CHUNK_POLICY_H
#define ROCESTEER_LIB_CHUNK_POLICY_H

#include "base/base.h"
#include "chunk_plan.h"

/* Two rules, and the best plan of a search. */
enum {
	CHUNK_POLICY_THEMIS,
	CHUNK_POLICY_BASELINE,
	CHUNK_POLICY_BEST,
};

#define CHUNK_QUEUE_ANY	(-1)	/* that the policy is made for */

/* Policies by their names, ended by NULL. */
extern const char * const chunk_policies[];

/**
 * chunk_make() - plan by any policy, but never worse than the baseline by the model
 * @plan: filled; to be freed by chunk_plan_free(); see @fell_back
 * @of: what to plan
 * @policy: CHUNK_POLICY_*
 * @queue: enum chunk_queue, or CHUNK_QUEUE_ANY
 *
 * Return: as chunk_plan_make().
 */
int chunk_make(struct chunk_plan *plan, const struct chunk_collective *of, int policy, int queue);

/* Predicted time of the policy's own plan, also if worse, ps. Return: as chunk_plan_make(). */
int chunk_predict(const struct chunk_collective *of, int policy, int queue, __u64 *ps);

/* A time in ps, printed in us. */
void chunk_add_us(struct json_object *obj, const char *key, __u64 ps);

/* Thousandths of a percent, rounded down. */
__u64 chunk_percent(__u64 part, __u64 whole);

#endif /* ROCESTEER_LIB_CHUNK_POLICY_H */
