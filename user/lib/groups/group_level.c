// SPDX-License-Identifier: GPL-2.0
/*
 * In three tiers a group in the pod and one of another pod leave this host by the same aggs. While
 * paths are down, the flows across pods load some aggs less, and flows in the pod, which may take
 * any agg alike, fill these up.
 */
#include <string.h>

#include "plan/plan.h"
#include "group.h"

/* Parts of a flow, so that loads are integers: the smallest number that does, up to this one */
#define UNIT_MAX	1048576

/**
 * struct pod - the groups that level each other: those of one job and device
 * @down: a path of one of them is down
 * @across: there is a group of another pod
 * @flows: flows in the pod
 * @unit: load of a flow
 */
struct pod {
	bool down;
	bool across;
	__u64 flows;
	__u64 unit;
};

static bool is_same_job(const struct group *a, const struct group *b)
{
	return a->key.job == b->key.job && a->key.ifindex == b->key.ifindex;
}

static __u32 usable(const struct group *group, __u32 p)
{
	return group->down >> p & 1 ? 0 : group->weight[p];
}

/* Sum of the weights of paths that are up */
static __u64 total(const struct group *group)
{
	__u64 sum = 0;
	__u32 p;

	for (p = 0; p < group->nr_paths; p++)
		sum += usable(group, p);
	return sum;
}

static void add_unit(struct pod *pod, __u64 parts)
{
	__u64 unit = pod->unit * (parts / plan_gcd(pod->unit, parts));

	if (unit <= UNIT_MAX)
		pod->unit = unit;
}

static struct pod see_pod(const struct groups *groups, const struct group *of)
{
	struct pod pod = { .unit = 1 };
	size_t i;

	for (i = 0; i < groups->group.nr; i++) {
		const struct group *group = groups->group.item[i];

		if (!is_same_job(group, of))
			continue;
		pod.down |= group->down;
		if (!group->across) {
			pod.flows += group->flows.nr;
			continue;
		}
		pod.across = true;
		if (group->flows.nr && total(group))
			add_unit(&pod, total(group));
	}
	return pod;
}

/* What flows of another group, which are even over its paths, put on the aggs of this one. */
static void add_carried(const struct group *group, const struct group *across, __u64 unit,
			__u64 *carried)
{
	__u64 sum = total(across);
	__u32 p, q;

	for (p = 0; sum && p < group->nr_paths; p++) {
		__u64 weight = 0;

		for (q = 0; q < across->nr_paths; q++)
			if (!memcmp(across->via[q], group->router[p], 16))
				weight += usable(across, q);
		carried[p] += across->flows.nr * unit * weight / sum;
	}
}

static bool needs_level(const struct pod *pod, const struct group *group)
{
	return pod->down && pod->across && group->split && !group->across;
}

bool group_level(const struct groups *groups, const struct group *group, __u32 *weight)
{
	struct pod pod = see_pod(groups, group);
	__u64 carried[ROCESTEER_MAX_PATHS] = {};
	size_t i;

	if (!needs_level(&pod, group) || !pod.flows)
		return false;
	for (i = 0; i < groups->group.nr; i++) {
		const struct group *other = groups->group.item[i];

		if (is_same_job(other, group) && other->across)
			add_carried(group, other, pod.unit, carried);
	}
	plan_level(weight, carried, group->nr_paths, pod.flows * pod.unit);
	return true;
}

static bool any_across(const struct groups *groups)
{
	size_t i;

	for (i = 0; i < groups->group.nr; i++)
		if (((const struct group *)groups->group.item[i])->across)
			return true;
	return false;
}

void groups_level(struct groups *groups)
{
	bool any = any_across(groups);
	size_t i, j;

	for (i = 0; any && i < groups->group.nr; i++) {
		const struct group *group = groups->group.item[i];
		struct pod pod;

		if (!group->changed)
			continue;
		pod = see_pod(groups, group);
		for (j = 0; j < groups->group.nr; j++) {
			struct group *other = groups->group.item[j];

			if (is_same_job(other, group))
				other->changed |= other->leveled || needs_level(&pod, other);
		}
	}
}
