// SPDX-License-Identifier: GPL-2.0
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

const char * const sim_kinds[] = {
	[SIM_ECMP] = "ecmp",
	[SIM_SPRAY] = "spray",
	[SIM_REPS] = "reps",
	[SIM_PLACE] = "place",
	[SIM_FEWEST] = "fewest",
	[SIM_ALL] = "all",
	[SIM_LABEL] = "label",
	[SIM_NETREDUCE] = "netreduce",
	[SIM_SLICE] = "slice",
	[SIM_RECORDED] = "recorded",
	NULL
};

static bool has_qps(enum sim_kind kind)
{
	return kind == SIM_ECMP || kind == SIM_PLACE || kind == SIM_LABEL;
}

int sim_policy_read(struct sim_policy *policy, const char *name)
{
	char kind[SIM_POLICY_NAME] = "";
	unsigned int qps = 1;
	int found, end = 0;

	if (sscanf(name, "%15[a-z]-%2uqp%n", kind, &qps, &end) == 2 ? name[end] || !end :
	    strcmp(kind, name))
		return -EINVAL;
	found = words_find(sim_kinds, kind);
	if (found < 0 || !qps || qps > SIM_MAX_QPS || (end && !has_qps(found)))
		return -EINVAL;
	*policy = (struct sim_policy) { found, qps };
	return 0;
}

const char *sim_policy_name(const struct sim_policy *policy, char buf[SIM_POLICY_NAME])
{
	if (policy->qps > 1)
		snprintf(buf, SIM_POLICY_NAME, "%s-%uqp", sim_kinds[policy->kind], policy->qps);
	else
		snprintf(buf, SIM_POLICY_NAME, "%s", sim_kinds[policy->kind]);
	return buf;
}
